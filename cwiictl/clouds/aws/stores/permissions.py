"""IAM's own judgement of what somebody may do. Where it cannot be asked, nothing is lacking until AWS says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl.clouds.aws.permissions import Grant
from cwiictl.clouds.aws.stores.errors import absent, code, denied, told
from cwiictl.clouds.permissions import PermissionsState, Rights

if TYPE_CHECKING:
    from types_boto3_iam import IAMClient


class Simulations(Rights):
    kind = "aws/permissions"

    def __init__(self, iam: IAMClient, grants: tuple[Grant, ...]) -> None:
        self.iam, self.grants = iam, grants

    @told("iam")
    def get(self, callers: Collection[str], /) -> Mapping[str, PermissionsState]:
        return {
            caller: PermissionsState(lacking=tuple(self._lacking(caller))) for caller in callers
        }

    def _lacking(self, caller: str) -> Iterator[str]:
        """All is asked at once, each action for each thing; only what belongs together counts."""
        pairs = {
            (action, resource)
            for grant in self.grants
            for action in grant.actions
            for resource in grant.resources
        }
        if not pairs:
            return
        actions, resources = (
            sorted({action for action, _ in pairs}),
            sorted({resource for _, resource in pairs}),
        )
        pages = self.iam.get_paginator("simulate_principal_policy").paginate(
            PolicySourceArn=caller, ActionNames=actions, ResourceArns=resources
        )
        try:
            for page in pages:
                for each in page["EvaluationResults"]:
                    if (
                        each["EvalActionName"],
                        each.get("EvalResourceName", ""),
                    ) in pairs and _lacks(each):
                        yield each["EvalActionName"]
        except ClientError as e:
            if not (
                denied(e)
                or absent(e)
                or code(e) in {"InvalidInput", "ValidationError", "PolicyEvaluation"}
            ):
                raise


def _lacks(judged: Any) -> bool:
    """What hangs on a condition that only the real request fulfils is not lacking."""
    return judged["EvalDecision"] != "allowed" and not judged.get("MissingContextValues")

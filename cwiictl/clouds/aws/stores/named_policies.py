"""Policies that are not ours. Where they cannot be asked for, each is believed until AWS says otherwise."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from cwiictl.clouds.aws.resources.named_policy import NamedPolicyState
from cwiictl.clouds.aws.stores.errors import absent, denied, told
from cwiictl.engine.resource import Mark

if TYPE_CHECKING:
    from types_boto3_iam import IAMClient


class NamedPolicies:
    kind, bulk, patience = "aws/named-policy", False, 30.0

    def __init__(self, iam: IAMClient) -> None:
        self.iam = iam

    @told("iam")
    def get(self, arns: Collection[str], /) -> Mapping[str, NamedPolicyState]:
        return {arn: NamedPolicyState(there=self._there(arn)) for arn in arns}

    def put(
        self, _arn: str, want: NamedPolicyState, _have: NamedPolicyState | None, /
    ) -> NamedPolicyState:
        return want

    def drop(self, _arn: str, /) -> None:
        """It is its maker's."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def _there(self, arn: str) -> bool:
        try:
            self.iam.get_policy(PolicyArn=arn)
        except ClientError as e:
            if absent(e) or denied(e):
                return denied(e)
            raise
        return True

"""A part of what a role may do, where all of it is too long for the role itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.engine.resource import Known, Resource, State, part
from cwiictl.errors import BadInput
from cwiictl.model import Cluster

LIMIT = 6144
MOST = 10  # for a role


@dataclass(frozen=True, kw_only=True)
class ManagedPolicyState(State):
    arn: str
    policy: Policy
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class ManagedPolicy(Resource[ManagedPolicyState]):
    cluster: Cluster
    arn: str
    grants: Policy

    def want(self, known: Known) -> ManagedPolicyState:  # noqa: ARG002 - it follows from what was asked
        return ManagedPolicyState(arn=self.arn, policy=self.grants, tags=names.tags(self.cluster))


def parts(grants: Policy, source: str) -> Iterator[Policy]:
    """The statements in their order, as many to each as fit."""
    several: list[Mapping[str, object]] = []
    for statement in grants["Statement"]:
        if len(policy.dump(policy.canonical(statement))) > LIMIT:
            raise BadInput(
                f"{source}: one statement is longer than the {LIMIT} characters that a policy may have",
                remedy="split its actions over two statements",
            )
        if several and len(policy.dump(policy.canonical(*several, statement))) > LIMIT:
            yield policy.canonical(*several)
            several = []
        several.append(statement)
    yield policy.canonical(*several)

"""What machines that a workload starts run as: a role that EC2 alone gives out, and the instance profile by which it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.role import Account, RoleState, but_boundary, moved
from cwiictl.engine.resource import Difference, Known, Resource, State, part
from cwiictl.errors import Conflict, Problem
from cwiictl.model import Cluster, Workload

EC2 = "ec2.amazonaws.com"  # in every partition
SESSION = 3600  # which EC2 does not heed: it renews credentials by itself


@dataclass(frozen=True)
class MachineRole(Resource[RoleState]):
    cluster: Cluster
    workload: Workload  # who starts the machines
    account: Account
    grants: Policy | None
    managed: frozenset[str] = frozenset()

    @property
    def single(self) -> bool:
        return True

    @property
    def arn(self) -> str:
        return self.account.arn(self.name)

    def want(self, known: Known) -> RoleState:  # noqa: ARG002 - it follows from what was asked
        return RoleState(
            arn=self.arn,
            description=f"Role of the machines of {self.workload.title}",
            trust=policy.canonical(policy.allow("sts:AssumeRole", Principal={"Service": EC2})),
            policy=self.grants,
            managed=self.managed,
            boundary=self.account.boundary,
            session=SESSION,
            tags=names.tags(self.cluster),
        )

    def differing(self, want: RoleState, have: RoleState) -> tuple[Difference, ...]:
        return but_boundary(want, have)

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        return moved(self.address, have.arn, self.arn) if have else None


@dataclass(frozen=True, kw_only=True)
class InstanceProfileState(State):
    arn: str
    role: str  # the name of the one that it has room for, or empty
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class InstanceProfile(Resource[InstanceProfileState]):
    cluster: Cluster
    account: Account
    role: MachineRole

    @property
    def arn(self) -> str:
        return f"{self.account.iam}instance-profile/{self.name}"

    @property
    def workload(self) -> Workload:
        return self.role.workload

    def want(self, known: Known) -> InstanceProfileState:  # noqa: ARG002 - it names its role, which is there by then
        return InstanceProfileState(
            arn=self.arn, role=self.role.name, tags=names.tags(self.cluster)
        )

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        if have is None or have.arn == self.arn:
            return None
        return Conflict(
            f"{self.address} has the ARN {have.arn}, and an instance profile does not move",
            remedy="choose another --name",
        )

"""The role that a workload's ServiceAccounts assume: whom it trusts, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.audiences import AWS
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicy
from cwiictl.engine.resource import Difference, Known, Resource, State, differences, part
from cwiictl.errors import Conflict, Problem
from cwiictl.issuer.home import Home
from cwiictl.model import Cluster, Workload


@dataclass(frozen=True, kw_only=True)
class RoleState(State):
    arn: str
    description: str
    trust: Policy
    policy: Policy | None  # the inline one that bears the role's name
    others: frozenset[str] = (
        frozenset()
    )  # further inline ones: each of them is power that nobody asked for
    managed: frozenset[str]  # ARNs: all that are attached, for each of them is power
    boundary: str
    session: int
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class Account:
    """What is the same for all roles of a run."""

    iam: str  # what the ARNs of the account begin with
    provider: str  # the ARN of one that the user has
    boundary: str
    path: str
    region: str = ""

    def arn(self, role: str) -> str:
        return f"{self.iam}role{self.path}{role}"

    def trusted(self, url: str) -> str:
        return self.provider or f"{self.iam}oidc-provider/{url.removeprefix('https://')}"


@dataclass(frozen=True)
class Role(Resource[RoleState]):
    """It names its provider and does not hold it: IAM takes the name of one that is yet to come, and so nobody waits for the issuer."""

    cluster: Cluster
    workload: Workload
    account: Account
    home: Home
    grants: Policy | None
    managed: frozenset[str] = frozenset()
    parts: tuple[ManagedPolicy, ...] = ()
    session: int = 3600

    @property
    def single(self) -> bool:
        return True

    def want(self, known: Known) -> RoleState:
        return RoleState(
            arn=self.account.arn(self.name),
            description=f"{'OpenShift' if self.workload.asker == 'request' else 'Kubernetes'} role for {self.workload.title}",
            trust=trust(self.account.trusted(self.home.url(known)), self.workload),
            policy=self.grants,
            managed=self.managed | {known[part_].arn for part_ in self.parts},
            boundary=self.account.boundary,
            session=self.session,
            tags=names.tags(self.cluster),
        )

    def differing(self, want: RoleState, have: RoleState) -> tuple[Difference, ...]:
        return but_boundary(want, have)

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        return moved(self.address, have.arn, self.account.arn(self.name)) if have else None


def but_boundary(want: RoleState, have: RoleState) -> tuple[Difference, ...]:
    """A boundary that nobody asked us for is somebody's guard, and not ours to take away."""
    return tuple(d for d in differences(want, have) if d.field != "boundary" or want.boundary)


def moved(address: str, have: str, want: str) -> Problem | None:
    if have == want:
        return None
    return Conflict(
        f"{address} has the ARN {have}, and a role does not move",
        remedy="give its path with --role-path, or another --name",
    )


def trust(provider: str, workload: Workload) -> Policy:
    """Exactly these subjects, of exactly this issuer; and where the webhook projects the tokens, only those that it does."""
    issuer = provider.partition(":oidc-provider/")[2]
    condition: dict[str, object] = {f"{issuer}:sub": list(workload.subjects)}
    if workload.asker == "webhook":
        condition[f"{issuer}:aud"] = sorted(AWS["webhook"])
    return policy.canonical(
        policy.allow(
            "sts:AssumeRoleWithWebIdentity",
            Principal={"Federated": provider},
            Condition={"StringEquals": condition},
        ),
    )

"""The role that a workload's ServiceAccounts assume: whom it trusts, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.engine.resource import Known, Resource, State, part
from cwiictl.issuer.home import Home
from cwiictl.model import Cluster, Workload


@dataclass(frozen=True, kw_only=True)
class RoleState(State):
    arn: str
    description: str
    trust: Policy
    policy: Policy | None  # the inline one that bears the role's name
    boundary: str
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class Role(Resource[RoleState]):
    """It names its provider and does not hold it: IAM takes the name of one that is yet to come, and so nobody waits for the issuer."""

    cluster: Cluster
    workload: Workload
    grants: Policy
    iam: str  # what the ARNs of the account begin with
    home: Home
    provider: str = ""  # the ARN of one that the user has
    boundary: str = ""

    def want(self, known: Known) -> RoleState:
        provider = self.provider or f"{self.iam}oidc-provider/{self.home.url(known).removeprefix('https://')}"
        return RoleState(
            arn=f"{self.iam}role/{self.name}",
            description=f"OpenShift role for {self.workload.title}",
            trust=trust(provider, self.workload.subjects),
            policy=self.grants,
            boundary=self.boundary,
            tags=names.tags(self.cluster),
        )


def trust(provider: str, subjects: tuple[str, ...]) -> Policy:
    """Exactly these subjects, of exactly this issuer."""
    issuer = provider.partition(":oidc-provider/")[2]
    return policy.canonical(
        policy.allow(
            "sts:AssumeRoleWithWebIdentity",
            Principal={"Federated": provider},
            Condition={"StringEquals": {f"{issuer}:sub": list(subjects)}},
        ),
    )

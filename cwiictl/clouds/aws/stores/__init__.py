"""Where AWS's things live, a file per service. The only importers of its SDK, which is loaded when a store is first made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cwiictl.clouds.aws.partitions import Partition
from cwiictl.clouds.aws.permissions import Grant
from cwiictl.clouds.aws.resources.bucket import BucketPolicyState, BucketState
from cwiictl.clouds.aws.resources.distribution import (
    DistributionState,
    OriginAccessState,
    OriginIdentityState,
)
from cwiictl.clouds.aws.resources.instance_profile import InstanceProfileState
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicyState
from cwiictl.clouds.aws.resources.named_policy import NamedPolicyState
from cwiictl.clouds.aws.resources.oidc_provider import OidcProviderState
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.permissions import PermissionsState
from cwiictl.engine.resource import Store
from cwiictl.issuer.documents import DocumentState, IssuerState, KeySetState
from cwiictl.issuer.known import KnownIssuersState
from cwiictl.verify.finding import Refusal


@dataclass(frozen=True)
class Stores:
    account: str
    caller: str
    region: str
    close: Callable[[], None]
    partition: Partition
    permissions: Callable[[tuple[Grant, ...]], Store[PermissionsState]]
    buckets: Store[BucketState]
    bucket_policies: Store[BucketPolicyState]
    accesses: Store[OriginAccessState]
    origin_identities: Store[OriginIdentityState]
    distributions: Store[DistributionState]
    documents: Store[DocumentState]
    key_sets: Store[KeySetState]
    issuers: Store[IssuerState]
    known_issuers: Store[KnownIssuersState]
    providers: Store[OidcProviderState]
    standing: Callable[
        [str, str], str
    ]  # the URL of the issuer that roles of a cluster trust, at this place or by the cluster's mark
    policies: Store[ManagedPolicyState]
    named_policies: Store[NamedPolicyState]
    roles: Store[RoleState]
    instance_profiles: Store[InstanceProfileState]
    exchange: Callable[[str, str], Refusal | None]  # of a token, for a role's credentials

    @property
    def identities(self) -> Store[RoleState]:
        return self.roles

    @property
    def facts(self) -> Mapping[str, str]:
        return {"aws_region": self.region}

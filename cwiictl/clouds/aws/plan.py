"""What a cluster needs in AWS, from what was asked; and what its workloads must be told afterwards. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.bucket import PRIVATE, READABLE, Bucket, BucketPolicy
from cwiictl.clouds.aws.resources.distribution import Distribution, OriginAccess
from cwiictl.clouds.aws.resources.document import JWKS
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider
from cwiictl.clouds.aws.resources.role import Role, trust
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.engine.resource import Known, Store
from cwiictl.errors import BadInput
from cwiictl.issuer.documents import DiscoveryDocument, Issuer, Keys, KeySet
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Binding, Cluster, Workload

AUDIENCES = frozenset({"openshift", "sts.amazonaws.com"})
TRUST_LIMIT = 2048
INLINE_LIMIT = 10240


def host(spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, keys: Keys) -> Issuer:
    """In a bucket that everybody may read, or in one that only CloudFront may."""
    name = names.bucket(cluster)
    origin = f"{name}.s3.{spec.region}.{stores.partition.suffix}"
    bucket = Bucket(name, stores.buckets, cluster, spec.region, PRIVATE if spec.private else READABLE)
    front = Distribution(name, stores.distributions, cluster, origin, OriginAccess(name, stores.accesses)) if spec.private else None
    home = Home(host=front) if front else Home(f"https://{origin}")
    readers = BucketPolicy(name, stores.bucket_policies, bucket, stores.partition.name, front)
    discovery = DiscoveryDocument(f"{name}/{names.DISCOVERY}", stores.documents, bucket, home, JWKS)
    key_set = KeySet(f"{name}/{JWKS}", stores.key_sets, bucket, key, keys)
    return Issuer(f"{name}.cloudfront" if front else home.text, stores.issuers, home, key, (readers, discovery, key_set))


def trusting(cluster: Cluster, stores: Stores, issuer: Issuer) -> Iterator[OidcProvider]:
    yield OidcProvider(issuer.name.removeprefix("https://"), stores.providers, cluster, issuer, AUDIENCES)


def identities(spec: Spec, cluster: Cluster, stores: Stores, asks: Iterable[tuple[Workload, Ask]], home: Home) -> Iterator[Role]:
    iam = f"arn:{stores.partition.name}:iam::{stores.account}:"
    for workload, asked in asks:
        role = Role(names.role(cluster, workload), stores.roles, cluster, workload, asked.policy, iam, home, spec.provider, spec.boundary)
        _fits(workload, "trust policy", trust(spec.provider or f"{iam}oidc-provider/{home.text}", workload.subjects), TRUST_LIMIT, "ServiceAccounts")
        _fits(workload, "permissions", asked.policy, INLINE_LIMIT, "statements")
        yield role


def _fits(workload: Workload, what: str, document: Policy, limit: int, remedy: str) -> None:
    length = len(policy.dump(document))
    if length > limit:
        raise BadInput(
            f"{workload.source}: the {what} of {workload.title} would be {length} characters long, and IAM takes {limit}",
            remedy=f"split its {remedy} over two requests",
        )


def walk(stores: Stores) -> Sequence[Store[Any]]:
    """The order of making."""
    hosting = (stores.buckets, stores.accesses, stores.distributions, stores.bucket_policies, stores.documents, stores.key_sets)
    return (*hosting, stores.issuers, stores.providers, stores.roles)


def bindings(roles: Iterable[Role], known: Known) -> Iterator[Binding]:
    """The AWS SDKs' own configuration format, for the roles that are there."""
    for role in roles:
        if role in known:
            text = f"[default]\nsts_regional_endpoints = regional\nrole_arn = {known[role].arn}\nweb_identity_token_file = {role.workload.token_path}\n"
            yield Binding(role.workload, "aws", {"credentials": text})

"""What a cluster needs in AWS, from what was asked; and what its workloads must be told afterwards. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.bucket import Bucket
from cwiictl.clouds.aws.resources.document import JWKS
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider
from cwiictl.clouds.aws.resources.role import Role, trust
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.engine.resource import Known, Store
from cwiictl.errors import BadInput
from cwiictl.issuer.documents import DiscoveryDocument, Issuer, Keys, KeySet
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Binding, Cluster, Workload

AUDIENCES = frozenset({"openshift", "sts.amazonaws.com"})
TRUST_LIMIT = 2048
INLINE_LIMIT = 10240


def url(spec: Spec, cluster: Cluster, stores: Stores) -> str:
    """Of the issuer that AWS hosts for the cluster."""
    return f"https://{names.bucket(cluster)}.s3.{spec.region}.{stores.partition.suffix}"


def host(spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, keys: Keys) -> Issuer:
    bucket = Bucket(names.bucket(cluster), stores.buckets, cluster, stores.partition.name, spec.region)
    issuer = url(spec, cluster, stores)
    discovery = DiscoveryDocument(f"{bucket.name}/{names.DISCOVERY}", stores.documents, bucket, issuer, f"{issuer}/{JWKS}")
    key_set = KeySet(f"{bucket.name}/{JWKS}", stores.key_sets, bucket, key, keys)
    return Issuer(issuer, stores.issuers, (discovery, key_set), key)


def trusting(cluster: Cluster, stores: Stores, issuer: Issuer) -> Iterator[OidcProvider]:
    yield OidcProvider(issuer.name.removeprefix("https://"), stores.providers, cluster, issuer, AUDIENCES)


def identities(spec: Spec, cluster: Cluster, stores: Stores, asks: Iterable[tuple[Workload, Ask]], issuer: str) -> Iterator[Role]:
    iam = f"arn:{stores.partition.name}:iam::{stores.account}:"
    provider = spec.provider or f"{iam}oidc-provider/{issuer.removeprefix('https://')}"
    for workload, asked in asks:
        name = names.role(cluster, workload)
        _fits(workload, "trust policy", trust(provider, workload.subjects), TRUST_LIMIT, "split its ServiceAccounts over two requests")
        _fits(workload, "permissions", asked.policy, INLINE_LIMIT, "split its statements over two requests")
        yield Role(name, stores.roles, cluster, workload, asked.policy, f"{iam}role/{name}", provider, spec.boundary)


def _fits(workload: Workload, what: str, document: Policy, limit: int, remedy: str) -> None:
    length = len(policy.dump(document))
    if length > limit:
        raise BadInput(f"{workload.source}: the {what} of {workload.title} would be {length} characters long, and IAM takes {limit}", remedy=remedy)


def walk(stores: Stores) -> Sequence[Store[Any]]:
    """The order of making."""
    return (stores.buckets, stores.documents, stores.key_sets, stores.issuers, stores.providers, stores.roles)


def bindings(roles: Iterable[Role], known: Known) -> Iterator[Binding]:
    """The AWS SDKs' own configuration format, for the roles that are there."""
    for role in roles:
        if role in known:
            text = f"[default]\nsts_regional_endpoints = regional\nrole_arn = {known[role].arn}\nweb_identity_token_file = {role.workload.token_path}\n"
            yield Binding(role.workload, "aws", {"credentials": text})

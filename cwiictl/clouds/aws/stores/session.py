"""Who acts in AWS, and the clients that act: made once, in the calling thread, as wide as the workers."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config

from cwiictl.clouds.aws.partitions import Partition, partition
from cwiictl.clouds.aws.spec import Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.clouds.aws.stores.cloudfront import Distributions, OriginAccesses
from cwiictl.clouds.aws.stores.errors import told
from cwiictl.clouds.aws.stores.exchange import Exchanges
from cwiictl.clouds.aws.stores.iam import ManagedPolicies, OidcProviders, Standing
from cwiictl.clouds.aws.stores.instance_profiles import InstanceProfiles
from cwiictl.clouds.aws.stores.named_policies import NamedPolicies
from cwiictl.clouds.aws.stores.objects import Documents, KeySets
from cwiictl.clouds.aws.stores.origin_identities import OriginIdentities
from cwiictl.clouds.aws.stores.permissions import Simulations
from cwiictl.clouds.aws.stores.roles import Roles
from cwiictl.clouds.aws.stores.s3 import BucketPolicies, Buckets
from cwiictl.errors import BadInput
from cwiictl.issuer.stores.known import KnownIssuers
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from boto3.session import Session
    from types_boto3_cloudfront import CloudFrontClient
    from types_boto3_iam import IAMClient
    from types_boto3_s3 import S3Client
    from types_boto3_sts import STSClient
    from types_boto3_sts.type_defs import GetCallerIdentityResponseTypeDef

log = logging.getLogger("cwiictl.aws")

SESSION = re.compile(r":sts:(?P<account>:\d+):assumed-role/(?P<role>.+)/[^/]+$")


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    with told("sts"):
        where = partition(spec.region)
        clients = Clients(spec.region, where, width)
        who = clients.asked()
    if spec.account and who["Account"] != spec.account:
        raise BadInput(
            f"the AWS credentials are of account {who['Account']}, and --aws-account says {spec.account}",
            remedy="log in to the right account, or change the pin",
        )
    clients.keep_to(who["Account"])
    return stores(spec, cluster, clients, Caller(who["Account"], caller(who["Arn"]), where))


@dataclass(frozen=True)
class Caller:
    account: str
    name: str
    partition: Partition


class Clients:
    """Of one session. None of them tries anything twice."""

    iam: IAMClient
    cloudfront: CloudFrontClient
    s3: S3Client

    def __init__(self, region: str, where: Partition, width: int) -> None:
        session = boto3.Session(region_name=region)
        _known(session, region, where)
        session.events.register("after-call", _log)
        self.session: Any = (
            session  # its type has a variant for each of AWS's four hundred services
        )
        self.config = Config(
            retries={"total_max_attempts": 1},
            max_pool_connections=width,
            connect_timeout=10,
            read_timeout=60,
            user_agent_extra="cwiictl",
        )
        self.sts: STSClient = self._made("sts")
        self.exchanges = Exchanges(partial(self._made, "sts", Config(signature_version=UNSIGNED)))

    def asked(self) -> GetCallerIdentityResponseTypeDef:
        """Who we are. To make the other clients takes as long as the answer."""
        with ThreadPoolExecutor(1) as beside:
            who = beside.submit(self.sts.get_caller_identity)
            self.iam, self.cloudfront, self.s3 = (
                self._made(service) for service in ("iam", "cloudfront", "s3")
            )
            return who.result()

    def keep_to(self, account: str) -> None:
        """To this account and to no other."""
        ours: Any = partial(_of_ours, account)
        self.s3.meta.events.register("provide-client-params.s3", ours)

    def close(self) -> None:
        for client in (self.sts, self.iam, self.cloudfront, self.s3, self.exchanges):
            client.close()

    def _made(self, service: str, further: Config | None = None) -> Any:
        return self.session.client(
            service, config=self.config.merge(further) if further else self.config
        )


def stores(spec: Spec, cluster: Cluster, clients: Clients, who: Caller) -> Stores:
    iam, cloudfront, s3, name = clients.iam, clients.cloudfront, clients.s3, cluster.name
    arn = f"arn:{who.partition.name}:iam::{who.account}:"
    providers = OidcProviders(iam, name, f"{arn}oidc-provider/")
    places = _places(spec, providers)
    return Stores(
        account=who.account,
        caller=who.name,
        region=spec.region,
        close=clients.close,
        partition=who.partition,
        permissions=partial(Simulations, iam),
        buckets=Buckets(s3, name, places),
        bucket_policies=BucketPolicies(s3),
        accesses=OriginAccesses(cloudfront),
        origin_identities=OriginIdentities(cloudfront, name),
        distributions=Distributions(cloudfront, name),
        documents=Documents(s3, name, places),
        key_sets=KeySets(s3, name, places),
        issuers=Web(),
        known_issuers=KnownIssuers("aws", providers.issuers),
        providers=providers,
        standing=Standing(providers).url,
        policies=ManagedPolicies(iam, name, f"{arn}policy/"),
        named_policies=NamedPolicies(iam),
        roles=Roles(iam, name),
        instance_profiles=InstanceProfiles(iam, name),
        exchange=clients.exchanges.exchange,
    )


def caller(arn: str) -> str:
    """Of a role, the role: the name of its session changes with every login, and a plan must not."""
    return SESSION.sub(r":iam:\g<account>:role/\g<role>", arn)


def _places(spec: Spec, providers: OidcProviders) -> Callable[[str], Collection[str]]:
    """What was named now, and what was written down when it was used."""

    @cache
    def places(cluster: str) -> Collection[str]:
        with told("iam"):
            return {
                *providers.lent(cluster),
                *([f"{spec.bucket}/{spec.folder}"] if spec.bucket else []),
            }

    return places


def _of_ours(account: str, params: dict[str, Any], model: Any, **_call: Any) -> dict[str, Any]:
    """Bucket names are the world's: S3 refuses whatever would reach another account's."""
    return (
        {**params, "ExpectedBucketOwner": account}
        if "ExpectedBucketOwner" in model.input_shape.members
        else params
    )


def _log(**call: Any) -> None:
    """Which call, and what came of it: never what was in it."""
    log.debug(
        "%s:%s %s",
        call["model"].service_model.service_name,
        call["model"].name,
        call["http_response"].status_code,
    )


def _known(session: Session, region: str, where: Partition) -> None:
    regions = session.get_available_regions("s3", partition_name=where.name)
    if region not in regions:
        near = difflib.get_close_matches(region, regions, 1)
        raise BadInput(
            f"AWS has no region {region!r}",
            remedy=f"did you mean {near[0]}?"
            if near
            else "give one such as us-east-1 with --region",
        )

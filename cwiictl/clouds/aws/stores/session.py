"""Who acts in AWS, and the clients that act: made once, in the calling thread, as wide as the workers."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable, Collection
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from cwiictl.clouds.aws.partitions import Partition, partition
from cwiictl.clouds.aws.spec import Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.clouds.aws.stores.cloudfront import Distributions, OriginAccesses
from cwiictl.clouds.aws.stores.errors import translating
from cwiictl.clouds.aws.stores.iam import KnownIssuers, ManagedPolicies, OidcProviders, Standing
from cwiictl.clouds.aws.stores.objects import Documents, KeySets
from cwiictl.clouds.aws.stores.origin_identities import OriginIdentities
from cwiictl.clouds.aws.stores.permissions import Simulations
from cwiictl.clouds.aws.stores.roles import Roles
from cwiictl.clouds.aws.stores.s3 import BucketPolicies, Buckets
from cwiictl.errors import BadInput
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from boto3.session import Session
    from types_boto3_cloudfront import CloudFrontClient
    from types_boto3_iam import IAMClient
    from types_boto3_s3 import S3Client
    from types_boto3_sts import STSClient

log = logging.getLogger("cwiictl.aws")

SESSION = re.compile(r":sts:(?P<account>:\d+):assumed-role/(?P<role>.+)/[^/]+$")


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    with translating("sts"):
        session = boto3.Session(region_name=spec.region)
        where = partition(spec.region)
        _known(session, spec.region, where)
        config = Config(retries={"total_max_attempts": 1}, max_pool_connections=width, connect_timeout=10, read_timeout=60, user_agent_extra="cwiictl")
        session.events.register("after-call", _log)
        made: Any = session  # its type has a variant for each of AWS's four hundred services
        sts: STSClient = made.client("sts", config=config)
        who = sts.get_caller_identity()
        ours: Any = partial(_of_ours, who["Account"])
        session.events.register("provide-client-params.s3", ours)
        iam: IAMClient = made.client("iam", config=config)
        cloudfront: CloudFrontClient = made.client("cloudfront", config=config)
        s3: S3Client = made.client("s3", config=config)
    if spec.account and who["Account"] != spec.account:
        raise BadInput(
            f"the AWS credentials are of account {who['Account']}, and --aws-account says {spec.account}",
            remedy="log in to the right account, or change the pin",
        )
    arn = f"arn:{where.name}:iam::{who['Account']}:"
    providers = OidcProviders(iam, cluster.name, f"{arn}oidc-provider/")
    places = _places(spec, providers)

    def close() -> None:
        for client in (sts, iam, cloudfront, s3):
            client.close()

    return Stores(
        account=who["Account"],
        caller=caller(who["Arn"]),
        close=close,
        partition=where,
        permissions=partial(Simulations, iam),
        buckets=Buckets(s3, cluster.name, places),
        bucket_policies=BucketPolicies(s3),
        accesses=OriginAccesses(cloudfront),
        origin_identities=OriginIdentities(cloudfront, cluster.name),
        distributions=Distributions(cloudfront, cluster.name),
        documents=Documents(s3, cluster.name, places),
        key_sets=KeySets(s3, cluster.name, places),
        issuers=Web(),
        known_issuers=KnownIssuers(providers),
        providers=providers,
        standing=Standing(providers).url,
        policies=ManagedPolicies(iam, cluster.name, f"{arn}policy/"),
        roles=Roles(iam, cluster.name),
    )


def caller(arn: str) -> str:
    """Of a role, the role: the name of its session changes with every login, and a plan must not."""
    return SESSION.sub(r":iam:\g<account>:role/\g<role>", arn)


def _places(spec: Spec, providers: OidcProviders) -> Callable[[str], Collection[str]]:
    """What was named now, and what was written down when it was used."""

    @cache
    def places(cluster: str) -> Collection[str]:
        with translating("iam"):
            return {*providers.lent(cluster), *([f"{spec.bucket}/{spec.folder}"] if spec.bucket else [])}

    return places


def _of_ours(account: str, params: dict[str, Any], model: Any, **_call: Any) -> dict[str, Any]:
    """Bucket names are the world's: S3 refuses whatever would reach another account's."""
    return {**params, "ExpectedBucketOwner": account} if "ExpectedBucketOwner" in model.input_shape.members else params


def _log(**call: Any) -> None:
    """Which call, and what came of it: never what was in it."""
    log.debug("%s:%s %s", call["model"].service_model.service_name, call["model"].name, call["http_response"].status_code)


def _known(session: Session, region: str, where: Partition) -> None:
    regions = session.get_available_regions("s3", partition_name=where.name)
    if region not in regions:
        near = difflib.get_close_matches(region, regions, 1)
        raise BadInput(f"AWS has no region {region!r}", remedy=f"did you mean {near[0]}?" if near else "give one such as us-east-1 with --region")

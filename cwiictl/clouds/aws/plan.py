"""What a cluster needs in AWS, from what was asked; and what its workloads must be told afterwards. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from cwiictl import names
from cwiictl.audiences import ASKERS, AWS, Asker
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.bucket import (
    EVERYBODY,
    PRIVATE,
    READABLE,
    Bucket,
    BucketPolicy,
    reading,
)
from cwiictl.clouds.aws.resources.distribution import Distribution, OriginAccess
from cwiictl.clouds.aws.resources.document import JWKS
from cwiictl.clouds.aws.resources.instance_profile import InstanceProfile, MachineRole
from cwiictl.clouds.aws.resources.managed_policy import MOST, ManagedPolicy, parts
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider
from cwiictl.clouds.aws.resources.role import Account, Role, trust
from cwiictl.clouds.aws.spec import PROVIDER_ARN, Ask, Machines, Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.engine.resource import Walk
from cwiictl.errors import BadInput
from cwiictl.issuer.documents import DiscoveryDocument, Hosting, Issuer, KeySet
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster, Workload

TRUST_LIMIT = 2048
INLINE_LIMIT = 10240


def judged(_spec: Spec, cluster: Cluster) -> None:
    """What AWS would refuse of a cluster, whatever is asked for it."""
    for key in cluster.tags:
        if key.lower().startswith("aws:"):
            raise BadInput(
                f"AWS takes no tag with the key {key}",
                remedy="choose a key that does not begin with aws:",
            )


def brings(spec: Spec) -> bool:
    """Whether the user has a place for the documents, wherever the issuer's URL leads."""
    return bool(spec.bucket)


def uploads(spec: Spec) -> bool:  # noqa: ARG001 - it always does
    """Whether the keys are handed to whoever trusts the issuer, so that nobody needs to read it."""
    return False


def host(spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, how: Hosting) -> Issuer:
    """In a bucket that everybody may read, in one that only CloudFront may, or in one of the user's own."""
    name = spec.bucket or names.bucket(cluster)
    origin = f"{name}.s3.{spec.region}.{stores.partition.suffix}"
    access = None if spec.bucket else PRIVATE if spec.private else READABLE
    bucket = Bucket(name, stores.buckets, cluster, spec.region, access, how.clouds)
    front = (
        Distribution(
            name, stores.distributions, cluster, origin, OriginAccess(name, stores.accesses)
        )
        if spec.private
        else None
    )
    home = Home(host=front) if front else Home(how.url or _own_url(spec, origin))
    readers = (
        ()
        if spec.bucket
        else (BucketPolicy(name, stores.bucket_policies, bucket, stores.partition.name, front),)
    )
    discovery = DiscoveryDocument(
        f"{name}/{spec.folder}{names.DISCOVERY}", stores.documents, bucket, home, JWKS, cluster.name
    )
    key_set = KeySet(
        f"{name}/{spec.folder}{JWKS}", stores.key_sets, bucket, key, how.keys, cluster.name
    )
    remedy = _opening(stores.partition.name, spec) if spec.bucket and not how.url else ""
    return Issuer(
        f"{name}.cloudfront" if front else home.text,
        how.web or stores.issuers,
        home,
        key,
        (*readers, discovery, key_set),
        remedy,
    )


def _opening(partition: str, spec: Spec) -> str:
    """The policy of a bucket that is not ours is its owner's to write."""
    statement = json.dumps({**EVERYBODY, **reading(partition, spec.bucket, spec.folder)})
    return f"let everybody read the two documents: add to the policy of the bucket {spec.bucket} the statement {statement}"


def _own_url(spec: Spec, origin: str) -> str:
    if "." in spec.bucket:
        remedy = "take one without dots, or name its own host with --issuer-url"
        raise BadInput(
            f"the certificate of S3 does not cover the bucket name {spec.bucket}", remedy=remedy
        )
    return f"https://{origin}/{spec.prefix}".rstrip("/")


def standing(spec: Spec, cluster: Cluster, stores: Stores, url: str) -> Home:
    """Where the issuer is that was made before: as the user says, or as the provider says that bears the cluster's mark."""
    if not (spec.provider or url) and spec.bucket:
        url = _own_url(spec, f"{spec.bucket}.s3.{spec.region}.{stores.partition.suffix}")
    return trusted(spec, cluster, stores, url)


def trusted(spec: Spec, cluster: Cluster, stores: Stores, url: str) -> Home:
    """Whom the provider believes that roles are to trust: the one that is named, or of this URL, or that bears the cluster's mark."""
    told = PROVIDER_ARN.fullmatch(spec.provider)
    if told and told["account"] != stores.account:
        raise BadInput(
            f"--identity-provider-arn is of account {told['account']}, and roles trust providers of their own",
            remedy="name one of this account",
        )
    return Home(
        stores.standing(cluster.name, told["place"] if told else url.removeprefix("https://"))
    )


def trusting(
    spec: Spec, cluster: Cluster, stores: Stores, issuer: Issuer, askers: Collection[Asker]
) -> Iterator[OidcProvider]:
    """Believed for all audiences that anybody's tokens are for; those of whom this run does not know stay."""
    audiences, ever = (
        frozenset(audience for asker in each for audience in AWS[asker])
        for each in (askers or ASKERS, ASKERS)
    )
    lent = f"{spec.bucket}/{spec.folder}" if spec.bucket else ""
    yield OidcProvider(
        issuer.name.removeprefix("https://"),
        stores.providers,
        cluster,
        issuer,
        audiences,
        ever,
        lent,
    )


def identities(
    spec: Spec, cluster: Cluster, stores: Stores, asks: Iterable[tuple[Workload, Ask]], home: Home
) -> Iterator[Role | InstanceProfile]:
    iam = f"arn:{stores.partition.name}:iam::{stores.account}:"
    account = Account(iam, spec.provider, spec.boundary, spec.path or "/", spec.region)
    for workload, asked in asks:
        name = (
            _found_again(cluster, workload, asked.role)
            if asked.role
            else names.role(cluster, workload)
        )
        _trusts_within_limits(workload, account, home)
        inline, extra = _split(cluster, stores, iam, workload, asked.policy)
        if len(asked.managed) + len(extra) > MOST:
            raise BadInput(
                f"{workload.title} would have more than the {MOST} managed policies that a role may have",
                remedy="give it fewer, or shorter ones",
            )
        yield Role(
            name,
            stores.roles,
            cluster,
            workload,
            account,
            home,
            inline,
            asked.managed,
            extra,
            asked.session or int(spec.session or 3600),
        )
        if asked.machines:
            yield _machines(cluster, stores, account, workload, asked.machines)


def _machines(
    cluster: Cluster, stores: Stores, account: Account, workload: Workload, asked: Machines
) -> InstanceProfile:
    role, profile = (_found_again(cluster, workload, name) for name in (asked.role, asked.profile))
    if asked.policy and len(policy.dump(asked.policy)) > INLINE_LIMIT:
        raise BadInput(
            f"{workload.source or workload.title}: the policy of {role} is longer than the {INLINE_LIMIT} characters that IAM takes",
            remedy="allow its machines less, or give them managed policies",
        )
    running = MachineRole(
        role, stores.roles, cluster, workload, account, asked.policy, asked.managed
    )
    return InstanceProfile(profile, stores.instance_profiles, cluster, account, running)


def _found_again(cluster: Cluster, workload: Workload, name: str) -> str:
    """IAM lists without tags: whose a thing may be is seen from its name, and so is what we may touch."""
    begin = names.role_prefix(cluster.name)
    if not name.startswith(begin):
        where = workload.source or workload.title
        raise BadInput(
            f"{where}: the name {name} does not begin with {begin}, by which the cluster's things are found",
            remedy="begin it so, or leave it out",
        )
    return name


def _split(
    cluster: Cluster, stores: Stores, iam: str, workload: Workload, grants: Policy | None
) -> tuple[Policy | None, tuple[ManagedPolicy, ...]]:
    """What is too long for the role itself goes to policies of ours."""
    if grants is None or len(policy.dump(grants)) <= INLINE_LIMIT:
        return grants, ()
    titled = (
        (names.part(cluster, workload, number), part)
        for number, part in enumerate(parts(grants, workload.source or workload.title), 1)
    )
    return None, tuple(
        ManagedPolicy(title, stores.policies, cluster, f"{iam}policy/{title}", part)
        for title, part in titled
    )


def _trusts_within_limits(workload: Workload, account: Account, home: Home) -> None:
    url = home.text or "https://d0123456789abc.cloudfront.net"
    length = len(policy.dump(trust(account.trusted(url), workload)))
    if length > TRUST_LIMIT:
        raise BadInput(
            f"{workload.source or workload.title}: the trust policy of {workload.title} would be {length} characters long, and IAM takes {TRUST_LIMIT}",
            remedy="split its ServiceAccounts over two requests",
        )


def walk(stores: Stores) -> Walk:
    front = (
        (stores.accesses, stores.origin_identities, stores.distributions)
        if stores.partition.cloudfront
        else ()
    )
    hosting = (stores.buckets, *front, stores.bucket_policies, stores.issuers)
    return Walk(
        hosting,
        (stores.documents, stores.key_sets),
        (stores.providers,),
        (stores.policies, stores.roles, stores.instance_profiles),
    )

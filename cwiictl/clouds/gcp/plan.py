"""What a cluster needs in Google Cloud, from what was asked; and what its workloads must be told afterwards. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from cwiictl import names
from cwiictl.audiences import ASKERS, GCP, Asker
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.api import IDENTITIES, STORAGE, Api
from cwiictl.clouds.gcp.resources.bucket import CLOSED, READABLE, Access, Bucket
from cwiictl.clouds.gcp.resources.custom_role import CustomRole
from cwiictl.clouds.gcp.resources.document import JWKS, Discovery
from cwiictl.clouds.gcp.resources.former import FormerKeys
from cwiictl.clouds.gcp.resources.policy import Granted, Policy, Principal
from cwiictl.clouds.gcp.resources.pool import Pool
from cwiictl.clouds.gcp.resources.principal import Subject
from cwiictl.clouds.gcp.resources.provider import Provider
from cwiictl.clouds.gcp.resources.reach import Reach
from cwiictl.clouds.gcp.resources.service_account import Project, ServiceAccount
from cwiictl.clouds.gcp.spec import BUCKET, POOL, UPLOADED, Ask, Spec
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Resource, Walk
from cwiictl.errors import BadInput
from cwiictl.issuer.documents import Hosting, Issuer, Keys, KeySet
from cwiictl.issuer.elsewhere import Nowhere, Unread
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster, Workload

LENGTH = 46  # of a name that a label's key has room for
LABELS = 50  # of a bucket's sixty-four; the others are ours
LABEL_KEY = re.compile(r"[a-z][-_a-z0-9]{0,62}")
LABEL_VALUE = re.compile(r"[-_a-z0-9]{0,63}")
NO_LABEL = ("name", "cwii-dev_", "openshift-io_", "goog")
SUBJECT = 127  # bytes of google.subject


def judged(spec: Spec, cluster: Cluster) -> None:
    """What Google would refuse of a cluster, whatever is asked for it."""
    if not POOL.fullmatch(spec.pool_of(cluster)) or not POOL.fullmatch(spec.provider_of(cluster)):
        raise BadInput(
            f"the cluster name {cluster.name!r} is no name of a workload identity pool",
            remedy="use 4 to 32 lower-case letters, digits and '-', beginning with a letter and not with gcp-,"
            " or give --workload-identity-pool and --workload-identity-provider",
        )
    if len(cluster.name) > LENGTH:
        raise BadInput(
            f"the cluster name {cluster.name!r} is too long for a label",
            remedy=f"use at most {LENGTH} characters",
        )
    if not spec.bucket and not BUCKET.fullmatch(names.bucket(cluster)):
        raise BadInput(
            f"no bucket can be called {names.bucket(cluster)}",
            remedy="choose a --name without goog in it, or give --gcs-bucket",
        )
    if len(cluster.tags) > LABELS:
        raise BadInput(
            f"there are {len(cluster.tags)} tags, and Google Cloud takes {LABELS} labels beside ours",
            remedy="give fewer",
        )
    for key, value in cluster.tags.items():
        if not LABEL_KEY.fullmatch(key) or key == NO_LABEL[0] or key.startswith(NO_LABEL[1:]):
            raise BadInput(
                f"Google Cloud takes no label with the key {key}",
                remedy="take at most 63 lower-case letters, digits, '-' and '_', begin with a letter, and with none of goog, cwii-dev_ and openshift-io_",
            )
        if not LABEL_VALUE.fullmatch(value):
            raise BadInput(
                f"Google Cloud takes no label with the value {value}",
                remedy="take at most 63 lower-case letters, digits, '-' and '_'",
            )


@dataclass
class _Given:
    """What the workloads of a run are given, by project."""

    granted: dict[str, list[Granted]]
    members: list[ServiceAccount] = field(default_factory=list[ServiceAccount])
    principals: list[Principal] = field(default_factory=list[Principal])

    @property
    def reached(self) -> frozenset[str]:
        """Where principals are given anything."""
        direct = {member for principal in self.principals for member in principal.members}
        return frozenset(
            place
            for place, grants in self.granted.items()
            if any(grant.member in direct for grant in grants)
        )


def brings(spec: Spec) -> bool:
    """Whether the documents have a place, or need none, wherever the issuer's URL leads."""
    return bool(spec.bucket or spec.uploaded)


def uploads(spec: Spec) -> bool:
    """Whether the keys are handed to whoever trusts the issuer, so that nobody needs to read it."""
    return spec.uploaded


def host(spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, how: Hosting) -> Issuer:
    """In a bucket that everybody may read, in one of the user's own, or nowhere, when the provider has the keys itself."""
    if spec.uploaded:
        return _unhosted(spec, cluster, stores, key, how)
    bucket = _bucket(spec, cluster, stores, how, None if spec.bucket else READABLE)
    home = Home(how.url or stores.universe.bucket(bucket.name))
    discovery = Discovery(
        f"{bucket.name}/{names.DISCOVERY}", stores.documents, bucket, home, JWKS, cluster.name
    )
    key_set = KeySet(f"{bucket.name}/{JWKS}", stores.key_sets, bucket, key, how.keys, cluster.name)
    return Issuer(home.text, how.web or stores.issuers, home, key, (discovery, key_set))


def _unhosted(
    spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, how: Hosting
) -> Issuer:
    """Its bucket is made all the same, empty and closed: whoever had its name could be believed by others who trust the issuer."""
    if how.clouds:
        raise BadInput(
            f"{', '.join(sorted(how.clouds))} could not read the keys of --key-storage-method {UPLOADED}",
            remedy="let another cloud host the issuer with --issuer-in, or leave --key-storage-method out",
        )
    bucket = _bucket(spec, cluster, stores, how, CLOSED)
    home = Home(how.url or stores.universe.bucket(bucket.name))
    return Unread(home.text, Nowhere(), home, key, () if how.url else (bucket,), keys=how.keys)


def _bucket(
    spec: Spec, cluster: Cluster, stores: Stores, how: Hosting, access: Access | None
) -> Bucket:
    name = spec.bucket or names.bucket(cluster)
    apis = _apis(spec, stores, STORAGE)
    return Bucket(
        name,
        stores.buckets,
        cluster,
        stores.number,
        spec.region,
        access,
        how.clouds,
        bool(how.url),
        apis,
    )


def _apis(spec: Spec, stores: Stores, *services: str) -> tuple[Api, ...]:
    return tuple(Api(service, stores.apis, spec.project, spec.enable) for service in services)


def _pool(spec: Spec, cluster: Cluster, stores: Stores) -> Pool:
    return Pool(
        spec.pool_of(cluster),
        stores.pools,
        cluster,
        spec.provider_of(cluster),
        bool(spec.pool),
        _apis(spec, stores, *IDENTITIES),
    )


def standing(spec: Spec, cluster: Cluster, stores: Stores, url: str) -> Home:
    """Where the issuer is that was made before: as the provider says that bears the cluster's mark, or that the user names."""
    name = f"{spec.pool_of(cluster)}/{spec.provider_of(cluster)}"
    have = stores.providers.get([name]).get(name)
    ours = have and have.owner and names.own(have.owner.cluster) == cluster.name
    if have is None or have.deleted or not (ours or spec.provider):
        raise BadInput(
            f"there is no provider {name} of cluster {cluster.name} in the Google Cloud project {spec.project}, so nobody's tokens would be believed",
            remedy="make it with create-identity-provider, or name the one that is there with --workload-identity-pool and --workload-identity-provider",
        )
    if url and url != have.issuer:
        raise BadInput(
            f"the provider {name} believes {have.issuer}, and not {url}",
            remedy=f"say so with --issuer-url {have.issuer}, or leave --issuer-url out",
        )
    return Home(have.issuer)


trusted = standing  # whoever hosts the issuer, its provider says who is believed


def trusting(
    spec: Spec,
    cluster: Cluster,
    stores: Stores,
    issuer: Issuer,
    askers: Collection[Asker],  # noqa: ARG001 - whoever comes later asks the same provider
) -> Iterator[Resource[Any]]:
    """Believed for all audiences that anybody's tokens are for, and ever will be: no command that makes identities writes the provider."""
    pool = _pool(spec, cluster, stores)
    named = ids.provider(stores.number, pool.name, spec.provider_of(cluster))
    audiences = frozenset(
        audience.format(provider=named) for asker in ASKERS for audience in GCP[asker]
    )
    place = f"{pool.name}/{spec.provider_of(cluster)}"
    provider = Provider(
        place,
        stores.providers,
        cluster,
        pool,
        issuer,
        audiences,
        "uploaded" if spec.uploaded else "issuer",
    )
    yield provider
    keys = (
        KeySet(place, stores.provider_keys, provider, issuer.key, _keys(issuer), cluster.name)
        if spec.uploaded
        else None
    )
    yield from (keys,) if keys else ()
    yield from _former(stores, cluster, issuer, place, keys)


def _former(
    stores: Stores, cluster: Cluster, issuer: Issuer, place: str, keys: KeySet | None
) -> Iterator[FormerKeys]:
    """In the bucket, for the provider has them itself from now on; or in the provider, for they are published."""
    bucket = f"{names.bucket(cluster)}/{JWKS}"
    published = next(
        (
            thing
            for thing in issuer.behind
            if isinstance(thing, KeySet) and thing.store.kind == stores.key_sets.kind
        ),
        None,
    )
    if keys and isinstance(issuer, Unread) and issuer.behind:
        yield FormerKeys(
            bucket, stores.published_before, None, issuer.key, keys.keys, cluster.name, keys
        )
    elif published and not keys:
        yield FormerKeys(
            place, stores.uploaded_before, None, issuer.key, published.keys, cluster.name, published
        )


def _keys(issuer: Issuer) -> Keys:
    """What may be done to the provider's keys is what may be done to those that are published."""
    kept = (
        issuer
        if isinstance(issuer, Unread)
        else next((thing for thing in issuer.behind if isinstance(thing, KeySet)), None)
    )
    return kept.keys if kept else "published"


def identities(
    spec: Spec,
    cluster: Cluster,
    stores: Stores,
    asks: Iterable[tuple[Workload, Ask]],
    home: Home,  # noqa: ARG001 - the pool says whom it believes
) -> Iterator[Resource[Any]]:
    """And at the end what they may do: one policy for each project, written once for all of them."""
    pool, given = _pool(spec, cluster, stores), _Given({spec.project: []})
    place = f"{pool.name}/{pool.provider}"
    trust = (f"{stores.providers.kind}/{place}", f"{stores.provider_keys.kind}/{place}")
    project = Project(
        spec.project, stores.number, pool.name, pool.provider, stores.universe, cluster.name, trust
    )
    for workload, asked in asks:
        _told_within_limits(workload)
        who = (
            Principal(workload, project)
            if asked.direct
            else _account(stores, workload, asked, pool, project)
        )
        if isinstance(who, ServiceAccount):
            given.members.append(who)
            yield who
        else:
            given.principals.append(who)
            yield from (
                Subject(ids.subject(member), stores.principals) for member in sorted(who.members)
            )
        for place, grant in _granted(spec, cluster, stores, who, asked):
            given.granted.setdefault(place, []).append(grant)
    if given.members or given.principals:
        yield from _policies(spec, stores, pool, given)


def _account(
    stores: Stores, workload: Workload, asked: Ask, pool: Pool, project: Project
) -> ServiceAccount:
    """Of a request the one that ccoctl made is found by its title, for its id says nothing."""
    key = asked.request or workload.title
    title, name = (
        names.account_title(pool.cluster, key),
        asked.account or names.service_account(pool.cluster, key),
    )
    scopes = frozenset(place for each in asked.roles for place in each.projects) - {project.id}
    return ServiceAccount(
        stores.entitled(name, title) if asked.request else name,
        stores.service_accounts,
        workload,
        project,
        pool,
        title,
        scopes,
    )


def _granted(
    spec: Spec, cluster: Cluster, stores: Stores, who: ServiceAccount | Principal, asked: Ask
) -> Iterator[tuple[str, Granted]]:
    """Each with its project. A custom role is the cluster's project's, and can be given in no other."""
    members = sorted(who.members) if isinstance(who, Principal) else [who.member]
    for each in asked.roles:
        places = each.projects or (spec.project,)
        _grantable(each.name, places, who.workload)
        name = stores.role(each.name)
        yield from (
            (place, Granted(name, member, each.condition)) for place in places for member in members
        )
    if asked.permissions:
        role = _custom_role(spec, cluster, stores, who.workload, asked)
        yield from ((spec.project, Granted(role, member)) for member in members)


def _grantable(role: str, places: Iterable[str], workload: Workload) -> None:
    """Google would say that it does not exist, which may be true of what was made a moment ago: it would be waited for."""
    home = ids.home(role)
    strange = next((place for place in places if home and place != home), "")
    if strange:
        raise BadInput(
            f"{workload.source or workload.title}: {role} is a role of the project {home}, and cannot be given in {strange}",
            remedy=f"give one of {strange}'s own, or one that begins with roles/ or organizations/",
        )


def _custom_role(
    spec: Spec, cluster: Cluster, stores: Stores, workload: Workload, asked: Ask
) -> CustomRole:
    """What is shared says the same of itself, whoever makes it."""
    apis, key = _apis(spec, stores, *IDENTITIES), asked.request or workload.title
    if spec.separate:
        title, sentence = (
            names.fit(f"{cluster.name} {key}", 100),
            f"Permissions of {names.fit(workload.title, 100)}.",
        )
        return CustomRole(
            names.own_role(cluster, key),
            stores.custom_roles,
            title,
            sentence,
            asked.permissions,
            shared=False,
            apis=apis,
        )
    name = names.shared_role(asked.permissions)
    return CustomRole(
        name,
        stores.custom_roles,
        f"cwiictl {name}",
        "Permissions of all who ask for just these.",
        asked.permissions,
        apis=apis,
    )


def _policies(spec: Spec, stores: Stores, pool: Pool, given: _Given) -> Iterator[Policy]:
    """In other projects what the pool's own members are granted is written on the pool before."""
    apis, outside = _apis(spec, stores, *IDENTITIES), given.reached - {spec.project}
    reach = (Reach(pool.name, stores.reaches, pool, outside),) if outside else ()
    for place, grants in given.granted.items():
        roles = {
            grant.role.name: grant.role for grant in grants if isinstance(grant.role, CustomRole)
        }
        before = reach if place in outside else (pool,) if given.principals else ()
        told = (
            tuple(dict.fromkeys(grants)),
            tuple(given.members),
            tuple(roles.values()),
            before,
            tuple(given.principals),
        )
        yield Policy(place, stores.policies, *told, spec.exact, apis)


def _told_within_limits(workload: Workload) -> None:
    longest = max(workload.subjects, key=lambda subject: len(subject.encode()))
    if len(longest.encode()) > SUBJECT:
        where = workload.source or workload.title
        raise BadInput(
            f"{where}: {longest} is longer than the {SUBJECT} bytes that Google takes of a subject",
            remedy="choose a shorter ServiceAccount's name",
        )


def walk(stores: Stores) -> Walk:
    """Roles come last, and so go first: one that is shared is found by who has it."""
    trusting_ = (stores.providers, stores.provider_keys, stores.service_accounts)
    using = (stores.principals, stores.policies, stores.custom_roles)
    shared = {
        stores.policies.kind: "only what the cluster's members are granted in it: all else stays"
    }
    return Walk(
        (stores.buckets, stores.issuers),
        (stores.documents, stores.key_sets),
        trusting_,
        using,
        within=(stores.pools,),
        shared=shared,
    )

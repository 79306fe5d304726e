"""What a cluster needs in Azure, from what was asked; and what its workloads must be told afterwards. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from cwiictl import names
from cwiictl.audiences import Asker
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.custom_role import CustomRole
from cwiictl.clouds.azure.resources.document import JWKS, Discovery
from cwiictl.clouds.azure.resources.identity import TAG_VALUE, Identity, Subscription
from cwiictl.clouds.azure.resources.known_region import KnownRegion
from cwiictl.clouds.azure.resources.lent_role import LentRole
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup
from cwiictl.clouds.azure.resources.role_assignments import Grant, RoleAssignments
from cwiictl.clouds.azure.resources.standing_group import StandingGroup
from cwiictl.clouds.azure.resources.storage_account import Container, StorageAccount
from cwiictl.clouds.azure.spec import Ask, Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.azure.stores.leaving import LeavingGroups
from cwiictl.engine.resource import Resource, Walk
from cwiictl.errors import BadInput
from cwiictl.issuer.documents import Hosting, Issuer, KeySet
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster, Workload
from cwiictl.shapes import nearest

MOST = 20  # credentials of an identity
LENGTH = 600  # of a credential's issuer, and of its subject
TAG_KEY = 128  # a storage account's: those of others may be longer
TAGS = 40  # of a thing's fifty; the others are ours
OUTSIDE = 5  # of ours, for where an identity is given roles outside of its subscription
NO_TAG_KEY = frozenset("<>%&\\?/")
NO_TAG_BEGIN = ("microsoft", "azure", "windows")


def judged(spec: Spec, cluster: Cluster) -> None:
    """What Azure would refuse of a cluster, whatever is asked for it."""
    if spec.home(cluster) == spec.site(cluster):
        raise BadInput(
            "the issuer and the cluster cannot be in one resource group: the cluster's goes with the cluster",
            remedy="give another --oidc-resource-group-name, or --installation-resource-group-name",
        )
    if len({key.lower() for key in names.tags(cluster)}) < len(names.tags(cluster)):
        raise BadInput(
            "two tags differ only in case, and are one to Azure",
            remedy="leave one of them out; Name is ours",
        )
    if len(cluster.tags) > TAGS:
        raise BadInput(
            f"there are {len(cluster.tags)} tags, and Azure takes {TAGS} beside ours",
            remedy="give fewer",
        )
    for key, value in cluster.tags.items():
        if (
            NO_TAG_KEY & set(key)
            or not key.isprintable()
            or len(key) > TAG_KEY
            or key.lower().startswith(NO_TAG_BEGIN)
        ):
            raise BadInput(
                f"Azure takes no tag with the key {key}",
                remedy=f"take at most {TAG_KEY} characters, none of {''.join(sorted(NO_TAG_KEY))}, and do not begin with microsoft, azure or windows",
            )
        if len(value) > TAG_VALUE:
            raise BadInput(
                f"the tag {key} is longer than the {TAG_VALUE} characters that Azure takes",
                remedy="give it a shorter value",
            )


def brings(spec: Spec) -> bool:
    """Whether the user has a place for the documents, wherever the issuer's URL leads."""
    return bool(spec.account or spec.container or spec.private)


def uploads(spec: Spec) -> bool:  # noqa: ARG001 - it always does
    """Whether the keys are handed to whoever trusts the issuer, so that nobody needs to read it."""
    return False


def host(spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, how: Hosting) -> Issuer:
    """In a container that everybody may read, in one that only the user's own host may, or in one of the user's own."""
    if spec.private and not how.url:
        raise BadInput(
            "nobody could read the issuer of --create-private-storage-account",
            remedy="name the host of yours that serves it with --issuer-url",
        )
    title, place = (
        spec.account or names.account(cluster, spec.subscription),
        spec.container or names.container(cluster),
    )
    group = _group(spec, cluster, stores)
    account = StorageAccount(
        f"{group.name}/{title}",
        stores.accounts,
        cluster,
        spec.subscription,
        spec.region,
        group,
        public=not spec.private,
        fronted=bool(how.url),
        named=bool(spec.account),
        clouds=how.clouds,
    )
    container = Container(
        f"{title}/{place}", stores.containers, cluster, account, named=bool(spec.container)
    )
    home = Home(how.url or f"https://{stores.environment.blobs(title)}/{place}")
    discovery = Discovery(
        f"{container.name}/{names.DISCOVERY}", stores.documents, container, home, JWKS, cluster.name
    )
    key_set = KeySet(
        f"{container.name}/{JWKS}", stores.key_sets, container, key, how.keys, cluster.name
    )
    lent = LentRole(container.name, stores.lent_roles, container, (discovery, key_set))
    return Issuer(home.text, how.web or stores.issuers, home, key, (discovery, key_set, lent))


def _group(spec: Spec, cluster: Cluster, stores: Stores) -> ResourceGroup:
    return ResourceGroup(
        spec.home(cluster),
        stores.groups,
        cluster,
        spec.region,
        named=bool(spec.group),
        places=(KnownRegion(spec.region, stores.regions),),
    )


def _installation(spec: Spec, cluster: Cluster, stores: Stores) -> ResourceGroup:
    """Whoever has one already lends it to us, whatever told us its name."""
    return ResourceGroup(
        spec.site(cluster),
        stores.groups,
        cluster,
        spec.region,
        named=True,
        places=(KnownRegion(spec.region, stores.regions),),
    )


def standing(spec: Spec, cluster: Cluster, stores: Stores, url: str) -> Home:
    """Where the issuer is that was made before: as the user says, or where it is made."""
    title, place = (
        spec.account or names.account(cluster, spec.subscription),
        spec.container or names.container(cluster),
    )
    home = Home(url or f"https://{stores.environment.blobs(title)}/{place}")
    if not url:
        _stands(spec, cluster, stores, title, home)
    return home


def _stands(spec: Spec, cluster: Cluster, stores: Stores, title: str, home: Home) -> None:
    """The name of an account is the world's: an identity that believed one which is not the cluster's would believe whoever has it, or takes it."""
    name = f"{spec.home(cluster)}/{title}"
    have = stores.accounts.get([name]).get(name)
    if have is None or have.owner is None or names.own(have.owner.cluster) != cluster.name:
        raise BadInput(
            f"there is no storage account {title} of cluster {cluster.name} in {spec.home(cluster)}, so anybody could become the issuer {home.text}",
            remedy="make it with create-identity-provider, or say where the cluster's issuer is with --issuer-url URL --issuer-exists",
        )
    known = stores.known_issuers.get([cluster.name])[cluster.name].urls
    if known and home.text not in known:
        raise BadInput(
            f"the issuer of cluster {cluster.name} is {min(known)}, and not {home.text}",
            remedy=f"say so with --issuer-url {min(known)} --issuer-exists",
        )


def trusted(spec: Spec, cluster: Cluster, stores: Stores, url: str) -> None:
    """Nobody by a provider: each identity says for itself whom it believes."""


def trusting(
    spec: Spec,  # noqa: ARG001
    cluster: Cluster,  # noqa: ARG001
    stores: Stores,  # noqa: ARG001
    issuer: Issuer,  # noqa: ARG001
    askers: Collection[Asker],  # noqa: ARG001 - as for all clouds
) -> Iterator[Resource[Any]]:
    """Nothing: each identity says for itself whom it believes."""
    return iter(())


def identities(
    spec: Spec, cluster: Cluster, stores: Stores, asks: Iterable[tuple[Workload, Ask]], home: Home
) -> Iterator[Resource[Any]]:
    subscription = Subscription(spec.subscription, spec.region, stores.environment)
    group, installation = _group(spec, cluster, stores), _installation(spec, cluster, stores)
    for workload, asked in asks:
        _believes_within_limits(workload, home)
        _names_its_own(workload, asked)
        title = asked.identity or names.identity(cluster, workload)
        scopes = _scopes(spec, asked, installation)
        granted = {
            Grant(ids.folded(scope), ids.guid(_known_role(stores, workload, role.title)))
            for role in asked.roles
            for scope in role.scopes or scopes
        }
        own_scopes = frozenset(scopes) if asked.powers else frozenset[str]()
        everywhere = {grant.scope for grant in granted} | own_scopes
        _held_within_limits(workload, own_scopes)
        outside = _outside(spec, workload, everywhere)
        identity = Identity(
            f"{group.name}/{title}",
            stores.identities,
            cluster,
            workload,
            subscription,
            group,
            home,
            outside,
            asked.credentials,
        )
        held = _groups(spec, stores, (group, installation), everywhere)
        role = (
            CustomRole(
                title, stores.custom_roles, workload, asked.powers, _assignable(spec, own_scopes)
            )
            if asked.powers
            else None
        )
        yield identity
        yield RoleAssignments(
            identity.name,
            stores.assignments,
            identity,
            frozenset(granted),
            role,
            own_scopes,
            spec.preserve or asked.preserve,
            held,
            stores.role_titles,
        )


def _known_role(stores: Stores, workload: Workload, title: str) -> str:
    """Whoever mistyped it is told where."""
    try:
        return stores.role(title)
    except BadInput as e:
        if title not in e.problem:
            raise
        raise BadInput(f"{workload.source or workload.title}: {e.problem}", remedy=e.remedy) from e


def _groups(
    spec: Spec, stores: Stores, ours: Collection[ResourceGroup], scopes: Iterable[str]
) -> tuple[ResourceGroup | StandingGroup, ...]:
    """That must be there before a role can hold in them; of others than ours it is asked beforehand."""
    made = {group.name: group for group in ours}
    found = {
        ids.group_of(scope)
        for scope in scopes
        if ids.within(scope, ids.subscription(spec.subscription))
    } - {""}
    return tuple(
        made.get(name) or StandingGroup(name, stores.standing_groups) for name in sorted(found)
    )


def _scopes(spec: Spec, asked: Ask, installation: ResourceGroup) -> tuple[str, ...]:
    """Where the roles hold for which nothing else was said."""
    if asked.scopes:
        return asked.scopes
    further = (getattr(spec, field) for field in asked.groups)
    return tuple(dict.fromkeys(_id(spec, name) for name in (installation.name, *further) if name))


def _id(spec: Spec, group: str) -> str:
    return ids.folded(ids.group(spec.subscription, group))


def _assignable(spec: Spec, scopes: Iterable[str]) -> frozenset[str]:
    """All of a subscription, as ccoctl has it; and what is above all subscriptions for itself."""
    return frozenset(
        {
            ids.subscription(spec.subscription),
            *(ids.subscription_of(scope) or scope for scope in scopes),
        }
    )


def _outside(spec: Spec, workload: Workload, scopes: Iterable[str]) -> tuple[str, ...]:
    """Where else to look for the roles of an identity, as the texts of tags: exactly, or where that is too long by subscription."""
    exact = {
        scope for scope in scopes if not ids.within(scope, ids.subscription(spec.subscription))
    }
    for told, most in (
        (exact, 1),
        ({ids.subscription_of(scope) or scope for scope in exact}, OUTSIDE),
    ):
        texts = tuple(
            textwrap.wrap(
                " ".join(sorted(told)), TAG_VALUE, break_long_words=False, break_on_hyphens=False
            )
        )
        if len(texts) <= most and all(len(text) <= TAG_VALUE for text in texts):
            return texts
    raise BadInput(
        f"{workload.source or workload.title}: {workload.title} is given roles in more subscriptions than can be written on its identity",
        remedy="split it over two workloads, or give it the roles in a management group",
    )


def _believes_within_limits(workload: Workload, home: Home) -> None:
    where = workload.source or workload.title
    if len(workload.service_accounts) > MOST:
        raise BadInput(
            f"{where}: {workload.title} has {len(workload.service_accounts)} ServiceAccounts, and an identity believes at most {MOST}",
            remedy="split its ServiceAccounts over two requests",
        )
    longest = max((home.text, *workload.subjects), key=len)
    if len(longest) > LENGTH:
        raise BadInput(
            f"{where}: {longest} is longer than the {LENGTH} characters that Entra compares",
            remedy="choose a shorter one",
        )


def _names_its_own(workload: Workload, asked: Ask) -> None:
    for account in asked.credentials:
        if account not in workload.service_accounts:
            raise BadInput(
                f"{workload.source or workload.title}: a credential is named for {account}, which is none of the ServiceAccounts of {workload.title}",
                remedy=nearest(account, workload.service_accounts),
            )
    titles = [
        (asked.credentials.get(account) or names.credential(account)).lower()
        for account in workload.service_accounts
    ]
    if twins := sorted({title for title in titles if titles.count(title) > 1}):
        raise BadInput(
            f"{workload.source or workload.title}: two credentials of {workload.title} would be called {twins[0]}",
            remedy="name both under credentialNames",
        )


def _held_within_limits(workload: Workload, scopes: Collection[str]) -> None:
    """A role of our own can be given in one management group at most."""
    if len([scope for scope in scopes if not ids.subscription_of(scope)]) > 1:
        where = workload.source or workload.title
        raise BadInput(
            f"{where}: a role of its own can hold in one management group",
            remedy="name one, or subscriptions, or give a role that is there",
        )


def walk(stores: Stores) -> Walk:
    hosting, lent = (
        (stores.accounts, stores.containers, stores.issuers),
        (stores.documents, stores.key_sets),
    )
    using = (stores.custom_roles, stores.assignments, stores.lent_roles)
    around = (LeavingGroups(stores.groups, stores.doomed),)
    return Walk(
        hosting,
        lent,
        (stores.identities,),
        using,
        around,
        finds={stores.identities.kind: stores.assignments.kind},
    )

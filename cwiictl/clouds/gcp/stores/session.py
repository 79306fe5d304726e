"""The clients that act in Google Cloud: made once, in the calling thread, as wide as the workers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from google.api_core.exceptions import GoogleAPICallError
from google.cloud.storage import Client

from cwiictl import names
from cwiictl.clouds.gcp.spec import Spec
from cwiictl.clouds.gcp.stores import Stores, trust
from cwiictl.clouds.gcp.stores.buckets import Buckets
from cwiictl.clouds.gcp.stores.errors import Off, absent, denied, message, told
from cwiictl.clouds.gcp.stores.exchange import Exchanges
from cwiictl.clouds.gcp.stores.ledger import Ledger
from cwiictl.clouds.gcp.stores.objects import Documents, FormerKeys, KeySets
from cwiictl.clouds.gcp.stores.permissions import Permissions
from cwiictl.clouds.gcp.stores.policies import Policies
from cwiictl.clouds.gcp.stores.pools import Pools
from cwiictl.clouds.gcp.stores.principals import Principals
from cwiictl.clouds.gcp.stores.providers import ProviderKeys, Providers
from cwiictl.clouds.gcp.stores.reaches import Reaches
from cwiictl.clouds.gcp.stores.roles import CustomRoles, Roles
from cwiictl.clouds.gcp.stores.service_accounts import Entitled, ServiceAccounts
from cwiictl.clouds.gcp.stores.services import Apis, Opening, OpeningRoom
from cwiictl.clouds.gcp.stores.tokens import known
from cwiictl.clouds.gcp.stores.wire import Iam, Rest, Session
from cwiictl.clouds.gcp.universes import Universe, universe
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput
from cwiictl.issuer.stores.known import KnownIssuers
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Cluster


class Clients:
    """None of them tries again, or waits, by itself."""

    def __init__(self, spec: Spec, width: int) -> None:
        self.where = universe(spec.domain)
        self.tokens, self.caller = known(spec.project, spec.domain)
        self.session = Session(self.tokens, width)
        self.rest = Rest(self.session)
        self.exchanges = Exchanges(self.where, width)
        self.iam = Iam(self.where.host("iam"), self.tokens)
        options: Any = {"universe_domain": spec.domain}
        self.storage = Client(
            project=spec.project,
            credentials=self.tokens,
            client_options=options,
            _http=self.session,
        )

    def close(self) -> None:
        self.iam.close()
        self.session.close()
        self.exchanges.close()


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    clients = Clients(spec, width)
    try:
        apis = Apis(clients.rest, clients.where, spec.project)
        return stores(
            spec, cluster, clients, apis, number(clients.rest, clients.where, spec.project, apis)
        )
    except BaseException:
        clients.close()
        raise


def number(rest: Rest, where: Universe, project: str, apis: Apis) -> str:
    """Of the project. Where the API that tells it is off, another tells it too."""
    try:
        with told("cloudresourcemanager"):
            found = _project(rest, where, project)
    except Off:
        return apis.number()
    if found.get("state", "ACTIVE") != "ACTIVE":
        raise BadInput(
            f"the project {project} is being deleted",
            remedy="give another --project, or restore it",
        )
    return str(found["name"]).rpartition("/")[2]


def _project(rest: Rest, where: Universe, project: str) -> Any:
    try:
        return rest.get(f"{projects(where)}/{project}")
    except GoogleAPICallError as e:
        if not (absent(e) or denied(e)):
            raise
        why = f"Google does not show the project {project} to who runs this ({message(e)})"
        raise BadInput(
            why, remedy="give the right --project, or have resourcemanager.projects.get granted"
        ) from e


def projects(where: Universe) -> str:
    return f"https://{where.host('cloudresourcemanager')}/v3/projects"


def stores(spec: Spec, cluster: Cluster, clients: Clients, apis: Apis, number: str) -> Stores:
    """Nothing is found behind APIs that are off: they have their own word to say."""
    where, rest, project, name = clients.where, clients.rest, spec.project, cluster.name
    opened: Callable[[Any], Any] = partial(Opening, apis=apis, opens=spec.enable)
    ledger = Ledger(rest, projects(where))
    pools = Pools(rest, where, (project, number), name, ledger)
    providers = Providers(pools, spec.pool_of(cluster))
    accounts = ServiceAccounts(
        clients.iam, ledger, project, trust.Pool(number, spec.pool_of(cluster), pools.ours), name
    )
    policies = Policies(ledger, accounts, pools, (project, *spec.elsewhere))
    buckets = Buckets(
        clients.storage, number, name, partial(_ccoctls, pools, spec.pool_of(cluster))
    )
    roles = CustomRoles(pools, policies, delete_shared=spec.delete_roles)
    return Stores(
        account=project,
        number=number,
        caller=clients.caller,
        universe=where,
        role=Roles(rest, pools.root).name,
        entitled=Entitled(accounts).name,
        close=clients.close,
        permissions=partial(Permissions, rest, projects(where)),
        apis=apis,
        buckets=OpeningRoom(buckets, apis, opens=spec.enable),
        documents=opened(Documents(buckets, spec.bucket)),
        key_sets=opened(KeySets(buckets, spec.bucket)),
        published_before=opened(FormerKeys(KeySets(buckets))),
        uploaded_before=opened(FormerKeys(ProviderKeys(providers))),
        issuers=Web(),
        known_issuers=opened(
            KnownIssuers("gcp", partial(providers.issuers, spec.provider_of(cluster)))
        ),
        pools=opened(pools),
        reaches=opened(Reaches(pools)),
        providers=opened(providers),
        provider_keys=opened(ProviderKeys(providers)),
        service_accounts=opened(accounts),
        custom_roles=opened(roles),
        policies=opened(policies),
        principals=opened(Principals(policies)),
        exchange=clients.exchanges.exchange,
    )


def _ccoctls(pools: Pools, pool: str, cluster: str) -> Mark | None:
    """Of a bucket that bears no label: the pool's mark, if that is ccoctl's, or ours since we took it over."""
    have = pools.get([pool]).get(pool)
    mark = have.owner if have else None
    return (
        mark
        if mark and mark.hold == "owned" and names.own(mark.cluster) == names.own(cluster)
        else None
    )

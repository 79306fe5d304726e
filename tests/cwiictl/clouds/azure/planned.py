"""Plans for Azure, and what they want."""

from __future__ import annotations

from typing import Any

from cwiictl.clouds.azure import plan
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.role_assignments import RoleAssignments
from cwiictl.clouds.azure.resources.storage_account import StorageAccount, StorageAccountState
from cwiictl.clouds.azure.spec import Ask, Role, Spec
from cwiictl.engine.resource import Known, Mark, Plan, Resource
from cwiictl.engine.run import foretold
from cwiictl.issuer.documents import Hosting
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.azure.told import a_spec, the_stores
from tests.examples import a_cluster, a_workload

READER = Ask((Role("Reader"),))
ISSUER = "https://issuer.example.org"
OWN = Mark("demo")


def whole(*workloads: Any, asked: Ask = READER, how: Hosting | None = None, **told: Any) -> Plan:
    spec, stores, cluster = a_spec(**told), the_stores(), a_cluster()
    store: Any = Shelf(World(), "local/key")
    issuer = plan.host(
        spec, cluster, stores, SigningKey("signing-key", store), how or Hosting("published")
    )
    made = plan.identities(spec, cluster, stores, [(w, asked) for w in workloads], issuer.home)
    return Plan(
        [issuer, *plan.trusting(spec, cluster, stores, issuer, [w.asker for w in workloads]), *made]
    )


def things(
    spec: Spec | None = None, asked: Ask = READER, world: str = "", **workload: Any
) -> tuple[Identity, RoleAssignments]:
    made = plan.identities(
        spec or a_spec(),
        a_cluster(),
        the_stores(world),
        [(a_workload(**workload), asked)],
        Home(ISSUER),
    )
    found: Any = tuple(made)
    return found


def identity(
    spec: Spec | None = None, asked: Ask = READER, world: str = "", **workload: Any
) -> Identity:
    return things(spec, asked, world, **workload)[0]


def given(spec: Spec | None = None, asked: Ask = READER, **workload: Any) -> RoleAssignments:
    return things(spec, asked, **workload)[1]


def wanted(thing: Resource[Any]) -> Any:
    """With all that it holds foretold."""
    return foretold(Plan([thing]))[thing.address]


def found(*seen: tuple[Resource[Any], Any]) -> Known:
    known = Known()
    for thing, state in seen:
        known.learn(thing, state)
    return known


def theirs(account: StorageAccount, **changes: Any) -> StorageAccountState:
    state: dict[str, Any] = {
        "id": account.id,
        "region": "westus",
        "minimum_tls": "TLS1_0",
        "https_only": False,
        "public": True,
        "shared_key": None,
    }
    return StorageAccountState(**{**state, **changes})

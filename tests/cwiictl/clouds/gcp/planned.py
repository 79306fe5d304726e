"""Plans for Google Cloud, and what they want."""

from __future__ import annotations

from typing import Any

from cwiictl.clouds.gcp import plan
from cwiictl.clouds.gcp.spec import Ask, Role
from cwiictl.engine.resource import Mark, Plan, Resource
from cwiictl.engine.run import foretold
from cwiictl.issuer.home import Home
from tests.cwiictl.clouds.gcp.told import NUMBER, a_spec, the_stores
from tests.examples import a_cluster

VIEWER = Ask((Role("roles/viewer"),), request="a-request")
DIRECT = Ask((Role("roles/viewer"),), direct=True)
POWERS = Ask(permissions=frozenset({"dns.changes.create", "dns.changes.get"}), request="powers")
HOME = Home("https://storage.googleapis.com/demo-oidc")
NAMED = f"iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/demo/providers/demo"
OWN, LENT = Mark("demo"), Mark("demo", "brought")


def planned(*asks: tuple[Any, Ask], made: dict[str, str] | None = None, **told: Any) -> Plan:
    return Plan(plan.identities(a_spec(**told), a_cluster(), the_stores(made=made), asks, HOME))


def only(kind: type[Any], things: Plan) -> Any:
    (thing,) = (thing for thing in things.values() if isinstance(thing, kind))
    return thing


def wanted(resource: Resource[Any]) -> Any:
    return foretold(Plan([resource]))[resource.address]

"""Things of Google Cloud on a shelf that nobody comes to, and what they say of what is found there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cwiictl.clouds.gcp.resources.pool import Pool, PoolState
from cwiictl.clouds.gcp.resources.service_account import Project, ServiceAccount
from cwiictl.clouds.gcp.universes import universe
from cwiictl.engine.resource import Known
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.gcp.told import NUMBER, PROJECT
from tests.examples import a_cluster, a_workload

STORE: Any = Shelf(World(), "gcp/things")
ADDRESS = "gcp/things/demo"
POOL = Pool("demo", STORE, a_cluster(), "demo-provider")
THEIRS = replace(POOL, named=True)
MANY = frozenset(f"project-with-a-long-name-{n}" for n in range(10))


def told(thing: Any, have: Any) -> Any:
    found = Known()
    if have:
        found.learn(thing, have)
    return thing.objection(found)


def a_pool(**changes: Any) -> PoolState:
    return replace(PoolState(title="theirs", description="Ours to say."), **changes)


def an_account(**workload: Any) -> ServiceAccount:
    project = Project(PROJECT, NUMBER, "demo", "demo-provider", universe(""), "demo")
    return ServiceAccount("demo-x", STORE, a_workload(**workload), project, POOL, "demo-x")

"""Plans for AWS, and what they want."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cwiictl.clouds.aws import plan, policy
from cwiictl.clouds.aws.partitions import partition
from cwiictl.clouds.aws.resources.role import Role, RoleState
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.engine.resource import Plan
from cwiictl.engine.run import foretold
from cwiictl.issuer.documents import Hosting
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from tests.contracts.shelf import Shelf, World
from tests.examples import ACCOUNT, a_cluster, a_workload

ALLOWED = Ask(policy.canonical(policy.allow("ec2:DescribeInstances", Resource="*")))


def the_stores(region: str = "us-east-1") -> Any:
    """Places that nobody comes to."""
    kinds = {f.name for f in fields(Stores)} - {
        "account",
        "caller",
        "region",
        "close",
        "partition",
        "permissions",
    }
    places: Any = {kind: Shelf(World(), f"aws/{kind}") for kind in kinds}
    asked: Any = Shelf(World(), "aws/permissions")
    return Stores(
        ACCOUNT,
        "somebody",
        region,
        lambda: None,
        partition(region),
        lambda _grants: asked,
        **places,
    )


def whole(
    region: str = "us-east-1",
    *workloads: Any,
    asked: Ask = ALLOWED,
    how: Hosting | None = None,
    **told: Any,
) -> Plan:
    spec, cluster, stores = Spec(region, **told), a_cluster(), the_stores(region)
    store: Any = Shelf(World(), "local/key")
    issuer = plan.host(
        spec, cluster, stores, SigningKey("signing-key", store), how or Hosting("published")
    )
    roles = plan.identities(spec, cluster, stores, [(w, asked) for w in workloads], issuer.home)
    return Plan(
        [
            issuer,
            *plan.trusting(spec, cluster, stores, issuer, [w.asker for w in workloads]),
            *roles,
        ]
    )


def role(spec: Spec | None = None, asked: Ask = ALLOWED, **workload: Any) -> Role:
    home = Home("https://issuer.example.org")
    (found,) = plan.identities(
        spec or Spec("us-east-1"),
        a_cluster(),
        the_stores(),
        [(a_workload(**workload), asked)],
        home,
    )
    assert isinstance(found, Role)
    return found


def wanted(found: Role) -> RoleState:
    """With all that it holds foretold."""
    wants: Any = foretold(Plan([found]))
    return wants[found.address]


def statement(state: RoleState) -> dict[str, Any]:
    (only,) = state.trust["Statement"]
    return only


def differing(have: RoleState, **told: Any) -> set[str]:
    thing = role(Spec("us-east-1", **told))
    return {difference.field for difference in thing.differing(wanted(thing), have)}

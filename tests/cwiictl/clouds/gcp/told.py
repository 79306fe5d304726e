"""The smallest of what Google Cloud is told, changed by keyword; and places that nobody comes to."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cwiictl.clouds.gcp.spec import Spec
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.clouds.gcp.universes import universe
from cwiictl.errors import BadInput
from tests.contracts.shelf import Shelf, World

PROJECT = "some-project"
NUMBER = "123456789012"
OTHER = "other-project"
ROLES = {"roles/storage.objectViewer", "roles/viewer"}


def a_spec(**told: Any) -> Spec:
    said: dict[str, Any] = {"project": PROJECT}
    return Spec(**{**said, **told})


def the_stores(world: str = "", made: dict[str, str] | None = None) -> Stores:
    """`made` are the ids of service accounts that are there, by title."""
    kinds = {f.name for f in fields(Stores)} - {
        "account",
        "number",
        "caller",
        "universe",
        "role",
        "entitled",
        "close",
        "permissions",
    }
    places: Any = {kind: Shelf(World(), f"gcp/{kind}") for kind in kinds}
    asked: Any = Shelf(World(), "gcp/permissions")
    entitled = (made or {}).get
    return Stores(
        PROJECT,
        NUMBER,
        "somebody",
        universe(world),
        a_role,
        lambda own, title: entitled(title, own),
        lambda: None,
        lambda _grants: asked,
        **places,
    )


def a_role(name: str) -> str:
    if name.startswith("roles/") and name not in ROLES:
        raise BadInput(f"Google Cloud has no role {name}", remedy="did you mean roles/viewer?")
    return name

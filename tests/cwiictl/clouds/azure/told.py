"""The smallest of what Azure is told, changed by keyword; and places that nobody comes to."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.environments import environment
from cwiictl.clouds.azure.spec import Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.errors import BadInput
from tests.contracts.shelf import Shelf, World

SUBSCRIPTION = "6e9a3f5c-1d2b-4c3d-8e4f-0a1b2c3d4e5f"
OTHER = "00000000-0000-4000-8000-000000000001"
TENANT = "11111111-2222-4333-8444-555555555555"
ROLES = {
    "reader": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "contributor": "b24988ac-6180-42a0-ab88-20f7382dd24c",
}
TITLES = {guid: title.capitalize() for title, guid in ROLES.items()}


def a_spec(**told: Any) -> Spec:
    said: dict[str, Any] = {"region": "eastus", "subscription": SUBSCRIPTION}
    return Spec(**{**said, **told})


def a_group(name: str = "demo", subscription: str = SUBSCRIPTION) -> str:
    return f"/subscriptions/{subscription}/resourcegroups/{name}"


def the_stores(world: str = "", doomed: str = "") -> Stores:
    kinds = {f.name for f in fields(Stores)} - {
        "account",
        "caller",
        "tenant",
        "environment",
        "doomed",
        "role",
        "role_titles",
        "close",
        "permissions",
    }
    places: Any = {kind: Shelf(World(), f"azure/{kind}") for kind in kinds}
    asked: Any = Shelf(World(), "azure/permissions")
    return Stores(
        SUBSCRIPTION,
        "somebody",
        TENANT,
        environment(world),
        doomed,
        a_role,
        TITLES,
        lambda: None,
        lambda _grants: asked,
        **places,
    )


def a_role(title: str) -> str:
    if title.lower() not in ROLES:
        raise BadInput(f"Azure has no role {title!r}", remedy="did you mean Reader?")
    return ids.role(a_group(), ROLES[title.lower()])

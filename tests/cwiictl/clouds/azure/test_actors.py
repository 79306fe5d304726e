"""Who may act as what in Azure, as it is drawn: with roles by the names that people know them by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.azure.actors import acting
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.role_assignments import RoleAssignments
from cwiictl.clouds.azure.spec import Ask, Role
from cwiictl.engine.resource import Known
from tests.cwiictl.clouds.azure.planned import things
from tests.cwiictl.clouds.azure.told import ROLES, a_group


def powers(identity: Identity, given: RoleAssignments) -> tuple[str, ...]:
    (found,) = acting([identity, given], Known())
    return found.powers


@pytest.mark.parametrize("said", ["Reader", "reader"])
def test_a_role_is_shown_by_its_name_whatever_it_was_asked_for_by(said: str) -> None:
    assert powers(*things(asked=Ask((Role(said),)))) == (f"Reader on {a_group()}",)


def test_one_whose_name_nobody_knows_is_shown_by_its_guid() -> None:
    identity, given = things(asked=Ask((Role("Reader"),)))

    assert powers(identity, replace(given, titles={})) == (
        f"the role {ROLES['reader']} on {a_group()}",
    )

"""The resource groups: what is in one goes with it, and so they go last, if they are ours, if that is asked for, and with nothing of others in them."""

from __future__ import annotations

import pytest

from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import group_id
from tests.journeys.azure.ground import GROUP, NAME, NOTHING, SITE, AzureGround


@pytest.mark.parametrize("asked", [(), ("--delete-oidc-resource-group",)], ids=["", "asked for"])
def test_the_groups_go_only_if_that_is_asked_for_and_they_are_ours(
    ground: AzureGround, asked: tuple[str, ...]
) -> None:
    ground.create_all()
    before = ground.clouds()
    ground.fresh()

    refused, shown = ground.delete(), ground.delete("--dry-run", *asked)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert shown.code == 0
    assert set(shown.but("kept").values()) == {"to drop"}
    assert shown.but("to drop") == (
        {}
        if asked
        else dict.fromkeys(
            (f"azure/resource-group/{GROUP}", f"azure/resource-group/{SITE}"), "kept"
        )
    )
    assert asked or "it goes with --delete-oidc-resource-group" in shown.out
    assert ground.mutating() == []
    assert ground.clouds() == before

    gone = ground.delete("--yes", *asked)
    assert gone.code == 0, gone.out
    assert gone.things.keys() == shown.things.keys()
    assert ground.clouds() == {**NOTHING, "groups": {} if asked else before["groups"]}


def test_a_group_with_something_of_others_in_it_is_told_before_anything_is_dropped(
    ground: AzureGround,
) -> None:
    ground.create_all()
    by_hand.an_identity(ground, "theirs")
    ground.fresh()

    shown, done = (
        ground.delete(how, "--delete-oidc-resource-group") for how in ("--dry-run", "--yes")
    )

    for each, rest in ((shown, "to drop"), (done, "not tried")):
        assert each.code == 4
        assert set(each.but(rest).items()) == {(f"azure/resource-group/{GROUP}", "foreign")}
        assert (
            "holds Microsoft.ManagedIdentity/userAssignedIdentities theirs, which is not ours"
            in each.out
        )
    assert ground.mutating() == []
    assert ground.delete("--yes").code == 0  # the group stays, and so does what is in it
    assert list(ground.clouds()["identities"]) == ["theirs"]


@pytest.mark.parametrize("theirs", [True, False], ids=["its owner's", "with a cluster in it"])
def test_the_group_of_the_installation_stays_if_it_is_its_owners_or_anything_is_in_it(
    ground: AzureGround, *, theirs: bool
) -> None:
    if theirs:
        by_hand.a_group(ground, SITE)
    ground.create_all()
    if not theirs:
        network = f"{group_id(SITE)}/providers/Microsoft.Network/virtualNetworks/{NAME}-vnet"
        ground.arm("PUT", network, {"location": "eastus", "properties": {}})

    done = ground.delete("--yes", "--delete-oidc-resource-group")

    assert done.code == 0, done.out
    assert list(ground.clouds()["groups"]) == [SITE]
    if theirs:
        assert done.things[f"azure/resource-group/{SITE}"] == "released"
        assert ground.clouds()["groups"][SITE]["tags"] == {"Name": "theirs"}

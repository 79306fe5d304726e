"""Room in a description: for a sentence, for the cluster's mark, and for the projects in which something was given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.reach import Reach, ReachState
from cwiictl.clouds.gcp.resources.service_account import ServiceAccountState
from cwiictl.engine.resource import Difference
from tests.cwiictl.clouds.gcp.things import ADDRESS, MANY, POOL, STORE, an_account, told


@pytest.mark.parametrize(
    "scopes", [frozenset[str](), frozenset({"one"}), frozenset({"one", "two"})]
)
def test_a_sentence_of_all_the_room_stays_and_a_longer_one_ends_in_dots(
    scopes: frozenset[str],
) -> None:
    left = room.left("demo", scopes)

    assert room.fitted("a" * left, "demo", scopes) == "a" * left
    assert room.fitted("a" * (left + 1), "demo", scopes) == "a" * (left - 3) + "..."
    assert room.fitted("  b" + " " * left, "demo", scopes) == "  b...", "with no space before them"


def test_there_is_room_for_the_longest_mark_and_where_there_is_none_for_a_sentence_there_is_none() -> (
    None
):
    mark = "cwii.dev/cluster/demo=adopted cwii.dev/origin=create-identity-provider"

    assert room.left("demo") == 256 - len(f" {mark}")
    assert room.fitted("A sentence.", "demo", MANY) == ""


def filled(spare: int) -> frozenset[str]:
    """One project whose name leaves so many bytes for a sentence on a thing of the cluster's."""
    return frozenset({"p" * (room.left("demo", {"p"}) + 1 - spare)})


def test_no_scope_is_ever_taken_off_and_each_new_one_is_put_beside() -> None:
    one, two = frozenset({"one"}), frozenset({"two"})
    reached = Reach("demo", STORE, POOL, one)

    assert reached.differing(ReachState(scopes=one), ReachState(scopes=one | two)) == ()
    assert reached.differing(ReachState(scopes=one), ReachState(scopes=two)) == (
        Difference("scopes", two, one | two),
    )


def test_projects_are_taken_as_long_as_there_is_room_to_write_them_and_not_a_byte_longer() -> None:
    assert (room.left("demo", filled(0)), room.left("demo", filled(-1))) == (0, -1)
    assert told(Reach("demo", STORE, POOL, filled(0)), None) is None
    refusal = told(Reach("demo", STORE, POOL, MANY), ReachState(scopes=frozenset({"one"})))
    assert (
        refusal.problem
        == f"{ADDRESS} has no room to say of 11 other projects that roles are given there without a service account"
    )
    assert (
        refusal.remedy
        == "give those workloads service accounts, each of which has room of its own (serviceAccount: true)"
    )
    assert told(Reach("demo", STORE, POOL, filled(-1)), None) is not None


def test_a_service_account_of_too_many_projects_is_refused_by_what_would_help() -> None:
    have = ServiceAccountState(
        email="e", title="t", description="d", principals=frozenset(), scopes=MANY
    )
    now, before = (
        told(replace(an_account(), scopes=filled(-1)), have),
        told(replace(an_account(), scopes=frozenset({"one"})), have),
    )

    sentence = "kube-system/cloud-credentials is given roles in more projects than can be written on its service account"
    assert (now.problem, before.problem) == (f"a file: {sentence}", f"a file: {sentence}")
    assert now.remedy == "give it roles in fewer projects, or split what it does over two workloads"
    assert (
        before.remedy
        == f"delete {an_account().email}, which bears those of earlier runs: it is made anew"
    )
    assert told(replace(an_account(), scopes=filled(0)), None) is None
    assert told(replace(an_account(), scopes=filled(0)), replace(have, scopes=filled(0))) is None
    assert (
        told(replace(an_account(source=""), scopes=MANY), None).problem
        == f"kube-system/cloud-credentials: {sentence}"
    )

"""From one configuration to the next without a moment in which pods are refused for it."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.install import rollover


def an_entry(name: str, path: str, policy: str = "Fail", bundle: str = "") -> dict[str, Any]:
    client = {"service": {"path": path}} | ({"caBundle": bundle} if bundle else {})
    return {"name": name, "failurePolicy": policy, "clientConfig": client}


def a_configuration(*webhooks: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": rollover.CONFIGURATION,
        "metadata": {"name": "cwii-webhook"},
        "webhooks": list(webhooks),
    }


def policies(made: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{entry["name"]: entry["failurePolicy"] for entry in each["webhooks"]} for each in made]


WANTED = a_configuration(
    an_entry("pods.azwi", "/mutate-v1-pod"), an_entry("pods.eks", "/eks/mutate", "Ignore")
)
STANDING = a_configuration(
    an_entry("pods.azwi", "/mutate-v1-pod", bundle="CA"),
    an_entry("pods.eks", "/eks/mutate", bundle="CA"),
)


@pytest.mark.parametrize("standing", [None, a_configuration()])
def test_where_nothing_stands_nobody_is_refused_at_first(standing: dict[str, Any] | None) -> None:
    assert policies(list(rollover.first(standing, WANTED))) == [
        {"pods.azwi": "Ignore", "pods.eks": "Ignore"}
    ]
    assert list(rollover.fewer(standing, WANTED)) == []


def test_after_a_run_that_was_cut_what_has_its_bundle_refuses_as_before_and_what_has_none_refuses_nobody() -> (
    None
):
    """And what does not stand yet is not asked of the replicas of before."""
    cut = a_configuration(
        an_entry("pods.azwi", "/mutate-v1-pod", bundle="CA"),
        an_entry("required.azwi", "/mutate-v1-pod"),
    )
    wanted = a_configuration(
        *(an_entry(name, "/mutate-v1-pod") for name in ("pods.azwi", "required.azwi", "pods.cwii"))
    )

    assert policies(list(rollover.first(cut, wanted))) == [
        {"pods.azwi": "Fail", "required.azwi": "Ignore"}
    ]
    assert policies(list(rollover.between(cut, wanted))) == [
        {"pods.azwi": "Fail", "required.azwi": "Ignore", "pods.cwii": "Ignore"}
    ]


def test_what_stands_and_is_answered_by_both_is_left_until_the_replicas_are_new() -> None:
    assert list(rollover.fewer(STANDING, WANTED)) == []
    assert list(rollover.first(STANDING, WANTED)) == []
    assert list(rollover.between(STANDING, WANTED)) == []


def test_a_route_that_goes_is_given_up_before_the_replicas_that_answer_it_go() -> None:
    only = a_configuration(
        an_entry("pods.azwi", "/mutate-v1-pod"), an_entry("pods.cwii", "/mutate")
    )

    assert policies(list(rollover.fewer(STANDING, only))) == [{"pods.azwi": "Fail"}]
    assert list(rollover.first(STANDING, only)) == []


def test_what_comes_when_a_route_goes_waits_for_its_bundle_too() -> None:
    """Though the replicas that are there would answer it."""
    only = a_configuration(
        an_entry("pods.azwi", "/mutate-v1-pod"), an_entry("required.azwi", "/mutate-v1-pod")
    )

    assert policies(list(rollover.fewer(STANDING, only))) == [{"pods.azwi": "Fail"}]


def test_an_entry_that_is_new_refuses_nobody_before_it_has_its_bundle() -> None:
    more = a_configuration(*WANTED["webhooks"], an_entry("pods.cwii", "/mutate"))

    assert policies(list(rollover.between(STANDING, more))) == [
        {"pods.azwi": "Fail", "pods.eks": "Ignore", "pods.cwii": "Ignore"}
    ]


def test_only_what_holds_pods_up_waits_for_who_answers() -> None:
    policy = {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "cwii-webhook-require"}}

    assert [
        rollover.asks(each)
        for each in (WANTED, policy, {**policy, "metadata": {"name": "cwii-webhook-renewer"}})
    ] == [True, True, False]
    assert rollover.of([policy, WANTED]) is WANTED

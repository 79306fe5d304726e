"""Who would put up with a change of what they have set, and who would not."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.kubernetes import holders

OURS: dict[str, Any] = {"f:data": {"f:a": {}, "f:b": {}}}
MADE: dict[str, Any] = {
    "kind": "ConfigMap",
    "metadata": {"managedFields": [{"manager": "cwiictl", "operation": "Apply", "fieldsV1": OURS}]},
    "data": {"a": "1", "b": "2"},
}


def live(manager: str, operation: str = "Update", held: Any = None, **more: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": manager,
        "operation": operation,
        "fieldsV1": held or {"f:data": {"f:a": {}}},
        **more,
    }
    return {
        "kind": "ConfigMap",
        "metadata": {"managedFields": [entry]},
        "data": {"a": "theirs", "b": "2"},
    }


def problem(found: dict[str, Any], *, taking: bool = False) -> str:
    conflict = holders.conflict("k8s/ConfigMap/x", MADE, found, taking=taking)
    return conflict.problem if conflict else ""


@pytest.mark.parametrize(
    "manager",
    [
        "kubectl",
        "kubectl-edit",
        "kubectl-client-side-apply",
        "kubectl.exe",
        "oc",
        "k9s",
        "Mozilla",
        "curl",
        "before-first-apply",
        "",
        "cwiictl",
    ],
)
def test_a_persons_client_yields(manager: str) -> None:
    assert not problem(live(manager))


@pytest.mark.parametrize(
    "manager",
    [
        "kube-controller-manager",
        "occasional-controller",
        "kubectlish",
        "argocd-controller",
        "helm",
        "cwii-webhook-renewer",
    ],
)
def test_what_sets_fields_by_itself_does_not(manager: str) -> None:
    assert (
        problem(live(manager))
        == f"k8s/ConfigMap/x has data.a held by {manager}, which would be set to something else"
    )


def test_whoever_has_applied_it_does_not_whoever_they_are() -> None:
    assert "held by kubectl," in problem(live("kubectl", "Apply"))
    assert "held by helm," in problem(live("helm", "Apply"), taking=True)


def test_what_is_taken_over_is_taken_from_all_that_have_only_set_it() -> None:
    assert not problem(live("helm"), taking=True)


def test_what_stays_as_it_is_is_nobodys_quarrel() -> None:
    assert not problem(live("argocd-controller", "Apply", {"f:data": {"f:b": {}}}))
    assert not problem(live("argocd-controller", "Apply", {"f:data": {"f:c": {}}}))


def test_an_autoscaler_is_told_by_the_part_of_the_api_it_came_by() -> None:
    assert "held by kube-controller-manager (by scale)," in problem(
        live("kube-controller-manager", subresource="scale")
    )


def test_several_are_counted() -> None:
    found = live("argocd-controller", held={"f:data": {"f:a": {}, "f:b": {}}})
    found["data"]["b"] = "theirs"
    assert "has data.a and 1 more held by argocd-controller," in problem(found)

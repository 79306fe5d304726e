"""When API servers ask, and what becomes of pods when nobody answers."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from cwiictl.install.body import Object
from cwiictl.install.conditions import spared
from cwiictl.install.configuration import configuration, softened
from tests.cwiictl.install.installed import CA, FILES, of, some

AZURE: dict[str, Any] = {"azure": {"tenantId": "t"}}
EVERY: dict[str, Any] = {"dialects": ["cwii", "eks", "azwi", "gcpwif"], **AZURE}


def entries(**said: Any) -> dict[str, Object]:
    return {
        entry["name"].removesuffix(".cwii.dev"): entry
        for entry in configuration(some(**said))["webhooks"]
    }


def policies(**said: Any) -> dict[str, str]:
    return {name: entry["failurePolicy"] for name, entry in entries(**said).items()}


def test_each_dialect_fails_as_its_peer_does_and_closed_where_a_namespace_requires_it() -> None:
    assert policies(**EVERY) == {
        "pods.cwii": "Ignore",
        "required.cwii": "Fail",
        "ephemeral.cwii": "Ignore",
        "pods.eks": "Ignore",
        "required.eks": "Fail",
        "pods.gcpwif": "Ignore",
        "required.gcpwif": "Fail",
        "pods.azwi": "Fail",
        "required.azwi": "Fail",
    }


def test_ignore_everywhere_is_azure_too() -> None:
    assert policies(dialects=["azwi"], failurePolicy="Ignore", **AZURE) == {
        "pods.azwi": "Ignore",
        "required.azwi": "Fail",
    }


def test_fail_everywhere_is_no_other_entries() -> None:
    """A new one has no bundle until the renewer has been there, and would refuse all that long."""
    assert policies(failurePolicy="Fail") == {
        "pods.cwii": "Fail",
        "required.cwii": "Fail",
        "ephemeral.cwii": "Ignore",
    }
    assert policies(failurePolicy="Fail").keys() == policies(failurePolicy="Ignore").keys()


def test_a_container_that_joins_is_never_kept_out() -> None:
    joining = [
        entry
        for name, entry in entries(
            **EVERY, failurePolicy="Fail", ephemeralContainers=["cwii", "azwi"]
        ).items()
        if "ephemeral" in name
    ]

    assert [
        (entry["failurePolicy"], entry["rules"][0]["resources"], entry["rules"][0]["operations"])
        for entry in joining
    ] == [("Ignore", ["pods/ephemeralcontainers"], ["UPDATE"])] * 2


def test_no_pod_is_shown_to_the_same_dialect_twice() -> None:
    open_, closed = (
        entries()[name]["namespaceSelector"]["matchExpressions"]
        for name in ("pods.cwii", "required.cwii")
    )

    assert open_[:-1] == closed[:-1]
    assert (open_[-1]["key"], open_[-1]["operator"], open_[-1]["values"]) == (
        "cwii.dev/require",
        "NotIn",
        ["true"],
    )
    assert (closed[-1]["key"], closed[-1]["operator"], closed[-1]["values"]) == (
        "cwii.dev/require",
        "In",
        ["true"],
    )


@pytest.mark.parametrize("name", FILES)
def test_what_holds_for_every_entry(name: str) -> None:
    values = of(name)
    for entry in configuration(values)["webhooks"]:
        assert entry["reinvocationPolicy"] == "IfNeeded"
        assert entry["timeoutSeconds"] == values.timeout_seconds
        assert entry["matchPolicy"] == "Equivalent"
        excluded = entry["namespaceSelector"]["matchExpressions"][0]
        assert {
            values.namespace,
            "kube-system",
            "kube-public",
            "kube-node-lease",
            *values.excluded_namespaces,
        } == set(excluded["values"])
        for condition in entry["matchConditions"][:2]:
            assert "cwii.dev/injected" not in condition["expression"]
            assert condition["expression"].startswith("!has(")
            assert "authorizer" not in condition["expression"]


def test_the_systems_namespaces_and_our_own_are_spared() -> None:
    values = some(excludedNamespaces=["calico-system"])

    assert all(
        spared(values, name)
        for name in (
            "kube-system",
            "kube-flannel",
            "openshift-ingress",
            "cwii-system",
            "calico-system",
        )
    )
    assert not any(spared(values, name) for name in ("default", "shop", "my-kube-system"))


def test_azures_pods_are_chosen_by_their_label_as_its_peer_does() -> None:
    assert entries(**EVERY)["pods.azwi"]["objectSelector"] == {
        "matchLabels": {"azure.workload.identity/use": "true"}
    }
    assert "objectSelector" not in entries()["pods.cwii"]


def test_only_what_writes_config_maps_has_side_effects() -> None:
    assert entries()["pods.cwii"]["sideEffects"] == "None"
    assert entries(gcp={"delivery": "config-map"})["pods.cwii"]["sideEffects"] == "NoneOnDryRun"


def test_as_it_is_made_first_nobody_is_refused() -> None:
    made = configuration(some(failurePolicy="Fail"))

    assert {entry["failurePolicy"] for entry in softened(made)["webhooks"]} == {"Ignore"}
    assert [{**entry, "failurePolicy": ""} for entry in softened(made)["webhooks"]] == [
        {**entry, "failurePolicy": ""} for entry in made["webhooks"]
    ]


def test_the_bundle_is_said_only_where_nobody_else_keeps_it() -> None:
    by_files = configuration(some(**FILES["files"]))

    assert {entry["clientConfig"]["caBundle"] for entry in by_files["webhooks"]} == {
        base64.b64encode(CA.encode()).decode()
    }
    assert configuration(some(**FILES["cert-manager"]))["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": "cwii-system/cwii-webhook-serving"
    }
    assert configuration(some(**FILES["openshift"]))["metadata"]["annotations"] == {
        "service.beta.openshift.io/inject-cabundle": "true"
    }
    assert "annotations" not in configuration(some())["metadata"]

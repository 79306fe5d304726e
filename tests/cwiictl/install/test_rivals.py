"""Another webhook of the same dialect is found by what it is called, and not taken for one that only looks alike."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.errors import Conflict
from cwiictl.install.configuration import configuration
from cwiictl.install.rivals import check, rivals
from tests.cwiictl.install.installed import some

EVERY = some(dialects=["cwii", "eks", "azwi", "gcpwif"], azure={"tenantId": "t"})


def another(
    entry: str, name: str = "another", service: str = "webhook", **client: Any
) -> dict[str, Any]:
    reached = client or {"service": {"name": service, "namespace": "system"}}
    return {
        "metadata": {"name": name},
        "webhooks": [{"name": "other.example.com"}, {"name": entry, "clientConfig": reached}],
    }


@pytest.mark.parametrize(
    ("other", "dialect"),
    [
        (another("iam-for-pods.amazonaws.com", url="https://127.0.0.1:23443/mutate"), "eks"),
        (another("pod-identity-webhook.amazonaws.com"), "eks"),
        (another("pod-identity-webhook.aws.mutate.io"), "eks"),
        (another("mutation.azure-workload-identity.io"), "azwi"),
        (another("pod-identity-webhook.azure.mutate.io"), "azwi"),
        (another("mpod.kb.io", name="gcp-wif-webhook-mutating-webhook-configuration"), "gcpwif"),
        (another("mpod.kb.io", service="gcp-workload-identity-federation-webhook"), "gcpwif"),
        (another("pod-identity-webhook.gcp.mutate.io"), "gcpwif"),
        (another("mutate.cwii.dev"), "cwii"),
    ],
)
def test_a_peer_is_known_by_its_entry(other: dict[str, Any], dialect: str) -> None:
    assert rivals(EVERY, [other]) == {other["metadata"]["name"]: (dialect,)}


@pytest.mark.parametrize(
    "other",
    [
        another("mpod.kb.io", service="kueue-webhook-service"),
        another("pods.cwii.example.com"),
        {"metadata": {"name": "empty"}},
    ],
)
def test_one_that_is_only_called_alike_is_none(other: dict[str, Any]) -> None:
    assert rivals(EVERY, [other]) == {}


def test_another_installation_of_ours_is_one_and_this_one_is_none() -> None:
    second = some(name="second")

    assert rivals(second, [configuration(EVERY), configuration(second)]) == {
        "cwii-webhook": ("cwii",)
    }
    assert rivals(some(name="third", dialects=["eks"]), [configuration(second)]) == {}


def test_it_is_told_with_what_it_hears_and_both_are_there_on_request() -> None:
    peers = [
        another("mutation.azure-workload-identity.io", "azure"),
        another("iam-for-pods.amazonaws.com", "aws", url="https://127.0.0.1"),
    ]

    with pytest.raises(
        Conflict, match=r"MutatingWebhookConfiguration aws \(eks\); azure \(azwi\)"
    ) as refused:
        check(EVERY, peers)

    assert "--beside" in refused.value.remedy
    check(some(dialects=["eks"], beside=True), peers)
    check(some(), peers)

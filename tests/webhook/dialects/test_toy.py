"""Tests that a new dialect needs little code and has the features of all dialects."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cwii_webhook.admission.admit import admit
from cwii_webhook.dialects.dialect import Service, build_service
from cwii_webhook.settings.flags import BadFlag

from tests.webhook.dialects import toy as toy_dialect
from tests.webhook.dialects.cwii.pods import env, find_volume, make_cluster, make_pod
from tests.webhook.dialects.toy import VAULT
from tests.webhook.harness import InProcessWebhook, check_response, make_review
from tests.webhook.recorded_answers import decide, make_request

ROLE = {"vault.example.com/role": "shop"}


def make_service(*flags: str) -> Service:
    return build_service(VAULT, flags, {"VAULT_ADDR": "https://elsewhere"})


def test_sample_dialect_has_less_than_forty_statements() -> None:
    tree = ast.parse(Path(toy_dialect.__file__).read_text())

    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) < 40


def test_dialect_reads_its_flags_and_annotations() -> None:
    service = make_service("--token-expiration=1200", "--lookup-grace=1s")

    decision, pod = decide(service.route, make_pod(), make_cluster(account=ROLE))

    assert (service.route.path, service.serving.grace, service.domains) == (
        "/mutate-vault",
        1.0,
        {"vault.example.com"},
    )
    assert env(pod["spec"]["containers"][0]) == {
        "VAULT_ADDR": "https://elsewhere",
        "VAULT_ROLE": "shop",
    }
    assert (
        find_volume(pod, "vault-token")["projected"]["sources"][0]["serviceAccountToken"][
            "expirationSeconds"
        ]
        == 1200
    )
    assert decision.audit == {
        "injected": "vault",
        "vault": "VAULT_ROLE from ServiceAccount shop/worker",
    }


def test_unknown_flag_is_an_error_with_the_nearest_flag() -> None:
    with pytest.raises(BadFlag, match="did you mean --vault-address"):
        make_service("--vault-adress=x")


def test_second_pass_makes_no_change() -> None:
    service = make_service()
    pod = decide(service.route, make_pod(), make_cluster(account=ROLE))[1]

    assert not decide(service.route, pod, make_cluster(account=ROLE))[0].ops


def test_pod_without_annotations_is_skipped() -> None:
    decision = admit(make_service().route, make_request(make_pod()), make_cluster())

    assert [(skip.provider, skip.reason) for skip in decision.skips] == [("vault", "not-asked")]


def test_mirror_pod_is_not_changed() -> None:
    assert not decide(
        make_service().route,
        make_pod({"kubernetes.io/config.mirror": "x"}),
        make_cluster(account=ROLE),
    )[0].ops


def test_ephemeral_container_is_injected_unless_skipped() -> None:
    service = make_service()
    injected = decide(
        service.route,
        make_pod({"vault.example.com/skip-containers": "shell"}),
        make_cluster(account=ROLE),
    )[1]
    pod = {
        **injected,
        "spec": {**injected["spec"], "ephemeralContainers": [{"name": "debug"}, {"name": "shell"}]},
    }
    update = make_request(
        pod, operation="UPDATE", subResource="ephemeralcontainers", oldObject=injected
    )

    assert {op.path for op in admit(service.route, update, make_cluster()).ops} == {
        "/spec/ephemeralContainers/0/volumeMounts",
        "/spec/ephemeralContainers/0/env",
    }


def test_response_to_an_encoded_review_is_valid() -> None:
    body = make_review(make_pod({"mine": "x"}))

    assert check_response(
        body,
        InProcessWebhook(
            make_service().route, make_cluster(account={"vault.example.com/role": "$(SECRET)"})
        )(body),
    )

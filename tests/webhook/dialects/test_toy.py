"""What a new dialect needs is little, and all that others have comes with it."""

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
from tests.webhook.harness import Counter, review, well_formed
from tests.webhook.recorded_answers import asked, request

ROLE = {"vault.example.com/role": "shop"}


def make_service(*flags: str) -> Service:
    return build_service(VAULT, flags, {"VAULT_ADDR": "https://elsewhere"})


def test_it_has_less_than_forty_statements() -> None:
    tree = ast.parse(Path(toy_dialect.__file__).read_text())

    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) < 40


def test_it_is_told_in_its_own_words() -> None:
    told = make_service("--token-expiration=1200", "--lookup-grace=1s")

    decision, pod = asked(told.route, make_pod(), make_cluster(account=ROLE))

    assert (told.route.path, told.serving.grace, told.domains) == (
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


def test_a_flag_that_it_has_not_is_an_error_with_the_nearest() -> None:
    with pytest.raises(BadFlag, match="did you mean --vault-address"):
        make_service("--vault-adress=x")


def test_a_second_pass_is_silent() -> None:
    told = make_service()
    pod = asked(told.route, make_pod(), make_cluster(account=ROLE))[1]

    assert not asked(told.route, pod, make_cluster(account=ROLE))[0].ops


def test_nobody_asks_and_nothing_is_given() -> None:
    decision = admit(make_service().route, request(make_pod()), make_cluster())

    assert [(nothing.provider, nothing.reason) for nothing in decision.skips] == [
        ("vault", "not-asked")
    ]


def test_a_mirror_pod_is_never_changed() -> None:
    assert not asked(
        make_service().route,
        make_pod({"kubernetes.io/config.mirror": "x"}),
        make_cluster(account=ROLE),
    )[0].ops


def test_who_joins_later_gets_what_the_others_have_unless_he_is_skipped() -> None:
    told = make_service()
    old = asked(
        told.route,
        make_pod({"vault.example.com/skip-containers": "shell"}),
        make_cluster(account=ROLE),
    )[1]
    pod = {
        **old,
        "spec": {**old["spec"], "ephemeralContainers": [{"name": "debug"}, {"name": "shell"}]},
    }
    late = request(pod, operation="UPDATE", subResource="ephemeralcontainers", oldObject=old)

    assert {op.path for op in admit(told.route, late, make_cluster()).ops} == {
        "/spec/ephemeralContainers/0/volumeMounts",
        "/spec/ephemeralContainers/0/env",
    }


def test_from_bytes_to_bytes_it_is_answered_like_any_other() -> None:
    body = review(make_pod({"mine": "x"}))

    assert well_formed(
        body,
        Counter(
            make_service().route, make_cluster(account={"vault.example.com/role": "$(SECRET)"})
        )(body),
    )

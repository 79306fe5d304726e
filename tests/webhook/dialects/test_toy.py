"""What a new dialect needs is little, and all that others have comes with it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cwii_webhook.admission.admit import admit
from cwii_webhook.dialects.dialect import Service, build_service
from cwii_webhook.settings.flags import BadFlag

from tests.webhook.dialects import toy as toy_dialect
from tests.webhook.dialects.cwii.pods import a_pod, env, said, volume
from tests.webhook.dialects.toy import VAULT
from tests.webhook.harness import Counter, review, well_formed
from tests.webhook.recorded_answers import asked, request

ROLE = {"vault.example.com/role": "shop"}


def served(*flags: str) -> Service:
    return build_service(VAULT, flags, {"VAULT_ADDR": "https://elsewhere"})


def test_it_has_less_than_forty_statements() -> None:
    tree = ast.parse(Path(toy_dialect.__file__).read_text())

    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) < 40


def test_it_is_told_in_its_own_words() -> None:
    told = served("--token-expiration=1200", "--lookup-grace=1s")

    decision, pod = asked(told.route, a_pod(), said(account=ROLE))

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
        volume(pod, "vault-token")["projected"]["sources"][0]["serviceAccountToken"][
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
        served("--vault-adress=x")


def test_a_second_pass_is_silent() -> None:
    told = served()
    pod = asked(told.route, a_pod(), said(account=ROLE))[1]

    assert not asked(told.route, pod, said(account=ROLE))[0].ops


def test_nobody_asks_and_nothing_is_given() -> None:
    decision = admit(served().route, request(a_pod()), said())

    assert [(nothing.provider, nothing.reason) for nothing in decision.skips] == [
        ("vault", "not-asked")
    ]


def test_a_mirror_pod_is_never_changed() -> None:
    assert not asked(
        served().route, a_pod({"kubernetes.io/config.mirror": "x"}), said(account=ROLE)
    )[0].ops


def test_who_joins_later_gets_what_the_others_have_unless_he_is_skipped() -> None:
    told = served()
    old = asked(
        told.route, a_pod({"vault.example.com/skip-containers": "shell"}), said(account=ROLE)
    )[1]
    pod = {
        **old,
        "spec": {**old["spec"], "ephemeralContainers": [{"name": "debug"}, {"name": "shell"}]},
    }
    late = request(pod, operation="UPDATE", subResource="ephemeralcontainers", oldObject=old)

    assert {op.path for op in admit(told.route, late, said()).ops} == {
        "/spec/ephemeralContainers/0/volumeMounts",
        "/spec/ephemeralContainers/0/env",
    }


def test_from_bytes_to_bytes_it_is_answered_like_any_other() -> None:
    body = review(a_pod({"mine": "x"}))

    assert well_formed(
        body, Counter(served().route, said(account={"vault.example.com/role": "$(SECRET)"}))(body)
    )

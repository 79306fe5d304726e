"""The pod that nobody makes: what our own webhook makes of it is what is looked for."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.admission.dry_run import apply_patch

from cwiictl.install import smoke
from cwiictl.install.values import ASKING, DIALECTS, Dialect
from tests.cwiictl.install.installed import some
from tests.webhook.dialects.cwii.pods import make_cluster
from tests.webhook.harness import (
    ACCOUNT_ANNOTATIONS,
    COMMAND_LINES,
    ROUTES,
    InProcessWebhook,
    check_response,
    make_review,
)

OURS = some(dialects=list(DIALECTS), azure={"tenantId": "t"})


def account(name: str, says: dict[str, str], namespace: str = "shop") -> dict[str, Any]:
    return {"metadata": {"namespace": namespace, "name": name, "annotations": says}}


@pytest.mark.parametrize("shape", COMMAND_LINES)
def test_a_pod_that_was_given_nothing_is_not_taken_for_one_that_was(shape: str) -> None:
    dialect: Any = COMMAND_LINES[shape][0]
    pod = smoke.pod(dialect, "shop", "worker")
    assert not smoke.given(dialect, pod)

    body = make_review(pod)
    ops = check_response(
        body,
        InProcessWebhook(
            ROUTES[shape],
            make_cluster(account=ACCOUNT_ANNOTATIONS[dialect] if dialect not in ASKING else {}),
        )(body),
    )

    assert smoke.given(dialect, apply_patch(pod, ops))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_where_pods_do_not_ask_themselves_a_service_account_that_does_is_found(
    dialect: Dialect,
) -> None:
    keys = smoke.asked(OURS, dialect)
    assert bool(keys) == (dialect not in ASKING)
    if keys:
        asking = dict(ACCOUNT_ANNOTATIONS[dialect])
        one, other = account("one", asking), account("a", asking, "toys")
        assert smoke.askers(OURS, keys, [account("default", {}), other, one]) == [one, other]


def test_one_that_says_half_or_whose_pods_nobody_looks_at_is_not_taken() -> None:
    """The first would be refused, the other let through: neither says anything of us."""
    keys, asking = smoke.asked(OURS, "gcpwif"), dict(ACCOUNT_ANNOTATIONS["gcpwif"])
    half = account("half", {keys[0]: asking[keys[0]]})

    assert (
        smoke.askers(
            OURS,
            keys,
            [half, account("one", asking, "kube-system"), account("one", asking, OURS.namespace)],
        )
        == []
    )
    assert (
        smoke.askers(OURS, keys, [half, {"metadata": {"namespace": "shop", "name": "none"}}]) == []
    )


def test_they_are_asked_for_in_the_domain_that_the_webhook_is_told() -> None:
    values = some(
        dialects=["cwii", "eks"], arguments={"eks": ["--annotation-prefix=aws.example.org"]}
    )

    assert smoke.asked(values, "eks") == ("aws.example.org/role-arn",)

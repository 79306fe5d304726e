"""cwii's second pass over a pod, and the marker of the first."""

from __future__ import annotations

import pytest
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import (
    ALL_CLOUDS,
    AWS,
    find_helper,
    inject,
    inject_with_account,
    make_pod,
)


@pytest.mark.parametrize("delivery", ["annotation", "config-map", "init-container"])
def test_a_second_pass_over_everything_says_and_does_nothing(delivery: str) -> None:
    said = {**ALL_CLOUDS, **{f"cwii.dev/{cloud}-verify": "true" for cloud in ("aws", "az", "gcp")}}
    settings = Settings(gcp_delivery=delivery)
    _, pod = inject_with_account(said, settings, initContainers=[{"name": "mine"}])
    decision, again = inject(pod, settings, account=said)

    assert (list(decision.ops), decision.warnings, again) == ([], (), pod)


def test_the_api_servers_defaults_in_our_volumes_are_no_change() -> None:
    _, pod = inject_with_account(ALL_CLOUDS, Settings(gcp_delivery="config-map"))
    for one in pod["spec"]["volumes"]:
        next(source for kind, source in one.items() if kind != "name")["defaultMode"] = 0o644

    decision, _ = inject(pod, Settings(gcp_delivery="config-map"), account=ALL_CLOUDS)

    assert (list(decision.ops), decision.warnings) == ([], ())


def test_guests_of_a_second_pass_are_given_nothing_of_other_clouds() -> None:
    """Another webhook's change may bring the pod back with another voice speaking by then."""
    _, pod = inject_with_account({**AWS, "cwii.dev/aws-verify": "true"})
    _, again = inject(pod, account={**ALL_CLOUDS, "cwii.dev/aws-verify": "true"})

    assert find_helper(again, "cwii-aws-verify") == find_helper(pod, "cwii-aws-verify")


@pytest.mark.parametrize(
    ("there", "marker"),
    [("", "aws"), ("user", "aws,user"), (" gcp , aws,", "aws,gcp"), ("aws", "aws")],
)
def test_the_marker_keeps_what_it_lists(there: str, marker: str) -> None:
    decision, pod = inject(make_pod({"cwii.dev/injected": there}), account=AWS)

    assert pod["metadata"]["annotations"]["cwii.dev/injected"] == marker
    assert any("injected" in op.path for op in decision.ops) == (there != marker)


def test_the_marker_and_the_audit_say_what_was_given_and_by_whom() -> None:
    decision, _ = inject(make_pod({"cwii.dev/aws-region": "eu-west-1"}), account=AWS)

    assert decision.audit["injected"] == "aws"
    assert "AWS_ROLE_ARN from ServiceAccount shop/worker; " in decision.audit["aws"]
    assert "AWS_REGION from Pod shop/p" in decision.audit["aws"]
    assert "token audience by default" in decision.audit["aws"]
    assert all("/" not in key for key in decision.audit)

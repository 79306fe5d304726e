"""Tests the second pass of cwii's dialect over a pod, and the marker that the first writes."""

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
def test_second_pass_makes_no_change_and_no_warning(delivery: str) -> None:
    annotations = {
        **ALL_CLOUDS,
        **{f"cwii.dev/{cloud}-verify": "true" for cloud in ("aws", "az", "gcp")},
    }
    settings = Settings(gcp_delivery=delivery)
    _, pod = inject_with_account(annotations, settings, initContainers=[{"name": "mine"}])
    decision, unchanged = inject(pod, settings, account=annotations)

    assert (list(decision.ops), decision.warnings, unchanged) == ([], (), pod)


def test_api_server_defaults_in_injected_volumes_are_no_change() -> None:
    _, pod = inject_with_account(ALL_CLOUDS, Settings(gcp_delivery="config-map"))
    for volume in pod["spec"]["volumes"]:
        next(source for kind, source in volume.items() if kind != "name")["defaultMode"] = 0o644

    decision, _ = inject(pod, Settings(gcp_delivery="config-map"), account=ALL_CLOUDS)

    assert (list(decision.ops), decision.warnings) == ([], ())


def test_second_pass_does_not_add_clouds_to_helpers() -> None:
    """Annotations may change before a patch of another webhook causes the second pass."""
    _, pod = inject_with_account({**AWS, "cwii.dev/aws-verify": "true"})
    _, reinvoked = inject(pod, account={**ALL_CLOUDS, "cwii.dev/aws-verify": "true"})

    assert find_helper(reinvoked, "cwii-aws-verify") == find_helper(pod, "cwii-aws-verify")


@pytest.mark.parametrize(
    ("existing", "marker"),
    [("", "aws"), ("user", "aws,user"), (" gcp , aws,", "aws,gcp"), ("aws", "aws")],
)
def test_marker_keeps_existing_entries(existing: str, marker: str) -> None:
    decision, pod = inject(make_pod({"cwii.dev/injected": existing}), account=AWS)

    assert pod["metadata"]["annotations"]["cwii.dev/injected"] == marker
    assert any("injected" in op.path for op in decision.ops) == (existing != marker)


def test_audit_annotations_name_clouds_and_sources() -> None:
    decision, _ = inject(make_pod({"cwii.dev/aws-region": "eu-west-1"}), account=AWS)

    assert decision.audit["injected"] == "aws"
    assert "AWS_ROLE_ARN from ServiceAccount shop/worker; " in decision.audit["aws"]
    assert "AWS_REGION from Pod shop/p" in decision.audit["aws"]
    assert "token audience by default" in decision.audit["aws"]
    assert all("/" not in key for key in decision.audit)

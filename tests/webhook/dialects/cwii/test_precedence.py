"""Tests which source of annotations takes precedence."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import PodRefused
from cwii_webhook.admission.review import Metadata, Pod, Request, Spec
from cwii_webhook.dialects.cwii import annotations as keys
from cwii_webhook.dialects.cwii.precedence import AnnotationResolver, describe

from tests.webhook.dialects.cwii.pods import SOURCES, make_cluster, make_controller


def resolve(**annotations: Mapping[str, str]) -> AnnotationResolver:
    metadata = Metadata(
        "p",
        namespace="shop",
        annotations=dict(annotations.pop("pod", {})),
        owner_references=[make_controller("StatefulSet", "web")],
    )
    return AnnotationResolver(
        PodContext(
            Request("u", namespace="shop"),
            Pod(metadata, Spec(service_account_name="worker")),
            make_cluster(**annotations),
        )
    )


@pytest.mark.parametrize(("near", "far"), list(itertools.combinations(SOURCES, 2)))
def test_nearest_source_takes_precedence(near: str, far: str) -> None:
    key = keys.AWS_REGION.key
    origin = resolve(**{near: {key: "near-1"}, far: {key: "far-1"}}).use_text(
        keys.AWS_REGION, "region"
    )

    assert origin
    assert (origin.value, origin.source and origin.source.scope, origin.key) == (
        "near-1",
        near,
        key,
    )


@pytest.mark.parametrize("empty", ["", " ", "\t\n"], ids=ascii)
def test_empty_text_is_skipped(empty: str) -> None:
    origin = resolve(
        pod={keys.AWS_REGION.key: empty}, namespace={keys.AWS_REGION.key: " far-1 "}
    ).use_text(keys.AWS_REGION, "region")

    assert origin
    assert origin.value == "far-1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", "true"),
        ("TRUE", "true"),
        (" True ", "true"),
        ("false", "false"),
        ("FALSE", "false"),
        ("yes", "far"),
        ("1", "far"),
        ("", "far"),
        ("t", "far"),
    ],
)
def test_flag_is_true_or_false_or_the_next_source_decides(text: str, expected: str) -> None:
    inject = keys.AWS.inject
    resolved = resolve(pod={inject.key: text}, account={inject.key: "true"})
    origin = resolved.use_flag(inject)

    assert origin
    assert (origin.value, origin.source and origin.source.scope) == (
        ("true", "account") if expected == "far" else (expected, "pod")
    )
    assert bool(resolved.warnings) == (expected == "far" and bool(text))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7200", 7200),
        ("+7200", 7200),
        (" 7200 ", 7200),
        ("600", 600),
        ("599", 600),
        ("10", 600),
        ("-1", 600),
        ("0", 600),
        (str(1 << 32), 1 << 32),
        ("0" * 60 + "7200", 7200),
        ("+" + "0" * 60, 600),
        ("-" + "9" * 60, 600),
    ],
)
def test_expiration_is_at_least_ten_minutes(text: str, seconds: int) -> None:
    resolved = resolve(pod={keys.AWS.expiration.key: text})

    assert resolved.use_seconds(keys.AWS.expiration, 3600) == seconds
    assert [origin.value for origin in resolved.origins] == [str(seconds)]


@pytest.mark.parametrize("text", ["abc", "1h", "3600.0", "1e4", "1_000", "٣٦٠٠", "0x10", "--1"])
def test_invalid_number_of_the_nearest_source_means_the_default_with_a_warning(text: str) -> None:
    key = keys.AWS.expiration.key
    resolved = resolve(pod={key: text}, namespace={key: "7200"})

    assert resolved.use_seconds(keys.AWS.expiration, 3600) == 3600
    assert resolved.warnings == [
        f"{key} of Pod shop/p is {text!a}, which is no number of seconds: 3600 is used"
    ]


@pytest.mark.parametrize("text", [str((1 << 32) + 1), str(1 << 63), "9" * 5000])
def test_expiration_beyond_the_limit_of_the_api_server_is_refused(text: str) -> None:
    with pytest.raises(
        PodRefused,
        match=r"cwii.dev/aws-token-expiration of ServiceAccount shop/worker is .*: "
        r"say 600 to 4294967296 seconds",
    ):
        resolve(account={keys.AWS.expiration.key: text}).use_seconds(keys.AWS.expiration, 3600)


def test_each_annotation_is_resolved_separately() -> None:
    resolved = resolve(
        pod={keys.AWS_REGION.key: "eu-west-1"},
        namespace={keys.AWS_ROLE_ARN.key: "role", keys.AWS_REGION.key: "us-east-1"},
    )

    origins = [
        resolved.use_text(annotation, "it")
        for annotation in (keys.AWS_REGION, keys.AWS_ROLE_ARN, keys.AWS_SESSION_NAME)
    ]

    assert [origin and describe(origin) for origin in origins] == [
        "cwii.dev/aws-region of Pod shop/p",
        "cwii.dev/aws-role-arn of Namespace shop",
        None,
    ]
    assert resolved.origins == origins[:2]

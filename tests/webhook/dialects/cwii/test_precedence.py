"""Whose word counts, for each kind of word."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import PodRefused
from cwii_webhook.admission.review import Metadata, Pod, Request, Spec
from cwii_webhook.dialects.cwii import annotations as words
from cwii_webhook.dialects.cwii.precedence import ResolvedAnnotations, describe

from tests.webhook.dialects.cwii.pods import SOURCES, make_cluster, make_controller


def resolve(**by: Mapping[str, str]) -> ResolvedAnnotations:
    meta = Metadata(
        "p",
        namespace="shop",
        annotations=dict(by.pop("pod", {})),
        owner_references=[make_controller("StatefulSet", "web")],
    )
    return ResolvedAnnotations(
        PodContext(
            Request("u", namespace="shop"),
            Pod(meta, Spec(service_account_name="worker")),
            make_cluster(**by),
        )
    )


@pytest.mark.parametrize(("near", "far"), list(itertools.combinations(SOURCES, 2)))
def test_the_nearer_voice_is_heard(near: str, far: str) -> None:
    key = words.AWS_REGION.key
    heard = resolve(**{near: {key: "near-1"}, far: {key: "far-1"}}).text(words.AWS_REGION, "region")

    assert heard
    assert (heard.value, heard.source and heard.source.scope, heard.key) == ("near-1", near, key)


@pytest.mark.parametrize("empty", ["", " ", "\t\n"], ids=ascii)
def test_an_empty_text_is_no_answer(empty: str) -> None:
    heard = resolve(
        pod={words.AWS_REGION.key: empty}, namespace={words.AWS_REGION.key: " far-1 "}
    ).text(words.AWS_REGION, "region")

    assert heard
    assert heard.value == "far-1"


@pytest.mark.parametrize(
    ("text", "answer"),
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
def test_a_flag_is_true_or_false_or_the_next_voice_is_asked(text: str, answer: str) -> None:
    inject = words.AWS.inject
    asked = resolve(pod={inject.key: text}, account={inject.key: "true"})
    heard = asked.flag(inject)

    assert heard
    assert (heard.value, heard.source and heard.source.scope) == (
        ("true", "account") if answer == "far" else (answer, "pod")
    )
    assert bool(asked.warnings) == (answer == "far" and bool(text))


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
def test_a_token_lasts_as_long_as_is_said_but_ten_minutes_at_least(text: str, seconds: int) -> None:
    asked = resolve(pod={words.AWS.expiration.key: text})

    assert asked.seconds(words.AWS.expiration, 3600) == seconds
    assert [origin.value for origin in asked.origins] == [str(seconds)]


@pytest.mark.parametrize("text", ["abc", "1h", "3600.0", "1e4", "1_000", "٣٦٠٠", "0x10", "--1"])
def test_the_nearest_answer_that_is_no_number_leaves_the_default_and_is_told(text: str) -> None:
    key = words.AWS.expiration.key
    asked = resolve(pod={key: text}, namespace={key: "7200"})

    assert asked.seconds(words.AWS.expiration, 3600) == 3600
    assert asked.warnings == [
        f"{key} of Pod shop/p is {text!a}, which is no number of seconds: 3600 is used"
    ]


@pytest.mark.parametrize("text", [str((1 << 32) + 1), str(1 << 63), "9" * 5000])
def test_no_token_lasts_longer_than_the_api_server_has_it(text: str) -> None:
    with pytest.raises(
        PodRefused,
        match=r"cwii.dev/aws-token-expiration of ServiceAccount shop/worker is .*: say 600 to 4294967296 seconds",
    ):
        resolve(account={words.AWS.expiration.key: text}).seconds(words.AWS.expiration, 3600)


def test_each_word_is_heard_for_itself() -> None:
    asked = resolve(
        pod={words.AWS_REGION.key: "eu-west-1"},
        namespace={words.AWS_ROLE_ARN.key: "role", words.AWS_REGION.key: "us-east-1"},
    )

    heard = [
        asked.text(word, "it")
        for word in (words.AWS_REGION, words.AWS_ROLE_ARN, words.AWS_SESSION_NAME)
    ]

    assert [origin and describe(origin) for origin in heard] == [
        "cwii.dev/aws-region of Pod shop/p",
        "cwii.dev/aws-role-arn of Namespace shop",
        None,
    ]
    assert asked.origins == heard[:2]

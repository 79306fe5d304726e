"""What is said of a pod: as it would be, whose word each value is, or why there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.explain import explain, shown
from cwiictl.errors import BadInput

ROLE = "arn:aws:iam::111122223333:role/s3"


def an_account(role: str = ROLE) -> dict[str, Any]:
    meta = {"name": "billing", "namespace": "shop", "annotations": {"eks.amazonaws.com/role-arn": role}}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}


ACCOUNT = an_account()
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"serviceAccountName": "billing", "containers": [{"name": "c", "image": "nginx"}]},
}


def ran(*objects: Any, arguments: tuple[str, ...] = ("--dialect", "eks")) -> Result:
    text = "\n---\n".join(json.dumps(o) for o in objects)
    return CliRunner().invoke(explain, ["-f", "-", *arguments], input=text, catch_exceptions=False)


def test_the_pod_is_shown_as_it_would_be_with_whose_word_each_value_is() -> None:
    told = ran(ACCOUNT, POD)

    assert told.exit_code == 0
    assert "Pod shop/web: injected" in told.stdout
    assert "  +    - name: AWS_ROLE_ARN" in told.stdout
    assert f"AWS_ROLE_ARN                 {ROLE}  (eks.amazonaws.com/role-arn of ServiceAccount shop/billing)" in told.stdout


def test_why_there_is_nothing_is_said_and_what_was_missed() -> None:
    told = ran(POD)

    assert "Pod shop/web: nothing" in told.stdout
    assert "aws: no-account" in told.stdout
    assert "Taken for not there, as no file has them: ServiceAccount shop/billing" in told.stdout


def test_the_webhooks_own_flags_count() -> None:
    told = ran(ACCOUNT, POD, arguments=("--dialect", "eks", "--", "--aws-default-region=eu-west-1"))

    assert "name: AWS_REGION" in told.stdout


def test_machines_get_data() -> None:
    told = json.loads(ran(ACCOUNT, POD, arguments=("--dialect", "eks", "-o", "json")).stdout)

    assert told["pods"][0]["outcome"] == "injected"
    assert told["pods"][0]["after"]["spec"]["volumes"][0]["name"] == "aws-iam-token"
    assert told["unseen"] == []


@pytest.mark.parametrize(
    ("objects", "arguments", "problem"),
    [
        ([ACCOUNT], ("--dialect", "eks"), "there is no pod in standard input"),
        ([ACCOUNT, POD], ("--dialect", "eks", "--", "--aws-default-regio=x"), "there is no flag --aws-default-regio"),
        ([{**POD, "spec": {"containers": "x"}}], ("--dialect", "eks"), "Pod shop/web is none that Kubernetes would take"),
    ],
    ids=["no pod", "no flag", "no containers"],
)
def test_what_cannot_be_meant_is_said(objects: list[Any], arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        ran(*objects, arguments=arguments)


@pytest.mark.parametrize(
    ("text", "seen"),
    [("a\x1b[31mb", "a\\x1b[31mb"), ("a\nb", "a\\nb"), ("\u202eevil", "\\u202eevil"), ("\u200b", "\\u200b"), ("grüße", "grüße"), ("\x9b1m", "\\x9b1m")],
)
def test_what_would_move_the_terminal_is_shown_and_not_sent(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_a_hostile_annotation_does_not_reach_the_terminal() -> None:
    assert "\x1b" not in ran(an_account("a\x1b]0;x\x07"), POD).stdout

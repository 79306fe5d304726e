"""What AWS is told, and what a request may ask of it: right from birth, or refused with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws.partitions import partition
from cwiictl.clouds.aws.spec import KIND, Spec, ask
from cwiictl.errors import BadInput
from tests.examples import a_request, an_entry


@pytest.mark.parametrize(
    ("region", "name", "suffix"),
    [
        ("us-east-1", "aws", "amazonaws.com"),
        ("eu-central-2", "aws", "amazonaws.com"),
        ("mx-central-1", "aws", "amazonaws.com"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
        ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
        ("us-iso-east-1", "aws-iso", "c2s.ic.gov"),
        ("us-isob-east-1", "aws-iso-b", "sc2s.sgov.gov"),
        ("eu-isoe-west-1", "aws-iso-e", "cloud.adc-e.uk"),
        ("us-isof-south-1", "aws-iso-f", "csp.hci.ic.gov"),
    ],
)
def test_a_region_is_in_its_partition(region: str, name: str, suffix: str) -> None:
    assert (partition(region).name, partition(region).suffix) == (name, suffix)


@pytest.mark.parametrize("region", ["", "moon-1", "useast1", "../x", "EU-WEST-1"])
def test_what_is_no_region_is_refused(region: str) -> None:
    with pytest.raises(BadInput, match="no region"):
        Spec(region=region)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("account", "1234"),
        ("account", "12345678901a"),
        ("boundary", "arn:aws:iam::123456789012:role/x"),
        ("boundary", "x"),
        ("provider", "arn:aws:iam::aws:oidc-provider/x"),
        ("provider", "https://issuer.example.org"),
    ],
)
def test_what_does_not_look_like_what_it_must_be_is_refused(field: str, value: str) -> None:
    with pytest.raises(BadInput) as raised:
        Spec(**{"region": "us-east-1", field: value})
    assert repr(value) in raised.value.problem
    assert raised.value.remedy


def test_what_is_right_is_taken() -> None:
    Spec("us-east-1", "123456789012", "arn:aws:iam::aws:policy/PowerUserAccess", "arn:aws-cn:iam::123456789012:oidc-provider/a/b")


def test_entries_become_one_policy() -> None:
    entries = [an_entry("b:x", "a:y", condition={"Bool": {"k": True}}), an_entry("c:z", resource="arn:aws:s3:::x")]

    assert ask(a_request({"kind": KIND, "statementEntries": entries})).policy == {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "c:z", "Resource": "arn:aws:s3:::x"},
            {"Effect": "Allow", "Action": ["a:y", "b:x"], "Resource": "*", "Condition": {"Bool": {"k": "true"}}},
        ],
    }


WRONG: list[dict[str, Any]] = [
    {},
    {"statementEntries": None},
    {"statementEntries": []},
    {"statementEntries": [{}]},
    {"statementEntries": "x"},
    {"statementEntries": [{**an_entry(), "effect": "allow"}]},
    {"statementEntries": [{**an_entry(), "action": []}]},
    {"statementEntries": [{**an_entry(), "action": "s3:*"}]},
    {"statementEntries": [{**an_entry(), "resource": ""}]},
    {"statementEntries": [{**an_entry(), "resource": ["*"]}]},
    {"statementEntries": [{**an_entry(), "policyCondition": {"Bool": "x"}}]},
]


@pytest.mark.parametrize("spec", WRONG)
def test_what_asks_for_nothing_or_wrongly_is_refused_by_name(spec: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as raised:
        ask(a_request(spec))
    assert "a-request" in raised.value.problem
    assert "a file" in raised.value.problem
    assert "statementEntries" in raised.value.remedy

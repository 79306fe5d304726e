"""What AWS is told, and what a request may ask of it: right from birth, or refused with what to do."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        partition(region)
    with pytest.raises(BadInput, match="no region"):
        Spec(region=region, private=True)


@pytest.mark.parametrize(
    ("region", "there"),
    [
        ("us-east-1", True),
        ("cn-north-1", True),
        ("us-gov-west-1", False),
        ("eusc-de-east-1", False),
    ],
)
def test_cloudfront_is_refused_where_there_is_none(region: str, there: bool) -> None:
    with nullcontext() if there else pytest.raises(BadInput, match=f"no CloudFront for {region}"):
        Spec(region=region, private=True)


@pytest.mark.parametrize("wrong", [{"prefix": "a"}, {"bucket": "theirs", "private": True}])
def test_what_excludes_or_misses_another_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"exclude one another|does not say in which bucket"):
        Spec(region="us-east-1", **wrong)


@pytest.mark.parametrize("seconds", ["3600", "7200", "9999", "10000", "39999", "43200"])
def test_a_session_may_last_from_one_to_twelve_hours(seconds: str) -> None:
    assert Spec("us-east-1", session=seconds).session == seconds


@given(st.integers(0, 50000))
def test_no_other_number_of_seconds_is_taken(seconds: int) -> None:
    with nullcontext() if 3600 <= seconds <= 43200 else pytest.raises(BadInput):
        Spec("us-east-1", session=str(seconds))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("account", "1234"),
        ("account", "12345678901a"),
        ("boundary", "arn:aws:iam::123456789012:role/x"),
        ("boundary", "x"),
        ("provider", "arn:aws:iam::aws:oidc-provider/x"),
        ("provider", "https://issuer.example.org"),
        ("path", "clusters"),
        ("path", "/clusters"),
        ("path", "/a b/"),
        ("session", "3599"),
        ("session", "43201"),
        ("session", "1h"),
        ("bucket", "UPPER"),
        ("bucket", "-x-"),
    ],
)
def test_what_does_not_look_like_what_it_must_be_is_refused(field: str, value: str) -> None:
    told: Any = {"region": "us-east-1", field: value}
    with pytest.raises(BadInput) as raised:
        Spec(**told)
    assert repr(value) in raised.value.problem
    assert raised.value.remedy


def test_what_is_right_is_taken() -> None:
    Spec(
        "us-east-1",
        account="123456789012",
        boundary="arn:aws:iam::aws:policy/PowerUserAccess",
        provider="arn:aws-cn:iam::123456789012:oidc-provider/a/b",
        path="/clusters/of/ours/",
        bucket="their.documents",
        prefix="clusters/prod",
    )


def test_entries_become_one_policy() -> None:
    entries = [
        an_entry("b:x", "a:y", condition={"Bool": {"k": True}}),
        an_entry("c:z", resource="arn:aws:s3:::x"),
    ]

    assert ask(a_request({"kind": KIND, "statementEntries": entries})).policy == {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "c:z", "Resource": "arn:aws:s3:::x"},
            {
                "Effect": "Allow",
                "Action": ["a:y", "b:x"],
                "Resource": "*",
                "Condition": {"Bool": {"k": "true"}},
            },
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


@pytest.mark.parametrize("value", [None, [], [None], {}, [["x"]], {"a": "b"}])
def test_a_condition_that_iam_cannot_compare_is_refused_by_name(value: object) -> None:
    """A missing text would be compared as a guess."""
    spec = {
        "kind": KIND,
        "statementEntries": [
            {**an_entry(), "policyCondition": {"StringEquals": {"aws:RequestTag/owner": value}}}
        ],
    }

    with pytest.raises(
        BadInput, match="policyCondition StringEquals aws:RequestTag/owner of a-request"
    ) as raised:
        ask(a_request(spec))
    assert raised.value.remedy


@pytest.mark.parametrize("value", ["x", True, 1, 1.5, ["a", "b"], [True, "x"]])
def test_a_condition_that_iam_can_compare_is_taken(value: object) -> None:
    entry = an_entry(condition={"StringEquals": {"aws:RequestTag/owner": value}})

    (statement,) = (ask(a_request({"kind": KIND, "statementEntries": [entry]})).policy or {})[
        "Statement"
    ]
    assert "aws:RequestTag/owner" in statement["Condition"]["StringEquals"]

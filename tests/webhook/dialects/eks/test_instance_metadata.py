"""Tests how the webhook reads its AWS account and partition from the instance metadata."""

from __future__ import annotations

import json

import pytest
from cwii_webhook.dialects.eks.external_config import InstanceIdentity
from cwii_webhook.dialects.eks.instance_metadata import ENDPOINT_VARIABLE, read_document
from cwii_webhook.settings.flags import BadFlag

from tests.webhook.dialects.eks.metadata_service import DOCUMENT, serve_metadata


@pytest.mark.parametrize("tokens", [True, False])
def test_document_is_read_with_a_token_if_the_service_has_tokens(tokens: bool) -> None:  # noqa: FBT001 - a column of the table
    with serve_metadata(tokens=tokens) as (address, requests):
        assert read_document({ENDPOINT_VARIABLE: address}) == DOCUMENT
    assert requests == ["PUT /latest/api/token", "GET /latest/dynamic/instance-identity/document"]


def test_failed_request_is_retried_with_delays() -> None:
    delays: list[float] = []
    with serve_metadata(failing=2) as (address, _):
        assert read_document({ENDPOINT_VARIABLE: address}, delays.append) == DOCUMENT
    assert delays == [0.5, 1.0]


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://127.0.0.1:none", "nowhere"])
def test_unreachable_service_is_an_error_with_flag_and_remedy(address: str) -> None:
    with pytest.raises(
        BadFlag, match=r"--compose-role-arn needs the instance's metadata, and .* hop limit of 2"
    ):
        read_document({ENDPOINT_VARIABLE: address}, lambda _: None)


@pytest.mark.parametrize(
    ("region", "partition"),
    [
        ("eu-west-1", "aws"),
        ("us-east-1", "aws"),
        ("cn-north-1", "aws-cn"),
        ("us-gov-west-1", "aws-us-gov"),
        ("us-iso-east-1", "aws-iso"),
        ("us-isob-east-1", "aws-iso-b"),
        ("eu-isoe-west-1", "aws-iso-e"),
        ("us-isof-south-1", "aws-iso-f"),
        ("eusc-de-east-1", "aws-eusc"),
    ],
)
def test_partition_follows_from_the_region(region: str, partition: str) -> None:
    identity = InstanceIdentity()

    assert not identity.update(json.dumps({"accountId": "111122223333", "region": region}))
    assert identity.full_arn("a/b") == f"arn:{partition}:iam::111122223333:role/a/b"
    assert identity.full_arn("arn:aws:iam::1:role/x") == "arn:aws:iam::1:role/x"


@pytest.mark.parametrize("text", ["", "no json", "{}", '{"accountId": 1, "region": "x"}', None])
def test_invalid_document_is_reported(text: str | None) -> None:
    assert "cannot be read" in InstanceIdentity().update(text)

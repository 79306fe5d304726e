"""S3 in the sandbox: public only as far as S3 would let it be."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.visitor import (
    ALL_BLOCKED,
    BUCKET,
    HOST,
    REGION,
    Visitor,
    read_policy,
    refusal,
)

DISCOVERY = ".well-known/openid-configuration"


def refused(call: Callable[[], Any]) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    return refusal(caught.value)


def test_an_issuer_document_is_read_by_anybody_at_both_kinds_of_address(visitor: Visitor) -> None:
    visitor.open_bucket()
    visitor.s3.put_object(
        Bucket=BUCKET,
        Key=DISCOVERY,
        Body=b"{}",
        ContentType="application/json",
        CacheControl="max-age=60",
    )
    for address in (
        f"https://{HOST}/{DISCOVERY}",
        f"https://s3.{REGION}.amazonaws.com/{BUCKET}/{DISCOVERY}",
    ):
        answer = visitor.get(address)
        assert (answer.status, answer.body) == (200, b"{}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "max-age=60"
        assert answer.headers["etag"]
        assert visitor.get(address, "HEAD").headers["content-length"] == "2"


def test_a_signed_client_reads_the_same_document(visitor: Visitor) -> None:
    visitor.open_bucket()
    visitor.s3.put_object(Bucket=BUCKET, Key=DISCOVERY, Body=b"{}", ContentType="application/json")
    assert visitor.s3.get_object(Bucket=BUCKET, Key=DISCOVERY)["Body"].read() == b"{}"


def test_a_new_bucket_is_closed_to_everybody_else(visitor: Visitor) -> None:
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    visitor.s3.put_object(Bucket=BUCKET, Key=DISCOVERY, Body=b"{}")
    assert (
        visitor.s3.get_public_access_block(Bucket=BUCKET)["PublicAccessBlockConfiguration"]
        == ALL_BLOCKED
    )
    assert visitor.get(f"https://{HOST}/{DISCOVERY}").status == 403


def test_a_public_policy_is_refused_while_the_bucket_blocks_it(visitor: Visitor) -> None:
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    assert refused(lambda: visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=read_policy())) == (
        "AccessDenied",
        403,
    )


def test_a_policy_for_one_account_is_not_public(visitor: Visitor) -> None:
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    policy = read_policy().replace('"*"', '{"AWS": "arn:aws:iam::210987654321:root"}', 1)
    visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)


@pytest.mark.parametrize("block", ["BlockPublicPolicy", "RestrictPublicBuckets"])
def test_the_accounts_own_block_counts_for_every_bucket(visitor: Visitor, block: str) -> None:
    visitor.open_bucket()
    visitor.s3.put_object(Bucket=BUCKET, Key=DISCOVERY, Body=b"{}")
    visitor.control.put_public_access_block(
        AccountId="123456789012", PublicAccessBlockConfiguration={block: True}
    )
    assert visitor.get(f"https://{HOST}/{DISCOVERY}").status == (
        403 if block == "RestrictPublicBuckets" else 200
    )
    if block == "BlockPublicPolicy":
        assert refused(
            lambda: visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=read_policy())
        ) == ("AccessDenied", 403)
    visitor.control.delete_public_access_block(AccountId="123456789012")
    assert visitor.get(f"https://{HOST}/{DISCOVERY}").status == 200


def test_strangers_do_not_learn_what_is_missing(visitor: Visitor) -> None:
    """403, unless they may list the bucket."""
    visitor.open_bucket()
    assert visitor.get(f"https://{HOST}/none").status == 403
    document = json.loads(read_policy())
    document["Statement"].append(
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:ListBucket",
            "Resource": f"arn:aws:s3:::{BUCKET}",
        }
    )
    visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(document))
    answer = visitor.get(f"https://{HOST}/none")
    assert answer.status == 404
    assert b"<Code>NoSuchKey</Code>" in answer.body


def test_strangers_write_nothing_and_list_nothing(visitor: Visitor) -> None:
    visitor.open_bucket()
    for method, path in (
        ("PUT", "/new"),
        ("DELETE", "/new"),
        ("GET", "/"),
        ("GET", "/?policy"),
        ("PUT", "/?policy"),
    ):
        assert visitor.get(f"https://{HOST}{path}", method).status == 403


def test_a_bucket_that_nobody_has_is_not_found(visitor: Visitor) -> None:
    answer = visitor.get(f"https://nobody-has-this.s3.{REGION}.amazonaws.com/key")
    assert answer.status == 404
    assert b"<Code>NoSuchBucket</Code>" in answer.body


def test_the_tags_of_a_create_bucket_are_there(visitor: Visitor) -> None:
    visitor.s3.create_bucket(
        Bucket=BUCKET,
        CreateBucketConfiguration={
            "LocationConstraint": REGION,
            "Tags": [{"Key": "ours", "Value": "a&b"}],
        },
    )
    assert visitor.s3.get_bucket_tagging(Bucket=BUCKET)["TagSet"] == [
        {"Key": "ours", "Value": "a&b"}
    ]


def test_a_second_create_is_told_whose_the_bucket_is(visitor: Visitor) -> None:
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    again = refused(
        lambda: visitor.s3.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
    )
    assert again == ("BucketAlreadyOwnedByYou", 409)


def test_somebody_elses_bucket_can_be_neither_made_nor_seen(
    visitor: Visitor, enter: Callable[..., Visitor]
) -> None:
    visitor.sandbox.__exit__(None, None, None)
    other = enter(strangers=frozenset({BUCKET}))
    made = refused(
        lambda: other.s3.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
    )
    assert made == ("BucketAlreadyExists", 409)
    assert refused(lambda: other.s3.head_bucket(Bucket=BUCKET)) == ("403", 403)


@pytest.mark.parametrize(
    ("name", "location", "code"),
    [
        ("Capital-Letters", REGION, "InvalidBucketName"),
        (BUCKET, "eu-nowhere-1", "InvalidLocationConstraint"),
        (BUCKET, "us-west-2", "IllegalLocationConstraintException"),
    ],
)
def test_buckets_with_wrong_names_or_places_are_refused(
    visitor: Visitor, name: str, location: Any, code: str
) -> None:
    assert refused(
        lambda: visitor.s3.create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": location}
        )
    ) == (code, 400)


def test_a_policy_comes_back_in_s3s_own_words(visitor: Visitor) -> None:
    visitor.open_bucket()
    resources = [f"arn:aws:s3:::{BUCKET}/a", f"arn:aws:s3:::{BUCKET}/b"]
    statement = {
        "Resource": resources,
        "Action": ["s3:GetObject"],
        "Principal": {"AWS": ["*"]},
        "Effect": "Allow",
    }
    visitor.s3.put_bucket_policy(
        Bucket=BUCKET, Policy=json.dumps({"Statement": [statement], "Version": "2012-10-17"})
    )
    found = visitor.s3.get_bucket_policy(Bucket=BUCKET)["Policy"]
    assert json.loads(found) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": "s3:GetObject",
                "Resource": resources[::-1],
            }
        ],
    }


@pytest.mark.parametrize(
    "policy",
    ["nonsense", "[]", '{"Statement": [{"Effect": "Allow"}]}', read_policy("another-bucket")],
)
def test_a_malformed_bucket_policy_is_refused(visitor: Visitor, policy: str) -> None:
    visitor.open_bucket()
    assert refused(lambda: visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=policy)) == (
        "MalformedPolicy",
        400,
    )


def test_objects_are_written_under_their_preconditions(visitor: Visitor) -> None:
    visitor.open_bucket()
    tag = visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"1", IfNoneMatch="*")["ETag"]
    assert refused(
        lambda: visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"2", IfNoneMatch="*")
    ) == ("PreconditionFailed", 412)
    assert refused(
        lambda: visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"2", IfMatch='"other"')
    ) == ("PreconditionFailed", 412)
    assert refused(lambda: visitor.s3.delete_object(Bucket=BUCKET, Key="k", IfMatch='"other"')) == (
        "PreconditionFailed",
        412,
    )
    visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"2", IfMatch=tag)


def test_a_bucket_goes_only_when_it_is_empty(visitor: Visitor) -> None:
    visitor.open_bucket()
    visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"1")
    assert refused(lambda: visitor.s3.delete_bucket(Bucket=BUCKET)) == ("BucketNotEmpty", 409)
    visitor.s3.delete_object(Bucket=BUCKET, Key="k")
    visitor.s3.delete_bucket(Bucket=BUCKET)
    assert refused(lambda: visitor.s3.head_bucket(Bucket=BUCKET)) == ("404", 404)


def test_another_regions_host_sends_its_readers_on(visitor: Visitor) -> None:
    visitor.open_bucket()
    answer = visitor.get(f"https://{BUCKET}.s3.us-east-1.amazonaws.com/key")
    assert answer.status == 301
    assert f"<Endpoint>{HOST}</Endpoint>".encode() in answer.body
    assert (
        visitor.get(f"https://{BUCKET}.s3.us-east-1.amazonaws.com/key", "HEAD").headers[
            "x-amz-bucket-region"
        ]
        == REGION
    )


def test_in_us_east_1_ones_own_bucket_can_be_made_twice(visitor: Visitor) -> None:
    visitor.region = "us-east-1"
    for _ in range(2):
        visitor.s3.create_bucket(Bucket=BUCKET)


def test_large_bodies_pass_in_both_directions(visitor: Visitor) -> None:
    visitor.open_bucket()
    body = bytes(range(256)) * 40_000
    visitor.s3.put_object(Bucket=BUCKET, Key="large", Body=body)
    assert visitor.s3.get_object(Bucket=BUCKET, Key="large")["Body"].read() == body

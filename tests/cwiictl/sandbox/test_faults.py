"""What the sandbox does to its clients on purpose."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from tests.cwiictl.sandbox.visitor import (
    BUCKET,
    HOST,
    ISSUER,
    PROVIDER,
    REGION,
    Visitor,
    inline,
    read_policy,
    refusal,
    token,
    trust,
)

Enter = Callable[..., Visitor]


def refused(call: Callable[[], Any]) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    return refusal(caught.value)


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def test_a_slow_sandbox_waits_before_each_request(visitor: Visitor) -> None:
    visitor.sandbox.faults.latency = 0.2
    before = time.monotonic()
    visitor.sts.get_caller_identity()
    assert time.monotonic() - before > 0.2


def test_services_fail_in_their_own_words(visitor: Visitor) -> None:
    visitor.sandbox.faults.rate = 1.0
    iam = {refused(visitor.iam.list_roles) for _ in range(20)}
    s3 = {refused(visitor.s3.list_buckets) for _ in range(20)}
    assert iam == {("Throttling", 400), ("ServiceUnavailable", 503), ("InternalFailure", 500)}
    assert s3 == {("SlowDown", 503), ("ServiceUnavailable", 503), ("InternalError", 500)}


def test_the_same_seed_fails_the_same_requests(enter: Enter) -> None:
    runs: list[list[int]] = []
    for _ in range(2):
        visitor = enter(failures=0.4, seed=7)
        for _ in range(20):
            visitor.get(f"https://{HOST}/")
        runs.append([seen.status for seen in visitor.sandbox.record])
        visitor.sandbox.__exit__(None, None, None)
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 1


def test_a_failed_request_was_not_carried_out(visitor: Visitor) -> None:
    visitor.sandbox.faults.rate = 1.0
    with pytest.raises(ClientError):
        visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.sandbox.faults.rate = 0.0
    assert visitor.iam.list_roles()["Roles"] == []


def test_expired_credentials_are_told_by_each_service(visitor: Visitor) -> None:
    visitor.sandbox.faults.expired = True
    assert refused(visitor.iam.list_roles) == ("ExpiredToken", 403)
    assert refused(visitor.sts.get_caller_identity) == ("ExpiredToken", 403)
    assert refused(visitor.s3.list_buckets) == ("ExpiredToken", 400)
    assert visitor.get(f"https://{HOST}/").status == 404


def test_exactly_the_nth_write_is_the_last(visitor: Visitor) -> None:
    ended: list[bool] = []
    visitor.sandbox.faults.on_end = lambda: ended.append(True)
    visitor.sandbox.faults.end_after = 3
    names = [f"r{n}" for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        tries = [
            pool.submit(visitor.iam.create_role, RoleName=name, AssumeRolePolicyDocument=trust())
            for name in names
        ]
    told = [one for one in tries if one.exception() is None]
    assert all(isinstance(one.exception(), BotoCoreError) for one in tries if one not in told)
    visitor.sandbox.faults.end_after = None
    assert len(visitor.iam.list_roles()["Roles"]) == 3
    assert (len(told), ended) == (2, [True])


def test_reads_and_refusals_are_no_writes(visitor: Visitor) -> None:
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.sandbox.faults.end_after = 1
    visitor.iam.list_roles()
    assert refused(
        lambda: visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    ) == ("EntityAlreadyExists", 409)
    assert visitor.sandbox.faults.end_after == 1


def test_a_new_role_is_seen_only_after_the_lag(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(lag=10.0, clock=clock)
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    put = lambda: visitor.iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=inline())
    assert refused(lambda: visitor.iam.get_role(RoleName="r")) == ("NoSuchEntity", 404)
    assert refused(put) == ("NoSuchEntity", 404)
    assert visitor.iam.list_roles()["Roles"] == []
    assert refused(
        lambda: visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    ) == ("EntityAlreadyExists", 409)
    clock.now += 10
    put()
    assert visitor.iam.list_role_policies(RoleName="r")["PolicyNames"] == []
    clock.now += 10
    assert visitor.iam.list_role_policies(RoleName="r")["PolicyNames"] == ["p"]


def test_changes_arrive_in_the_order_they_were_made(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust(), Description="0")
    visitor.sandbox.faults.lag = 10.0
    for description in ("1", "2"):
        visitor.iam.update_role(RoleName="r", Description=description)
        clock.now += 4
    seen: list[str] = []
    for _ in range(4):
        seen.append(visitor.iam.get_role(RoleName="r")["Role"].get("Description", ""))
        clock.now += 3
    assert seen == ["0", "1", "2", "2"]


def test_a_deleted_role_lingers(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.sandbox.faults.lag = 10.0
    visitor.iam.delete_role(RoleName="r")
    assert visitor.iam.get_role(RoleName="r")["Role"]["RoleName"] == "r"
    clock.now += 10
    assert refused(lambda: visitor.iam.get_role(RoleName="r")) == ("NoSuchEntity", 404)


def test_a_new_provider_is_seen_late_by_readers_and_by_sts(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.open_bucket()
    visitor.publish()
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.sandbox.faults.lag = 10.0
    visitor.iam.create_open_id_connect_provider(Url=ISSUER, ClientIDList=["sts.amazonaws.com"])
    assert refused(
        lambda: visitor.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
    ) == ("NoSuchEntity", 404)
    assert refused(lambda: visitor.assume(token())) == ("InvalidIdentityToken", 400)
    clock.now += 10
    visitor.assume(token())


def test_sts_follows_an_old_trust_for_a_while(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.federate()
    visitor.sandbox.faults.lag = 10.0
    visitor.iam.update_assume_role_policy(RoleName="r", PolicyDocument=trust(Effect="Deny"))
    visitor.assume(token())
    clock.now += 10
    assert refused(lambda: visitor.assume(token())) == ("AccessDenied", 403)


def test_a_bucket_opens_late_but_its_objects_are_there_at_once(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    visitor.sandbox.faults.lag = 10.0
    visitor.s3.put_public_access_block(
        Bucket=BUCKET,
        PublicAccessBlockConfiguration={"BlockPublicPolicy": False, "RestrictPublicBuckets": False},
    )
    visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"1")
    assert visitor.s3.get_object(Bucket=BUCKET, Key="k")["Body"].read() == b"1"
    assert visitor.s3.get_public_access_block(Bucket=BUCKET)["PublicAccessBlockConfiguration"].get(
        "BlockPublicPolicy"
    )
    put = lambda: visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=read_policy(BUCKET))
    assert refused(put) == ("AccessDenied", 403)  # what was lifted a moment ago still blocks
    clock.now += 10
    put()
    assert refused(lambda: visitor.s3.get_bucket_policy(Bucket=BUCKET)) == (
        "NoSuchBucketPolicy",
        404,
    )
    assert visitor.get(f"https://{HOST}/k").status == 403
    clock.now += 10
    assert visitor.s3.get_bucket_policy(Bucket=BUCKET)["Policy"]
    assert visitor.get(f"https://{HOST}/k").status == 200


def test_the_accounts_block_takes_effect_late(enter: Enter) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.open_bucket()
    visitor.s3.put_object(Bucket=BUCKET, Key="k", Body=b"1")
    visitor.sandbox.faults.lag = 10.0
    visitor.control.put_public_access_block(
        AccountId="123456789012", PublicAccessBlockConfiguration={"RestrictPublicBuckets": True}
    )
    assert visitor.get(f"https://{HOST}/k").status == 200
    clock.now += 10
    assert visitor.get(f"https://{HOST}/k").status == 403

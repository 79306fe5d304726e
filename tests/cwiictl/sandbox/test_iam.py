"""IAM in the sandbox: its limits, its grammar, and what moto does not have."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.visitor import BUCKET, ISSUER, PROVIDER, Visitor, inline, refusal, trust


def refused(call: Callable[[], Any]) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    return refusal(caught.value)


def test_a_role_has_what_it_was_made_with(visitor: Visitor) -> None:
    visitor.iam.create_role(
        RoleName="r",
        Path="/p/",
        AssumeRolePolicyDocument=trust(),
        Description="a < b",
        Tags=[{"Key": "k", "Value": "v"}],
    )
    role: Any = visitor.iam.get_role(RoleName="r")["Role"]
    assert (role["Path"], role["Description"], role["Tags"]) == (
        "/p/",
        "a < b",
        [{"Key": "k", "Value": "v"}],
    )
    assert role["AssumeRolePolicyDocument"] == json.loads(trust())
    assert role["MaxSessionDuration"] == 3600


def test_a_role_can_be_changed_in_every_part(visitor: Visitor) -> None:
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.iam.update_role(RoleName="r", Description="new", MaxSessionDuration=7200)
    visitor.iam.update_assume_role_policy(RoleName="r", PolicyDocument=trust(Sid="new"))
    visitor.iam.tag_role(
        RoleName="r", Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]
    )
    visitor.iam.untag_role(RoleName="r", TagKeys=["a"])
    role: Any = visitor.iam.get_role(RoleName="r")["Role"]
    assert (role["Description"], role["MaxSessionDuration"], role["Tags"]) == (
        "new",
        7200,
        [{"Key": "b", "Value": "2"}],
    )
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Sid"] == "new"


def test_a_role_with_policies_stays(visitor: Visitor) -> None:
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=inline())
    assert refused(lambda: visitor.iam.delete_role(RoleName="r")) == ("DeleteConflict", 409)
    visitor.iam.delete_role_policy(RoleName="r", PolicyName="p")
    visitor.iam.delete_role(RoleName="r")
    assert refused(lambda: visitor.iam.get_role(RoleName="r")) == ("NoSuchEntity", 404)


@pytest.mark.parametrize("name", ["r", "R"])
def test_a_name_is_taken_whatever_its_case(visitor: Visitor, name: str) -> None:
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    assert refused(
        lambda: visitor.iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust())
    ) == ("EntityAlreadyExists", 409)


@pytest.mark.parametrize("name", ["r" * 65, "a/b", "ä"])
def test_names_that_iam_does_not_take_are_refused(visitor: Visitor, name: str) -> None:
    assert refused(
        lambda: visitor.iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust())
    ) == ("ValidationError", 400)


def test_a_trust_of_more_than_2048_characters_is_refused_and_white_space_is_free(
    visitor: Visitor,
) -> None:
    fits = 2048 - len(trust(Sid="").replace(" ", ""))
    visitor.iam.create_role(
        RoleName="r", AssumeRolePolicyDocument=trust(Sid="x" * fits) + " " * 500
    )
    call = lambda: visitor.iam.create_role(
        RoleName="s", AssumeRolePolicyDocument=trust(Sid="x" * (fits + 1))
    )
    assert refused(call) == ("LimitExceeded", 409)


def test_the_inline_policies_of_a_role_share_10240_characters(visitor: Visitor) -> None:
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=inline(6000))
    visitor.iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=inline(6000))
    assert refused(
        lambda: visitor.iam.put_role_policy(
            RoleName="r", PolicyName="q", PolicyDocument=inline(4200)
        )
    ) == ("LimitExceeded", 409)


def test_fifty_tags_are_enough(visitor: Visitor) -> None:
    tags: Any = [{"Key": str(n), "Value": ""} for n in range(51)]
    assert (
        refused(
            lambda: visitor.iam.create_role(
                RoleName="r", AssumeRolePolicyDocument=trust(), Tags=tags
            )
        )[1]
        == 400
    )


@pytest.mark.parametrize(
    "document",
    [
        "nonsense",
        "[]",
        '{"Version": "2012-10-17"}',
        '{"Version": "2020-01-01", "Statement": []}',
        trust(Effect="Maybe"),
        trust(Principal={}),
        trust(Principal={"Federated": "no domain"}),
        trust(Action="s3:GetObject"),
        trust(Action=[]),
        trust(Resource="*"),
        trust(Condition=[]),
        trust(Condition={"StringIs": {"a:b": "c"}}),
        trust(Unknown=1),
        json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity"}],
            }
        ),
    ],
)
def test_a_malformed_trust_is_refused(visitor: Visitor, document: str) -> None:
    assert refused(
        lambda: visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=document)
    ) == ("MalformedPolicyDocument", 400)
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    assert refused(
        lambda: visitor.iam.update_assume_role_policy(RoleName="r", PolicyDocument=document)
    ) == ("MalformedPolicyDocument", 400)


@pytest.mark.parametrize(
    "statement",
    [
        {"Effect": "Allow", "Action": "s3:*"},
        {"Effect": "Allow", "Resource": "*"},
        {"Effect": "Allow", "Action": "everything", "Resource": "*"},
        {"Effect": "Allow", "Action": "s3:*", "Resource": "bucket"},
        {"Effect": "Allow", "Action": "s3:*", "Resource": "*", "Principal": "*"},
    ],
)
def test_a_malformed_inline_policy_is_refused(visitor: Visitor, statement: dict[str, str]) -> None:
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    document = json.dumps({"Version": "2012-10-17", "Statement": statement})
    assert refused(
        lambda: visitor.iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=document)
    ) == ("MalformedPolicyDocument", 400)


def test_a_provider_without_thumbprint_gets_one(visitor: Visitor) -> None:
    visitor.open_bucket()
    made = visitor.iam.create_open_id_connect_provider(
        Url=ISSUER, ClientIDList=["a"], Tags=[{"Key": "k", "Value": "v"}]
    )
    assert made["OpenIDConnectProviderArn"] == PROVIDER
    found = visitor.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
    assert [len(one) for one in found["ThumbprintList"]] == [40]
    assert (found["ClientIDList"], found["Tags"]) == (["a"], [{"Key": "k", "Value": "v"}])


def test_a_provider_for_a_host_that_is_not_there_is_refused(visitor: Visitor) -> None:
    make = lambda: visitor.iam.create_open_id_connect_provider(
        Url="https://nobody.example.org", ClientIDList=["a"]
    )
    assert refused(make) == ("OpenIdIdpCommunicationError", 400)


@pytest.mark.parametrize(
    "url", ["http://oidc.example.org", "https://", "https://oidc.example.org?x=1"]
)
def test_a_provider_needs_an_https_address(visitor: Visitor, url: str) -> None:
    assert refused(
        lambda: visitor.iam.create_open_id_connect_provider(Url=url, ThumbprintList=["a" * 40])
    ) == ("ValidationError", 400)


def test_a_second_provider_of_the_same_address_is_refused(visitor: Visitor) -> None:
    visitor.iam.create_open_id_connect_provider(Url=ISSUER, ThumbprintList=["a" * 40])
    again = refused(
        lambda: visitor.iam.create_open_id_connect_provider(Url=ISSUER, ThumbprintList=["a" * 40])
    )
    assert again == ("EntityAlreadyExists", 409)


def test_audiences_come_and_go_and_twice_is_as_good_as_once(visitor: Visitor) -> None:
    visitor.iam.create_open_id_connect_provider(
        Url=ISSUER, ClientIDList=["a"], ThumbprintList=["a" * 40]
    )
    for _ in range(2):
        visitor.iam.add_client_id_to_open_id_connect_provider(
            OpenIDConnectProviderArn=PROVIDER, ClientID="b"
        )
    assert visitor.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)[
        "ClientIDList"
    ] == ["a", "b"]
    for _ in range(2):
        visitor.iam.remove_client_id_from_open_id_connect_provider(
            OpenIDConnectProviderArn=PROVIDER, ClientID="a"
        )
    visitor.iam.update_open_id_connect_provider_thumbprint(
        OpenIDConnectProviderArn=PROVIDER, ThumbprintList=["b" * 40]
    )
    found = visitor.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
    assert (found["ClientIDList"], found["ThumbprintList"]) == (["b"], ["b" * 40])


def test_a_provider_that_is_not_there_has_no_audiences(visitor: Visitor) -> None:
    call = lambda: visitor.iam.add_client_id_to_open_id_connect_provider(
        OpenIDConnectProviderArn=PROVIDER, ClientID="b"
    )
    assert refused(call) == ("NoSuchEntity", 404)


def test_other_keys_than_the_sandboxs_work_nowhere(visitor: Visitor) -> None:
    stranger = Visitor(visitor.sandbox, key="AKIAIOSFODNN7EXAMPLE")
    assert refused(stranger.iam.list_roles) == ("InvalidClientTokenId", 403)
    assert refused(stranger.sts.get_caller_identity) == ("InvalidClientTokenId", 403)
    assert refused(stranger.s3.list_buckets) == ("InvalidAccessKeyId", 403)
    assert refused(lambda: stranger.s3.create_bucket(Bucket=BUCKET)) == ("InvalidAccessKeyId", 403)
    assert refused(lambda: stranger.control.get_public_access_block(AccountId="123456789012")) == (
        "InvalidAccessKeyId",
        403,
    )

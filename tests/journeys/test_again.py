"""create-all over what is there: nothing to do, something changed by hand, and a new release of the cluster."""

from __future__ import annotations

import json

from cwiictl.issuer.documents import CACHE
from tests.examples import an_entry, an_object, text, two_requests
from tests.journeys import again
from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    BUCKET,
    HOST,
    INGRESS,
    NAME,
    NOTHING,
    PROVIDER,
    REGISTRY,
    Ground,
    a_key,
    public_pem,
)
from tests.journeys.release import twenty_requests

DENY = '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"ec2:*","Resource":"*"}]}'
ARN = f"arn:aws:s3:::{BUCKET}"
LISTED = {
    "Effect": "Allow",
    "Principal": "*",
    "Action": ["s3:GetObject", "s3:ListBucket"],
    "Resource": [ARN, f"{ARN}/*"],
}


def test_a_second_run_writes_nothing_anywhere(enter: Enter) -> None:
    ground = enter()
    ground.requests(twenty_requests())
    assert ground.create_all().code == 0

    again.writes_nothing(ground, 28)


def test_status_finds_all_as_wanted_and_asks_nothing_but_reads(ground: Ground) -> None:
    again.found(ground)


def test_status_of_nothing_finds_all_of_it_missing(ground: Ground) -> None:
    again.missing(ground, NOTHING)


def test_what_was_changed_by_hand_is_named_and_only_that_is_repaired(ground: Ground) -> None:
    ground.requests(twenty_requests())
    ground.create_all()
    clouds, times = ground.clouds(), ground.times()
    with ground.aws("iam") as iam, ground.aws("s3") as s3:
        trust = clouds["roles"][INGRESS]["trust"]
        trust["Statement"][0]["Condition"]["StringEquals"][f"{HOST}:sub"] = (
            "system:serviceaccount:default:mallory"
        )
        iam.update_assume_role_policy(RoleName=INGRESS, PolicyDocument=json.dumps(trust))
        iam.tag_role(
            RoleName=REGISTRY,
            Tags=[{"Key": "Name", "Value": "another"}, {"Key": "costs", "Value": "theirs"}],
        )
        iam.add_client_id_to_open_id_connect_provider(
            OpenIDConnectProviderArn=PROVIDER, ClientID="mallory"
        )
        iam.remove_client_id_from_open_id_connect_provider(
            OpenIDConnectProviderArn=PROVIDER, ClientID="openshift"
        )
        s3.put_bucket_policy(
            Bucket=BUCKET, Policy=json.dumps({"Version": "2012-10-17", "Statement": [LISTED]})
        )
    drifted = {
        f"aws/role/{INGRESS}": ["trust"],
        f"aws/role/{REGISTRY}": ["tags"],
        f"aws/oidc-provider/{HOST}": ["audiences"],
        f"aws/bucket-policy/{BUCKET}": ["policy"],
    }

    seen = ground.status()
    assert seen.code == 3
    assert seen.fields == drifted
    assert seen.but("as wanted") == dict.fromkeys(drifted, "drifted")

    ground.fresh()
    repaired = ground.create_all()
    assert repaired.code == 0
    assert repaired.fields == drifted
    assert repaired.but("as wanted") == dict.fromkeys(drifted, "repaired")
    assert ground.mutating() == [
        "iam:AddClientIDToOpenIDConnectProvider",
        "iam:RemoveClientIDFromOpenIDConnectProvider",
        "iam:TagRole",
        "iam:UpdateAssumeRolePolicy",
        "s3:PutBucketPolicy",
    ]

    now = ground.clouds()
    assert (
        now["roles"][REGISTRY]["tags"].pop("costs") == "theirs"
    )  # what others say about it is theirs
    clouds["roles"][INGRESS]["trust"]["Statement"][0]["Condition"]["StringEquals"][
        f"{HOST}:sub"
    ] = "system:serviceaccount:openshift-ingress-operator:ingress-operator"
    assert now == clouds
    assert ground.times() == times
    assert ground.status().code == 0


def test_everything_else_that_can_be_changed_by_hand_is_repaired_too(ground: Ground) -> None:
    ground.create_all()
    clouds = ground.clouds()
    with ground.aws("iam") as iam, ground.aws("s3") as s3:
        iam.delete_role_policy(RoleName=INGRESS, PolicyName=INGRESS)
        iam.update_role(RoleName=INGRESS, Description="mine", MaxSessionDuration=7200)
        iam.put_role_policy(RoleName=INGRESS, PolicyName="more", PolicyDocument=DENY)
        iam.attach_role_policy(RoleName=INGRESS, PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")
        s3.delete_bucket_policy(Bucket=BUCKET)
        s3.put_public_access_block(
            Bucket=BUCKET,
            PublicAccessBlockConfiguration={
                "BlockPublicPolicy": True,
                "RestrictPublicBuckets": True,
            },
        )
        s3.put_object(
            Bucket=BUCKET,
            Key=".well-known/openid-configuration",
            Body=b"{}",
            ContentType="text/html",
        )
        s3.put_object(
            Bucket=BUCKET,
            Key="keys.json",
            Body=clouds["buckets"][BUCKET]["objects"]["keys.json"]["body"].encode(),
            CacheControl=CACHE,
        )
        iam.untag_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER, TagKeys=["Name"])

    done = ground.create_all()

    assert done.code == 0, done.err
    assert done.fields == {
        f"aws/role/{INGRESS}": ["description", "policy", "others", "managed", "session"],
        f"aws/bucket/{BUCKET}": ["public_access"],
        f"aws/document/{BUCKET}/.well-known/openid-configuration": [
            "body",
            "content_type",
            "cache_control",
        ],
        f"aws/key-set/{BUCKET}/keys.json": ["content_type"],
        f"aws/oidc-provider/{HOST}": ["tags"],
        f"issuer/https://{HOST}": ["readable", "kids"],
    }
    assert done.things[f"aws/bucket-policy/{BUCKET}"] == "created"
    assert ground.clouds() == clouds
    assert ground.status().code == 0


def test_a_boundary_is_put_where_it_was_asked_for_and_one_that_was_not_stays(
    ground: Ground,
) -> None:
    """It is somebody's guard."""
    boundary = "arn:aws:iam::123456789012:policy/boundary"
    with ground.aws("iam") as iam:
        iam.create_policy(PolicyName="boundary", PolicyDocument=DENY)
    asked = ("--permissions-boundary-arn", boundary)
    ground.create_all(*asked)
    clouds = ground.clouds()
    assert {role["boundary"] for role in clouds["roles"].values()} == {boundary}

    ground.fresh()
    assert ground.create_all().but("as wanted") == {}
    assert ground.mutating() == []
    with ground.aws("iam") as iam:
        iam.delete_role_permissions_boundary(RoleName=INGRESS)
    assert ground.create_all().but("as wanted") == {}

    repaired = ground.create_all(*asked)
    assert repaired.fields == {f"aws/role/{INGRESS}": ["boundary"]}
    assert ground.clouds() == clouds


def test_what_was_removed_by_hand_is_made_again(ground: Ground) -> None:
    ground.create_all()
    clouds, tree = ground.clouds(), ground.tree()
    with ground.aws("iam") as iam, ground.aws("s3") as s3:
        iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
        s3.delete_object(Bucket=BUCKET, Key="keys.json")
    (ground.folder / "out" / "manifests" / "cluster-authentication-02-config.yaml").unlink()
    (ground.folder / "out" / "serviceaccount-signer.public").unlink()

    done = ground.create_all()

    assert done.code == 0, done.err
    assert done.but("as wanted") == {
        "local/key/signing-key": "repaired",
        f"aws/key-set/{BUCKET}/keys.json": "created",
        f"issuer/https://{HOST}": "repaired",
        f"aws/oidc-provider/{HOST}": "created",
    }
    assert ground.clouds() == clouds
    assert ground.tree() == tree


def test_an_upgrade_from_an_empty_folder_with_the_public_key_alone_leaves_one_thing_over(
    ground: Ground,
) -> None:
    """One request is new, one is gone, one asks for more; and the one thing left over goes only when that is asked for."""
    ground.keys("first")
    ground.create_all("--output-dir", "first")
    ground.write("cluster.pub", public_pem(a_key(0)))
    new = text(an_object("velero", "velero", "cloud-credentials"))
    more = text(
        an_object(
            "openshift-ingress",
            "openshift-ingress-operator",
            "cloud-credentials",
            "ingress-operator",
            entries=[an_entry("route53:*")],
        )
    )
    ground.requests({"velero.yaml": new, "ingress.yaml": more})
    key = ("--public-key-file", "cluster.pub")
    velero, left = f"aws/role/{NAME}-velero-cloud-credentials", f"aws/role/{REGISTRY}"

    ground.fresh()
    done = ground.create_all(*key)
    assert done.code == 0, done.err
    assert done.but("as wanted") == {
        velero: "created",
        f"aws/role/{INGRESS}": "repaired",
        left: "left over",
    }
    assert done.fields == {f"aws/role/{INGRESS}": ["policy"]}
    assert ground.mutating() == ["iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePolicy"]
    assert sorted(ground.tree()) == [
        "manifests/cluster-authentication-02-config.yaml",
        "manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
        "manifests/velero-cloud-credentials-credentials.yaml",
        "webhook.yaml",
    ]
    assert ground.status(*key).code == 3
    assert ground.status(*key).but("as wanted") == {left: "left over"}

    ground.fresh()
    refused = ground.create_all(*key, "--prune")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert ground.mutating() == []

    before = ground.clouds()
    pruned = ground.create_all(*key, "--prune", "--yes")
    assert pruned.code == 0, pruned.err
    assert pruned.things[left] == "dropped"
    assert ground.mutating() == ["iam:DeleteRole", "iam:DeleteRolePolicy"]
    before["roles"].pop(REGISTRY)
    assert ground.clouds() == before
    assert ground.status(*key).code == 0


def test_what_create_identity_made_is_never_left_over_to_create_all(ground: Ground) -> None:
    ground.create_all()
    with ground.aws("iam") as iam:
        iam.tag_role(
            RoleName=REGISTRY, Tags=[{"Key": "cwii.dev/origin", "Value": "create-identity"}]
        )
    ground.requests({"ingress.yaml": two_requests()["ingress.yaml"]})

    assert ground.status().code == 0
    pruned = ground.create_all("--prune", "--yes")
    assert (pruned.code, pruned.but("as wanted")) == (0, {})
    assert REGISTRY in ground.clouds()["roles"]

    gone = ground.delete("--yes")  # but it is the cluster's, and goes with it
    assert gone.things[f"aws/role/{REGISTRY}"] == "dropped"

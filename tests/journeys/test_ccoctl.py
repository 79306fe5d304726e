"""What ccoctl made under this name is shown as ccoctl's, taken over as a whole, and taken down; what it made under another is not touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl import oidc
from cwiictl.names import CCOCTL_KEY, CLUSTER_KEY
from tests.examples import ACCOUNT, an_object, text, two_requests
from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    NAME,
    NOTHING,
    PERMISSIONS,
    PRIVATE,
    REGION,
    Ground,
    a_key,
    public_pem,
)

ADOPT = ("--adopt", "ccoctl")
OLD = (
    "openshift-machine-api",
    "aws-cloud-credentials",
)  # of a request that this release no longer has
WORKLOADS = (
    (
        "openshift-ingress-operator",
        "cloud-credentials",
        ("ingress-operator",),
        ["route53:ListHostedZones"],
    ),
    (
        "openshift-image-registry",
        "installer-cloud-credentials",
        ("registry", "cluster-image-registry-operator"),
        ["s3:ListBucket", "s3:GetObject"],
    ),
    (*OLD, ("machine-api-controllers",), ["ec2:RunInstances"]),
)


def tags(name: str) -> list[dict[str, str]]:
    return [{"Key": f"{CCOCTL_KEY}{name}", "Value": "owned"}, {"Key": "Name", "Value": name}]


def ccoctl(ground: Ground, name: str = NAME) -> None:
    """`ccoctl aws create-all`, call by call: objects without headers, tags in calls of their own, no audience in the trust."""
    bucket = f"{name}-oidc"
    host = f"{bucket}.s3.{REGION}.amazonaws.com"
    with ground.aws("s3") as s3, ground.aws("iam") as iam:
        _published(s3, bucket, host, name)
        arn = iam.create_open_id_connect_provider(
            Url=f"https://{host}",
            ClientIDList=["openshift", "sts.amazonaws.com"],
            ThumbprintList=["A" * 40],
        )
        iam.tag_open_id_connect_provider(
            OpenIDConnectProviderArn=arn["OpenIDConnectProviderArn"], Tags=tags(name)
        )
        for namespace, secret, accounts, actions in WORKLOADS:
            role = f"{name}-{namespace}-{secret}"[:64]
            subjects = [f"system:serviceaccount:{namespace}:{account}" for account in accounts]
            trust = {
                "Effect": "Allow",
                "Principal": {"Federated": arn["OpenIDConnectProviderArn"]},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {"StringEquals": {f"{host}:sub": subjects}},
            }
            iam.create_role(
                RoleName=role,
                Description=f"OpenShift role for {namespace}/{secret}",
                AssumeRolePolicyDocument=_policy(trust),
                Tags=tags(name),
            )
            iam.put_role_policy(
                RoleName=role,
                PolicyName=role,
                PolicyDocument=_policy({"Effect": "Allow", "Action": actions, "Resource": "*"}),
            )


def private(ground: Ground) -> str:
    """What `--create-private-s3-bucket` makes of it besides: an identity of CloudFront's older kind, and a distribution. Returns its host."""
    bucket = f"{NAME}-oidc"
    origin = f"{bucket}.s3.{REGION}.amazonaws.com"
    with ground.aws("cloudfront") as front, ground.aws("s3") as s3:
        wanted = {"CallerReference": NAME, "Comment": f"{CCOCTL_KEY}{NAME}"}
        made = front.create_cloud_front_origin_access_identity(
            CloudFrontOriginAccessIdentityConfig=wanted
        )
        identity = made["CloudFrontOriginAccessIdentity"]["Id"]
        methods = {
            "Quantity": 2,
            "Items": ["HEAD", "GET"],
            "CachedMethods": {"Quantity": 2, "Items": ["HEAD", "GET"]},
        }
        config = {
            "CallerReference": NAME,
            "Comment": f"{CCOCTL_KEY}{NAME}",
            "Enabled": True,
            "Origins": {
                "Quantity": 1,
                "Items": [
                    {
                        "Id": f"https://{origin}",
                        "DomainName": origin,
                        "S3OriginConfig": {
                            "OriginAccessIdentity": f"origin-access-identity/cloudfront/{identity}"
                        },
                    }
                ],
            },
            "DefaultCacheBehavior": {
                "TargetOriginId": f"https://{origin}",
                "CachePolicyId": "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
                "ViewerProtocolPolicy": "https-only",
                "AllowedMethods": methods,
            },
        }
        tagged = {"DistributionConfig": config, "Tags": {"Items": tags(NAME)}}
        host: str = front.create_distribution_with_tags(DistributionConfigWithTags=tagged)[
            "Distribution"
        ]["DomainName"]
        reader = {
            "AWS": f"arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity {identity}"
        }
        s3.put_bucket_policy(
            Bucket=bucket,
            Policy=_policy(
                {
                    "Effect": "Allow",
                    "Principal": reader,
                    "Action": "s3:GetObject",
                    "Resource": f"arn:aws:s3:::{bucket}/*",
                }
            ),
        )
        return host


def _published(s3: Any, bucket: str, host: str, name: str) -> None:
    key = oidc.public_key(public_pem(a_key(0)), "the key")
    everybody = {
        "Sid": "AllowReadPublicAccess",
        "Effect": "Allow",
        "Principal": "*",
        "Action": ["s3:GetObject"],
        "Resource": [f"arn:aws:s3:::{bucket}/*"],
    }
    blocked = {
        "BlockPublicAcls": True,
        "IgnorePublicAcls": True,
        "BlockPublicPolicy": False,
        "RestrictPublicBuckets": False,
    }
    tagging = f"{CCOCTL_KEY}{name}=owned&Name={name}".replace("/", "%2F")
    documents: dict[str, Any] = {
        ".well-known/openid-configuration": oidc.discovery(
            f"https://{host}", f"https://{host}/keys.json"
        ),
        "keys.json": {
            "keys": [
                {"use": "sig", "kty": "RSA", "kid": key.kid, "alg": "RS256", "n": key.n, "e": key.e}
            ]
        },
    }
    s3.create_bucket(Bucket=bucket)
    s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags(name)})
    s3.put_public_access_block(Bucket=bucket, PublicAccessBlockConfiguration=blocked)
    s3.put_bucket_policy(Bucket=bucket, Policy=_policy(everybody))
    for path, document in documents.items():
        s3.put_object(Bucket=bucket, Key=path, Body=json.dumps(document).encode(), Tagging=tagging)


def _policy(statement: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def things(name: str) -> set[str]:
    """All of ccoctl's that bear tags and are looked for."""
    roles = {
        f"aws/role/{name}-{namespace}-{secret}"[: 64 + 9] for namespace, secret, *_ in WORKLOADS
    }
    return {
        f"aws/bucket/{name}-oidc",
        f"aws/oidc-provider/{name}-oidc.s3.{REGION}.amazonaws.com",
        *roles,
    }


LEFT = f"aws/role/{NAME}-{OLD[0]}-{OLD[1]}"


@pytest.fixture
def made(ground: Ground) -> Ground:
    ground.keys()
    ccoctl(ground)
    ground.fresh()
    return ground


def test_it_is_shown_as_ccoctls_and_nothing_is_written_without_being_told(made: Ground) -> None:
    before = made.clouds()

    for done in (made.status(), made.create_all("--dry-run"), made.create_all()):
        assert done.code == 4
        assert {
            thing for thing, condition in done.things.items() if condition == "foreign"
        } == things(NAME) - {LEFT}
        assert {one["remedy"] for one in done.data["things"] if one["condition"] == "foreign"} == {
            "choose another name, or take it over with --adopt ccoctl"
        }
    assert made.mutating() == []
    assert made.clouds() == before
    assert made.delete("--yes").data["things"] == []  # nor is it ours to delete
    assert made.clouds() == before


def test_all_of_it_is_taken_over_in_one_run_repaired_and_taken_down(made: Ground) -> None:
    with made.aws("iam") as iam:
        iam.update_role_description(
            RoleName=f"{NAME}-openshift-ingress-operator-cloud-credentials", Description="theirs"
        )

    done = made.create_all(*ADOPT)

    assert done.code == 0, done.out
    assert done.but("as wanted", "repaired") == {LEFT: "left over"}
    assert done.fields[f"aws/role/{NAME}-openshift-ingress-operator-cloud-credentials"] == [
        "mark",
        "description",
    ]
    assert done.things[PERMISSIONS] == "as wanted"
    clouds = made.clouds()
    owned = [*clouds["roles"].values(), *clouds["buckets"].values(), *clouds["providers"].values()]
    assert len(owned) == 5
    assert all(
        thing["tags"][f"{CLUSTER_KEY}{NAME}"] == "owned"
        and thing["tags"][f"{CCOCTL_KEY}{NAME}"] == "owned"
        for thing in owned
    )
    (statement,) = clouds["buckets"][f"{NAME}-oidc"]["policy"]["Statement"]
    assert set(statement["Resource"]) == {
        f"arn:aws:s3:::{NAME}-oidc/.well-known/openid-configuration",
        f"arn:aws:s3:::{NAME}-oidc/keys.json",
    }

    made.fresh()
    again = made.create_all()  # from now on it is ours
    assert (again.code, again.but("as wanted")) == (0, {LEFT: "left over"})
    assert made.mutating() == []
    assert made.status().code == 3

    gone = made.delete("--yes")
    assert gone.code == 0, gone.out
    assert gone.things == dict.fromkeys(things(NAME), "dropped")
    assert made.clouds() == NOTHING


def test_what_it_made_under_another_name_is_untouched(made: Ground) -> None:
    ccoctl(made, f"{NAME}-2")
    before = made.clouds()

    assert made.create_all(*ADOPT).code == 0
    assert made.delete("--yes").code == 0

    left = made.clouds()
    assert all(
        left[kind] == {name: thing for name, thing in before[kind].items() if f"{NAME}-2" in name}
        for kind in ("roles", "providers", "buckets")
    )
    assert len(left["roles"]) == len(WORKLOADS)


def test_what_bears_the_mark_of_another_name_is_not_taken_over_with_it(made: Ground) -> None:
    role = f"{NAME}-openshift-ingress-operator-cloud-credentials"
    with made.aws("iam") as iam:
        iam.untag_role(RoleName=role, TagKeys=[f"{CCOCTL_KEY}{NAME}"])
        iam.tag_role(RoleName=role, Tags=tags("another"))
    before = made.clouds()
    made.fresh()

    done = made.create_all(*ADOPT)

    assert done.code == 4
    assert done.but("foreign", "not tried") == {}
    assert [thing for thing, condition in done.things.items() if condition == "foreign"] == [
        f"aws/role/{role}"
    ]
    assert made.mutating() == []
    assert made.clouds() == before


def test_a_takeover_that_is_killed_goes_on_when_it_is_run_again(made: Ground) -> None:
    made.killed(4, "create-all", *made.where, *made.asking, *ADOPT)

    done = made.create_all(*ADOPT)

    assert done.code == 0, done.out
    assert made.delete("--yes").code == 0
    assert made.clouds() == NOTHING


def test_what_is_taken_over_and_not_asked_for_goes_with_prune(made: Ground) -> None:
    extra = text(an_object("velero", "velero", "cloud-credentials"))
    made.requests({**two_requests(), "velero.yaml": extra})
    assert made.create_all(*ADOPT).code == 0

    done = made.create_all("--prune", "--yes")

    assert done.code == 0, done.out
    assert done.things[LEFT] == "dropped"
    assert f"arn:aws:iam::{ACCOUNT}:role/{LEFT.removeprefix('aws/role/')}" not in {
        role["arn"] for role in made.clouds()["roles"].values()
    }
    assert made.status().code == 0


def test_its_private_bucket_is_taken_over_with_the_older_identity_which_goes_too(
    enter: Enter,
) -> None:
    ground = enter(deploy=0.2)
    ground.keys()
    ccoctl(ground)
    private(ground)

    done = ground.create_all(PRIVATE, *ADOPT)

    assert done.code == 0, done.out
    assert done.things[f"aws/distribution/{NAME}-oidc"] == "repaired"
    left = sorted(thing for thing, condition in done.things.items() if condition == "left over")
    assert left[0].startswith(f"aws/oidc-provider/{NAME}-oidc.s3.")
    assert left[1].startswith("aws/origin-identity/")
    (distribution,) = ground.clouds()["distributions"].values()
    assert distribution["origins"][0]["access"]  # of the newer kind

    pruned = ground.create_all(PRIVATE, "--prune", "--yes")
    assert pruned.code == 0, pruned.out
    assert ground.clouds()["identities"] == []
    assert ground.status(PRIVATE).code == 0
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == NOTHING

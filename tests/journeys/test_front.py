"""The issuer behind CloudFront: a bucket that nobody else may read, a distribution that takes its time, and the identity between them."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.examples import two_requests
from tests.journeys import cuts
from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    ACCOUNT,
    BUCKET,
    NAME,
    NOTHING,
    PERMISSIONS,
    PRIVATE,
    REGION,
    Ground,
)

DEPLOY = 0.5
CREATING = 11  # writes: bucket, access, distribution, policy, two documents, provider, two roles, two permissions
DELETING = 11  # two permissions, two roles, provider, distribution disabled and deleted, access, two documents, bucket
DISTRIBUTION, ACCESS, POLICY = (
    f"aws/distribution/{BUCKET}",
    f"aws/origin-access/{BUCKET}",
    f"aws/bucket-policy/{BUCKET}",
)
ISSUER = f"issuer/{BUCKET}.cloudfront"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """How a run that nothing has disturbed ends."""
    with Sandbox(Settings(deploy=DEPLOY)) as sandbox:
        ground = Ground(sandbox, tmp_path_factory.mktemp("clean"))
        ground.requests(two_requests())
        done = ground.create_all(PRIVATE)
        assert done.code == 0, done.err
        assert len(ground.mutating()) == CREATING
        ended = ground.everything()
        ground.fresh()
        assert ground.delete("--yes").code == 0
        assert len(ground.mutating()) == DELETING
        return ended


@pytest.fixture
def private(clean: Any, enter: Enter) -> Ground:
    del clean  # made before, because one sandbox runs at a time
    ground = enter(deploy=DEPLOY)
    ground.keys()
    done = ground.create_all(PRIVATE)
    assert done.code == 0, done.err
    waited = {
        thing for thing in done.things if thing.startswith("issuer/")
    }  # where this machine is slow, it can be read at once
    assert done.but("created", "repaired").keys() - waited == {PERMISSIONS}
    ground.fresh()
    return ground


def domain(ground: Ground) -> str:
    (front,) = ground.clouds()["distributions"].values()
    return front["domain"]


def test_everybody_reads_the_documents_through_cloudfront_and_nobody_from_the_bucket(
    private: Ground,
) -> None:
    clouds, host = private.clouds(), domain(private)
    bucket = clouds["buckets"][BUCKET]
    (statement,) = bucket["policy"]["Statement"]

    assert all(bucket["publicAccessBlock"].values())
    assert statement["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert statement["Condition"]["StringEquals"]["AWS:SourceArn"].startswith(
        f"arn:aws:cloudfront::{ACCOUNT}:distribution/"
    )
    assert clouds["distributions"][BUCKET]["tags"][f"cwii.dev/cluster/{NAME}"] == "owned"
    assert list(clouds["providers"]) == [f"arn:aws:iam::{ACCOUNT}:oidc-provider/{host}"]
    token = private.token(iss=f"https://{host}")
    with private.aws("sts") as sts:
        role = f"arn:aws:iam::{ACCOUNT}:role/{NAME}-openshift-ingress-operator-cloud-credentials"
        assert sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName="pod", WebIdentityToken=token
        )["Credentials"]


def test_a_second_run_and_status_write_nothing_and_find_all_as_wanted(private: Ground) -> None:
    clouds, times = private.clouds(), private.times()

    again, status = private.create_all(PRIVATE), private.status(PRIVATE)

    assert (again.code, again.but("as wanted")) == (0, {})
    assert (status.code, status.but("as wanted")) == (0, {})
    assert private.mutating() == []
    assert (private.clouds(), private.times()) == (clouds, times)


@pytest.mark.parametrize("writes", cuts.after(range(1, CREATING + 1)))
def test_killed_after_any_write_it_ends_as_a_clean_run_when_run_again(
    clean: Any, enter: Enter, writes: int
) -> None:
    ground = enter(deploy=DEPLOY)
    assert (
        ground.killed(
            writes, "create-all", *ground.where, *ground.asking, "--bits", "2048", PRIVATE
        )
        == -signal.SIGKILL
    )

    done = ground.create_all(PRIVATE)

    assert done.code == 0, done.out
    assert ground.everything() == clean

    tree = ground.tree()
    assert ground.killed(writes, "delete", *ground.where, "--yes") == -signal.SIGKILL
    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    assert ground.clouds() == NOTHING
    assert ground.tree() == tree


def test_what_was_changed_by_hand_is_named_and_repaired(private: Ground) -> None:
    before = private.clouds()
    with private.aws("cloudfront") as front, private.aws("s3") as s3:
        (item,) = front.list_distributions()["DistributionList"]["Items"]
        now = front.get_distribution_config(Id=item["Id"])
        config = now["DistributionConfig"]
        config["DefaultCacheBehavior"]["ViewerProtocolPolicy"] = "allow-all"
        config["Comment"] = "theirs"
        front.update_distribution(Id=item["Id"], IfMatch=now["ETag"], DistributionConfig=config)
        front.tag_resource(
            Resource=item["ARN"], Tags={"Items": [{"Key": "Name", "Value": "another"}]}
        )
        (access,) = front.list_origin_access_controls()["OriginAccessControlList"]["Items"]
        found = front.get_origin_access_control(Id=access["Id"])
        changed = {
            **found["OriginAccessControl"]["OriginAccessControlConfig"],
            "SigningBehavior": "never",
        }
        front.update_origin_access_control(
            Id=access["Id"], IfMatch=found["ETag"], OriginAccessControlConfig=changed
        )
        s3.delete_bucket_policy(Bucket=BUCKET)
    drifted = {DISTRIBUTION: ["viewers", "tags"], ACCESS: ["signing"]}
    private.fresh()

    seen = private.status(PRIVATE)
    assert seen.code == 3
    assert {thing: fields for thing, fields in seen.fields.items() if thing != ISSUER} == drifted
    assert seen.things[POLICY] == "missing"

    done = private.create_all(PRIVATE)
    assert done.code == 0, done.out
    assert {thing: fields for thing, fields in done.fields.items() if thing != ISSUER} == drifted
    assert done.things[POLICY] == "created"
    assert private.mutating() == [
        "cloudfront:TagResource",
        "cloudfront:UpdateDistribution",
        "cloudfront:UpdateOriginAccessControl",
        "s3:PutBucketPolicy",
    ]
    assert private.clouds() == before
    assert private.status(PRIVATE).code == 0


def test_a_distribution_that_was_disabled_by_hand_is_enabled_again(private: Ground) -> None:
    before = private.clouds()
    with private.aws("cloudfront") as front:
        (item,) = front.list_distributions()["DistributionList"]["Items"]
        now = front.get_distribution_config(Id=item["Id"])
        front.update_distribution(
            Id=item["Id"],
            IfMatch=now["ETag"],
            DistributionConfig={**now["DistributionConfig"], "Enabled": False},
        )

    done = private.create_all(PRIVATE)

    assert done.code == 0, done.out
    assert done.fields[DISTRIBUTION] == ["enabled"]
    assert private.clouds() == before


def test_a_distribution_of_others_for_our_bucket_is_refused_and_untouched(private: Ground) -> None:
    with private.aws("cloudfront") as front:
        (item,) = front.list_distributions()["DistributionList"]["Items"]
        keys = [
            tag["Key"]
            for tag in front.list_tags_for_resource(Resource=item["ARN"])["Tags"]["Items"]
        ]
        front.untag_resource(Resource=item["ARN"], TagKeys={"Items": keys})
    before = private.clouds()
    private.fresh()

    done = private.create_all(PRIVATE)

    assert done.code == 4
    assert done.things[DISTRIBUTION] == "foreign"
    assert f"--adopt {DISTRIBUTION}" in done.out
    assert private.mutating() == []
    assert private.clouds() == before

    adopted = private.create_all(PRIVATE, "--adopt", DISTRIBUTION)
    assert adopted.code == 0, adopted.out
    gone = private.delete("--yes")
    assert gone.code == 0, gone.out
    assert gone.but("dropped") == {DISTRIBUTION: "released"}
    left = private.clouds()
    assert left["distributions"][BUCKET]["enabled"] is True
    assert (
        left["distributions"][BUCKET]["origins"][0]["access"] == ""
    )  # ours, which it no longer keeps from going
    assert {**left, "distributions": {}} == NOTHING


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_a_second_distribution_of_the_users_own_for_the_bucket_is_neither_looked_at_nor_touched(
    private: Ground, first: str
) -> None:
    with private.aws("cloudfront") as front:
        (item,) = front.list_distributions()["DistributionList"]["Items"]
        config = front.get_distribution_config(Id=item["Id"])["DistributionConfig"]
        config["Origins"]["Items"][0]["OriginAccessControlId"] = ""
        made = front.create_distribution(
            DistributionConfig={**config, "CallerReference": "theirs", "Comment": "theirs"}
        )["Distribution"]["Id"]
    places: Any = private.sandbox._places  # pyright: ignore[reportPrivateUsage] - in which order CloudFront lists is nobody's choice
    aws = places.find("cloudfront.amazonaws.com")
    kept: dict[str, Any] = aws._cloudfront.store("aws").distributions
    ordered = sorted(kept.items(), key=lambda each: (each[0] == made) == (first == "ours"))
    kept.clear()
    kept.update(ordered)

    assert private.status(PRIVATE).but("as wanted") == {}
    gone = private.delete("--yes")

    assert gone.things[DISTRIBUTION] == "dropped"
    left = private.clouds()["distributions"]
    assert list(left) == ["theirs"]
    assert left["theirs"]["enabled"] is True


def test_an_issuer_that_moves_to_cloudfront_leaves_its_old_provider_over(enter: Enter) -> None:
    ground = enter(deploy=DEPLOY)
    ground.create_all()
    before = ground.clouds()
    for forgotten in (ground.create_all(PRIVATE), ground.status(PRIVATE)):
        assert forgotten.code == 2
        assert f"is https://{BUCKET}.s3." in forgotten.out
        assert "--move-issuer" in forgotten.out
    assert ground.clouds() == before

    done = ground.create_all(PRIVATE, "--move-issuer")

    assert done.code == 0, done.out
    assert done.but("as wanted", "created", "repaired") == {
        f"aws/oidc-provider/{BUCKET}.s3.{REGION}.amazonaws.com": "left over"
    }
    assert all(ground.clouds()["buckets"][BUCKET]["publicAccessBlock"].values())
    pruned = ground.create_all(PRIVATE, "--prune", "--yes")
    assert pruned.code == 0, pruned.out
    assert ground.status(PRIVATE).code == 0
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == NOTHING


@pytest.mark.parametrize("region", ["us-gov-west-1", "eusc-de-east-1", "us-iso-east-1"])
def test_where_there_is_no_cloudfront_it_is_refused_before_any_call(
    ground: Ground, region: str
) -> None:
    done = ground.create_all(PRIVATE, "--region", region, "-o", "text")

    assert done.code == 2
    assert "no CloudFront" in done.err
    assert ground.asked() == []
    assert "out" not in ground.files()

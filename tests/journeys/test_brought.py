"""A bucket of the user's own: two objects in it are ours, and nothing else of it is touched."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.examples import two_requests
from tests.journeys import cuts
from tests.journeys.conftest import Enter
from tests.journeys.ground import NAME, NOTHING, REGION, Ground

OWN = "house"  # the bucket
PREFIX = "clusters/demo"
BROUGHT = ("--s3-bucket", OWN, "--s3-prefix", PREFIX)
BUCKET, PROVIDER = (
    f"aws/bucket/{OWN}",
    f"aws/oidc-provider/{OWN}.s3.{REGION}.amazonaws.com/{PREFIX}",
)
DISCOVERY, KEYS = (
    f"aws/document/{OWN}/{PREFIX}/.well-known/openid-configuration",
    f"aws/key-set/{OWN}/{PREFIX}/keys.json",
)
EVERYBODY = {
    "Effect": "Allow",
    "Principal": "*",
    "Action": "s3:GetObject",
    "Resource": f"arn:aws:s3:::{OWN}/{PREFIX}/*",
}
CREATING = 8  # writes: the bucket's tags, two documents, provider, two roles, two permissions
DELETING = 8  # two permissions, two roles, provider, two documents, the bucket's tags


def a_house(ground: Ground) -> dict[str, Any]:
    """With something of others in it, and readable where the documents will be."""
    with ground.aws("s3") as s3:
        s3.create_bucket(Bucket=OWN)
        s3.put_bucket_tagging(Bucket=OWN, Tagging={"TagSet": [{"Key": "team", "Value": "house"}]})
        s3.put_public_access_block(
            Bucket=OWN,
            PublicAccessBlockConfiguration={
                "BlockPublicPolicy": False,
                "RestrictPublicBuckets": False,
            },
        )
        s3.put_bucket_policy(
            Bucket=OWN, Policy=json.dumps({"Version": "2012-10-17", "Statement": [EVERYBODY]})
        )
        s3.put_object(
            Bucket=OWN, Key="others/letter.txt", Body=b"dear house", ContentType="text/plain"
        )
    ground.fresh()
    return {**NOTHING, "buckets": ground.clouds()["buckets"]}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """How a run that nothing has disturbed ends."""
    with Sandbox(Settings()) as sandbox:
        ground = Ground(sandbox, tmp_path_factory.mktemp("clean"))
        ground.requests(two_requests())
        before = a_house(ground)
        done = ground.create_all(*BROUGHT)
        assert done.code == 0, done.err
        assert len(ground.mutating()) == CREATING
        ended = ground.everything()
        ground.fresh()
        assert ground.delete("--yes").code == 0
        assert len(ground.mutating()) == DELETING
        assert ground.clouds() == before
        return ended


@pytest.fixture
def brought(ground: Ground) -> Ground:
    ground.keys()
    a_house(ground)
    done = ground.create_all(*BROUGHT)
    assert done.code == 0, done.out
    ground.fresh()
    return ground


def test_a_second_run_and_status_find_all_as_wanted_and_write_nothing(brought: Ground) -> None:
    again, status = brought.create_all(*BROUGHT), brought.status(*BROUGHT)

    assert (again.code, again.but("as wanted")) == (0, {})
    assert (status.code, status.but("as wanted")) == (0, {})
    assert brought.mutating() == []


@pytest.mark.parametrize("writes", cuts.after(range(1, CREATING + 1)))
def test_killed_after_any_write_it_ends_as_a_clean_run_and_leaves_the_bucket_as_it_was(
    clean: Any, enter: Enter, writes: int
) -> None:
    ground = enter()
    before = a_house(ground)
    assert (
        ground.killed(
            writes, "create-all", *ground.where, *ground.asking, "--bits", "2048", *BROUGHT
        )
        == -signal.SIGKILL
    )

    done = ground.create_all(*BROUGHT)

    assert done.code == 0, done.out
    assert ground.everything() == clean

    assert ground.killed(writes, "delete", *ground.where, "--yes") == -signal.SIGKILL
    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    assert ground.clouds() == before


def test_what_was_changed_by_hand_is_named_and_repaired_and_the_rest_stays(brought: Ground) -> None:
    before = brought.clouds()
    path = f"{PREFIX}/.well-known/openid-configuration"
    document = before["buckets"][OWN]["objects"][path]
    body, marks = document["body"].encode(), urlencode(document["tags"])
    with brought.aws("s3") as s3, brought.aws("iam") as iam:
        s3.put_object(
            Bucket=OWN,
            Key=path,
            Body=body.replace(b"RS256", b"none"),
            ContentType="text/plain",
            Tagging=marks,
        )
        (arn,) = brought.clouds()["providers"]
        iam.remove_client_id_from_open_id_connect_provider(
            OpenIDConnectProviderArn=arn, ClientID="openshift"
        )
        s3.put_bucket_tagging(Bucket=OWN, Tagging={"TagSet": [{"Key": "team", "Value": "another"}]})
    brought.fresh()

    seen = brought.status(*BROUGHT)
    assert seen.code == 3
    fields = {
        thing: fields for thing, fields in seen.fields.items() if not thing.startswith("issuer/")
    }
    assert fields == {
        DISCOVERY: ["body", "content_type", "cache_control"],
        PROVIDER: ["audiences"],
        BUCKET: ["mark"],
    }

    done = brought.create_all(*BROUGHT)
    assert done.code == 0, done.out
    after = brought.clouds()
    assert after["buckets"][OWN]["tags"].pop("team") == "another"
    assert before["buckets"][OWN]["tags"].pop("team") == "house"
    assert after == before
    assert brought.status(*BROUGHT).code == 0


@pytest.mark.parametrize(
    "further",
    [
        (),
        ("--issuer-url", "https://other.example.org", "--replace-keys"),
        ("--issuer-url", "https://other.example.org", "--add-key"),
    ],
)
def test_another_clusters_documents_in_the_same_place_are_refused(
    brought: Ground, further: tuple[str, ...]
) -> None:
    before = brought.clouds()
    other = (
        "--cloud",
        "aws",
        "--name",
        "other",
        "--region",
        REGION,
        *brought.asking[:2],
        "--output-dir",
        "other",
        "--bits",
        "2048",
    )

    done = brought.cwiictl("create-all", *other, *BROUGHT, *further, "-o", "json")

    assert done.code == 4, done.out
    assert done.things[DISCOVERY] == done.things[KEYS] == "foreign"
    assert brought.mutating() == []
    assert brought.clouds() == before


def test_documents_of_this_issuer_that_lay_there_before_are_mended_and_stay(
    brought: Ground,
) -> None:
    """Nobody but their owner may take them away, whatever was done to them."""
    keys, discovery = (
        f"{PREFIX}/{name}" for name in ("keys.json", ".well-known/openid-configuration")
    )
    bodies = {
        key: item["body"].encode()
        for key, item in brought.clouds()["buckets"][OWN]["objects"].items()
    }
    assert brought.delete("--yes").code == 0
    with brought.aws("s3") as s3:
        for key in (keys, discovery):
            s3.put_object(
                Bucket=OWN,
                Key=key,
                Body=bodies[key],
                ContentType="text/plain",
                Tagging="team=house",
            )

    done = brought.create_all(*BROUGHT)
    assert done.code == 0, done.out
    assert {done.things[DISCOVERY], done.things[KEYS]} == {"repaired"}
    brought.fresh()
    assert brought.create_all(*BROUGHT).but("as wanted") == {}
    assert brought.mutating() == []
    shown, gone = brought.delete("--dry-run"), brought.delete("--yes")

    assert {shown.things[DISCOVERY], shown.things[KEYS]} == {"to release"}
    assert gone.code == 0, gone.out
    assert {gone.things[DISCOVERY], gone.things[KEYS]} == {"released"}
    left = brought.clouds()["buckets"][OWN]["objects"]
    assert {
        key: (left[key]["body"].encode(), left[key]["tags"])
        for key in bodies
        if key in (keys, discovery)
    } == {key: (bodies[key], {"team": "house"}) for key in (keys, discovery)}
    assert brought.delete("--yes").data["things"] == []


def test_a_host_of_the_users_own_before_it_serves_what_lies_in_it(
    enter: Enter, tmp_path: Path
) -> None:
    folder = tmp_path / "front"
    (folder / ".well-known").mkdir(parents=True)
    ground = enter(serve={"id.example.org": folder})
    ground.keys()
    before = a_house(ground)
    fronted = (*BROUGHT, "--issuer-url", "https://id.example.org")
    waits = ground.create_all(*fronted)
    assert waits.code == 1
    assert "have that host serve what was published" in waits.out.lower()
    for name in ("keys.json", ".well-known/openid-configuration"):
        (folder / name).write_text(
            ground.clouds()["buckets"][OWN]["objects"][f"{PREFIX}/{name}"]["body"], encoding="utf-8"
        )

    done = ground.create_all(*fronted)

    assert done.code == 0, done.out
    assert done.but("as wanted") == {"aws/oidc-provider/id.example.org": "created"}
    ground.fresh()
    assert ground.create_all(*fronted).but("as wanted") == {}
    assert ground.mutating() == []
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == before


@pytest.mark.parametrize("denied", ["s3:DeleteObject", "s3:PutBucketTagging"])
def test_what_could_not_be_given_back_is_found_again(brought: Ground, denied: str) -> None:
    """The provider tells where it is, and so it stays until all of that is done."""
    brought.sandbox.faults.deny = {denied}
    stuck = brought.delete("--yes")
    assert stuck.code == 1
    assert stuck.things[PROVIDER] == "not tried"
    brought.sandbox.faults.deny = set()

    done = brought.delete("--yes")

    assert done.code == 0, done.out
    left = brought.clouds()
    assert list(left["buckets"][OWN]["objects"]) == ["others/letter.txt"]
    assert left["buckets"][OWN]["tags"] == {"team": "house"}
    assert {**left, "buckets": {}} == NOTHING


def test_documents_that_were_moved_to_another_path_are_left_over_at_the_old_one(
    brought: Ground,
) -> None:
    with brought.aws("s3") as s3:
        everybody = {**EVERYBODY, "Resource": f"arn:aws:s3:::{OWN}/clusters/*"}
        s3.put_bucket_policy(
            Bucket=OWN, Policy=json.dumps({"Version": "2012-10-17", "Statement": [everybody]})
        )
    elsewhere = ("--s3-bucket", OWN, "--s3-prefix", "clusters/moved", "--move-issuer")

    moved = brought.create_all(*elsewhere)
    assert moved.code == 0, moved.out
    assert {thing for thing, condition in moved.things.items() if condition == "left over"} == {
        DISCOVERY,
        KEYS,
        PROVIDER,
    }
    pruned = brought.create_all(*elsewhere, "--prune", "--yes")

    assert pruned.code == 0, pruned.out
    assert sorted(brought.clouds()["buckets"][OWN]["objects"]) == [
        "clusters/moved/.well-known/openid-configuration",
        "clusters/moved/keys.json",
        "others/letter.txt",
    ]


def test_a_second_cluster_lives_beside_it_and_goes_alone(brought: Ground) -> None:
    before = brought.clouds()
    second = ("--cloud", "aws", "--name", "other", "--region", REGION)
    beside = ("--s3-bucket", OWN, "--s3-prefix", "clusters/other")
    with brought.aws("s3") as s3:
        everybody = {**EVERYBODY, "Resource": f"arn:aws:s3:::{OWN}/clusters/*"}
        s3.put_bucket_policy(
            Bucket=OWN, Policy=json.dumps({"Version": "2012-10-17", "Statement": [everybody]})
        )

    done = brought.cwiictl(
        "create-all",
        *second,
        "--credentials-requests-dir",
        "requests",
        "--output-dir",
        "other",
        "--bits",
        "2048",
        *beside,
    )
    assert done.code == 0, done.err
    assert brought.status(*BROUGHT).but("as wanted") == {}
    gone = brought.cwiictl("delete", *second, "--yes")

    assert gone.code == 0, gone.err
    after = brought.clouds()
    for clouds in (before, after):
        clouds["buckets"][OWN].pop("policy")
    assert after == before
    assert brought.status(*BROUGHT).code == 0
    assert f"{NAME}-openshift-ingress-operator-cloud-credentials" in after["roles"]

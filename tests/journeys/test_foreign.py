"""What is not ours is refused before anything is written, and taken over only by name."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl import names
from cwiictl.engine.resource import Mark
from tests.journeys import foreign
from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    BUCKET,
    HOST,
    INGRESS,
    ISSUER,
    NAME,
    NOTHING,
    PROVIDER,
    REGION,
    REGISTRY,
    Ground,
)

TRUST = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sts:AssumeRole"}]}'
GRANT = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}'
ROLE = f"aws/role/{INGRESS}"


def tagged(cluster: str = "") -> list[dict[str, str]]:
    """Tags of another cluster of ours, or of nobody."""
    return [
        {"Key": key, "Value": value}
        for key, value in (names.marked(Mark(cluster)) if cluster else {"Name": "theirs"}).items()
    ]


def a_role(ground: Ground, cluster: str = "") -> str:
    with ground.aws("iam") as iam:
        iam.create_role(
            RoleName=INGRESS,
            AssumeRolePolicyDocument=TRUST,
            Description="theirs",
            Tags=tagged(cluster),
        )
        iam.put_role_policy(RoleName=INGRESS, PolicyName="theirs", PolicyDocument=GRANT)
    return ROLE


def a_bucket(ground: Ground, cluster: str = "") -> str:
    with ground.aws("s3") as s3:
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"Tags": tagged(cluster)})
    return f"aws/bucket/{BUCKET}"


def a_provider(ground: Ground, cluster: str = "") -> str:
    with ground.aws("iam") as iam:
        iam.create_open_id_connect_provider(
            Url=ISSUER, ClientIDList=["theirs"], ThumbprintList=["a" * 40], Tags=tagged(cluster)
        )
    return f"aws/oidc-provider/{HOST}"


@pytest.mark.parametrize("cluster", ["", "another"], ids=["unmarked", "of another cluster"])
@pytest.mark.parametrize("make", [a_role, a_bucket, a_provider])
def test_what_is_foreign_is_refused_before_the_first_write(
    ground: Ground, make: Any, cluster: str
) -> None:
    foreign.refused(ground, make, cluster)


def test_people_are_told_what_is_in_the_way_and_what_to_do(ground: Ground) -> None:
    a_role(ground)

    foreign.told(ground.create_all("-o", "text"), ROLE)


def test_status_and_a_dry_run_show_what_is_foreign_too(ground: Ground) -> None:
    a_role(ground)

    foreign.shown(ground, ROLE)


def test_an_adopted_role_is_made_as_wanted_and_released_by_delete(ground: Ground) -> None:
    a_role(ground)

    done = ground.create_all("--adopt", ROLE)
    assert done.code == 0, done.out
    assert done.things[ROLE] == "repaired"
    assert done.fields[ROLE][0] == "mark"
    role = ground.clouds()["roles"][INGRESS]
    assert role["tags"][f"cwii.dev/cluster/{NAME}"] == "adopted"
    assert (
        "openshift.io/cloud-credential-operator/demo" not in role["tags"]
    )  # ccoctl drops what bears it
    assert "others" in done.fields[ROLE]  # power that nobody asked for
    assert set(role["inline"]) == {INGRESS}
    assert ground.status().code == 0

    ground.fresh()
    assert ground.create_all().but("as wanted") == {}  # once is enough
    assert ground.mutating() == []

    gone = ground.delete("--yes")
    assert gone.code == 0
    assert gone.things[ROLE] == "released"
    assert gone.but("dropped", "released") == {}
    left = ground.clouds()
    assert list(left["roles"]) == [INGRESS]
    assert left["roles"][INGRESS]["tags"] == {"Name": NAME}
    assert {**left, "roles": {}} == NOTHING
    assert ground.delete("--yes").data["things"] == []


def test_an_adopted_bucket_and_provider_are_released_too(ground: Ground) -> None:
    things = [a_bucket(ground), a_provider(ground)]

    done = ground.create_all(*(word for thing in things for word in ("--adopt", thing)))
    assert done.code == 0, done.out
    assert done.things[things[0]] == done.things[things[1]] == "repaired"
    gone = ground.delete("--yes")
    assert gone.code == 0, gone.out
    assert gone.but("dropped") == dict.fromkeys(things, "released")
    left = ground.clouds()
    assert list(left["buckets"]) == [BUCKET]
    assert list(left["providers"]) == [PROVIDER]
    assert not any("cwii.dev" in str(left[kind].values()) for kind in ("roles", "providers"))
    assert left["buckets"][BUCKET]["tags"] == {"Name": NAME}


def test_a_bucket_of_ours_stays_as_long_as_an_adopted_provider_trusts_it(ground: Ground) -> None:
    provider = a_provider(ground)
    assert ground.create_all("--adopt", provider).code == 0
    bucket = ground.clouds()["buckets"]

    gone = ground.delete("--yes")

    assert gone.code == 1
    assert gone.things[provider] == gone.things[f"aws/bucket/{BUCKET}"] == "not tried"
    assert "delete it first" in gone.out
    assert ground.clouds()["buckets"] == bucket
    assert ground.delete("--yes").but("not tried") == {}, "and the next run says the same"
    with ground.aws("iam") as iam:
        iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
    then = ground.delete("--yes")
    assert (then.code, then.things) == (0, {f"aws/bucket/{BUCKET}": "dropped"})


@pytest.mark.parametrize(
    "thing", [f"aws/role/{NAME}-nobody", "aws/bucket/another-oidc", "azure", ""]
)
def test_adopting_what_is_in_no_plan_is_bad_input_and_changes_nothing(
    ground: Ground, thing: str
) -> None:
    done = ground.create_all("--adopt", thing)

    assert done.code == 2
    assert done.data["exitCode"] == 2
    assert f"--adopt {thing}" in done.data["problem"]
    assert "aws/role/NAME" in done.data["remedy"]
    assert ground.mutating() == []
    assert "out" not in ground.files()


def test_delete_touches_nothing_of_others(ground: Ground) -> None:
    ground.create_all()
    ground.cwiictl(
        "create-all",
        "--cloud",
        "aws",
        "--name",
        f"{NAME}-2",
        "--region",
        REGION,
        *ground.asking,
        "--output-dir",
        "two",
        "--bits",
        "2048",
    )
    with ground.aws("iam") as iam:
        iam.create_role(RoleName=f"{NAME}-theirs", AssumeRolePolicyDocument=TRUST)
        iam.untag_role(RoleName=REGISTRY, TagKeys=[f"cwii.dev/cluster/{NAME}"])
    before = ground.clouds()

    assert ground.delete("--yes").code == 0

    left = ground.clouds()
    assert sorted(left["roles"]) == sorted(
        [
            f"{NAME}-theirs",
            REGISTRY,
            *(name for name in before["roles"] if name.startswith(f"{NAME}-2-")),
        ]
    )
    assert list(left["buckets"]) == [f"{NAME}-2-oidc"]
    assert left["buckets"][f"{NAME}-2-oidc"] == before["buckets"][f"{NAME}-2-oidc"]


@pytest.mark.parametrize("adopted", [(), ("--adopt", f"aws/bucket/{BUCKET}")], ids=["", "adopted"])
def test_a_bucket_name_that_a_stranger_has_is_refused_before_the_first_write(
    enter: Enter, adopted: tuple[str, ...]
) -> None:
    ground = enter(strangers=frozenset({BUCKET}))

    done = ground.create_all(*adopted)

    assert done.code == 4
    assert done.but("not tried") == {f"aws/bucket/{BUCKET}": "foreign"}
    assert "somebody else" in done.out
    assert "choose another --name, or name a bucket of yours with --s3-bucket" in done.out
    assert "granted" not in done.out  # no permission would help
    for shown in (ground.create_all("--dry-run", *adopted), ground.status()):
        assert [
            thing for thing, condition in shown.things.items() if condition in {"failed", "foreign"}
        ] == [f"aws/bucket/{BUCKET}"]
    assert ground.mutating() == []


def test_our_own_bucket_in_another_region_is_refused_before_the_first_write(ground: Ground) -> None:
    ground.create_all()
    ground.fresh()

    done = ground.create_all("--region", "eu-central-1")

    assert done.code == 2  # it is ours: what was said is wrong, and nobody is in the way
    assert "--region us-east-1" in done.out
    assert ground.mutating() == []


def test_delete_asks_and_shows_first_and_changes_nothing_unless_told_yes(ground: Ground) -> None:
    ground.create_all()
    before = ground.clouds()
    ground.fresh()

    asked = ground.delete()
    assert asked.code == 2
    assert "--yes" in asked.err
    shown = ground.delete("--dry-run")
    assert shown.code == 0
    assert set(shown.things.values()) == {"to drop"}
    assert len(shown.things) == 4
    assert ground.mutating() == []
    assert ground.clouds() == before


def test_only_what_was_seen_to_go_is_dropped(ground: Ground) -> None:
    ground.create_all()
    seen = ground.delete("--dry-run").data["checksum"]
    assert f"--expect {seen}" in ground.delete("--dry-run", "-o", "text").out
    with ground.aws("iam") as iam:
        iam.create_role(
            RoleName=f"{NAME}-new",
            AssumeRolePolicyDocument=TRUST,
            Tags=[{"Key": f"cwii.dev/cluster/{NAME}", "Value": "owned"}],
        )
    ground.fresh()

    done = ground.delete("--expect", seen, "--yes")

    assert done.code == 2
    assert f"and not {seen} that was expected" in done.out
    assert ground.mutating() == []
    again = ground.delete("--dry-run").data["checksum"]
    assert again != seen
    assert ground.delete("--expect", again, "--yes").code == 0
    assert (
        ground.delete("--expect", again, "--yes").code == 0
    )  # there is nothing left to be dropped
    assert ground.clouds() == NOTHING


def test_a_bucket_that_holds_something_of_others_is_told_before_anything_is_dropped(
    ground: Ground,
) -> None:
    ground.create_all()
    with ground.aws("s3") as s3:
        s3.put_object(Bucket=BUCKET, Key="terraform.tfstate", Body=b"theirs")
    ground.fresh()

    for how, rest in (("--dry-run", "to drop"), ("--yes", "not tried")):
        done = ground.delete(how)
        assert done.code == 4
        assert done.but(rest) == {f"aws/bucket/{BUCKET}": "foreign"}
        assert "terraform.tfstate" in done.out
    assert ground.mutating() == []


def test_delete_of_nothing_is_done_at_once(ground: Ground) -> None:
    done = ground.delete("--yes")

    assert (done.code, done.data["things"]) == (0, [])

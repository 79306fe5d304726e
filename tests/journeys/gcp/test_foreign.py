"""What is not ours is refused before anything is written, and taken over only by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cwiictl import names
from cwiictl.model import Cluster
from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT, SECOND
from tests.journeys import foreign
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.by_hand import labels
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import (
    BUCKET,
    DISCOVERY,
    JWKS,
    NAME,
    NOTHING,
    POOL,
    PROVIDER,
    GcpGround,
    principal,
)

Make = Callable[[GcpGround, str], str]
ID = names.service_account(Cluster(NAME), "openshift-ingress-gcp")
ROLE = names.shared_role(("storage.buckets.get", "storage.buckets.create", "storage.objects.get"))
ACCOUNT = f"gcp/service-account/{ID}"
STRANGER = "user:somebody@example.org"


def signed(cluster: str) -> str:
    return (
        f"theirs. cwii.dev/cluster/{cluster}=owned cwii.dev/origin=create-all"
        if cluster
        else "theirs"
    )


def a_bucket(ground: GcpGround, cluster: str = "") -> str:
    by_hand.a_bucket(ground, BUCKET, labels(cluster))
    return f"gcp/bucket/{BUCKET}"


def a_pool(ground: GcpGround, cluster: str = "") -> str:
    by_hand.a_pool(ground, description=signed(cluster))
    return f"gcp/pool/{POOL}"


def a_provider(ground: GcpGround, cluster: str = "") -> str:
    """In a pool of ours."""
    if not any(each["name"].endswith(f"/{POOL}") for each in ground.pools()):
        by_hand.a_pool(ground, description=signed(NAME))
    by_hand.a_provider(ground, description=signed(cluster), oidc={"allowedAudiences": ["theirs"]})
    return f"gcp/provider/{POOL}/{PROVIDER}"


def an_account(ground: GcpGround, cluster: str = "") -> str:
    by_hand.an_account(ground, ID, description=signed(cluster))
    return ACCOUNT


def a_role(ground: GcpGround, cluster: str = "") -> str:
    by_hand.a_role(ground, ROLE, description=signed(cluster))
    return f"gcp/custom-role/{ROLE}"


KINDS = [a_bucket, a_pool, a_provider, an_account, a_role]


@pytest.mark.parametrize(
    "cluster",
    [
        pytest.param("", id="unmarked"),
        pytest.param("another", id="of another cluster", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("make", KINDS)
def test_what_is_foreign_is_refused_before_the_first_write(
    ground: GcpGround, make: Make, cluster: str
) -> None:
    foreign.refused(ground, make, cluster)


def test_people_are_told_what_is_in_the_way_and_what_to_do_by_status_and_a_dry_run_too(
    ground: GcpGround,
) -> None:
    an_account(ground)

    for done in (
        ground.create_all("-o", "text"),
        ground.status("-o", "text"),
        ground.create_all("--dry-run", "-o", "text"),
    ):
        foreign.told(done, ACCOUNT)


def test_what_is_adopted_is_made_as_wanted_and_released_by_delete(ground: GcpGround) -> None:
    things = [make(ground, "") for make in KINDS]
    email = f"{ID}@{PROJECT}.iam.gserviceaccount.com"
    by_hand.trust(
        ground,
        email,
        [
            {
                "role": by_hand.IMPERSONATE,
                "members": [principal("system:serviceaccount:x:y"), f"serviceAccount:{OPERATOR}"],
            }
        ],
    )
    by_hand.granted(ground, "roles/viewer", f"serviceAccount:{email}")
    before = ground.clouds()

    done = ground.create_all(*(word for thing in things for word in ("--adopt", thing)))
    assert done.code == 0, done.out
    assert {done.things[thing] for thing in things} == {"repaired"}
    made = ground.clouds()
    assert "openshift" in made["pools"][POOL]["providers"][PROVIDER]["oidc"]["allowedAudiences"]
    assert "theirs" not in made["pools"][POOL]["providers"][PROVIDER]["oidc"]["allowedAudiences"]
    (trusted,) = made["accounts"][email]["bindings"]
    assert trusted["members"] == sorted(
        [principal(), f"serviceAccount:{OPERATOR}"]
    )  # trust that nobody asked for is gone, and what is not the pool's stays
    assert made["buckets"][BUCKET]["labels"] == {
        "name": NAME,
        f"cwii-dev_cluster_{NAME}": "adopted",
        "cwii-dev_origin": "create-all",
    }
    assert all(
        "openshift-io" not in key for key in made["buckets"][BUCKET]["labels"]
    )  # ccoctl drops what bears it
    ground.fresh()
    assert ground.create_all().but("as wanted") == {}  # once is enough
    assert ground.mutating() == []

    gone = ground.delete("--yes")
    assert gone.code == 0, gone.out
    assert gone.but("dropped", "released", "kept") == {}
    left = ground.clouds()
    assert {kind: list(left[kind]) for kind in ("buckets", "pools", "accounts")} == {
        kind: list(before[kind]) for kind in ("buckets", "pools", "accounts")
    }
    assert (
        before["policies"][PROJECT][0] in left["policies"][PROJECT]
    )  # what others gave it stays with it
    assert "cwii.dev/cluster" not in str(left)
    assert "cwii-dev" not in str(left)
    assert ground.delete("--yes").data["things"] == []


def test_a_bucket_name_that_a_stranger_has_or_another_project_is_refused_before_the_first_write(
    enter: Enter,
) -> None:
    ground = enter(strangers=frozenset({BUCKET}))
    address = f"gcp/bucket/{BUCKET}"

    for done in (ground.create_all(), ground.create_all("--adopt", address)):
        assert done.code == 4
        assert [
            thing for thing, condition in done.things.items() if condition in {"failed", "foreign"}
        ] == [address]
        assert "belongs to somebody else in the world" in done.out
        assert "choose another --name, or name a bucket of yours with --gcs-bucket" in done.out
        assert "granted" not in done.out  # no permission would help
    assert ground.mutating() == []
    assert ground.clouds() == NOTHING


def test_a_bucket_in_another_project_of_ours_is_refused_whatever_mark_it_bears(
    ground: GcpGround,
) -> None:
    ground.rest(
        "POST", "serviceusage", f"/v1/projects/{SECOND}/services/storage.googleapis.com:enable", {}
    )
    by_hand.a_bucket(ground, BUCKET, labels(NAME), project=SECOND)
    ground.fresh()

    done = ground.create_all()

    assert done.code == 4, done.out
    assert done.things[f"gcp/bucket/{BUCKET}"] == "foreign"
    assert "is in the project" in done.out
    assert ground.mutating() == []


def test_a_bucket_that_holds_something_is_not_published_even_when_it_is_adopted(
    ground: GcpGround,
) -> None:
    a_bucket(ground)
    by_hand.upload(ground, BUCKET, "payroll.csv", b"theirs")
    ground.fresh()

    for done in (ground.create_all(), ground.create_all("--adopt", f"gcp/bucket/{BUCKET}")):
        assert done.code == 4, done.out
        assert "holds payroll.csv, which is not the issuer's" in done.out
    assert ground.mutating() == []


def test_delete_touches_nothing_of_others_and_needs_no_files(ground: GcpGround) -> None:
    """From an empty folder. What is named like ours, grants of others to others and to ours, and what has lost its mark."""
    ground.create_all()
    by_hand.a_bucket(ground, f"{BUCKET}-theirs")
    by_hand.a_pool(ground, f"{NAME}-theirs")
    theirs = by_hand.an_account(ground, f"{NAME}-theirs")
    by_hand.a_role(ground, "cwii_theirs")
    by_hand.granted(ground, "roles/viewer", f"serviceAccount:{theirs}")
    by_hand.granted(
        ground,
        "roles/dns.admin",
        STRANGER,
        title="now",
        expression="request.time < timestamp('2100-01-01T00:00:00Z')",
    )
    by_hand.granted(ground, "roles/viewer", principal(pool=f"{NAME}-theirs"))
    email = ground.account(f"{NAME}-openshift-image-registry-gcs")
    by_hand.account(ground, email, description="theirs now")  # somebody has taken our mark away
    policies = ground.clouds()["policies"][PROJECT]
    for path in sorted(ground.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()

    gone = ground.delete("--yes")

    assert gone.code == 0, gone.out
    left = ground.clouds()
    assert list(left["buckets"]) == [f"{BUCKET}-theirs"]
    assert list(left["pools"]) == [f"{NAME}-theirs"]
    assert sorted(left["accounts"]) == sorted([theirs, email])
    assert sorted(left["roles"]) == sorted(["cwii_theirs", ROLE])  # a shared one is everybody's
    ours = f"serviceAccount:{ID}@{PROJECT}.iam.gserviceaccount.com"
    assert left["policies"][PROJECT] == [each for each in policies if each["members"] != [ours]]
    assert len(left["policies"][PROJECT]) == len(policies) - 1
    assert ground.files() == set()


def test_shared_roles_go_only_when_that_is_asked_for_and_nobody_else_has_them(
    ground: GcpGround,
) -> None:
    ground.create_all()
    other = by_hand.an_account(ground, "theirs-too")
    by_hand.granted(ground, f"projects/{PROJECT}/roles/{ROLE}", f"serviceAccount:{other}")

    assert ground.delete("--yes", "--delete-shared-roles").code == 0
    assert list(ground.clouds()["roles"]) == [ROLE]

    by_hand.revoked(ground, f"projects/{PROJECT}/roles/{ROLE}", f"serviceAccount:{other}")
    ground.create_all()
    assert (
        ground.delete("--yes", "--delete-shared-roles").things[f"gcp/custom-role/{ROLE}"]
        == "dropped"
    )
    assert ground.clouds()["roles"] == {}


def test_a_bucket_that_has_got_something_of_others_is_told_before_anything_is_dropped(
    ground: GcpGround,
) -> None:
    ground.create_all()
    by_hand.upload(ground, BUCKET, "terraform.tfstate", b"theirs")
    ground.fresh()

    for how, rest in (("--dry-run", "to drop"), ("--yes", "not tried")):
        done = ground.delete(how)
        assert done.code == 4
        assert done.but(rest) == {f"gcp/bucket/{BUCKET}": "foreign"}
        assert "terraform.tfstate" in done.out
    assert ground.mutating() == []
    by_hand.remove(ground, BUCKET, "terraform.tfstate")
    assert ground.delete("--yes").but("dropped") == {}


HOUSE = "house-bucket"
LETTER = "others/letter.txt"


def test_a_bucket_of_the_users_own_survives_delete_as_it_was(ground: GcpGround) -> None:
    by_hand.a_bucket(ground, HOUSE, {"team": "house"}, public=True)
    by_hand.upload(ground, HOUSE, LETTER, "dear house", metadata={"of": "house"})
    before = ground.clouds()

    done = ground.create_all("--gcs-bucket", HOUSE)
    assert done.code == 0, done.out
    made = ground.clouds()["buckets"]
    assert list(made) == [HOUSE]
    assert sorted(made[HOUSE]["objects"]) == sorted([DISCOVERY, JWKS, LETTER])
    assert made[HOUSE]["policy"] == before["buckets"][HOUSE]["policy"]
    ground.fresh()
    again = ground.create_all("--gcs-bucket", HOUSE)
    assert (again.code, again.but("as wanted")) == (0, {})
    assert ground.mutating() == []

    gone = ground.delete("--yes")  # its labels say that it is the cluster's issuer's
    assert gone.code == 0, gone.out
    assert {thing: how for thing, how in gone.things.items() if HOUSE in thing} == {
        f"gcp/bucket/{HOUSE}": "released",
        f"gcp/document/{HOUSE}/{DISCOVERY}": "dropped",
        f"gcp/key-set/{HOUSE}/{JWKS}": "dropped",
    }
    assert {**ground.clouds(), "roles": {}} == before


def test_a_bucket_of_the_users_own_that_nobody_may_read_is_told_before_the_first_write(
    ground: GcpGround,
) -> None:
    by_hand.a_bucket(ground, HOUSE)
    ground.fresh()

    done = ground.create_all("--gcs-bucket", HOUSE, "-o", "text")

    assert done.code == 2, done.out
    assert "lets nobody read it anonymously, and it is yours" in done.err
    assert "Grant allUsers roles/storage.legacyObjectReader" in done.err
    absent = ground.create_all("--gcs-bucket", "nobodys-bucket", "-o", "text")
    assert absent.code == 2
    assert "there is no bucket nobodys-bucket of yours" in absent.err
    assert ground.mutating() == []


@pytest.mark.parametrize("thing", ["gcp/service-account/demo-nobody", "gcp/bucket/another", "gcp"])
def test_adopting_what_is_in_no_plan_is_bad_input_and_changes_nothing(
    ground: GcpGround, thing: str
) -> None:
    done = ground.create_all("--adopt", thing)

    assert done.code == 2
    assert f"--adopt {thing}" in done.data["problem"]
    assert "--dry-run" in done.data["remedy"]
    assert ground.mutating() == []
    assert "out" not in ground.files()


def test_delete_of_nothing_is_done_at_once(ground: GcpGround) -> None:
    done = ground.delete("--yes")

    assert (done.code, done.data["things"]) == (0, [])

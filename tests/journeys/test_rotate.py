"""rotate-keys, as far as clouds go: a key is added in one piece with where the rotation stands, by one operator alone, and each stage has its turn."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from cwiictl import oidc
from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys import turns
from tests.journeys.conftest import Enter
from tests.journeys.ground import BUCKET, NAME, PRIVATE, REGION, Ground, a_key, kid_of, public_pem
from tests.journeys.turns import OLD, PAIR, made, refused, rotate

KEY_SET = f"aws/key-set/{BUCKET}/keys.json"
HOST = "id.example.org"
BOTH_CLOUDS = (
    "--cloud",
    "aws",
    "--cloud",
    "gcp",
    "--name",
    NAME,
    "--aws-region",
    REGION,
    "--project",
    PROJECT,
    "--key-storage-method",
    "pool-jwk-file",
)
ADDED = {"local/key/signing-key": "created", "local/key-set/keys.json": "repaired"}


def published(ground: Ground) -> Any:
    return json.loads(ground.clouds()["buckets"][BUCKET]["objects"]["keys.json"]["body"])


def kids(ground: Ground) -> list[str]:
    return [key["kid"][:12] for key in published(ground)["keys"]]


@pytest.mark.parametrize("how", [(), (PRIVATE,)], ids=["bucket", "CloudFront"])
def test_a_new_key_is_published_beside_the_old_one_and_says_so(
    ground: Ground, how: tuple[str, ...]
) -> None:
    turns.added(made(ground, *how), KEY_SET, ["s3:PutObject"], *how)

    assert len(kids(ground)) == 2
    assert kids(ground)[0] == OLD


def test_a_run_that_was_killed_goes_on_with_the_pair_that_it_made(ground: Ground) -> None:
    turns.killed_adding(made(ground), KEY_SET)

    assert len(kids(ground)) == 2


def test_where_publishing_fails_the_same_pair_is_published_by_the_next_run(ground: Ground) -> None:
    made(ground)
    ground.sandbox.faults.deny = {"s3:PutObject"}
    assert rotate(ground, "add").code == 1
    pair = (ground.folder / f"{PAIR}.private").read_bytes()
    ground.sandbox.faults.deny = set()

    assert rotate(ground, "add").code == 0
    assert (ground.folder / f"{PAIR}.private").read_bytes() == pair


def test_of_two_operators_who_begin_at_once_one_is_refused(enter: Enter) -> None:
    """Each with a key of their own: there is never a third one."""
    ground = made(enter())
    ground.write("mine.pub", public_pem(a_key(0)))
    ground.sandbox.faults.latency = 0.3
    command = (
        "rotate-keys",
        "add",
        *ground.where,
        "--public-key-file",
        "mine.pub",
        "--bits",
        "2048",
    )
    both = [
        ground.started(*command, "--output-dir", folder, "-o", "json") for folder in ("one", "two")
    ]
    told = [process.communicate(timeout=60) for process in both]

    assert sorted(process.returncode for process in both) == [0, 1], told
    assert any("somebody else has brought" in out for out, _ in told)
    ground.sandbox.faults.latency = 0.0
    assert len(kids(ground)) == 2


def test_who_begins_from_another_folder_later_brings_no_third_key(ground: Ground) -> None:
    made(ground)
    assert rotate(ground, "add").code == 0
    ground.write("mine.pub", public_pem(a_key(0)))
    ground.fresh()

    refused(
        rotate(ground, "add", "--public-key-file", "mine.pub", "--output-dir", "two"),
        "is under way, and that is not in two/after-",
    )
    assert ground.mutating() == []
    assert not (ground.folder / "two").exists()


@pytest.mark.parametrize("stage", ["accept", "sign", "unpublish", "forget"])
def test_no_stage_comes_before_its_turn(ground: Ground, stage: str) -> None:
    made(ground)
    asking = ("--credentials-requests-dir", "requests") if stage == "sign" else ()

    refused(
        rotate(ground, stage, *asking),
        f"{stage} is not due: no rotation is under way",
        "rotate-keys add",
    )
    assert rotate(ground, "add").code == 0
    ground.fresh()
    if stage != "accept":
        refused(
            rotate(ground, stage, *asking),
            f"{stage} is not due: the rotation stands at add",
            "rotate-keys accept",
        )
    assert ground.mutating() == []


def test_whom_the_new_key_is_tried_as_is_asked_before_anything_else(ground: Ground) -> None:
    """One of those who have an identity: of the issuer alone nobody could tell what clouds take."""
    made(ground)
    ground.fresh()

    refused(
        rotate(ground, "sign"),
        "sign tries the new key as somebody who has an identity",
        "--credentials-requests-dir DIR, --preset NAME",
    )
    assert ground.asked() == []


def test_while_one_key_follows_another_no_third_one_follows(ground: Ground) -> None:
    made(ground)
    assert rotate(ground, "add").code == 0
    ground.write("other.pub", public_pem(a_key(1)))

    refused(
        rotate(ground, "add", "--public-key-file", "other.pub"),
        "is under way, and stands at add",
        "rotate-keys accept",
    )


def test_a_key_that_is_not_published_is_followed_by_none(ground: Ground) -> None:
    made(ground)
    ground.write("other.pub", public_pem(a_key(1)))

    done = rotate(ground, "add", "--public-key-file", "other.pub")

    assert done.code == 2
    assert f"is published without the key {kid_of(a_key(1))[:12]}" in done.out
    assert ground.mutating() == []


def test_whose_key_is_to_be_followed_must_be_known(ground: Ground) -> None:
    made(ground)

    refused(
        rotate(ground, "add", "--output-dir", "empty"),
        "which one is to be followed is not known",
        "--public-key-file",
    )
    assert ground.asked() == []


def test_another_plan_than_was_expected_is_not_acted_on(ground: Ground) -> None:
    made(ground)

    refused(
        rotate(ground, "add", "--expect", "0123456789abcdef"),
        "and not 0123456789abcdef that was expected",
    )
    assert (ground.mutating(), (ground.folder / PAIR).parent.exists()) == ([], False)


def test_what_has_drifted_is_mended_before_and_not_on_the_way(ground: Ground) -> None:
    made(ground)
    with ground.aws("s3") as s3:
        s3.delete_bucket_policy(Bucket=BUCKET)
    ground.fresh()

    refused(
        rotate(ground, "add"),
        "is not as wanted, and a rotation changes nothing but keys",
        "create-identity-provider",
    )
    assert ground.mutating() == []


def test_other_commands_leave_a_rotation_as_it_stands(ground: Ground) -> None:
    made(ground)
    assert rotate(ground, "add").code == 0
    ground.fresh()

    assert ground.create_all().but("as wanted") == {}
    assert ground.create_all("--public-key-file", f"{PAIR}.public").but("as wanted") == {}
    assert ground.mutating() == []


def test_replacing_all_keys_calls_a_rotation_off(ground: Ground) -> None:
    made(ground)
    assert rotate(ground, "add").code == 0

    assert ground.create_all("--replace-keys").code == 0

    assert kids(ground) == [OLD]
    assert "rotation" not in ground.status().out
    refused(rotate(ground, "accept"), "no rotation is under way")


def test_a_word_that_nobody_can_read_stops_everything(ground: Ground) -> None:
    made(ground)
    with ground.aws("s3") as s3:
        body = s3.get_object(Bucket=BUCKET, Key="keys.json")["Body"].read()
        told = {
            "ContentType": "application/json",
            "CacheControl": "public, max-age=60",
            "Metadata": {"cwii-rotation": "later.stage"},
        }
        s3.put_object(Bucket=BUCKET, Key="keys.json", Body=body, **told)
    ground.fresh()

    done = rotate(ground, "add")

    assert done.code == 1
    assert "says of a key rotation 'later.stage'" in done.out
    assert ground.mutating() == []


def test_a_key_that_was_rotated_away_is_not_brought_back_and_nobody_advises_that(
    ground: Ground,
) -> None:
    """Its file lies where it always lay."""
    made(ground)
    new = oidc.public_key(public_pem(a_key(1)), "a key")
    with ground.aws("s3") as s3:
        told = {
            "ContentType": "application/json",
            "Metadata": {"cwii-rotation": f"forget.2.1.{OLD}.{new.kid[:12]}"},
        }
        s3.put_object(
            Bucket=BUCKET, Key="keys.json", Body=json.dumps({"keys": [new.jwk]}).encode(), **told
        )
    ground.fresh()

    seen = ground.verify()
    assert f"give the key that came after it, {new.kid[:12]}..." in seen.out
    assert "--add-key" not in seen.out
    for more in ((), ("--add-key",)):
        refused(ground.create_all(*more), "a rotation has taken it away")
    assert ground.mutating() == []


def test_keys_that_are_published_in_two_places_are_brought_to_the_same_stage_whenever_that_was_cut(
    ground: Ground,
) -> None:
    """In a bucket for AWS, and in Google's provider, which reads no bucket."""
    both: Any = type("Both", (Ground,), {"where": BOTH_CLOUDS})(ground.sandbox, ground.folder)
    made(both)

    code = both.killed(
        1, "rotate-keys", "add", *BOTH_CLOUDS, "--output-dir", "out", "--bits", "2048"
    )
    assert code == -signal.SIGKILL
    refused(rotate(both, "accept"), "accept is not due: no rotation is under way")
    done = rotate(both, "add")

    assert done.code == 0, done.out
    told = {
        thing: remarks
        for thing, remarks in both.status("--output-dir", "out").remarks.items()
        if any("stands at add" in remark for remark in remarks)
    }
    assert told.keys() == {KEY_SET, f"gcp/provider-keys/{NAME}/{NAME}"}
    both.fresh()
    assert (rotate(both, "add").but("as wanted"), both.mutating()) == ({}, [])


# --- an issuer of the user's own ---


def test_an_issuer_that_is_only_trusted_is_not_ours_to_rotate(enter: Enter, tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    ground = enter(serve={HOST: tmp_path / "served"})
    ground.keys()

    done = rotate(ground, "add", "--issuer-url", f"https://{HOST}", "--issuer-exists")

    refused(done, "nothing of this issuer is published by cwiictl")


def test_at_a_host_of_the_users_own_a_key_is_added_once_it_is_served(
    enter: Enter, tmp_path: Path
) -> None:
    """No stage is reached before, and so none has a time that others count from."""
    (tmp_path / "served").mkdir()
    ground, own = enter(serve={HOST: tmp_path / "served"}), ("--issuer-url", f"https://{HOST}")

    def publish() -> None:
        shutil.copytree(ground.folder / "out" / "issuer", tmp_path / "served", dirs_exist_ok=True)

    ground.keys()
    assert ground.create_all(*own).code == 1
    publish()
    assert ground.create_all(*own).code == 0
    ground.fresh()

    done = rotate(ground, "add", *own)
    assert (done.code, done.but("as wanted")) == (
        3,
        {**ADDED, f"issuer/https://{HOST}": "incomplete"},
    ), done.out
    assert "serve the files of out/issuer there, and run again" in done.out
    for early in (rotate(ground, "accept", *own), rotate(ground, "accept", *own, "--dry-run")):
        assert (early.code, early.things) == (3, {f"issuer/https://{HOST}": "incomplete"}), (
            early.out
        )
        assert "does not show what was published yet" in early.out
    assert "stands at add since" in ground.status(*own).out
    publish()
    again = rotate(ground, "add", *own)

    assert (again.code, again.but("as wanted")) == (0, {}), again.out
    assert ground.mutating() == []
    assert "stands at add since" in ground.status(*own).out
    assert ground.create_all(*own).but("as wanted") == {}
    assert "stands at add since" in ground.status(*own).out
    refused(rotate(ground, "accept", *own, "--kubeconfig", "nowhere"), "nowhere")


def test_where_a_cloud_holds_the_keys_of_such_a_host_it_is_told_of_them_once_they_are_served(
    enter: Enter, tmp_path: Path
) -> None:
    """Until then that is no failure, but somebody's turn."""
    (tmp_path / "served").mkdir()
    where = (*BOTH_CLOUDS, "--issuer-url", f"https://{HOST}")
    ground: Any = type("Both", (Ground,), {"where": where})(
        enter(serve={HOST: tmp_path / "served"}).sandbox, tmp_path / "work"
    )
    ground.keys()
    for code in (1, 0):
        assert ground.create_all().code == code
        shutil.copytree(ground.folder / "out" / "issuer", tmp_path / "served", dirs_exist_ok=True)

    waiting = rotate(ground, "add")

    assert (waiting.code, waiting.things[f"gcp/provider-keys/{NAME}/{NAME}"]) == (3, "not tried"), (
        waiting.out
    )
    shutil.copytree(ground.folder / "out" / "issuer", tmp_path / "served", dirs_exist_ok=True)
    done = rotate(ground, "add")
    assert (done.code, done.things[f"gcp/provider-keys/{NAME}/{NAME}"]) == (0, "repaired"), done.out

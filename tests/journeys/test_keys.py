"""The signing key, and the set that is published: no key that is believed is ever lost or gained by accident."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.journeys.conftest import Enter
from tests.journeys.ground import BUCKET, Ground, a_key, kid_of, private_pem, public_pem

KEY_SET = f"aws/key-set/{BUCKET}/keys.json"
PRIVATE, PUBLIC, COPY = (
    "out/serviceaccount-signer.private",
    "out/serviceaccount-signer.public",
    "out/tls/bound-service-account-signing-key.key",
)


@pytest.fixture
def made(ground: Ground) -> Ground:
    ground.keys()
    assert ground.create_all().code == 0
    ground.write("other.pub", public_pem(a_key(1)))
    ground.fresh()
    return ground


def published(ground: Ground) -> Any:
    return json.loads(ground.clouds()["buckets"][BUCKET]["objects"]["keys.json"]["body"])


def publish(ground: Ground, body: str) -> None:
    with ground.aws("s3") as s3:
        s3.put_object(
            Bucket=BUCKET,
            Key="keys.json",
            Body=body.encode(),
            ContentType="application/json",
            CacheControl="public, max-age=60",
        )
    ground.fresh()


def kids(ground: Ground) -> list[str]:
    return [key["kid"] for key in published(ground)["keys"]]


@pytest.mark.parametrize(
    "arguments",
    [("--public-key-file", "other.pub"), ("--output-dir", "empty")],
    ids=["another key", "a key yet to be made"],
)
def test_a_key_that_is_not_in_the_published_set_is_refused_before_any_write(
    made: Ground, arguments: tuple[str, ...]
) -> None:
    before = made.clouds()
    files = made.files()

    done = made.create_all(*arguments)

    assert done.code == 2
    (told,) = [one for one in done.data["things"] if one["thing"] == KEY_SET]
    assert kid_of(a_key(0)) in told["problem"]
    assert all(
        way in told["remedy"] for way in ("--public-key-file", "--add-key", "--replace-keys")
    )
    assert made.mutating() == []
    assert made.clouds() == before
    assert made.files() == files


def test_its_own_key_under_another_id_is_told_by_all_as_what_it_is(made: Ground) -> None:
    now = published(made)
    publish(made, json.dumps({"keys": [{**now["keys"][0], "kid": "altered"}]}))

    told = [
        row for done in (made.create_all(), made.status()) for row in done.data["things"]
    ] + made.verify().data["findings"]

    problems = [row["problem"] for row in told if row.get("problem")]
    assert len(problems) == 3
    assert all(
        f"has the cluster's key under the id altered, and tokens name it {kid_of(a_key(0))}"
        in problem
        for problem in problems
    )
    assert made.mutating() == []
    assert made.create_all("--replace-keys").code == 0
    assert kids(made) == [kid_of(a_key(0))]


def test_create_identity_provider_refuses_it_too(made: Ground) -> None:
    done = made.cwiictl("create-identity-provider", *made.where, "--public-key-file", "other.pub")

    assert done.code == 2
    assert "--add-key" in done.err
    assert made.mutating() == []


def test_adding_a_key_keeps_all_others_and_what_we_do_not_know(made: Ground) -> None:
    strange = {"kty": "EC", "kid": "theirs", "crv": "P-256", "x": "AA", "y": "AA", "note": "ä"}
    now = published(made)
    publish(
        made,
        json.dumps({"keys": [strange, {**now["keys"][0], "note": 1}], "more": {"a": [1.0, None]}}),
    )

    done = made.create_all("--public-key-file", "other.pub", "--add-key")

    assert done.code == 0, done.out
    assert done.but("as wanted") == {
        KEY_SET: "repaired",
        next(thing for thing in done.things if thing.startswith("issuer/")): "repaired",
    }
    assert made.mutating() == ["s3:PutObject"]
    after = published(made)
    assert after["more"] == {"a": [1.0, None]}
    assert after["keys"][:2] == [strange, {**now["keys"][0], "note": 1}]
    assert [key["kid"] for key in after["keys"]] == ["theirs", kid_of(a_key(0)), kid_of(a_key(1))]
    made.fresh()
    assert made.create_all("--public-key-file", "other.pub", "--add-key").code == 0
    assert made.create_all().code == 0  # with the old one too, from now on
    assert made.mutating() == []


def test_replacing_keys_leaves_the_one(made: Ground) -> None:
    done = made.create_all("--public-key-file", "other.pub", "--replace-keys")

    assert done.code == 0, done.out
    assert kids(made) == [kid_of(a_key(1))]
    assert made.mutating() == ["s3:PutObject"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"keys": {}}',
        '{"keys": [1]}',
        '{"keys": [{"kty": "RSA", "kid": "a", "d": "AQ"}]}',
        '{"keys": [], "keys": []}',
        "<html>",
    ],
)
def test_a_malformed_published_set_is_refused_and_left_as_it_is(made: Ground, body: str) -> None:
    publish(made, body)

    done = made.create_all()

    assert done.code == 1
    assert done.things[KEY_SET] == "failed"
    assert "--replace-keys" in done.out
    assert made.mutating() == []
    assert made.clouds()["buckets"][BUCKET]["objects"]["keys.json"]["body"] == body


def test_a_malformed_published_set_is_replaced_when_that_is_said(made: Ground) -> None:
    publish(made, "{")

    assert made.create_all("--replace-keys").code == 0
    assert kids(made) == [kid_of(a_key(0))]


def test_an_empty_published_set_is_nobodys_key(made: Ground) -> None:
    publish(made, '{"keys": []}')

    done = made.create_all()
    assert done.code == 2
    assert "no key is in it, so nobody's token is believed" in done.out
    assert made.mutating() == []
    assert made.create_all("--add-key").code == 0
    assert kids(made) == [kid_of(a_key(0))]


def test_a_published_set_that_was_emptied_has_drifted_for_whoever_only_looks(made: Ground) -> None:
    plan = made.status().data["checksum"]
    publish(made, '{"keys": []}')

    done = made.status()

    assert (done.code, done.data["checksum"]) == (3, plan)
    assert done.things[KEY_SET] == "drifted"
    assert done.fields[KEY_SET] == ["kids"]
    (remark,) = done.remarks[KEY_SET]
    assert remark.endswith("publish the cluster's key in it with create-all --add-key")
    assert made.create_all("--add-key").code == 0
    assert made.status().code == 0


def test_add_and_replace_exclude_one_another(made: Ground) -> None:
    done = made.create_all("--add-key", "--replace-keys")

    assert done.code == 2
    assert made.asked() == []


# --- the pair on this disk ---


def test_a_new_key_has_4096_bits_and_is_its_owners_alone(enter: Enter) -> None:
    ground = enter()

    done = ground.cwiictl("create-key-pair", "--output-dir", "out", "-o", "json")

    assert done.code == 0, done.err
    assert done.things == {"local/key/signing-key": "created"}
    assert sorted(f"out/{path}" for path in ground.tree()) == [PRIVATE, PUBLIC, COPY]
    assert {path: mode for path, (mode, _) in ground.tree().items()} == {
        "serviceaccount-signer.private": 0o600,
        "serviceaccount-signer.public": 0o644,
        "tls/bound-service-account-signing-key.key": 0o600,
    }
    assert len(ground.tree()["serviceaccount-signer.private"][1]) > 3000
    assert ground.asked() == []

    before, times = ground.tree(), ground.times()
    again = ground.cwiictl("create-key-pair", "--output-dir", "out", "-o", "json")
    assert (again.code, again.things) == (0, {"local/key/signing-key": "as wanted"})
    assert (ground.tree(), ground.times()) == (before, times)


def test_what_is_missing_beside_a_good_private_key_is_made_from_it(ground: Ground) -> None:
    ground.keys()

    done = ground.cwiictl("create-key-pair", "--output-dir", "out", "-o", "json")

    assert done.things == {"local/key/signing-key": "repaired"}
    assert (
        ground.tree()["serviceaccount-signer.private"][1]
        == private_pem(a_key(0))
        == ground.tree()["tls/bound-service-account-signing-key.key"][1]
    )
    assert ground.tree()["serviceaccount-signer.public"][1] == public_pem(a_key(0))


@pytest.mark.parametrize("command", ["create-key-pair", "create-all"])
@pytest.mark.parametrize(
    "files",
    [
        {PRIVATE: b"no key"},
        {PRIVATE: b""},
        {PRIVATE: b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"},
        {PRIVATE: "first", PUBLIC: b"no key"},
        {PRIVATE: "first", PUBLIC: "second, public"},
        {PRIVATE: "first", COPY: "second"},
        {PRIVATE: "first, public"},
        {COPY: "first"},
    ],
    ids=[
        "no key",
        "empty",
        "broken",
        "broken public half",
        "another public half",
        "another copy",
        "public for private",
        "the copy alone",
    ],
)
def test_a_broken_or_mismatched_pair_is_refused_and_left_to_the_byte(
    ground: Ground, command: str, files: dict[str, bytes | str]
) -> None:
    words = {
        "first": private_pem(a_key(0)),
        "second": private_pem(a_key(1)),
        "first, public": public_pem(a_key(0)),
        "second, public": public_pem(a_key(1)),
    }
    for path, content in files.items():
        ground.write(path, words[content] if isinstance(content, str) else content)
    before, times = ground.tree(), ground.times()

    done = (
        ground.create_all()
        if command == "create-all"
        else ground.cwiictl(command, "--output-dir", "out")
    )

    assert done.code == 2, done.err
    assert (ground.tree(), ground.times()) == (before, times)
    assert ground.asked() == []


@pytest.mark.parametrize("installer", ["kubeadm", "k0s", "kind"])
def test_a_key_that_an_installer_was_given_is_found_there_by_whoever_looks(
    ground: Ground, installer: str
) -> None:
    ground.write("cluster.pub", public_pem(a_key(0)))
    assert ground.create_all("--public-key-file", "cluster.pub", "--installer", installer).code == 0

    assert (ground.status().code, ground.verify().code) == (0, 0)
    assert (
        ground.create_all("--dry-run").things["local/key/signing-key"] == "missing"
    )  # whoever writes is to say whether it stays


def test_of_two_keys_that_installers_were_given_nobody_can_tell_which_is_the_clusters(
    ground: Ground,
) -> None:
    for number, installer in enumerate(("kubeadm", "kind")):
        ground.write(f"out/{installer}/pki/sa.pub", public_pem(a_key(number)))

    done = ground.status()

    assert done.code == 2
    assert "out/kubeadm/pki/sa.pub and out/kind/pki/sa.pub are not the same key" in done.err
    assert "--public-key-file" in done.err


def test_what_a_node_is_given_in_a_rotation_is_not_the_clusters_one_key_and_is_left_to_it(
    ground: Ground,
) -> None:
    """Of kind the file is the node's own: whoever took a key out of it would have its API server refuse what that has signed."""
    ground.write("cluster.pub", public_pem(a_key(0)))
    assert ground.create_all("--public-key-file", "cluster.pub", "--installer", "kind").code == 0
    ground.write("out/kind/pki/sa.pub", public_pem(a_key(0)) + public_pem(a_key(1)))

    status, verify = ground.status(), ground.verify()
    rotate = ground.cwiictl(
        "rotate-keys",
        "accept",
        "--cloud",
        "aws",
        "--name",
        "demo",
        "--region",
        "us-east-1",
        "--output-dir",
        "out",
    )

    (refused,) = (thing for thing in status.data["things"] if thing["condition"] == "failed")
    assert "its public half as --public-key-file" in refused["remedy"]
    assert (
        verify.code,
        {each["remedy"] for each in verify.data["findings"] if each["severity"] == "not tried"},
    ) == (
        0,
        {"give its public half with --public-key-file, or its folder with --output-dir"},
    )
    assert "no rotation is under way" in rotate.err
    assert [
        ask("--public-key-file", "cluster.pub").code for ask in (ground.status, ground.verify)
    ] == [0, 0]

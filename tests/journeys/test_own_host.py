"""An issuer that no cloud hosts for us: files for the user to serve, or one that is there already and is only trusted."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    ACCOUNT,
    INGRESS,
    NOTHING,
    REGISTRY,
    Ground,
    a_key,
    kid_of,
    public_pem,
)

HOST = "id.example.org"
URL = f"https://{HOST}"
OWN = ("--issuer-url", URL)
EXISTS = (*OWN, "--issuer-exists")
ISSUER, PROVIDER = f"issuer/{URL}", f"aws/oidc-provider/{HOST}"
ROLES = {f"aws/role/{INGRESS}", f"aws/role/{REGISTRY}"}
DOCUMENTS = {"local/document/.well-known/openid-configuration", "local/key-set/keys.json"}
WRITES = 5  # in the cloud: two roles, two permissions, provider; and as many when they go
CUTS = [n if n == WRITES else pytest.param(n, marks=pytest.mark.soak) for n in range(1, WRITES + 1)]


@pytest.fixture
def served(enter: Enter, tmp_path: Path) -> Ground:
    """The user's host is served, from a folder that is empty as yet."""
    (tmp_path / "served").mkdir()
    ground = enter(serve={HOST: tmp_path / "served"})
    ground.keys()
    return ground


def publish(ground: Ground) -> None:
    shutil.copytree(
        ground.folder / "out" / "issuer", ground.sandbox.settings.serve[HOST], dirs_exist_ok=True
    )


@pytest.fixture
def trusted(served: Ground) -> Ground:
    assert served.create_all(*OWN).code == 1
    publish(served)
    assert served.create_all(*OWN).code == 0
    served.fresh()
    return served


def test_its_documents_are_written_to_files_and_the_run_fails_until_they_are_served(
    served: Ground,
) -> None:
    done = served.create_all(*OWN)

    assert done.code == 1
    assert done.things[ISSUER] == "failed"
    assert done.things[PROVIDER] == "not tried"
    assert f"{URL}/.well-known/openid-configuration answers 404" in done.out
    assert "serve the files of out/issuer there, and run again" in done.out
    assert {
        thing for thing, condition in done.things.items() if condition == "created"
    } == ROLES | DOCUMENTS
    documents = {
        path: (mode, json.loads(body)) for path, (mode, body) in served.tree("out/issuer").items()
    }
    assert set(documents) == {".well-known/openid-configuration", "keys.json"}
    assert {mode for mode, _ in documents.values()} == {0o644}
    assert documents[".well-known/openid-configuration"][1]["issuer"] == URL
    assert documents[".well-known/openid-configuration"][1]["jwks_uri"] == f"{URL}/keys.json"
    assert [key["kid"] for key in documents["keys.json"][1]["keys"]] == [kid_of(a_key(0))]
    assert served.status(*OWN).code == 3


def test_once_they_are_served_the_same_command_makes_the_rest_and_then_has_nothing_to_do(
    served: Ground,
) -> None:
    served.create_all(*OWN)
    publish(served)
    served.fresh()

    done = served.create_all(*OWN)
    assert done.code == 0, done.out
    assert done.but("as wanted") == {PROVIDER: "created"}
    assert served.mutating() == ["iam:CreateOpenIDConnectProvider"]
    assert served.clouds()["buckets"] == {}
    trust = served.clouds()["roles"][INGRESS]["trust"]["Statement"][0]
    assert trust["Principal"] == {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{HOST}"}

    served.fresh()
    clouds, times = served.clouds(), served.times()
    for again in (served.create_all(*OWN), served.status(*OWN)):
        assert (again.code, again.but("as wanted")) == (0, {})
    assert served.mutating() == []
    assert (served.clouds(), served.times()) == (clouds, times)


def test_a_token_of_the_cluster_is_believed_and_delete_takes_all_down_but_the_files(
    trusted: Ground,
) -> None:
    with trusted.aws("sts") as sts:
        role = f"arn:aws:iam::{ACCOUNT}:role/{INGRESS}"
        assert sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName="pod", WebIdentityToken=trusted.token(iss=URL)
        )["Credentials"]
    tree = trusted.tree()

    assert trusted.delete("--yes").code == 0

    assert trusted.clouds() == NOTHING
    assert trusted.tree() == tree


@pytest.mark.parametrize("command", [OWN, EXISTS], ids=["own", "exists"])
@pytest.mark.parametrize(
    "arguments",
    [("--public-key-file", "other.pub"), ("--output-dir", "empty")],
    ids=["another key", "a key yet to be made"],
)
def test_a_key_that_is_not_among_the_published_is_refused_before_any_write(
    trusted: Ground, command: tuple[str, ...], arguments: tuple[str, ...]
) -> None:
    trusted.write("other.pub", public_pem(a_key(1)))
    before, files = trusted.clouds(), trusted.files()

    done = trusted.create_all(*command, *arguments)

    assert done.code == 2
    assert done.things[ISSUER] == "failed"
    assert kid_of(a_key(0)) in done.out
    assert "--public-key-file" in done.out
    assert trusted.mutating() == []
    assert (trusted.clouds(), trusted.files()) == (before, files)


def test_an_issuer_that_is_there_is_only_trusted_and_nothing_is_published(trusted: Ground) -> None:
    """As another account would: from an empty folder, with the public key alone."""
    trusted.delete("--yes")
    trusted.write("cluster.pub", public_pem(a_key(0)))
    place = trusted.sandbox.settings.serve[HOST]
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    key = ("--public-key-file", "cluster.pub", "--output-dir", "second")

    done = trusted.create_all(*EXISTS, *key)

    assert done.code == 0, done.out
    assert {thing for thing, condition in done.things.items() if condition == "created"} == {
        *ROLES,
        PROVIDER,
    }
    assert not any(
        "document" in thing or "key-set" in thing or "bucket" in thing for thing in done.things
    )
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before
    assert sorted(trusted.tree("second")) == [
        ".cwiictl-cluster",  # the host says nothing of whose it is
        "manifests/cluster-authentication-02-config.yaml",
        "manifests/openshift-image-registry-installer-cloud-credentials-credentials.yaml",
        "manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
        "webhook.yaml",
    ]
    trusted.fresh()
    assert trusted.create_all(*EXISTS, *key).but("as wanted") == {}
    assert trusted.mutating() == []


@pytest.mark.parametrize("writes", CUTS)
@pytest.mark.parametrize("command", [OWN, EXISTS], ids=["own", "exists"])
def test_killed_after_any_write_it_ends_as_a_clean_run_and_goes_whole(
    trusted: Ground, command: tuple[str, ...], writes: int
) -> None:
    clean, files = trusted.clouds(), trusted.tree()
    assert trusted.delete("--yes").code == 0
    assert (
        trusted.killed(writes, "create-all", *trusted.where, *trusted.asking, *command)
        == -signal.SIGKILL
    )

    done = trusted.create_all(*command)

    assert done.code == 0, done.out
    assert (trusted.clouds(), trusted.tree()) == (clean, files)
    assert trusted.killed(writes, "delete", *trusted.where, "--yes") == -signal.SIGKILL
    gone = trusted.delete("--yes")
    assert gone.code == 0, gone.out
    assert trusted.clouds() == NOTHING


@pytest.mark.parametrize("command", [OWN, EXISTS], ids=["own", "exists"])
def test_what_was_changed_by_hand_is_named_and_repaired(
    trusted: Ground, command: tuple[str, ...]
) -> None:
    clouds, files = trusted.clouds(), trusted.tree()
    trusted.write("out/issuer/.well-known/openid-configuration", "{}")
    with trusted.aws("iam") as iam:
        arn = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{HOST}"
        iam.remove_client_id_from_open_id_connect_provider(
            OpenIDConnectProviderArn=arn, ClientID="openshift"
        )
        iam.update_assume_role_policy(
            RoleName=INGRESS, PolicyDocument=json.dumps(clouds["roles"][REGISTRY]["trust"])
        )
    drifted = {PROVIDER: ["audiences"], f"aws/role/{INGRESS}": ["trust"]}
    written = {min(DOCUMENTS): ["body"]} if command == OWN else {}

    seen = trusted.status(*command)
    assert (seen.code, seen.fields) == (3, drifted | written)
    done = trusted.create_all(*command)

    assert done.code == 0, done.out
    assert done.fields == drifted | written
    assert trusted.clouds() == clouds
    assert trusted.tree() == files or command == EXISTS
    assert trusted.status(*command).code == 0


def test_an_issuer_that_is_said_to_be_there_and_is_not_is_not_trusted(served: Ground) -> None:
    done = served.create_all(*EXISTS)

    assert done.code == 1
    assert done.things[ISSUER] == "failed"
    assert done.things[PROVIDER] == "not tried"
    assert served.clouds()["providers"] == {}
    assert not (served.folder / "out" / "issuer").exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://id.example.org",
        "https://id.example.org/",
        "https://id.example.org?x=1",
        "id.example.org",
        "https://",
        "https://[bad",
    ],
)
def test_a_url_that_cannot_be_an_issuer_is_refused(ground: Ground, url: str) -> None:
    done = ground.create_all("--issuer-url", url, "-o", "text")

    assert done.code == 2
    assert "cannot be an issuer" in done.err
    assert ground.mutating() == []
    assert "out" not in ground.files()


def test_issuer_exists_without_saying_which_is_refused_before_any_call(ground: Ground) -> None:
    done = ground.create_all("--issuer-exists", "-o", "text")

    assert done.code == 2
    assert "--issuer-url" in done.err
    assert ground.asked() == []

"""create-all for twenty requests, compared with what is known to be right: the tree of files, and everything in the account.

GOLDEN=renew scripts/test tests/journeys/test_golden.py

writes the golden files anew; read the difference before it is committed. Key material never is in them: words stand for it.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from cwiictl import oidc
from tests.journeys.conftest import Enter
from tests.journeys.goldens import compared
from tests.journeys.ground import BUCKET, PERMISSIONS, Ground, a_key, private_pem, public_pem
from tests.journeys.release import twenty_requests

DEFAULT_AUDIENCES = ["openshift", "sts.amazonaws.com"]


@pytest.fixture
def made(enter: Enter) -> Ground:
    ground = enter()
    ground.requests(twenty_requests())
    done = ground.create_all()
    assert done.code == 0, done.err
    assert done.but("created") == {PERMISSIONS: "as wanted"}
    return ground


def test_the_tree_is_the_golden_one(made: Ground) -> None:
    tree = made.tree()
    modes = "".join(f"{mode:04o} {path}\n" for path, (mode, _) in tree.items())

    compared(
        "create-all/tree",
        {f"out/{path}": made.masked(content) for path, (_, content) in tree.items()}
        | {"modes": modes.encode()},
    )


def test_the_account_is_the_golden_one(made: Ground) -> None:
    clouds = made.clouds()
    bodies = {
        key: made.masked(thing.pop("body").encode())
        for key, thing in clouds["buckets"][BUCKET]["objects"].items()
    }

    compared(
        "create-all/account",
        {f"{BUCKET}/{key}": body for key, body in bodies.items()}
        | {"things.json": f"{json.dumps(clouds, indent=2)}\n".encode()},
    )


@pytest.mark.parametrize("cluster", ["new", "existing"])
def test_what_kubeadm_takes_is_the_golden_one(ground: Ground, cluster: str) -> None:
    """A cluster that has its key runs already: it gets a second issuer beside the one that it has."""
    ground.keys("keys")
    ground.write("keys/serviceaccount-signer.public", public_pem(a_key(0)))
    key = (
        ("--public-key-file", "keys/serviceaccount-signer.public") if cluster == "existing" else ()
    )

    done = ground.create_all(
        "--installer", "kubeadm", "--output-dir", "out" if key else "keys", *key
    )

    assert done.code == 0, done.out
    tree = ground.tree("out" if key else "keys")
    words = {private_pem(a_key(0)): b"the private key\n", public_pem(a_key(0)): b"the public key\n"}
    modes = "".join(f"{mode:04o} {path}\n" for path, (mode, _) in tree.items())
    compared(
        f"create-all/kubeadm/{cluster}",
        {f"out/{path}": words.get(content, content) for path, (_, content) in tree.items()}
        | {"modes": modes.encode()},
    )
    assert (not key) == (
        words[private_pem(a_key(0))] in [words.get(content) for _, content in tree.values()]
    )


def test_the_key_is_a_pair_of_the_size_that_was_asked_for(made: Ground) -> None:
    tree = made.tree()
    private = oidc.private_key(tree["serviceaccount-signer.private"][1], "the private key")
    public = oidc.public_key(tree["serviceaccount-signer.public"][1], "the public key")

    assert private == public
    assert len(public.n) == 342  # 2048 bits
    assert (
        tree["tls/bound-service-account-signing-key.key"] == tree["serviceaccount-signer.private"]
    )


def test_folders_are_their_owners_alone(made: Ground) -> None:
    folders = [
        path for path in (made.folder / "out", *(made.folder / "out").rglob("*")) if path.is_dir()
    ]

    assert {path.name: path.stat().st_mode & 0o777 for path in folders} == {
        "out": 0o700,
        "tls": 0o700,
        "manifests": 0o700,
    }


def test_modes_do_not_depend_on_the_umask(ground: Ground) -> None:
    before = os.umask(0)
    try:
        assert ground.create_all().code == 0
    finally:
        os.umask(before)

    modes = {path: mode for path, (mode, _) in ground.tree().items()}
    assert modes.pop("serviceaccount-signer.public") == 0o644
    assert set(modes.values()) == {0o600}


def test_the_account_says_what_ccoctls_users_know(made: Ground) -> None:
    """What must not change even when the golden files are renewed without reading them."""
    clouds: dict[str, Any] = made.clouds()
    (provider,) = clouds["providers"].values()
    trusts = [json.dumps(role["trust"]) for role in clouds["roles"].values()]

    assert len(clouds["roles"]) == 20
    assert provider["audiences"] == DEFAULT_AUDIENCES
    assert list(clouds["buckets"]) == [BUCKET]
    assert sorted(clouds["buckets"][BUCKET]["objects"]) == [
        ".well-known/openid-configuration",
        "keys.json",
    ]
    assert all(
        len(name) <= 64 and name in role["inline"] and len(role["inline"]) == 1
        for name, role in clouds["roles"].items()
    )
    assert all(":aud" not in trust and ":sub" in trust for trust in trusts)
    for thing in (
        *clouds["roles"].values(),
        *clouds["providers"].values(),
        *clouds["buckets"].values(),
    ):
        assert thing["tags"]["Name"] == "demo"
        assert thing["tags"]["openshift.io/cloud-credential-operator/demo"] == "owned"

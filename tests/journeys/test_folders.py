"""An output folder is one cluster's: its key, its manifests. A second one is told so before it has written or asked anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.conftest import Enter
from tests.journeys.ground import NAME, PRIVATE, REGION, Ground

NOTE = ".cwiictl-cluster"
OTHER = ("--cloud", "aws", "--name", "other", "--region", REGION)
COMMANDS = [
    ("create-all", *Ground.asking),
    ("create-all", *Ground.asking, "--dry-run"),
    (
        "create-all",
        *Ground.asking,
        "--public-key-file",
        "cluster.pub",
    ),  # its manifests would be in the place of the first one's
    ("create-identities", *Ground.asking),
    ("create-identity-provider", "--output-dir", "out"),
    ("status", *Ground.asking),
]


def refused(ground: Ground) -> None:
    before = ground.tree()
    ground.write("cluster.pub", before["serviceaccount-signer.public"][1])
    ground.fresh()

    for command, *words in COMMANDS:
        done = ground.cwiictl(command, *OTHER, *words)
        assert done.code == 2, done.out
        problem = f"the output directory out holds the keys and manifests of cluster {NAME}, and this run is for cluster other"
        assert problem in done.err.replace("The", "the")
        assert "--output-dir" in done.err
    assert ground.asked() == []
    assert ground.tree() == before


@pytest.mark.parametrize("installer", ["openshift", "kubeadm"])
def test_the_issuers_address_says_whose_it_is(ground: Ground, installer: str) -> None:
    ground.keys()
    assert ground.create_all("--installer", installer).code == 0

    assert NOTE not in ground.tree()
    refused(ground)
    assert ground.create_all("--installer", installer).but("as wanted") == {}


def test_where_the_address_does_not_say_it_a_note_does(enter: Enter) -> None:
    """As of a distribution of CloudFront, whose name nobody chooses."""
    ground = enter(deploy=0.2)
    ground.keys()
    assert ground.create_all(PRIVATE).code == 0

    assert ground.tree()[NOTE] == (0o600, f"{NAME}\n".encode())
    refused(ground)
    assert ground.create_all(PRIVATE).but("as wanted") == {}


def test_manifests_without_an_issuer_are_a_clusters_too(ground: Ground) -> None:
    ground.keys("first")
    ground.create_all("--output-dir", "first")

    done = ground.cwiictl("create-identities", *ground.where, *ground.asking)

    assert done.code == 0, done.err
    assert NOTE not in done.out  # it is not the installer's
    again = ground.cwiictl("create-identities", *OTHER, *ground.asking)
    assert again.code == 2
    assert f"of cluster {NAME}," in again.err


def test_a_folder_with_a_key_alone_is_nobodys_yet(ground: Ground) -> None:
    assert ground.cwiictl("create-key-pair", "--output-dir", "out", "--bits", "2048").code == 0
    key = (ground.folder / "out" / "serviceaccount-signer.private").read_bytes()

    assert ground.cwiictl("create-all", *OTHER, *ground.asking).code == 0

    assert Path(ground.folder / "out" / "serviceaccount-signer.private").read_bytes() == key
    assert ground.create_all().code == 2


def test_who_brings_the_key_and_only_looks_takes_nothing_from_the_folder(ground: Ground) -> None:
    ground.keys()
    ground.create_all()
    ground.write("cluster.pub", ground.tree()["serviceaccount-signer.public"][1])

    assert (
        ground.cwiictl("status", *OTHER, *ground.asking, "--public-key-file", "cluster.pub").code
        == 3
    )

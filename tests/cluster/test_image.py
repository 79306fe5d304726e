"""The webhook's image as users have it: made twice from nothing, looked into, built upon, and run by a real node."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.imaged import IMAGE, ROOT, cwiictl, saved
from tests.cluster.kube.cluster import Cluster
from tests.cluster.objects import PODS, named
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]
MOST = 27_000_000
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture(scope="module", name="saved")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="module")
def blobs(saved: Path) -> Mapping[str, bytes]:
    with tarfile.open(saved) as tar:
        found = {member.name: file.read() for member in tar if (file := tar.extractfile(member))}
    return {name.replace("blobs/sha256/", "sha256:"): data for name, data in found.items()}


@pytest.fixture(params=["amd64", "arm64"])
def manifest(request: pytest.FixtureRequest, blobs: Mapping[str, bytes]) -> Any:
    image = json.loads(blobs[json.loads(blobs["index.json"])["manifests"][0]["digest"]])
    (found,) = (
        each for each in image["manifests"] if each["platform"]["architecture"] == request.param
    )
    return json.loads(blobs[found["digest"]])


@pytest.fixture
def files(manifest: Any, blobs: Mapping[str, bytes]) -> Mapping[str, tarfile.TarInfo]:
    return unpacked(manifest, blobs)


def test_two_clones_with_empty_caches_make_the_same_image(tmp_path: Path) -> None:
    """From other paths, at another time of day, with another umask and another seed of hashes."""
    digests: list[bytes] = []
    for name, zone, umask in (("one", "UTC", 0o022), ("another", "Asia/Tokyo", 0o077)):
        clone = tmp_path / name / "tree"
        for part in ("cwiictl", "webhook", "templates"):
            shutil.copytree(
                ROOT / part,
                clone / part,
                symlinks=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        environ = {
            "XDG_CACHE_HOME": str(tmp_path / name / "cache"),
            "HOME": str(tmp_path / name),
            "TZ": zone,
            "PYTHONHASHSEED": str(len(name)),
        }
        cwiictl(clone, "save", tmp_path / name / "webhook.tar", umask=umask, **environ)
        digests.append((tmp_path / name / "webhook.tar").read_bytes())

    assert digests[0] == digests[1]


def test_what_is_printed_first_is_what_a_node_knows_it_by(tmp_path: Path) -> None:
    """With a digest behind it, a node would ask a registry for what it has."""
    told = cwiictl(ROOT, "save", tmp_path / "webhook.tar").splitlines()

    with tarfile.open(tmp_path / "webhook.tar") as tar:
        index = tar.extractfile("index.json")
        assert index
        (image,) = json.loads(index.read())["manifests"]
    assert told[:2] == [image["annotations"]["io.containerd.image.name"], f"  {image['digest']}"]


def test_each_machine_fetches_less_than_the_most_and_runs_it_as_nobody(
    manifest: Any, blobs: Mapping[str, bytes]
) -> None:
    assert sum(each["size"] for each in (manifest["config"], *manifest["layers"])) < MOST
    assert json.loads(blobs[manifest["config"]["digest"]])["config"]["User"] == "65532:65532"


def test_only_python_and_the_webhook_are_programs_and_nothing_installs(
    files: Mapping[str, tarfile.TarInfo],
) -> None:
    programs = {
        name
        for name in files
        if name.startswith(
            ("usr/bin/", "usr/sbin/", "usr/local/bin/", "usr/games/", "bin/", "sbin/")
        )
        and files[name].isfile()
    }

    assert programs == {"usr/bin/python3.13", "usr/local/bin/cwii-webhook"}
    assert {Path(name).name for name, file in files.items() if not file.isdir()}.isdisjoint(
        {"sh", "bash", "dash", "busybox", "dpkg", "apt", "apt-get", "pip"}
    )
    assert not [name for name in files if "ensurepip" in name]
    assert not [name for name, file in files.items() if file.mode & 0o6000 or file.uid or file.gid]


def test_every_link_leads_somewhere(files: Mapping[str, tarfile.TarInfo]) -> None:
    led = {
        name: os.path.normpath(Path("/", name).parent / file.linkname)
        for name, file in files.items()
        if file.issym()
    }
    meant = {name: re.sub("^/lib(64)?/", r"/usr/lib\1/", to)[1:] for name, to in led.items()}

    assert meant
    assert {name: to for name, to in meant.items() if to not in files} == {}


def test_a_node_runs_it_as_nobody_with_nothing_to_write_to(node: Cluster, saved: Path) -> None:
    assert node.node
    node.node.load(saved)
    container = {
        "name": "main",
        "image": IMAGE,
        "imagePullPolicy": "Never",
        "args": ["cwii", "--help"],
        "securityContext": RESTRICTED,
    }
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "containers": [container],
    }

    node.admin.create(PODS, named("webhook", spec=spec))

    def over() -> bool:
        return node.admin.get(f"{PODS}/webhook")["status"]["phase"] in {"Succeeded", "Failed"}

    assert seen_within(120, over), node.admin.get(f"{PODS}/webhook")["status"]
    assert node.admin.get(f"{PODS}/webhook")["status"]["phase"] == "Succeeded"
    assert "--tls-cert" in node.admin.text(f"{PODS}/webhook/log")


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("roots")
    cwiictl(ROOT, "roots", folder)
    return folder


def test_the_archives_for_other_builders_hold_the_same_files(
    roots: Path, manifest: Any, blobs: Mapping[str, bytes]
) -> None:
    machine = json.loads(blobs[manifest["config"]["digest"]])["architecture"]

    with tarfile.open(roots / f"root-{machine}.tar") as archive:
        assert set(archive.getnames()) == set(unpacked(manifest, blobs))


def unpacked(manifest: Any, blobs: Mapping[str, bytes]) -> Mapping[str, tarfile.TarInfo]:
    found: dict[str, tarfile.TarInfo] = {}
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blobs[layer["digest"]]))) as archive:
            found |= {member.name: member for member in archive}
    return found

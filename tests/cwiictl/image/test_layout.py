"""Documents that name each other by what they are."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from typing import Any

from cwiictl.image import layout
from cwiictl.image.layout import every, saved
from tests.cwiictl.image.parts import made


def files(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: file.read() for member in tar if (file := tar.extractfile(member))}


def layout_of() -> tuple[dict[str, bytes], dict[str, Any]]:
    found = files(saved(made().image, "localhost/webhook:1", 1))
    return found, json.loads(found["index.json"])


def test_each_blob_is_what_its_name_says_and_all_that_is_named_is_there() -> None:
    found, index = layout_of()
    blobs = {name.removeprefix("blobs/sha256/"): data for name, data in found.items() if name.startswith("blobs/")}

    assert all(hashlib.sha256(data).hexdigest() == name for name, data in blobs.items())
    named = {each.partition(":")[2] for data in (*blobs.values(), json.dumps(index).encode()) for each in _named(data)}
    assert named == set(blobs)


def test_the_only_entry_is_the_image_under_its_name_for_both_machines() -> None:
    found, index = layout_of()
    (first,) = index["manifests"]
    image = json.loads(found[f"blobs/{first['digest'].replace(':', '/')}"])

    assert first["annotations"]["io.containerd.image.name"] == "localhost/webhook:1"
    assert [each["platform"] for each in image["manifests"]] == [{"architecture": name, "os": "linux"} for name in ("amd64", "arm64")]


def test_layers_unpack_to_what_the_config_says_and_both_machines_share_the_webhooks() -> None:
    one, other = made().image.manifests
    told = json.loads(one.blobs[0].data)

    assert [layout.digest(gzip.decompress(layer.data)) for layer in one.blobs[1:]] == told["rootfs"]["diff_ids"]
    assert one.blobs[-1] == other.blobs[-1]
    assert one.digest != other.digest


def test_what_is_said_of_an_image_names_it_and_comes_with_a_kind() -> None:
    image = made()
    kinds = {json.loads(referrer.blob.data)["artifactType"]: json.loads(referrer.blob.data)["subject"]["digest"] for referrer, _ in image.referrers}

    assert kinds == {"application/spdx+json": image.image.manifests[1].digest, "application/vnd.in-toto+json": image.image.digest}
    assert all(json.loads(referrer.blob.data)["subject"]["digest"] == subject for referrer, subject in image.referrers)


def test_twice_is_the_same_and_the_beginning_of_gzip_names_no_python() -> None:
    assert [blob.digest for blob in every(made().image)] == [blob.digest for blob in every(made().image)]
    assert layout.pressed(b"x")[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    assert gzip.decompress(layout.pressed(b"x" * 1000)) == b"x" * 1000


def _named(data: bytes) -> list[str]:
    try:
        document = json.loads(data)
    except ValueError:
        return []
    one = [document[key] for key in ("config", "subject") if key in document]
    return [each["digest"] for each in (*document.get("manifests", []), *document.get("layers", []), *one) if "digest" in each]

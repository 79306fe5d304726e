"""Documents that name each other by what they are."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from typing import Any

from cwiictl.image import layout
from cwiictl.image.layout import Blob, Layer, Manifest, every, saved
from cwiictl.image.tree import File
from tests.cwiictl.image.parts import made


def files(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: file.read() for member in tar if (file := tar.extractfile(member))}


def layout_of() -> tuple[dict[str, bytes], dict[str, Any]]:
    found = files(saved(made().image, "localhost/webhook:1", 1))
    return found, json.loads(found["index.json"])


def test_each_blob_is_what_its_name_says_and_all_that_is_named_is_there() -> None:
    found, index = layout_of()
    blobs = {
        name.removeprefix("blobs/sha256/"): data
        for name, data in found.items()
        if name.startswith("blobs/")
    }

    assert all(hashlib.sha256(data).hexdigest() == name for name, data in blobs.items())
    named = {
        each.partition(":")[2]
        for data in (*blobs.values(), json.dumps(index).encode())
        for each in _named(data)
    }
    assert named == set(blobs)


def test_the_only_entry_is_the_image_under_its_name_for_both_machines() -> None:
    found, index = layout_of()
    (first,) = index["manifests"]
    image = json.loads(found[f"blobs/{first['digest'].replace(':', '/')}"])

    assert first["annotations"]["io.containerd.image.name"] == "localhost/webhook:1"
    assert [each["platform"] for each in image["manifests"]] == [
        {"architecture": name, "os": "linux"} for name in ("amd64", "arm64")
    ]


def test_layers_unpack_to_what_the_config_says_and_both_machines_share_the_webhooks() -> None:
    one, other = made().image.manifests
    told = json.loads(one.blobs[0].data)

    assert [layout.digest(gzip.decompress(layer.data)) for layer in one.blobs[1:]] == told[
        "rootfs"
    ]["diff_ids"]
    assert one.blobs[-1] == other.blobs[-1]
    assert one.digest != other.digest


def test_what_is_said_of_an_image_names_it_and_comes_with_a_kind() -> None:
    image = made()
    kinds = {
        json.loads(referrer.blob.data)["artifactType"]: json.loads(referrer.blob.data)["subject"][
            "digest"
        ]
        for referrer, _ in image.referrers
    }

    assert kinds == {
        "application/spdx+json": image.image.manifests[1].digest,
        "application/vnd.in-toto+json": image.image.digest,
    }
    assert all(
        json.loads(referrer.blob.data)["subject"]["digest"] == subject
        for referrer, subject in image.referrers
    )


def test_twice_is_the_same_and_the_beginning_of_gzip_names_no_python() -> None:
    assert [blob.digest for blob in every(made().image)] == [
        blob.digest for blob in every(made().image)
    ]
    assert layout.pressed(b"x")[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    assert layout.pressed(b"x" * 1000)[10:] == gzip.compress(b"x" * 1000, 6)[10:], (
        "to the sums at its end, of four bytes each"
    )


# --- to the letter: others read these ---

HASH = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # of x
NOTHING = {
    "mediaType": "application/vnd.oci.empty.v1+json",
    "digest": f"sha256:{hashlib.sha256(b'{}').hexdigest()}",
    "size": 2,
}


def told(manifest: Manifest) -> Any:
    return json.loads(manifest.blob.data)


def an_image() -> Manifest:
    return layout.image(
        "arm64", [Layer(Blob("a/layer", b"x"), "sha256:plain")], {"User": "1"}, "a date"
    )


def test_an_image_names_its_machine_its_layers_as_they_lie_there_and_as_they_are_unpacked() -> None:
    image = an_image()

    assert json.loads(image.blobs[0].data) == {
        "created": "a date",
        "architecture": "arm64",
        "os": "linux",
        "config": {"User": "1"},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:plain"]},
        "history": [{"created": "a date", "created_by": "cwiictl image"}],
    }
    assert told(image) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": image.blobs[0].digest,
            "size": len(image.blobs[0].data),
        },
        "layers": [{"mediaType": "a/layer", "digest": HASH, "size": 1}],
    }
    assert image.blob.words == {"platform": {"architecture": "arm64", "os": "linux"}}
    assert (layout.platform(image), image.size) == ("linux/arm64", len(image.blobs[0].data) + 1)


def test_a_layer_is_a_tar_that_is_pressed_and_knows_what_it_was_before() -> None:
    layer = layout.layer({"x": File(b"x")}, 1)

    assert layer.blob.kind == "application/vnd.oci.image.layer.v1.tar+gzip"
    assert layer.plain == layout.digest(gzip.decompress(layer.blob.data))


def test_an_index_names_each_image_with_its_machine() -> None:
    image = an_image()

    index = layout.index([image], {"a": "word"})

    assert (index.blob.kind, index.digest) == (
        "application/vnd.oci.image.index.v1+json",
        layout.digest(index.blob.data),
    )
    assert told(index) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [
            {**image.blob.descriptor, "platform": {"architecture": "arm64", "os": "linux"}}
        ],
        "annotations": {"a": "word"},
    }


def test_what_is_said_of_another_names_it_without_its_words_and_says_its_own_kind() -> None:
    image = an_image()

    said = layout.attached(Blob("a/bill", b"x"), image, {"a": "word"})

    assert said.blob.words == {"artifactType": "a/bill", "annotations": {"a": "word"}}
    assert told(said) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": NOTHING,
        "layers": [{"mediaType": "a/bill", "digest": HASH, "size": 1}],
        "subject": {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": image.digest,
            "size": len(image.blob.data),
        },
        "artifactType": "a/bill",
        "annotations": {"a": "word"},
    }


def test_a_whole_one_says_its_version_and_by_which_names_it_is_to_be_called() -> None:
    image = an_image()

    found = files(saved(image, "localhost:5000/webhook:1", 1))

    assert json.loads(found["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    names = {
        "io.containerd.image.name": "localhost:5000/webhook:1",
        "org.opencontainers.image.ref.name": "1",
    }
    assert json.loads(found["index.json"]) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{**image.blob.descriptor, "annotations": names}],
    }
    assert found[f"blobs/{HASH.replace(':', '/')}"] == b"x"


def test_documents_are_compact_and_in_order_so_that_their_digests_stay() -> None:
    assert layout.dumped({"b": [1, 2], "a": {"d": 1, "c": 2}}) == b'{"a":{"c":2,"d":1},"b":[1,2]}'


def _named(data: bytes) -> list[str]:
    try:
        document = json.loads(data)
    except ValueError:
        return []
    one = [document[key] for key in ("config", "subject") if key in document]
    return [
        each["digest"]
        for each in (*document.get("manifests", []), *document.get("layers", []), *one)
        if "digest" in each
    ]

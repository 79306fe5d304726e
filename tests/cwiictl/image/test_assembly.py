"""From what was fetched to the image: which layers, for which machines, and what is said on the way."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

from cwiictl.image.assembly import assemble, roots
from cwiictl.image.layout import digest
from cwiictl.image.tree import Tree, read
from tests.cwiictl.image.parts import DATE, FETCHED, LOCK, WEBHOOK, made

START = "usr/local/bin/cwii-webhook"
PACKAGES = "usr/local/lib/python3.13/dist-packages"


def unpacked(archive: bytes) -> Tree:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return dict(read(tar))


def test_each_machine_has_a_layer_of_the_system_one_of_libraries_and_one_of_the_webhook() -> None:
    for image in made().image.manifests:
        system, libraries, webhook = [
            unpacked(gzip.decompress(layer.data)) for layer in image.blobs[1:]
        ]

        assert {"usr/bin/python3.13", "etc/passwd", "var/lib/dpkg/status.d/python"} <= set(system)
        assert set(libraries) == {
            f"{PACKAGES}/msgspec/__init__.py",
            f"{PACKAGES}/msgspec-1.dist-info/METADATA",
        }
        assert set(webhook) == {
            f"{PACKAGES}/cwii_webhook/__main__.py",
            START,
            "usr/local/bin/webhook",
            "usr/bin/webhook",
        }


def test_each_machine_is_told_of_as_its_image_is_made() -> None:
    told: list[str] = []

    assemble(LOCK, FETCHED, WEBHOOK, told.append)

    assert told == ["making the image for linux/amd64", "making the image for linux/arm64"]


def test_the_index_and_all_that_is_said_of_it_bear_the_date_of_the_lock() -> None:
    done = made()
    documents = [
        json.loads(each.blob.data)
        for each in (done.image, *(referrer for referrer, _ in done.referrers))
    ]

    assert [each["annotations"]["org.opencontainers.image.created"] for each in documents] == [
        DATE
    ] * 4
    assert documents[0]["annotations"]["org.opencontainers.image.version"] == "0.1.0"
    assert [subject for _, subject in done.referrers] == [
        *(each.digest for each in done.image.manifests),
        done.image.digest,
    ]


def test_a_bill_names_the_webhook_by_the_digest_of_its_layer() -> None:
    done = made()
    bill = json.loads(done.referrers[0][0].blobs[1].data)
    (webhook,) = (each for each in bill["packages"] if each["name"] == "cwii-webhook")

    layer = digest(gzip.decompress(done.image.manifests[0].blobs[-1].data))
    assert webhook["checksums"] == [
        {"algorithm": "SHA256", "checksumValue": layer.removeprefix("sha256:")}
    ]


def test_who_builds_images_with_other_programs_gets_the_same_files_in_one_archive() -> None:
    given = roots(LOCK, FETCHED, WEBHOOK)

    assert set(given) == {"amd64", "arm64"}
    for image in made().image.manifests:
        machine = json.loads(image.blobs[0].data)["architecture"]
        layers = [unpacked(gzip.decompress(layer.data)) for layer in image.blobs[1:]]
        assert unpacked(given[machine]) == {
            path: node for layer in layers for path, node in layer.items()
        }

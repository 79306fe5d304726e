"""A bill of materials and a provenance that name all parts by their hashes."""

from __future__ import annotations

import json
from typing import Any

from cwiictl.image import statements
from cwiictl.image.layout import Blob, Manifest
from cwiictl.image.lock import Lock, Machine, Package
from cwiictl.image.statements import Part
from tests.cwiictl.image.parts import LOCK, made, sha256

IMAGE = Manifest(Blob("an/image", b"image"))
INDEX = Manifest(Blob("an/index", b"index"), manifests=(IMAGE,))


def documents() -> list[Any]:
    return [json.loads(referrer.blobs[1].data) for referrer, _ in made().referrers]


def test_a_bill_names_each_part_as_scanners_do() -> None:
    bill = documents()[0]
    found = {each["name"]: each for each in bill["packages"]}

    assert bill["spdxVersion"] == "SPDX-2.3"
    assert [
        found[name]["externalRefs"][0]["referenceLocator"]
        for name in ("python", "msgspec", "cwii-webhook")
    ] == [
        "pkg:deb/debian/python@1?arch=amd64&distro=trixie",
        "pkg:pypi/msgspec@1",
        "pkg:pypi/cwii-webhook@0.1.0",
    ]
    assert (
        found["python"]["checksums"][0]["checksumValue"]
        == LOCK.machines["amd64"].packages[0].sha256
    )
    assert len({each["SPDXID"] for each in bill["packages"]}) == len(bill["packages"])
    assert {each["relatedSpdxElement"] for each in bill["relationships"]} == {
        each["SPDXID"] for each in bill["packages"]
    }


def test_a_provenance_is_of_the_index_and_of_each_image_and_names_all_that_was_fetched() -> None:
    image, told = made().image, documents()[2]

    assert [each["digest"]["sha256"] for each in told["subject"]] == [
        each.digest.partition(":")[2] for each in (image, *image.manifests)
    ]
    assert told["predicateType"] == "https://slsa.dev/provenance/v1"
    named = {
        each["digest"]["sha256"]
        for each in told["predicate"]["buildDefinition"]["resolvedDependencies"]
    }
    fetched = {
        each.sha256
        for machine in LOCK.machines.values()
        for each in (*machine.packages, *machine.wheels)
    }
    assert fetched < named


# --- to the letter: scanners and verifiers read these ---


def test_a_bill_of_materials_to_the_letter() -> None:
    bill = statements.sbom(
        IMAGE, "arm64", [Part("libstdc++_6", "14-1", "pkg:a", "0" * 64)], "a date"
    )

    assert bill.kind == "application/spdx+json"
    assert json.loads(bill.data) == {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "cwii-webhook-arm64",
        "documentNamespace": f"https://cwii.dev/image/v1/sbom/sha256-{sha256(b'image')}",
        "creationInfo": {"created": "a date", "creators": ["Tool: cwiictl"]},
        "packages": [
            {
                "SPDXID": "SPDXRef-image",
                "name": "cwii-webhook for arm64",
                "versionInfo": f"sha256:{sha256(b'image')}",
                "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False,
                "primaryPackagePurpose": "CONTAINER",
                "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(b"image")}],
            },
            {
                "SPDXID": "SPDXRef-libstdc---6",
                "name": "libstdc++_6",
                "versionInfo": "14-1",
                "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False,
                "checksums": [{"algorithm": "SHA256", "checksumValue": "0" * 64}],
                "externalRefs": [
                    {
                        "referenceCategory": "PACKAGE-MANAGER",
                        "referenceType": "purl",
                        "referenceLocator": "pkg:a",
                    }
                ],
            },
        ],
        "relationships": [
            {
                "spdxElementId": "SPDXRef-DOCUMENT",
                "relationshipType": "DESCRIBES",
                "relatedSpdxElement": "SPDXRef-image",
            },
            {
                "spdxElementId": "SPDXRef-image",
                "relationshipType": "CONTAINS",
                "relatedSpdxElement": "SPDXRef-libstdc---6",
            },
        ],
    }


def test_a_provenance_to_the_letter() -> None:
    said = statements.provenance(INDEX, "1", LOCK, f"sha256:{'1' * 64}")

    assert said.kind == "application/vnd.in-toto+json"
    told = json.loads(said.data)
    first, *others = told["predicate"]["buildDefinition"].pop("resolvedDependencies")
    assert told == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "cwii-webhook", "digest": {"sha256": sha256(each)}}
            for each in (b"index", b"image")
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://cwii.dev/image/v1",
                "externalParameters": {"version": "1", "platforms": ["linux/amd64", "linux/arm64"]},
                "internalParameters": {
                    "suite": "trixie",
                    "snapshot": "20261118T000000Z",
                    "python": "3.13",
                },
            },
            "runDetails": {
                "builder": {"id": "https://cwii.dev/image/v1", "version": {"cwiictl": "1"}},
                "metadata": {},
            },
        },
    }
    assert first == {
        "uri": "pkg:pypi/cwii-webhook@1",
        "digest": {"sha256": "1" * 64},
        "name": "cwii-webhook, as a layer",
    }
    parts = [part for machine in LOCK.machines for part in statements.parts(machine, LOCK)]
    assert others == [{"uri": part.url, "digest": {"sha256": part.sha256}} for part in parts]


def test_a_package_url_spells_what_urls_cannot_hold_and_leaves_what_versions_are_full_of() -> None:
    odd = Package("libstdc++6", "1:2.3+b1-4~deb13", "", "0" * 64)
    lock = Lock(LOCK.date, "trixie", "3.13", {"amd64": Machine((odd,), ())})

    assert [part.url for part in statements.parts("amd64", lock)] == [
        "pkg:deb/debian/libstdc%2B%2B6@1%3A2.3%2Bb1-4~deb13?arch=amd64&distro=trixie"
    ]

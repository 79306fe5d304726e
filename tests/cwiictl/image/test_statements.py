"""A bill of materials and a provenance that name all parts by their hashes."""

from __future__ import annotations

import json
from typing import Any

from tests.cwiictl.image.parts import LOCK, made


def documents() -> list[Any]:
    return [json.loads(referrer.blobs[1].data) for referrer, _ in made().referrers]


def test_a_bill_names_each_part_as_scanners_do() -> None:
    bill = documents()[0]
    found = {each["name"]: each for each in bill["packages"]}

    assert bill["spdxVersion"] == "SPDX-2.3"
    assert [found[name]["externalRefs"][0]["referenceLocator"] for name in ("python", "msgspec", "cwii-webhook")] == [
        "pkg:deb/debian/python@1?arch=amd64&distro=trixie",
        "pkg:pypi/msgspec@1",
        "pkg:pypi/cwii-webhook@0.1.0",
    ]
    assert found["python"]["checksums"][0]["checksumValue"] == LOCK.machines["amd64"].packages[0].sha256
    assert len({each["SPDXID"] for each in bill["packages"]}) == len(bill["packages"])
    assert {each["relatedSpdxElement"] for each in bill["relationships"]} == {each["SPDXID"] for each in bill["packages"]}


def test_a_provenance_is_of_the_index_and_of_each_image_and_names_all_that_was_fetched() -> None:
    image, told = made().image, documents()[2]

    assert [each["digest"]["sha256"] for each in told["subject"]] == [each.digest.partition(":")[2] for each in (image, *image.manifests)]
    assert told["predicateType"] == "https://slsa.dev/provenance/v1"
    named = {each["digest"]["sha256"] for each in told["predicate"]["buildDefinition"]["resolvedDependencies"]}
    fetched = {each.sha256 for machine in LOCK.machines.values() for each in (*machine.packages, *machine.wheels)}
    assert fetched < named

"""What is said of an image beside it: what it holds (SPDX), and of what and how it was made (in-toto, SLSA). Pure data, and the same for the same image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from cwiictl.image.layout import Blob, Manifest, dumped
from cwiictl.image.lock import Lock, Machine

SPDX = "application/spdx+json"
IN_TOTO = "application/vnd.in-toto+json"
_BUILD = "https://cwii.dev/image/v1"  # how an image is made, and by whom: names, and no places
_TOOL = "cwiictl"


@dataclass(frozen=True)
class Part:
    """One thing that an image is made of. Where nothing is fetched for it, its digest is that of its layer."""

    name: str
    version: str
    url: str  # as package URLs are written
    sha256: str


def parts(machine: str, lock: Lock) -> tuple[Part, ...]:
    made: Machine = lock.machines[machine]
    return (
        *(
            Part(
                each.name,
                each.version,
                _deb(each.name, each.version, machine, lock.suite),
                each.sha256,
            )
            for each in made.packages
        ),
        *(
            Part(each.name, each.version, pypi(each.name, each.version), each.sha256)
            for each in made.wheels
        ),
    )


def sbom(image: Manifest, machine: str, of: Iterable[Part], date: str) -> Blob:
    root = {
        "SPDXID": "SPDXRef-image",
        "name": f"cwii-webhook for {machine}",
        "versionInfo": image.digest,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "primaryPackagePurpose": "CONTAINER",
        "checksums": [_checksum(image.digest.partition(":")[2])],
    }
    found = [_package(each) for each in of]
    told = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"cwii-webhook-{machine}",
        "documentNamespace": f"{_BUILD}/sbom/{image.digest.replace(':', '-')}",
        "creationInfo": {"created": date, "creators": [f"Tool: {_TOOL}"]},
        "packages": [root, *found],
        "relationships": [
            _related("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-image"),
            *(_related("SPDXRef-image", "CONTAINS", each["SPDXID"]) for each in found),
        ],
    }
    return Blob(SPDX, dumped(told))


def provenance(index: Manifest, version: str, lock: Lock, webhook: str) -> Blob:
    """No clock and no machine is in it: whoever builds the same says the same."""
    told = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [_subject(each) for each in (index, *index.manifests)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD,
                "externalParameters": {
                    "version": version,
                    "platforms": [f"linux/{machine}" for machine in lock.machines],
                },
                "internalParameters": {
                    "suite": lock.suite,
                    "snapshot": lock.snapshot,
                    "python": lock.python,
                },
                "resolvedDependencies": [
                    {
                        "uri": pypi("cwii-webhook", version),
                        "digest": {"sha256": webhook.partition(":")[2]},
                        "name": "cwii-webhook, as a layer",
                    },
                    *(
                        {"uri": each.url, "digest": {"sha256": each.sha256}}
                        for machine in lock.machines
                        for each in parts(machine, lock)
                    ),
                ],
            },
            "runDetails": {"builder": {"id": _BUILD, "version": {_TOOL: version}}, "metadata": {}},
        },
    }
    return Blob(IN_TOTO, dumped(told))


def pypi(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def _deb(name: str, version: str, machine: str, suite: str) -> str:
    return (
        f"pkg:deb/debian/{quote(name)}@{quote(version, safe='.-~')}?arch={machine}&distro={suite}"
    )


def _package(part: Part) -> dict[str, object]:
    return {
        "SPDXID": f"SPDXRef-{part.name.replace('_', '-').replace('+', '-')}",
        "name": part.name,
        "versionInfo": part.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "checksums": [_checksum(part.sha256)],
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": part.url,
            }
        ],
    }


def _checksum(sha256: str) -> Mapping[str, str]:
    return {"algorithm": "SHA256", "checksumValue": sha256}


def _related(one: object, how: str, other: object) -> Mapping[str, object]:
    return {"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other}


def _subject(manifest: Manifest) -> Mapping[str, object]:
    return {"name": "cwii-webhook", "digest": {"sha256": manifest.digest.partition(":")[2]}}

"""A repository in a registry, by the protocol that all registries speak. What is there already is not sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from cwiictl.errors import Failed
from cwiictl.image.layout import INDEX, MANIFEST, Blob, Descriptor, Manifest, digest, dumped
from cwiictl.image.stores.answers import as_objects, parsed
from cwiictl.image.stores.wire import Answer, Wire, told

_REFUSED = (
    "make the repository if it is not there; if the tag is not to be changed, choose another one"
)
_BROKEN = "run again; what has arrived is not sent again"


class Registry:
    def __init__(self, wire: Wire) -> None:
        self.wire, self.place = wire, wire.reference
        self.path = f"/v2/{self.place.repository}"
        self.writes = 0

    def check(self) -> None:
        """That we are let in, before anything is made for it."""
        answer = self.wire.ask("GET", "/v2/")
        if not answer.good:
            raise Failed(
                f"{self.place.registry} does not speak as registries do: {told(answer)}",
                remedy="see that it is a registry of images",
            )

    def put(self, manifest: Manifest) -> Answer | None:
        """All that it names, and then itself, under its digest. None if it was there."""
        if self._has(f"manifests/{manifest.digest}", manifest.blob.kind):
            return None
        for each in manifest.manifests:
            self.put(each)
        for blob in manifest.blobs:
            self._upload(blob)
        return self._name(manifest.digest, manifest.blob)

    def tag(self, name: str, manifest: Manifest) -> None:
        """It may have meant another image before: a tag is the name of the newest."""
        there = self.read(name)
        if there is None or digest(there) != manifest.digest:
            self._name(name, manifest.blob)

    def attach(self, referrer: Manifest, subject: str) -> None:
        """Where a registry does not list referrers by itself, a tag made of the digest does, and is kept by who pushes."""
        answer = self.put(referrer)
        if (answer and "oci-subject" in answer.headers) or self.wire.ask(
            "GET", f"{self.path}/referrers/{subject}"
        ).good:
            return
        name = subject.replace(":", "-")
        entries = self.listed(name, "manifests")
        if not any(entry.get("digest") == referrer.digest for entry in entries):
            listing: Mapping[str, object] = {
                "schemaVersion": 2,
                "mediaType": INDEX,
                "manifests": [*entries, referrer.blob.descriptor],
            }
            self._name(name, Blob(INDEX, dumped(listing)))

    def listed(self, name: str, key: str) -> Sequence[Descriptor]:
        """What a manifest names, which others may have written too."""
        return as_objects(parsed(self.read(name) or b"").get(key))

    def read(self, name: str) -> bytes | None:
        """The manifest of a tag."""
        answer = self.wire.ask(
            "GET", f"{self.path}/manifests/{name}", Accept=f"{INDEX}, {MANIFEST}"
        )
        if answer.code == 404:
            return None
        if not answer.good:
            raise self._failed(f"does not show {name}", answer)
        return answer.body

    def _has(self, path: str, kind: str = "*/*") -> bool:
        """To be sent elsewhere for it is to be told that it is there."""
        return self.wire.ask("HEAD", f"{self.path}/{path}", Accept=kind).code in {
            200,
            302,
            303,
            307,
            308,
        }

    def _upload(self, blob: Blob) -> None:
        if self._has(f"blobs/{blob.digest}"):
            return
        begun = self.wire.ask("POST", f"{self.path}/blobs/uploads/", b"", Content_Length="0")
        where = begun.headers.get("location")
        if begun.code != 202 or not where:
            raise self._failed("takes no upload", begun)
        whole = f"{where}{'&' if '?' in where else '?'}{urlencode({'digest': blob.digest})}"
        answer = self.wire.ask("PUT", whole, blob.data, Content_Type="application/octet-stream")
        if answer.code != 201:
            raise self._failed(f"does not take {blob.digest}", answer)
        self.writes += 1

    def _name(self, name: str, blob: Blob) -> Answer:
        answer = self.wire.ask(
            "PUT", f"{self.path}/manifests/{name}", blob.data, Content_Type=blob.kind
        )
        if answer.code != 201:
            raise self._failed(f"does not take {name}", answer)
        self.writes += 1
        return answer

    def _failed(self, what: str, answer: Answer) -> Failed:
        return Failed(
            f"{self.place.place} {what}: {told(answer)}",
            remedy=_REFUSED if answer.refused else _BROKEN,
        )

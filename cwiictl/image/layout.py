"""Images as registries hold them: blobs by their digests, and documents that name them. A whole one is a tar that podman, docker and containerd load."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from cwiictl.image.tree import File, Tree, archived

OCI = "application/vnd.oci.image"
MANIFEST, INDEX, CONFIG, LAYER = (
    f"{OCI}.manifest.v1+json",
    f"{OCI}.index.v1+json",
    f"{OCI}.config.v1+json",
    f"{OCI}.layer.v1.tar+gzip",
)
EMPTY = "application/vnd.oci.empty.v1+json"
_LEVEL = 6

Descriptor: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class Blob:
    """Bytes, what they are, and the words that whoever names them adds."""

    kind: str
    data: bytes
    words: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def digest(self) -> str:
        return digest(self.data)

    @property
    def descriptor(self) -> Descriptor:
        return {"mediaType": self.kind, "digest": self.digest, "size": len(self.data), **self.words}


@dataclass(frozen=True)
class Manifest:
    """A document, and all that it names: blobs, or other manifests."""

    blob: Blob
    blobs: tuple[Blob, ...] = ()
    manifests: tuple[Manifest, ...] = ()

    @property
    def digest(self) -> str:
        return self.blob.digest

    @property
    def size(self) -> int:
        """Of what a node fetches for it."""
        return sum(len(blob.data) for blob in self.blobs)


@dataclass(frozen=True)
class Layer:
    blob: Blob
    plain: str  # the digest of what was pressed


def layer(tree: Tree, seconds: int) -> Layer:
    archive = archived(tree, seconds)
    return Layer(Blob(LAYER, pressed(archive)), digest(archive))


def image(
    machine: str, layers: Iterable[Layer], config: Mapping[str, object], date: str
) -> Manifest:
    """For one kind of processor."""
    layers = tuple(layers)
    told = {
        "created": date,
        "architecture": machine,
        "os": "linux",
        "config": config,
        "rootfs": {"type": "layers", "diff_ids": [layer.plain for layer in layers]},
        "history": [{"created": date, "created_by": "cwiictl image"} for _ in layers],
    }
    made = manifest(Blob(CONFIG, dumped(told)), [layer.blob for layer in layers])
    return replace(
        made, blob=replace(made.blob, words={"platform": {"architecture": machine, "os": "linux"}})
    )


def platform(image: Manifest) -> str:
    return "{os}/{architecture}".format_map(cast("Mapping[str, str]", image.blob.words["platform"]))


def manifest(
    config: Blob, layers: Iterable[Blob], there: Iterable[Descriptor] = (), **words: object
) -> Manifest:
    """Layers that are `there` already come first."""
    layers = tuple(layers)
    told = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.descriptor,
        "layers": [*there, *(layer.descriptor for layer in layers)],
        **words,
    }
    return Manifest(Blob(MANIFEST, dumped(told)), (config, *layers))


def index(manifests: Iterable[Manifest], annotations: Mapping[str, str]) -> Manifest:
    manifests = tuple(manifests)
    told = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [each.blob.descriptor for each in manifests],
        "annotations": annotations,
    }
    return Manifest(Blob(INDEX, dumped(told)), manifests=manifests)


def attached(document: Blob, subject: Manifest, annotations: Mapping[str, str]) -> Manifest:
    """What is said of another manifest, beside it: registries list it as its referrer."""
    about = {
        key: value
        for key, value in subject.blob.descriptor.items()
        if key in {"mediaType", "digest", "size"}
    }
    made = manifest(
        Blob(EMPTY, b"{}"),
        [document],
        subject=about,
        artifactType=document.kind,
        annotations=annotations,
    )
    return replace(
        made,
        blob=replace(made.blob, words={"artifactType": document.kind, "annotations": annotations}),
    )


def saved(image: Manifest, name: str, seconds: int) -> bytes:
    """The layout as one file. Who loads it gives the image this name. It is the only one there: of several, podman would want one chosen."""
    names = {
        "io.containerd.image.name": name,
        "org.opencontainers.image.ref.name": name.rpartition(":")[2],
    }
    listed = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [{**image.blob.descriptor, "annotations": names}],
    }
    blobs = {f"blobs/{blob.digest.replace(':', '/')}": File(blob.data) for blob in every(image)}
    return archived(
        {
            "oci-layout": File(dumped({"imageLayoutVersion": "1.0.0"})),
            "index.json": File(dumped(listed)),
            **blobs,
        },
        seconds,
    )


def every(manifest: Manifest) -> Iterable[Blob]:
    """What is named comes before what names it."""
    yield from manifest.blobs
    for each in manifest.manifests:
        yield from every(each)
    yield manifest.blob


def pressed(data: bytes) -> bytes:
    """gzip, with a beginning of our own: Python's tells which Python it was."""
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    sums = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + press.compress(data) + press.flush() + sums


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def dumped(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

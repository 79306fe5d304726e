"""Container images without a daemon: an OCI layout in a tar file, which containerd imports."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_OCI = "application/vnd.oci.image"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def save(
    file: Path, name: str, content: Mapping[str, bytes | str], entrypoint: Sequence[str]
) -> Path:
    """An image of one layer. `content` by path: programs' bytes, for text what a link points at, and with a slash at the end a folder for all.

    Its processes are nobody's.
    """
    layer = _layer(content)
    config = {
        "architecture": _MACHINES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"User": "65532:65532", "Entrypoint": list(entrypoint), "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
    }
    blobs: dict[str, bytes] = {}
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": _blob(blobs, f"{_OCI}.config.v1+json", _json(config)),
        "layers": [_blob(blobs, f"{_OCI}.layer.v1.tar", layer)],
    }
    named = _blob(blobs, f"{_OCI}.manifest.v1+json", _json(manifest)) | {
        "annotations": {"io.containerd.image.name": name}
    }
    files = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json({"schemaVersion": 2, "manifests": [named]}),
        **blobs,
    }
    file.write_bytes(_layer(files))
    return file


def _layer(content: Mapping[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, what in sorted(content.items()):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.mode = 0o755
            if path.endswith("/"):
                entry.type, entry.mode = tarfile.DIRTYPE, 0o1777
                tar.addfile(entry)
            elif isinstance(what, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, what
                tar.addfile(entry)
            else:
                entry.size = len(what)
                tar.addfile(entry, io.BytesIO(what))
    return out.getvalue()


def _blob(blobs: dict[str, bytes], kind: str, content: bytes) -> dict[str, Any]:
    digest = _digest(content)
    blobs[f"blobs/{digest.replace(':', '/')}"] = content
    return {"mediaType": kind, "digest": digest, "size": len(content)}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()

"""A signature in the form that cosign looks for: beside the image, under a tag that is made of its digest."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import TypeAlias, cast

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from cwiictl.errors import BadInput
from cwiictl.image.layout import CONFIG, Blob, Manifest, digest, dumped, manifest

Key: TypeAlias = EllipticCurvePrivateKey
KIND = "application/vnd.dev.cosign.simplesigning.v1+json"
ANNOTATION = "dev.cosignproject.cosign/signature"
_REMEDY = "make one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE"


def key(pem: bytes, name: str) -> Key:
    """Who signs. What cosign itself makes is locked with a password of its own kind, which only cosign opens."""
    try:
        found = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as e:
        raise BadInput(
            f"{name} is no private key in PEM form that opens without a password", remedy=_REMEDY
        ) from e
    if not isinstance(found, EllipticCurvePrivateKey) or not isinstance(found.curve, SECP256R1):
        raise BadInput(f"{name} is no key of the curve P-256", remedy=_REMEDY)
    return found


def tag(digest: str) -> str:
    return f"{digest.replace(':', '-')}.sig"


def signed(image: str, repository: str, key: Key) -> Blob:
    """`image` is its digest: who signs that signs all that it names."""
    payload = dumped(
        {
            "critical": {
                "identity": {"docker-reference": repository},
                "image": {"docker-manifest-digest": image},
                "type": "cosign container image signature",
            },
            "optional": None,
        }
    )
    signature = base64.b64encode(key.sign(payload, ECDSA(SHA256()))).decode()
    return Blob(KIND, payload, {"annotations": {ANNOTATION: signature}})


def holds(layers: Iterable[Mapping[str, object]], ours: Blob, key: EllipticCurvePublicKey) -> bool:
    """Whether these are signed so already. No two signatures of one key are alike, so each is tried."""
    return any(
        layer.get("digest") == ours.digest and _true(layer, ours.data, key) for layer in layers
    )


def collected(layers: Iterable[Mapping[str, object]], ours: Blob) -> Manifest:
    """Beside the signatures of others, which stay."""
    theirs = tuple(layers)
    plain = [layer["digest"] for layer in (*theirs, ours.descriptor)]
    config = Blob(
        CONFIG,
        dumped(
            {
                "architecture": "",
                "os": "",
                "config": {},
                "rootfs": {"type": "layers", "diff_ids": plain},
            }
        ),
    )
    return manifest(config, [ours], theirs)


def _true(layer: Mapping[str, object], payload: bytes, key: EllipticCurvePublicKey) -> bool:
    annotations = cast("Mapping[str, object]", layer.get("annotations") or {})
    try:
        key.verify(base64.b64decode(str(annotations.get(ANNOTATION, ""))), payload, ECDSA(SHA256()))
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return digest(payload) == layer.get("digest")

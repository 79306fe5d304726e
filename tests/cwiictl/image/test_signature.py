"""A signature that whoever has the public key can check, beside those of others."""

from __future__ import annotations

import base64
import json
from typing import cast

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from cwiictl.errors import BadInput
from cwiictl.image import signature
from cwiictl.image.layout import Blob

KEY, OTHER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
DIGEST = f"sha256:{'0' * 64}"


def ours() -> Blob:
    return signature.signed(DIGEST, "registry.example.org/webhook", KEY)


def test_the_signature_is_of_the_payload_and_the_payload_of_the_image() -> None:
    blob = ours()
    annotations = cast("dict[str, str]", blob.descriptor["annotations"])
    signed = base64.b64decode(annotations["dev.cosignproject.cosign/signature"])

    KEY.public_key().verify(signed, blob.data, ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        OTHER.public_key().verify(signed, blob.data, ec.ECDSA(SHA256()))
    critical = json.loads(blob.data)["critical"]
    assert critical["image"] == {"docker-manifest-digest": DIGEST}
    assert critical["identity"] == {"docker-reference": "registry.example.org/webhook"}
    assert critical["type"] == "cosign container image signature"


def test_it_is_found_again_though_no_two_are_alike() -> None:
    assert ours().descriptor != ours().descriptor
    assert signature.holds([ours().descriptor], ours(), KEY.public_key())
    assert not signature.holds([ours().descriptor], ours(), OTHER.public_key())
    nothing = {**ours().descriptor, "annotations": None}
    nonsense = {**ours().descriptor, "annotations": {signature.ANNOTATION: "!"}}
    assert not signature.holds([nothing, nonsense], ours(), KEY.public_key())


def test_signatures_of_others_stay() -> None:
    theirs = signature.signed(DIGEST, "registry.example.org/webhook", OTHER).descriptor

    collected = json.loads(signature.collected([theirs], ours()).blob.data)

    assert collected["layers"][0] == theirs
    assert len(collected["layers"]) == 2


def test_what_is_signed_and_where_it_is_looked_for_to_the_letter() -> None:
    """As cosign reads it."""
    blob = ours()
    collected = signature.collected([{"digest": "sha256:theirs"}], blob)

    assert blob.kind == "application/vnd.dev.cosign.simplesigning.v1+json"
    assert json.loads(blob.data) == {
        "critical": {
            "identity": {"docker-reference": "registry.example.org/webhook"},
            "image": {"docker-manifest-digest": DIGEST},
            "type": "cosign container image signature",
        },
        "optional": None,
    }
    assert signature.tag(DIGEST) == f"sha256-{'0' * 64}.sig"
    config = {
        "architecture": "",
        "os": "",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:theirs", blob.digest]},
    }
    assert json.loads(collected.blobs[0].data) == config


def test_ours_is_found_among_others_and_a_signature_of_something_else_is_not_ours() -> None:
    theirs = signature.signed(DIGEST, "registry.example.org/webhook", OTHER).descriptor
    elsewhere = signature.signed(DIGEST, "registry.example.org/another", KEY).descriptor

    assert signature.holds([theirs, ours().descriptor], ours(), KEY.public_key())
    assert not signature.holds([theirs, elsewhere, {}], ours(), KEY.public_key())
    assert not signature.holds([], ours(), KEY.public_key())
    assert not signature.holds([{**ours().descriptor, "digest": DIGEST}], ours(), KEY.public_key())


def test_a_key_of_the_curve_signs() -> None:
    pem = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    assert signature.key(pem, "key.pem").public_key() == KEY.public_key()


@pytest.mark.parametrize(
    ("pem", "told"),
    [
        (b"", "no private key in PEM form"),
        (
            b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n",
            "no private key in PEM form",
        ),
        (
            KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")),
            "opens without a password",
        ),
        (
            rsa.generate_private_key(65537, 1024).private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
            ),
            "no key of the curve P-256",
        ),
        (
            ec.generate_private_key(ec.SECP384R1()).private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
            ),
            "no key of the curve P-256",
        ),
    ],
)
def test_another_key_is_refused_with_how_to_make_one(pem: bytes, told: str) -> None:
    with pytest.raises(BadInput, match=f"^key.pem is .*{told}") as refused:
        signature.key(pem, "key.pem")
    assert (
        refused.value.remedy
        == "make one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out FILE"
    )

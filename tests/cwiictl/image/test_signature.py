"""A signature that whoever has the public key can check, beside those of others."""

from __future__ import annotations

import base64
import json
from typing import cast

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat

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


@pytest.mark.parametrize(
    ("pem", "told"),
    [
        (b"", "no private key in PEM form"),
        (b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n", "no private key in PEM form"),
        (KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word")), "opens without a password"),
        (rsa.generate_private_key(65537, 1024).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), "no key of the curve P-256"),
        (ec.generate_private_key(ec.SECP384R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), "no key of the curve P-256"),
    ],
)
def test_another_key_is_refused_with_how_to_make_one(pem: bytes, told: str) -> None:
    with pytest.raises(BadInput, match=told) as refused:
        signature.key(pem, "key.pem")
    assert "openssl genpkey" in refused.value.remedy

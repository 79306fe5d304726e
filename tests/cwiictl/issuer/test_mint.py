"""A token of `cwiictl sandbox token` is what an API server would sign: judged by others' code, not ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cwiictl import oidc
from cwiictl.errors import BadInput
from cwiictl.issuer.stores.mint import Mint

ISSUER = "https://issuer.example.org"


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def test_it_is_signed_by_the_key_and_says_whose_it_is(key: rsa.RSAPrivateKey):
    token = Mint(pem(key), "key", ISSUER).token("shop", "cart", "sts.amazonaws.com", 3600)
    claims = jwt.decode(
        token, key.public_key(), algorithms=["RS256"], audience="sts.amazonaws.com", issuer=ISSUER
    )

    assert claims["sub"] == "system:serviceaccount:shop:cart"
    assert claims["kubernetes.io"]["serviceaccount"]["name"] == "cart"
    assert jwt.get_unverified_header(token)["kid"] == oidc.private_key(pem(key), "key").kid


@pytest.mark.parametrize("text", [b"", b"no key", pem(ec.generate_private_key(ec.SECP256R1()))])
def test_what_is_no_rsa_key_is_told(text: bytes):
    with pytest.raises(BadInput, match="the file"):
        Mint(text, "the file", ISSUER)


def test_the_command_refuses_what_is_no_service_account(tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "cwiictl",
        "sandbox",
        "token",
        "--key",
        "k",
        "--issuer",
        "https://i",
        "--service-account",
        "cart",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "is not NAMESPACE/NAME" in done.stderr

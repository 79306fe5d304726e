"""What a cluster tells of itself: which key signs, what is taken beside it, and whether a cloud could read its issuer."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest

from cwiictl import oidc
from cwiictl.errors import BadInput
from cwiictl.issuer.served import Served, served
from cwiictl.oidc import VerificationKey
from tests.journeys.ground import a_key, private_pem, public_pem

IN_CLUSTER = "https://kubernetes.default.svc.cluster.local"
PAIRS = [(private_pem(key), oidc.public_key(public_pem(key), "")) for key in (a_key(0), a_key(1))]
FIRST, SECOND = (public for _, public in PAIRS)
NOTHING: dict[str, str] = {}
SAID = {"issuer": IN_CLUSTER, "jwks_uri": "https://10.0.0.1:6443/openid/v1/jwks"}


def keys(*every: VerificationKey) -> bytes:
    return json.dumps({"keys": [key.jwk for key in every]}).encode()


def token(
    signer: int, audience: Any = ("https://kubernetes.default.svc", "k3s"), issuer: str = IN_CLUSTER
) -> str:
    private, public = PAIRS[signer]
    return jwt.encode(
        {"iss": issuer, "aud": audience if isinstance(audience, str) else list(audience)},
        private.decode(),
        "RS256",
        {"kid": public.kid},
    )


def test_its_token_says_which_key_signs_and_for_whom():
    assert served(SAID, keys(FIRST, SECOND), token(1)) == Served(
        IN_CLUSTER, SECOND, (FIRST,), ("https://kubernetes.default.svc", "k3s")
    )
    assert served(SAID, keys(FIRST), token(0, "one")).audiences == ("one",)


def test_of_one_key_it_is_known_without():
    assert served(SAID, keys(FIRST)) == Served(IN_CLUSTER, FIRST)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (
            (SAID, keys(FIRST, SECOND)),
            "the cluster takes 2 keys, and which of them signs cannot be known",
        ),
        ((SAID, keys(FIRST), token(1)), "the cluster signs with a key that it does not serve"),
        ((SAID, keys()), "does not tell its issuer and keys"),
        ((NOTHING, keys(FIRST)), "does not tell its issuer and keys"),
        ((SAID, keys(FIRST), "no token"), "gives tokens that cannot be read"),
        ((SAID, keys(FIRST), "a.b.c"), "gives tokens that cannot be read"),
    ],
)
def test_what_cannot_be_known_is_refused_with_a_way_on(asked: Any, problem: str):
    with pytest.raises(BadInput, match=problem) as told:
        served(*asked)

    assert told.value.remedy


def test_a_key_that_is_not_rsa_is_refused():
    curve = {"kty": "EC", "kid": "ours", "crv": "P-256", "x": "AQAB", "y": "AQAB"}

    with pytest.raises(
        BadInput, match="a key of the type EC, and the clouds do not all accept others than RSA"
    ):
        served(SAID, json.dumps({"keys": [curve]}).encode())


def test_the_keys_are_as_a_file_of_their_public_half_has_them():
    assert oidc.served_keys(keys(FIRST, SECOND), "") == (FIRST, SECOND)


@pytest.mark.parametrize(
    ("issuer", "inside"),
    [
        (IN_CLUSTER, True),
        ("https://kubernetes.default.svc", True),
        ("https://10.0.0.1:6443", True),
        ("https://[fd00::1]:6443", True),
        ("https://master", True),
        ("https://api.corp.internal", True),
        ("http://oidc.example.org", True),
        ("api", True),
        ("https://oidc.example.org/prod", False),
        ("https://prod-oidc.s3.eu-west-1.amazonaws.com", False),
        ("https://api.internal.prod.example.org", False),
    ],
)
def test_whether_a_cloud_could_read_it_is_known_by_its_name(issuer: str, inside: bool):
    assert Served(issuer, FIRST).inside == inside

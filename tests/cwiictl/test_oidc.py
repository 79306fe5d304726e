"""Keys and documents: known answers, every way a key file can be wrong, and what a published set may hold."""

import base64
import hashlib
import json
from collections.abc import Callable
from functools import cache

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from cwiictl.errors import BadInput, Conflict, Failed
from cwiictl.oidc import (
    KeySet,
    VerificationKey,
    discovery,
    dump,
    key_set,
    pem,
    private_key,
    public_key,
)

KNOWN = b"""-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAp9+IBszvaxuifhzNLk2B
Nf1yNthWMx8dl49qGuzdxCby9AUKT8SuQ9Mw6FH7exwOJgta5ICMkSrEQSg8jwg4
/RgbViJHpO/QYogHSJ+WGDf8SJZfmQoHwRjGZjj8trv9jAhHCwu2SqoDDCuf1hza
uV1girSRZ+Sd3EYkFiOi2Yc4rT/BFA0XiiXnUCqjycGWKDrJ6W8OHhXvAbT9OPqd
TjA9VKwwseSsO977+Ozn5lmSKNSm4XfQ1+UhJ/Vdh/FqMoBxFyQneMV/y3wCVHdX
OqCnNxpKeHb+Z6EZC14gdy68h/GVcr9MS5W+SkKlNDyAJIxbwbp4fKx/y4cLpspw
iQIDAQAB
-----END PUBLIC KEY-----
"""
EC_PARAMETERS = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"  # as `openssl ecparam -genkey` writes them
KNOWN_KID = "7d7dvqe2czP1yVOmAW88V7dXNu6icLFQyLRdwNX3quk"


@cache
def a_signer(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def a_key(kid: str = "ours", n: str = "AQAB", e: str = "AQAB") -> VerificationKey:
    return VerificationKey(kid, n, e, pem="")


def spki(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def secret_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, form: PrivateFormat) -> bytes:
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def published(*keys: object, **members: object) -> bytes:
    return json.dumps({"keys": list(keys), **members}).encode()


# --- public keys ---


def test_the_key_id_is_the_one_of_kube_apiserver():
    key = public_key(KNOWN, "signer.public")

    assert key.kid == KNOWN_KID
    assert key.pem.encode() == KNOWN
    assert key.e == "AQAB"


def test_the_key_id_of_a_long_key_is_the_hash_of_its_der():
    signer = a_signer(4096)
    der = signer.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    key = public_key(spki(signer), "signer.public")

    assert key.kid == base64.urlsafe_b64encode(hashlib.sha256(der).digest()).decode().rstrip("=")
    assert len(key.kid) == 43
    assert len(key.n) == 683


def test_a_jwk_has_the_members_of_ccoctl_in_its_order():
    key = public_key(KNOWN, "signer.public")

    assert list(key.jwk.items()) == [
        ("use", "sig"),
        ("kty", "RSA"),
        ("kid", key.kid),
        ("alg", "RS256"),
        ("n", key.n),
        ("e", key.e),
    ]


def test_the_label_of_the_pem_does_not_matter():
    relabelled = KNOWN.replace(b"PUBLIC KEY", b"RSA PUBLIC KEY")
    pkcs1 = a_signer().public_key().public_bytes(Encoding.PEM, PublicFormat.PKCS1)

    assert public_key(relabelled, "x") == public_key(KNOWN, "x")
    assert pkcs1.startswith(b"-----BEGIN RSA PUBLIC KEY-----")
    assert public_key(pkcs1, "x") == public_key(spki(a_signer()), "x")


def test_line_ends_and_words_around_the_key_do_not_matter():
    assert public_key(b"the cluster's key\r\n" + KNOWN.replace(b"\n", b"\r\n"), "x") == public_key(
        KNOWN, "x"
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: b"", "holds no key in PEM form"),
        (lambda: b"ssh-rsa AAAA", "holds no key in PEM form"),
        (lambda: b"-----BEGIN PUBLIC KEY-----\nAAAA\n", "holds no key in PEM form"),
        (lambda: KNOWN + KNOWN, "holds 2 PEM blocks, and which one is meant cannot be known"),
        (lambda: KNOWN.replace(b"MIIB", b"MIIC"), "cannot be read"),
        (lambda: KNOWN.replace(b"MIIB", b"????"), "cannot be read"),
        (lambda: KNOWN.replace(b"MIIB", b"MI!IB"), "cannot be read"),
        (lambda: KNOWN.replace(b"PUBLIC KEY", b"CERTIFICATE"), "holds a certificate"),
        (lambda: secret_pem(a_signer(), PrivateFormat.PKCS8), "holds a private key"),
        (lambda: secret_pem(a_signer(), PrivateFormat.TraditionalOpenSSL), "holds a private key"),
        (
            lambda: spki(ec.generate_private_key(ec.SECP256R1())),
            "holds a key that is not RSA, and the clouds do not all accept others",
        ),
        (lambda: spki(ed25519.Ed25519PrivateKey.generate()), "is not RSA"),
        (
            lambda: spki(a_signer(1024)),
            "holds an RSA key of 1024 bits, which is not between 2048 and 16384",
        ),
    ],
)
def test_what_is_no_public_key_for_a_cluster_is_refused_with_a_way_on(
    make: Callable[[], bytes], sentence: str
):
    with pytest.raises(BadInput) as told:
        public_key(make(), "out/signer.public")

    assert told.value.problem.startswith("out/signer.public ")
    assert sentence in told.value.problem
    assert told.value.remedy


def test_many_beginnings_without_an_end_cost_no_more_than_their_length():
    with pytest.raises(BadInput, match="no key in PEM form"):
        public_key(b"-----BEGIN PUBLIC KEY-----\n" * 35_000, "x")


# --- private keys ---


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_a_private_key_tells_its_public_half(form: PrivateFormat):
    assert private_key(secret_pem(a_signer(), form), "x") == public_key(spki(a_signer()), "x")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: b"", "holds no key in PEM form"),
        (lambda: KNOWN, "holds no private key but a public key"),
        (
            lambda: secret_pem(a_signer(), PrivateFormat.PKCS8).replace(b"MII", b"MIJ", 1),
            "is broken",
        ),
        (
            lambda: (
                secret_pem(a_signer(), PrivateFormat.TraditionalOpenSSL)[:400]
                + b"\n-----END RSA PRIVATE KEY-----\n"
            ),
            "is broken",
        ),
        (
            lambda: secret_pem(
                ec.generate_private_key(ec.SECP256R1()), PrivateFormat.TraditionalOpenSSL
            ),
            "is not RSA",
        ),
        (
            lambda: (
                EC_PARAMETERS
                + secret_pem(
                    ec.generate_private_key(ec.SECP256R1()), PrivateFormat.TraditionalOpenSSL
                )
            ),
            "is not RSA",
        ),
        (
            lambda: a_signer().private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")
            ),
            "encrypted",
        ),
        (
            lambda: a_signer().private_bytes(
                Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"x")
            ),
            "encrypted",
        ),
        (
            lambda: a_signer().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()),
            "OpenSSH",
        ),
    ],
)
def test_what_cannot_sign_is_refused_with_a_way_on(make: Callable[[], bytes], sentence: str):
    with pytest.raises(BadInput) as told:
        private_key(make(), "out/signer.private")

    assert told.value.problem.startswith("out/signer.private ")
    assert sentence in told.value.problem
    assert told.value.remedy


def test_a_private_key_of_the_exponent_one_is_refused():
    """Anybody could sign with it."""
    numbers = a_signer().private_numbers()
    p, q = numbers.p, numbers.q
    wrong = rsa.RSAPrivateNumbers(p, q, 1, 1, 1, numbers.iqmp, rsa.RSAPublicNumbers(1, p * q))

    with pytest.raises((BadInput, ValueError)):
        private_key(
            secret_pem(wrong.private_key(unsafe_skip_rsa_key_validation=True), PrivateFormat.PKCS8),
            "x",
        )


@pytest.mark.parametrize("number", ["d", "dmp1", "dmq1", "iqmp"])
def test_a_private_key_whose_numbers_do_not_agree_is_refused(number: str):
    """Some would sign all the same, and kube-apiserver would not load them."""
    numbers = a_signer().private_numbers()
    told = {name: getattr(numbers, name) for name in ("p", "q", "d", "dmp1", "dmq1", "iqmp")}
    wrong = rsa.RSAPrivateNumbers(
        **{**told, number: told[number] + 2}, public_numbers=numbers.public_numbers
    )

    with pytest.raises(BadInput, match="is broken"):
        private_key(
            secret_pem(wrong.private_key(unsafe_skip_rsa_key_validation=True), PrivateFormat.PKCS8),
            "x",
        )


def test_a_private_key_of_the_exponent_three_is_taken():
    """Nobody makes such keys any more, and clusters that have one run."""
    signer = rsa.generate_private_key(3, 2048)

    assert private_key(secret_pem(signer, PrivateFormat.PKCS8), "x").e == "Aw"


def test_whoever_gives_a_wrong_key_is_told_what_to_do():
    said = {
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----": "take the key out of it with `openssl x509 -pubkey -noout`",
        KNOWN + KNOWN: "leave one key in the file",
        secret_pem(
            a_signer(), PrivateFormat.PKCS8
        ): "give the public half, and keep the private one to the cluster",
        b"": "give the RSA key of the cluster's service account signer, or move away what is none",
    }
    for text, remedy in said.items():
        with pytest.raises(BadInput) as told:
            public_key(text, "x")
        assert told.value.remedy == remedy
    broken = secret_pem(a_signer(), PrivateFormat.PKCS8).replace(b"MII", b"MIJ", 1)
    locked = a_signer().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")
    )
    openssh = a_signer().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    said = {
        KNOWN: "give the private half of the pair",
        broken: "restore it, or move it away and make a new pair",
        locked: "decrypt it with `openssl pkey`",
        openssh: "convert it with `ssh-keygen -p -m PEM -f FILE`",
    }
    for text, remedy in said.items():
        with pytest.raises(BadInput) as told:
            private_key(text, "x")
        assert told.value.remedy == remedy


def test_a_refusal_shows_nothing_of_the_key():
    text = secret_pem(a_signer(), PrivateFormat.PKCS8).replace(b"MII", b"MIJ", 1)

    with pytest.raises(BadInput) as told:
        private_key(text, "x")

    body = text.decode().splitlines()[1:-1]
    assert not any(line in told.value.problem + told.value.remedy for line in body)


# --- documents ---


def test_the_discovery_document_has_the_fields_of_ccoctl_without_the_doubled_sub():
    assert discovery("https://issuer", "https://issuer/keys.json") == {
        "issuer": "https://issuer",
        "jwks_uri": "https://issuer/keys.json",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "claims_supported": ["aud", "exp", "sub", "iat", "iss"],
    }


def test_what_is_dumped_is_indented_json_with_an_end_of_line():
    assert dump({"a": ["é"]}) == b'{\n    "a": [\n        "\\u00e9"\n    ]\n}\n'


def test_what_is_no_json_is_never_published():
    with pytest.raises(ValueError, match="JSON"):
        dump({"x": float("nan")})


# --- published sets ---


def test_a_key_that_says_neither_its_use_nor_its_algorithm_serves():
    theirs = {"kty": "RSA", "kid": "ours", "n": "AQAB", "e": "AQAB"}

    assert key_set(published(theirs), "there").holds(a_key())
    assert not key_set(published({**theirs, "kid": "another"}), "there").holds(a_key())


def test_a_set_may_be_as_long_as_a_mebibyte():
    text = published(a_key().jwk)

    assert key_set(text + b" " * ((1 << 20) - len(text)), "there").kids == ("ours",)


def test_whoever_publishes_another_key_under_our_id_is_to_be_found():
    with pytest.raises(Conflict) as told:
        key_set(published(a_key(n="AQAC").jwk), "there").holds(a_key())

    assert (
        told.value.remedy
        == "find out who published it, and take it out or replace the set with --replace-keys"
    )


def test_an_empty_set_with_a_key_is_what_ccoctl_publishes():
    key = public_key(KNOWN, "x")

    assert json.loads(dump(KeySet().with_key(key).document)) == {"keys": [key.jwk]}


def test_a_key_is_appended_once_and_all_else_is_kept_in_its_order():
    others = [
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "b"},
        {"kty": "RSA", "n": "AQAC", "e": "AQAB", "x5t": "AA", "kid": "a"},
        {"kty": "new"},
    ]
    have = key_set(published(*others, note={"by": "hand"}), "there")

    merged = have.with_key(a_key())

    assert merged.document == {"keys": [*others, a_key().jwk], "note": {"by": "hand"}}
    assert merged.kids == ("b", "a", "ours")
    assert merged.with_key(a_key()) is merged


def test_a_key_that_is_there_with_members_of_its_own_is_kept_as_it_is():
    theirs = {**a_key(n="AAEAAQ").jwk, "x5t": "AA"}  # the same number, with a leading zero
    have = key_set(published(theirs), "there")

    assert have.holds(a_key())
    assert have.with_key(a_key()).keys == (theirs,)
    assert have.only(a_key()).keys == (theirs,)


@pytest.mark.parametrize("other", [{"n": "AQAC"}, {"e": "Aw"}, {"use": "enc"}, {"alg": "RS512"}])
def test_another_key_under_our_id_is_in_the_way_and_only_replaced_when_asked(other: dict[str, str]):
    have = key_set(published({**a_key().jwk, **other}), "there")

    with pytest.raises(Conflict, match="another key under the id ours"):
        have.with_key(a_key())
    assert have.only(a_key()).keys == (a_key().jwk,)


def test_keys_go_by_their_ids_and_what_has_none_stays():
    have = key_set(published(a_key("a").jwk, {"kty": "EC"}, a_key("b").jwk), "there")

    assert have.without(["a", "unknown"]).keys == ({"kty": "EC"}, a_key("b").jwk)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "not valid JSON"),
        (b"\xff{}", "not valid JSON"),
        (b"<Error><Code>AccessDenied</Code></Error>", "not valid JSON"),
        (b'{"keys": []} trailing', "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"keys": [], "size": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "has no list `keys`"),
        (b'{"keys": {}}', "has no list `keys`"),
        (b'{"keys": [], "keys": []}', "the member 'keys' is there twice"),
        (b'{"keys": [{"kty": "RSA", "kty": "EC"}]}', "the member 'kty' is there twice"),
        (b'{"keys": [], "x": NaN}', "NaN is no JSON"),
        (b'{"keys": [], "x": 1e999}', "cannot be kept as it is"),
        (b'{"keys": [], "x": 1e-99999999999999999999}', "is refused"),
        (b'{"keys": [], "x": 1.00000000000000000001}', "cannot be kept as it is"),
        (published("key"), "keys[0] is not an object"),
        (published({}), "keys[0] has no key type"),
        (published({"kty": "RSA", "e": "AQAB"}), "keys[0] has no number `n`"),
        (published({"kty": "RSA", "n": "AQ==", "e": "AQAB"}), "keys[0] has no number `n`"),
        (published({"kty": "RSA", "n": "A+/A", "e": "AQAB"}), "keys[0] has no number `n`"),
        (published({"kty": "RSA", "n": "AQAB", "e": 65537}), "keys[0] has no number `e`"),
        (published({"kty": "EC", "kid": 7}), "keys[0] has a key id"),
        (published({**a_key().jwk, "d": "AQ"}), "shows private material (d)"),
        (
            published({**a_key().jwk, "q": "AQ", "p": "AQ", "oth": []}),
            "keys[0] shows private material (oth, p, q), so that key must be replaced everywhere",
        ),
        (
            published({"kty": "RSA", "n": "AQABA", "e": "AQAB"}),
            "keys[0] has no number `n` in base64url without padding",
        ),
        (published({"kty": "oct", "k": "AQ"}), "shows private material (k)"),
        (published(a_key().jwk, a_key(n="AQAC").jwk), "two keys of the id 'ours'"),
        (published(a_key().jwk) + b" " * (1 << 20), "it is longer than 1048576 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "text",
)
def test_a_malformed_set_is_refused_by_its_place(text: bytes, sentence: str):
    with pytest.raises(Failed) as told:
        key_set(text, "https://issuer/keys.json")

    assert told.value.problem.startswith("the key set at https://issuer/keys.json is refused: ")
    assert sentence in told.value.problem
    assert told.value.remedy == "repair it by hand, or replace it with --replace-keys"


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()])
def test_a_published_key_is_the_same_as_a_file(curve: ec.EllipticCurve) -> None:
    """Whatever kind an API server may accept."""
    public = ec.generate_private_key(curve).public_key()
    numbers, size = public.public_numbers(), (curve.key_size + 7) // 8
    x, y = (
        base64.urlsafe_b64encode(n.to_bytes(size, "big")).decode().rstrip("=")
        for n in (numbers.x, numbers.y)
    )
    name = {256: "P-256", 384: "P-384", 521: "P-521"}[curve.key_size]
    known = public_key(KNOWN, "a key")

    assert pem({"kty": "EC", "crv": name, "x": x, "y": y}) == public.public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    assert pem(known.jwk) == known.pem.encode()
    assert pem({"kty": "OKP", "crv": "Ed25519", "x": "AA"}) == b""

"""Keys and the two documents that a cloud reads to know a cluster's tokens: values in, values out."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)

from cwiictl.errors import BadInput, Conflict, Failed

MIN_BITS = 2048
MAX_BITS = 16384
MAX_SIZE = 1 << 20
PRIVATE = frozenset(
    {"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}
)  # what a JWK of any type must not show

_BLOCK = re.compile(
    rb"-----BEGIN ([A-Z0-9 ]+)-----\s((?:[^-]|-(?!----))*)-----END \1-----"
)  # linear: a body ends at the first five dashes
_CURVES: Mapping[str, ec.EllipticCurve] = {
    "P-256": ec.SECP256R1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
}
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_NEW_KEY = "give the RSA key of the cluster's service account signer, or move away what is none"


# --- keys ---


@dataclass(frozen=True)
class VerificationKey:
    """The public half of the key that signs a cluster's tokens. Equal material is equal, however its file was written."""

    kid: str
    n: str
    e: str
    pem: str

    @property
    def jwk(self) -> dict[str, str]:
        return {
            "use": "sig",
            "kty": "RSA",
            "kid": self.kid,
            "alg": "RS256",
            "n": self.n,
            "e": self.e,
        }


def public_key(text: bytes, source: str) -> VerificationKey:
    """The label of the PEM is not believed: OpenShift writes the same body under PUBLIC KEY and RSA PUBLIC KEY."""
    label, body = _only_block(text, source)
    if "PRIVATE KEY" in label:
        raise BadInput(
            f"{source} holds a private key where the public one is needed",
            remedy="give the public half, and keep the private one to the cluster",
        )
    if "CERTIFICATE" in label:
        raise BadInput(
            f"{source} holds a certificate where a public key is needed",
            remedy="take the key out of it with `openssl x509 -pubkey -noout`",
        )
    try:
        key = load_der_public_key(_der(body))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadInput(
            f"{source} holds a public key that cannot be read", remedy=_NEW_KEY
        ) from error
    return _verification_key(key, source)


def private_key(text: bytes, source: str) -> VerificationKey:
    """The public half of a signing key: proof that the file can sign, and with which key id."""
    return _verification_key(signer(text, source).public_key(), source)


def signer(text: bytes, source: str) -> rsa.RSAPrivateKey:
    label, body = _only_block(text, source)
    if "PRIVATE KEY" not in label:
        raise BadInput(
            f"{source} holds no private key but a {label.lower()}",
            remedy="give the private half of the pair",
        )
    if label == "OPENSSH PRIVATE KEY":
        raise BadInput(
            f"{source} holds a key in OpenSSH's own format",
            remedy="convert it with `ssh-keygen -p -m PEM -f FILE`",
        )
    if label.startswith("ENCRYPTED") or b"Proc-Type:" in body:
        raise BadInput(
            f"{source} holds an encrypted private key, which no cluster can use",
            remedy="decrypt it with `openssl pkey`",
        )
    try:
        key = load_der_private_key(_der(body), password=None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _broken(source) from error
    if not isinstance(key, rsa.RSAPrivateKey):
        raise _not_rsa(source)
    if not _agree(key.private_numbers()):
        raise _broken(source)
    return key


def _not_rsa(source: str) -> BadInput:
    return BadInput(
        f"{source} holds a key that is not RSA, and the clouds do not all accept others",
        remedy=_NEW_KEY,
    )


def served_keys(text: bytes, source: str) -> tuple[VerificationKey, ...]:
    """Those that a cluster tells of itself, in its order. Under its own ids: who signs elsewhere may count otherwise."""
    return tuple(_served(jwk, source) for jwk in key_set(text, source).keys)


def _served(jwk: Mapping[str, object], source: str) -> VerificationKey:
    if jwk["kty"] != "RSA":
        raise BadInput(
            f"{source} has a key of the type {jwk['kty']}, and the clouds do not all accept others than RSA",
            remedy="give the cluster an RSA key",
        )
    key = _verification_key(
        rsa.RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"])).public_key(), source
    )
    return replace(key, kid=str(jwk.get("kid", key.kid)))


def _broken(source: str) -> BadInput:
    return BadInput(
        f"{source} holds a private key that is broken",
        remedy="restore it, or move it away and make a new pair",
    )


def _agree(numbers: rsa.RSAPrivateNumbers) -> bool:
    """Its two halves and what quickens it: all that can be known without asking whether the factors are prime, which takes fifty times as long."""
    n, d, p, q = numbers.public_numbers, numbers.d, numbers.p, numbers.q
    if min(p, q) < 3 or n.e < 3 or p * q != n.n:
        return False
    halves = all((d * n.e - 1) % (prime - 1) == 0 for prime in (p, q))
    return halves and (numbers.dmp1, numbers.dmq1, numbers.iqmp * q % p) == (
        d % (p - 1),
        d % (q - 1),
        1,
    )


def _only_block(text: bytes, source: str) -> tuple[str, bytes]:
    """EC PARAMETERS is passed over: openssl writes it before an EC key, which is to be refused as one."""
    blocks = [
        (label.decode(), body) for label, body in _BLOCK.findall(text) if label != b"EC PARAMETERS"
    ]
    if not blocks:
        raise BadInput(f"{source} holds no key in PEM form", remedy=_NEW_KEY)
    if len(blocks) > 1:
        raise BadInput(
            f"{source} holds {len(blocks)} PEM blocks, and which one is meant cannot be known",
            remedy="leave one key in the file",
        )
    return blocks[0]


def _der(body: bytes) -> bytes:
    try:
        return base64.b64decode(b"".join(body.split()), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def _verification_key(key: object, source: str) -> VerificationKey:
    if not isinstance(key, rsa.RSAPublicKey):
        raise _not_rsa(source)
    if not MIN_BITS <= key.key_size <= MAX_BITS:
        raise BadInput(
            f"{source} holds an RSA key of {key.key_size} bits, which is not between {MIN_BITS} and {MAX_BITS}",
            remedy=_NEW_KEY,
        )
    numbers = key.public_numbers()
    digest = hashlib.sha256(
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).digest()
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return VerificationKey(
        kid=_base64url(digest),
        n=_base64url(_unsigned(numbers.n)),
        e=_base64url(_unsigned(numbers.e)),
        pem=pem,
    )


def pem(key: Mapping[str, object]) -> bytes:
    """Of a published key, for programs that take files. Nothing of one that they could not use."""
    if key.get("kty") == "RSA":
        public: rsa.RSAPublicKey | ec.EllipticCurvePublicKey = rsa.RSAPublicNumbers(
            _number(key["e"]), _number(key["n"])
        ).public_key()
    elif key.get("kty") == "EC" and key.get("crv") in _CURVES:
        public = ec.EllipticCurvePublicNumbers(
            _number(key["x"]), _number(key["y"]), _CURVES[str(key["crv"])]
        ).public_key()
    else:
        return b""
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _unsigned(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


# --- documents ---


def discovery(issuer: str, jwks_uri: str) -> dict[str, object]:
    return {
        "issuer": issuer,
        "jwks_uri": jwks_uri,
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "claims_supported": ["aud", "exp", "sub", "iat", "iss"],
    }


def dump(document: Mapping[str, object]) -> bytes:
    """The bytes that we publish. Escaped to ASCII, so that whatever JSON said before, it can say again."""
    return json.dumps(document, indent=4, allow_nan=False).encode() + b"\n"


def _no_keys() -> Mapping[str, object]:
    return {"keys": []}


@dataclass(frozen=True)
class KeySet:
    """A published JWKS. It belongs to all who sign with a key in it, so what we do not know in it stays as it is."""

    document: Mapping[str, object] = field(default_factory=_no_keys)

    @property
    def keys(self) -> tuple[Mapping[str, object], ...]:
        return tuple(cast("Sequence[Mapping[str, object]]", self.document["keys"]))

    @property
    def kids(self) -> tuple[str, ...]:
        """In order, of the keys that have one: JWK does not demand it."""
        return tuple(str(key["kid"]) for key in self.keys if "kid" in key)

    def holds(self, key: VerificationKey) -> bool:
        """Whether tokens signed with the key are accepted by this set. The same id for another key is nobody's wish."""
        published = self._published(key)
        if published is None:
            return False
        if not _serves(published, key):
            raise Conflict(
                f"the published key set has another key under the id {key.kid}",
                remedy="find out who published it, and take it out or replace the set with --replace-keys",
            )
        return True

    def misnamed(self, key: VerificationKey, where: str) -> Failed | None:
        """The key itself, under an id that its tokens do not name: no cloud finds it."""
        published = next(
            (
                each
                for each in self.keys
                if each["kty"] == "RSA" and _number(each["n"]) == _number(key.n)
            ),
            None,
        )
        if published is None or published.get("kid") == key.kid:
            return None
        name = f"the id {published['kid']}" if "kid" in published else "no id"
        return Failed(
            f"{where} has the cluster's key under {name}, and tokens name it {key.kid}",
            remedy="publish it under the id that Kubernetes gives it, with create-all --replace-keys or --add-key",
        )

    def with_key(self, key: VerificationKey) -> KeySet:
        return self if self.holds(key) else self._with([*self.keys, key.jwk])

    def only(self, key: VerificationKey) -> KeySet:
        """All others go, and what was published for this one stays as it was if it serves."""
        published = self._published(key)
        return self._with(
            [published if published is not None and _serves(published, key) else key.jwk]
        )

    def without(self, kids: Collection[str]) -> KeySet:
        return self._with([key for key in self.keys if key.get("kid") not in kids])

    def _published(self, key: VerificationKey) -> Mapping[str, object] | None:
        return next((published for published in self.keys if published.get("kid") == key.kid), None)

    def _with(self, keys: Sequence[Mapping[str, object]]) -> KeySet:
        return KeySet({**self.document, "keys": list(keys)})


def _serves(published: Mapping[str, object], key: VerificationKey) -> bool:
    """Leading zeros do not make another number, but another use or algorithm makes a key that no cloud would take for our tokens."""
    return (
        published.get("kty") == "RSA"
        and _number(published["n"]) == _number(key.n)
        and _number(published["e"]) == _number(key.e)
        and published.get("alg", "RS256") == "RS256"
        and published.get("use", "sig") == "sig"
    )


def _number(member: object) -> int:
    text = str(member)
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


# --- reading a published set ---


def key_set(text: bytes, source: str) -> KeySet:
    """Strict, because what we read here we shall write back: a guess would become a publication."""
    try:
        document = _json(text)
        keys = [_jwk(key, position) for position, key in enumerate(_keys(document))]
        _refuse_twins(
            [str(key["kid"]) for key in keys if "kid" in key], "there are two keys of the id {!r}"
        )
    except (ValueError, ArithmeticError, RecursionError) as error:
        why = str(error) if isinstance(error, _Malformed) else "it is not valid JSON"
        raise Failed(
            f"the key set at {source} is refused: {why}",
            remedy="repair it by hand, or replace it with --replace-keys",
        ) from error
    return KeySet({**document, "keys": keys})


class _Malformed(ValueError):
    """A sentence for people about what is wrong with a key set."""


def _json(text: bytes) -> Mapping[str, object]:
    if len(text) > MAX_SIZE:
        raise _Malformed(f"it is longer than {MAX_SIZE} bytes")
    document: object = json.loads(
        text.decode(), object_pairs_hook=_members, parse_constant=_no_constant, parse_float=_exactly
    )
    if not isinstance(document, dict):
        raise _Malformed("it is not a JSON object")
    return cast("Mapping[str, object]", document)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _refuse_twins([name for name, _ in pairs], "the member {!r} is there twice")
    return dict(pairs)


def _refuse_twins(names: Sequence[str], sentence: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _Malformed(sentence.format(name))
        seen.add(name)


def _no_constant(name: str) -> object:
    raise _Malformed(f"{name} is no JSON")


def _exactly(text: str) -> float:
    """A number that Python would round is refused: it would be published back as another one."""
    value = float(text)
    if Decimal(repr(value)) != Decimal(text):
        raise _Malformed(f"the number {text[:40]} cannot be kept as it is")
    return value


def _keys(document: Mapping[str, object]) -> Sequence[object]:
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise _Malformed("it has no list `keys`")
    return cast("Sequence[object]", keys)


def _jwk(value: object, position: int) -> Mapping[str, object]:
    where = f"keys[{position}]"
    if not isinstance(value, dict):
        raise _Malformed(f"{where} is not an object")
    key = cast("Mapping[str, object]", value)
    if shown := PRIVATE & key.keys():
        raise _Malformed(
            f"{where} shows private material ({', '.join(sorted(shown))}), so that key must be replaced everywhere"
        )
    if not isinstance(key.get("kty"), str):
        raise _Malformed(f"{where} has no key type `kty`")
    if "kid" in key and not isinstance(key["kid"], str):
        raise _Malformed(f"{where} has a key id `kid` that is no text")
    if key["kty"] == "RSA":
        _check_numbers(key, where)
    return key


def _check_numbers(key: Mapping[str, object], where: str) -> None:
    for member in ("n", "e"):
        value = key.get(member)
        if not isinstance(value, str) or not _BASE64URL.fullmatch(value) or len(value) % 4 == 1:
            raise _Malformed(f"{where} has no number `{member}` in base64url without padding")

"""The image is pushed to real registries, is what was made when it is read back, and is found signed by whoever has the key."""

from __future__ import annotations

import base64
import http.server
import json
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from jwt.algorithms import ECAlgorithm

from cwiictl.actions.image import Image, send
from cwiictl.errors import Denied, Failed
from cwiictl.image.layout import every
from cwiictl.image.reference import reference
from cwiictl.image.signature import Key
from cwiictl.image.stores.credentials import Credentials
from cwiictl.image.stores.registry import Registry
from cwiictl.image.stores.wire import Wire
from tests.cluster.conftest import skipped_where_missing
from tests.cluster.registries.recipe import (
    DISTRIBUTION,
    REFERRING,
    distribution,
    program,
    referring,
)
from tests.cwiictl.image.parts import made

pytestmark = pytest.mark.timeout(1800)  # the first one builds them
ME = Credentials("me", "word")
KEY, STRANGER = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
REPOSITORY = "team/cwii-webhook"
BCRYPT = "me:$2b$05$diDvrQYNhJDtwYL4sn8RbOGsScQLAMa0eyjc8cti2VJa5QOjFHXUO"  # of "word"


@dataclass(frozen=True)
class Place:
    """A registry, and who may push there."""

    address: str
    credentials: Credentials | None = None

    def push(self, key: Key | None = None, who: Credentials | None = None) -> Image:
        place = reference(f"{self.address}/{REPOSITORY}:1", "", plain=True)
        return send(made(), Registry(Wire(place, who or self.credentials, plain=True)), key)

    def wire(self) -> Wire:
        return Wire(
            reference(f"{self.address}/{REPOSITORY}", "1", plain=True), self.credentials, plain=True
        )

    def read(self, path: str, **headers: str) -> bytes:
        answer = self.wire().ask("GET", f"/v2/{REPOSITORY}/{path}", **headers)
        assert answer.good, (path, answer)
        return answer.body

    def document(self, path: str) -> Any:
        accepted = (
            "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json"
        )
        return json.loads(self.read(path, Accept=accepted))


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    with skipped_where_missing():
        for name in (DISTRIBUTION, REFERRING):
            program(name)


@contextmanager
def open_to_all(folder: Path) -> Generator[Place]:
    with distribution(folder, {}) as address:
        yield Place(address)


@contextmanager
def with_passwords(folder: Path) -> Generator[Place]:
    (folder / "passwords").write_text(f"{BCRYPT}\n")
    with distribution(
        folder, {"htpasswd": {"realm": "here", "path": str(folder / "passwords")}}
    ) as address:
        yield Place(address, ME)


@contextmanager
def with_tokens(folder: Path) -> Generator[Place]:
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "jwks").write_text(
        json.dumps(
            {
                "keys": [
                    {
                        **ECAlgorithm.to_jwk(key.public_key(), as_dict=True),
                        "kid": "1",
                        "alg": "ES256",
                        "use": "sig",
                    }
                ]
            }
        )
    )
    with giving_tokens(key) as realm:
        token = {
            "realm": realm,
            "service": "registry",
            "issuer": "tokens",
            "jwks": str(folder / "jwks"),
            "signingalgorithms": ["ES256"],
        }
        with distribution(folder, {"token": token}) as address:
            yield Place(address, ME)


@contextmanager
def that_lists_referrers(folder: Path) -> Generator[Place]:
    with referring(folder) as address:
        yield Place(address)


@pytest.fixture(params=[open_to_all, with_passwords, with_tokens, that_lists_referrers])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with request.param(tmp_path) as found:
        yield found


@contextmanager
def giving_tokens(key: ec.EllipticCurvePrivateKey) -> Generator[str]:
    """To whoever knows the password, for what was asked."""

    class Tokens(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            good = self.headers.get("Authorization") == ME.basic
            self.send_response(200 if good else 401)
            self.end_headers()
            self.wfile.write(
                json.dumps(
                    {"token": granted(self.path, key)}
                    if good
                    else {"errors": [{"message": "wrong password"}]}
                ).encode()
            )

        def log_message(self, format: str, *words: object) -> None:  # noqa: A002  # the library's name
            """Nothing to say."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()


def granted(path: str, key: ec.EllipticCurvePrivateKey) -> str:
    asked = parse_qs(urlsplit(path).query)
    kind, name, actions = asked["scope"][0].split(":")
    now = int(time.time())
    claims: dict[str, Any] = {
        "iss": "tokens",
        "aud": asked["service"][0],
        "sub": "me",
        "nbf": now - 5,
        "iat": now,
        "exp": now + 60,
        "jti": "1",
    }
    claims["access"] = [{"type": kind, "name": name, "actions": actions.split(",")}]
    return jwt.encode(claims, key, "ES256", {"kid": "1"})


def test_what_is_read_back_is_what_was_made_and_a_second_push_writes_nothing(place: Place) -> None:
    first = place.push()
    image = made().image

    assert first.digest == image.digest
    assert [place.document("manifests/1"), place.document(f"manifests/{image.digest}")] == [
        json.loads(image.blob.data)
    ] * 2
    for each in image.manifests:
        assert place.document(f"manifests/{each.digest}") == json.loads(each.blob.data)
        assert [place.read(f"blobs/{blob.digest}") for blob in each.blobs] == [
            blob.data for blob in each.blobs
        ]
    assert first.writes > len(list(every(image)))
    assert place.push().writes == 0


def test_what_is_said_of_an_image_is_listed_beside_it(place: Place) -> None:
    place.push()
    for referrer, subject in made().referrers:
        (listed,) = referrers(place, subject)["manifests"]

        assert listed["digest"] == referrer.digest
        manifest = place.document(f"manifests/{listed['digest']}")
        assert manifest == json.loads(referrer.blob.data)
        assert place.read(f"blobs/{manifest['layers'][0]['digest']}") == referrer.blobs[1].data


def test_where_a_registry_lists_nothing_a_tag_does_and_says_what_each_is(tmp_path: Path) -> None:
    with open_to_all(tmp_path) as place:
        place.push()
        kinds = {
            each["artifactType"]
            for _, subject in made().referrers
            for each in place.document(f"manifests/{subject.replace(':', '-')}")["manifests"]
        }

    assert kinds == {"application/spdx+json", "application/vnd.in-toto+json"}


def test_a_signed_image_is_found_signed_by_its_key_and_by_no_other(place: Place) -> None:
    pushed = place.push(KEY)

    assert verified(place, KEY.public_key()) == {pushed.digest}
    with pytest.raises(InvalidSignature):
        verified(place, STRANGER.public_key())
    assert place.push(KEY).writes == 0


def test_a_second_key_leaves_the_first_ones_signature(place: Place) -> None:
    place.push(KEY)

    assert place.push(STRANGER).writes > 0

    assert len(place.document(f"manifests/{signature_tag(place)}")["layers"]) == 2
    assert [verified(place, key.public_key(), at) for at, key in enumerate((KEY, STRANGER))] == [
        {made().image.digest}
    ] * 2


def test_a_tag_comes_to_mean_the_newest(tmp_path: Path) -> None:
    with open_to_all(tmp_path) as place:
        older: dict[str, Any] = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [],
        }
        kind = "application/vnd.oci.image.index.v1+json"
        assert (
            place.wire()
            .ask(
                "PUT",
                f"/v2/{REPOSITORY}/manifests/1",
                json.dumps(older).encode(),
                Content_Type=kind,
            )
            .good
        )

        assert place.push().writes > 0

        assert place.document("manifests/1") == json.loads(made().image.blob.data)


@pytest.mark.parametrize("way", [with_passwords, with_tokens])
@pytest.mark.parametrize("who", [Credentials("me", "wrong"), None])
def test_who_is_not_let_in_is_told_to_log_in(
    tmp_path: Path, way: Any, who: Credentials | None
) -> None:
    with way(tmp_path) as found, pytest.raises(Denied) as told:
        Place(found.address, who).push()

    assert f"docker login {found.address}" in told.value.remedy
    assert "word" not in str(told.value).replace("password", "")


def test_a_registry_without_tls_is_told_so(tmp_path: Path) -> None:
    with open_to_all(tmp_path) as place, pytest.raises(Failed, match="speaks no TLS") as told:
        Registry(Wire(reference(f"{place.address}/x", "1", plain=False), None, plain=False)).check()

    assert "--plain-http" in told.value.remedy


def referrers(place: Place, subject: str) -> Mapping[str, Any]:
    """As clients look for them: of the registry, and where it does not know, by a tag."""
    answer = place.wire().ask("GET", f"/v2/{REPOSITORY}/referrers/{subject}")
    return (
        json.loads(answer.body)
        if answer.good
        else place.document(f"manifests/{subject.replace(':', '-')}")
    )


def signature_tag(place: Place) -> str:
    digest = (
        place.wire()
        .ask("GET", f"/v2/{REPOSITORY}/manifests/1", Accept="*/*")
        .headers["docker-content-digest"]
    )
    return f"{digest.replace(':', '-')}.sig"


def verified(place: Place, key: ec.EllipticCurvePublicKey, at: int = 0) -> set[str]:
    """What was signed, checked with nothing of ours."""
    layer = place.document(f"manifests/{signature_tag(place)}")["layers"][at]
    payload = place.read(f"blobs/{layer['digest']}")
    key.verify(
        base64.b64decode(layer["annotations"]["dev.cosignproject.cosign/signature"]),
        payload,
        ec.ECDSA(SHA256()),
    )
    critical = json.loads(payload)["critical"]
    assert critical["identity"]["docker-reference"] == f"{place.address}/{REPOSITORY}"
    return {critical["image"]["docker-manifest-digest"]}

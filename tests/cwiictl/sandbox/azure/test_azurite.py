"""The same requests to the sandbox's blob storage and to Azurite, the field's own emulator: both must answer alike, down to the code of each error.

Where Azurite is known to answer otherwise than the service's documentation says, only `roughly` the same is asked for: its codes for what is no XML, for pages
of no size, for wrong keys, and for strangers, whom the service tells 404 where it does not send them to Entra.
"""

from __future__ import annotations

import base64
import shutil
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http.client import HTTPSConnection
from xml.etree import ElementTree as ET

import pytest

from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure.blob.sharedkey import signature, to_sign
from cwiictl.sandbox.azure.entra import Tokens
from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, TENANT
from cwiictl.sandbox.exchange import Request
from tests.cwiictl.sandbox.azure import emulator
from tests.cwiictl.sandbox.azure.tenant import ACCOUNT, DATA_OWNER, HOST, KEYS, VERSION, Tenant
from tests.cwiictl.sandbox.visitor import Answer, Visitor

pytestmark = pytest.mark.skipif(
    not (shutil.which("npm") and shutil.which("node")),
    reason="Azurite is a program of Node's, and here is no npm",
)

TOLD = (
    "content-type",
    "cache-control",
    "content-range",
    "content-md5",
    "x-ms-blob-public-access",
    "x-ms-tag-count",
    "x-ms-meta-who",
    "x-ms-blob-type",
)
MADE = {
    "x-ms-blob-type": "BlockBlob",
    "x-ms-blob-content-type": "application/json",
    "x-ms-blob-cache-control": "max-age=60",
    "x-ms-meta-who": "me",
}
STRANGE = base64.b64encode(b"nobodys" * 9).decode()
Headers = Mapping[str, str]
Seen = tuple[int, str, dict[str, str]]


@dataclass
class Service:
    """One of the two: how to reach it, and who signs."""

    root: str  # of all paths
    key: str
    connect: Callable[[], HTTPSConnection]
    tokens: Tokens

    def ask(
        self, method: str, path: str, headers: Headers | None = None, body: bytes = b""
    ) -> Answer:
        connection = self.connect()
        try:
            connection.request(
                method,
                self.root + path,
                body or None,
                {"Content-Length": str(len(body)), **(headers or {})},
            )
            answer = connection.getresponse()
            return Answer(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()

    def signed(
        self, method: str, path: str, headers: Headers | None = None, body: bytes = b""
    ) -> Answer:
        own = {
            "x-ms-date": formatdate(time.time(), usegmt=True),
            "x-ms-version": VERSION,
            "Content-Length": str(len(body)),
            **(headers or {}),
        }
        where, _, query = (self.root + path).partition("?")
        text = to_sign(Request(method, "", where, query, tuple(own.items())), ACCOUNT)
        return self.ask(
            method,
            path,
            {**own, "Authorization": f"SharedKey {ACCOUNT}:{signature(self.key, text)}"},
            body,
        )

    def borne(
        self, token: str, method: str, path: str, headers: Headers | None = None, body: bytes = b""
    ) -> Answer:
        return self.ask(
            method,
            path,
            {"x-ms-version": VERSION, "Authorization": f"Bearer {token}", **(headers or {})},
            body,
        )

    def token(self, audience: str = "https://storage.azure.com") -> str:
        return self.tokens.issue(OPERATOR, CLIENT, audience, TENANT)


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    emulator.install()
    with emulator.running(tmp_path_factory.mktemp("azurite"), ACCOUNT) as running:
        context = ssl.create_default_context(cafile=str(running.authority))
        yield Service(
            f"/{ACCOUNT}",
            emulator.KEY,
            lambda: HTTPSConnection("127.0.0.1", running.port, timeout=10, context=context),
            Tokens(time.time),
        )


@pytest.fixture(scope="module")
def ours() -> Iterator[Service]:
    with Sandbox() as sandbox:
        tenant = Tenant(sandbox)
        tenant.account()
        tenant.assign(DATA_OWNER)
        yield Service("", KEYS[0], lambda: Visitor(sandbox).connection(HOST), tenant.tokens)


def told(answer: Answer) -> Seen:
    """What a client goes by."""
    code = answer.headers.get("x-ms-error-code", "")
    return (
        answer.status,
        code,
        {} if code else {name: answer.headers[name] for name in TOLD if name in answer.headers},
    )


def roughly(answer: Answer) -> int:
    return answer.status // 100


def names(answer: Answer) -> list[str]:
    return [element.text or "" for element in ET.fromstring(answer.body).iter("Name")]  # noqa: S314 - from what we have started ourselves


def containers(service: Service) -> list[object]:
    ask = service.signed
    return [
        told(ask("PUT", "/box?restype=container", {"x-ms-meta-who": "me"})),
        told(ask("PUT", "/box?restype=container")),
        told(ask("PUT", "/Box?restype=container")),
        told(ask("PUT", "/bo?restype=container")),
        told(ask("GET", "/box?restype=container")),
        told(ask("HEAD", "/none?restype=container")),
        told(ask("PUT", "/box?restype=container&comp=metadata", {"x-ms-meta-who": "you"})),
        told(ask("HEAD", "/box?restype=container")),
        names(ask("GET", "/?comp=list&prefix=bo")),
        told(ask("DELETE", "/box?restype=container")),
        told(ask("DELETE", "/box?restype=container")),
    ]


def blobs(service: Service) -> list[object]:
    ask = service.signed
    ask("PUT", "/blobs?restype=container")
    return [
        told(ask("PUT", "/blobs/.well-known/openid-configuration", MADE, b"{}")),
        told(ask("GET", "/blobs/.well-known/openid-configuration")),
        ask("GET", "/blobs/.well-known/openid-configuration").body,
        told(ask("HEAD", "/blobs/.well-known/openid-configuration")),
        told(ask("GET", "/blobs/.well-known/openid-configuration", {"x-ms-range": "bytes=1-"})),
        told(ask("GET", "/blobs/.well-known/openid-configuration", {"Range": "bytes=7-9"})),
        told(ask("GET", "/blobs/none")),
        told(ask("HEAD", "/blobs/none")),
        told(ask("GET", "/nothing/none")),
        told(ask("PUT", "/nothing/none", MADE, b"{}")),
        told(ask("PUT", "/blobs/plain", {"x-ms-blob-type": "BlockBlob"}, b"x")),
        told(ask("GET", "/blobs/plain")),
        told(ask("PUT", "/blobs/a%20b%2Bc", MADE, b"x")),
        told(ask("GET", "/blobs/a%20b%2Bc")),
        told(ask("DELETE", "/blobs/plain")),
        told(ask("DELETE", "/blobs/plain")),
    ]


def requests_that_are_not_right(service: Service) -> list[object]:
    ask = service.signed
    ask("PUT", "/wrong?restype=container")
    return [
        told(ask("PUT", "/wrong/a", {**MADE, "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}, b"x")),
        roughly(ask("PUT", "/wrong/a?comp=blocklist", {}, b"no xml")),
        told(
            ask(
                "PUT",
                "/wrong/a?comp=blocklist",
                {},
                b"<BlockList><Latest>AAAA</Latest></BlockList>",
            )
        ),
        roughly(ask("GET", "/wrong?restype=container&comp=list&maxresults=0")),
        told(
            service.ask("GET", "/wrong/a", {"Authorization": "Nonsense x", "x-ms-version": VERSION})
        ),
    ]


def conditions(service: Service) -> list[object]:
    ask = service.signed
    ask("PUT", "/cond?restype=container")
    etag = ask("PUT", "/cond/a", MADE, b"1").headers["etag"]
    seen: list[object] = [
        told(ask("PUT", "/cond/a", {**MADE, "If-None-Match": "*"}, b"2")),
        told(ask("PUT", "/cond/new", {**MADE, "If-None-Match": "*"}, b"2")),
        told(ask("PUT", "/cond/a", {**MADE, "If-Match": '"0x8D0"'}, b"2")),
        told(ask("PUT", "/cond/none", {**MADE, "If-Match": etag}, b"2")),
        told(ask("GET", "/cond/a", {"If-None-Match": etag})),
        told(ask("GET", "/cond/a", {"If-Match": '"0x8D0"'})),
        told(ask("GET", "/cond/a", {"If-Match": etag})),
        told(
            ask("HEAD", "/cond/a", {"If-Modified-Since": formatdate(time.time() + 60, usegmt=True)})
        ),
        told(ask("GET", "/cond/a", {"If-Unmodified-Since": "Mon, 01 Jan 2024 00:00:00 GMT"})),
        told(ask("PUT", "/cond/a", {**MADE, "If-Match": etag}, b"2")),
        told(ask("PUT", "/cond/a", {**MADE, "If-Match": etag}, b"3")),
        told(ask("DELETE", "/cond/a", {"If-Match": etag})),
    ]
    return [
        *seen,
        told(ask("DELETE", "/cond/a", {"If-Match": ask("HEAD", "/cond/a").headers["etag"]})),
    ]


def changes(service: Service) -> list[object]:
    ask = service.signed
    ask("PUT", "/changes?restype=container")
    ask("PUT", "/changes/a", {**MADE, "x-ms-tags": "k=v&l=w"}, b"1")
    tags = b"<Tags><TagSet><Tag><Key>k</Key><Value>v2</Value></Tag></TagSet></Tags>"
    return [
        told(ask("HEAD", "/changes/a")),
        told(ask("PUT", "/changes/a?comp=metadata", {"x-ms-meta-who": "you"})),
        told(ask("GET", "/changes/a?comp=metadata"))[2]["x-ms-meta-who"],
        told(ask("PUT", "/changes/a?comp=properties", {"x-ms-blob-content-type": "text/plain"})),
        told(ask("GET", "/changes/a"))[2]["content-type"],
        told(ask("PUT", "/changes/a?comp=tags", {"Content-Type": "application/xml"}, tags)),
        b"<Value>v2</Value>" in ask("GET", "/changes/a?comp=tags").body.replace(b" ", b""),
        told(ask("PUT", "/changes/b?comp=metadata", {"x-ms-meta-who": "you"})),
    ]


def blocks(service: Service) -> list[object]:
    ask = service.signed
    ask("PUT", "/blocks?restype=container")
    return [
        told(ask("PUT", "/blocks/a?comp=block&blockid=AAAA", {}, b"one ")),
        told(ask("PUT", "/blocks/a?comp=block&blockid=AAAB", {}, b"two")),
        told(ask("GET", "/blocks/a")),
        told(
            ask(
                "PUT",
                "/blocks/a?comp=blocklist",
                {"x-ms-blob-content-type": "text/plain"},
                b"<BlockList><Latest>AAAA</Latest><Uncommitted>AAAB</Uncommitted></BlockList>",
            )
        ),
        told(ask("GET", "/blocks/a"))[:2],
        ask("GET", "/blocks/a").body,
        told(
            ask(
                "PUT",
                "/blocks/a?comp=blocklist",
                {},
                b"<BlockList><Committed>AAAB</Committed></BlockList>",
            )
        )[:2],
        ask("GET", "/blocks/a").body,
    ]


def lists(service: Service) -> list[object]:
    ask = service.signed
    ask("PUT", "/lists?restype=container")
    for name in ("b/1", "b/2", "a", "c/d/e"):
        ask("PUT", f"/lists/{name}", MADE, b"x")
    page = ask("GET", "/lists?restype=container&comp=list&maxresults=2")
    marker = ET.fromstring(page.body).findtext("NextMarker")  # noqa: S314 - from what we have started ourselves
    return [
        names(ask("GET", "/lists?restype=container&comp=list")),
        sorted(names(ask("GET", "/lists?restype=container&comp=list&delimiter=/"))),
        names(ask("GET", "/lists?restype=container&comp=list&delimiter=/&prefix=b/")),
        names(page),
        names(ask("GET", f"/lists?restype=container&comp=list&marker={marker}")),
        names(ask("GET", "/lists?restype=container&comp=list&prefix=z")),
        told(ask("GET", "/nothing?restype=container&comp=list")),
    ]


def anybody(service: Service) -> list[object]:
    ask, signed = service.ask, service.signed
    signed("PUT", "/open?restype=container")
    signed("PUT", "/open/a", MADE, b"{}")
    seen: list[object] = [
        roughly(ask("GET", "/open/a")),
        roughly(ask("HEAD", "/open/a")),
        roughly(ask("GET", "/open?restype=container&comp=list")),
    ]
    for public in ("blob", "container"):
        known = told if public == "container" else roughly
        seen += [
            told(
                signed(
                    "PUT", "/open?restype=container&comp=acl", {"x-ms-blob-public-access": public}
                )
            ),
            told(signed("GET", "/open?restype=container&comp=acl"))[:2],
            told(ask("GET", "/open/a")),
            told(ask("HEAD", "/open/a", {"x-ms-version": VERSION})),
            told(ask("GET", "/open/none")),
            roughly(ask("PUT", "/open/b", MADE, b"x")),
            known(ask("GET", "/open?restype=container&comp=list")),
            known(ask("GET", "/open?restype=container")),
        ]
    return seen


def keys(service: Service) -> list[object]:
    service.signed("PUT", "/keys?restype=container")
    stranger = Service(service.root, STRANGE, service.connect, service.tokens)
    odd = {**MADE, "Content-Language": "de", "x-ms-meta-Capitals": "x", "x-ms-meta-a_1": "y"}
    return [
        roughly(stranger.signed("PUT", "/keys/a", MADE, b"x")),
        told(
            service.signed("GET", "/keys?restype=container&comp=list&include=metadata&prefix=a%20b")
        )[0],
        told(service.signed("PUT", "/keys/a%2Fb%20c", odd, b"x")),
        told(service.signed("GET", "/keys/a/b%20c"))[0],
    ]


def bearers(service: Service) -> list[object]:
    token, other = service.token(), service.token("https://management.azure.com")
    return [
        told(service.borne(token, "PUT", "/bearers?restype=container")),
        told(service.borne(token, "PUT", "/bearers/a", MADE, b"x")),
        told(service.borne(token, "GET", "/bearers/a")),
        roughly(service.borne(other, "GET", "/bearers/a")),
        roughly(service.borne("nonsense", "GET", "/bearers/a")),
    ]


@pytest.mark.parametrize(
    "story",
    [
        containers,
        blobs,
        requests_that_are_not_right,
        conditions,
        changes,
        blocks,
        lists,
        anybody,
        keys,
        bearers,
    ],
    ids=lambda story: story.__name__,
)
def test_both_answer_alike(
    story: Callable[[Service], list[object]], ours: Service, azurite: Service
) -> None:
    assert story(ours) == story(azurite)

"""The door: which hosts it is, how it speaks, and what it keeps of what came through."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509

from cwiictl.errors import BadInput
from cwiictl.sandbox import Sandbox, Seen, Settings
from cwiictl.sandbox.aws.keyring import KEY
from tests.cwiictl.sandbox.visitor import (
    ACCOUNT,
    BUCKET,
    HOST,
    REGION,
    Visitor,
    discovery,
    key_set,
    token,
    trust,
)

Enter = Callable[..., Visitor]


def raw(visitor: Visitor) -> socket.socket:
    door = urlsplit(visitor.sandbox.proxy)
    return socket.create_connection((door.hostname or "", door.port or 0), timeout=5)


def inside(visitor: Visitor, host: str) -> ssl.SSLSocket:
    """A connection through the door, as bytes."""
    sock = raw(visitor)
    sock.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n".encode())
    assert sock.recv(4096).startswith(b"HTTP/1.1 200")
    context = ssl.create_default_context(cafile=str(visitor.sandbox.ca_file))
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context.wrap_socket(sock, server_hostname=host)


STRANGERS = [
    "example.com",
    "amazonaws.com.example.com",
    "notamazonaws.com",
    "notmanagement.azure.com",
    "127.0.0.1",
    "metadata.google.internal",
]
NOBODYS = [
    "sts.eu-nowhere-9.amazonaws.com",
    "nobody.blob.core.windows.net",
    "d0123456789abc.cloudfront.net",
]


@pytest.mark.parametrize("host", STRANGERS)
def test_other_hosts_are_refused_with_a_sentence(visitor: Visitor, host: str) -> None:
    with raw(visitor) as sock:
        sock.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        answer = sock.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"is not one of the sandbox's hosts" in answer
    assert visitor.sandbox.record == [Seen("CONNECT", host, "", "refused", 403, mutating=False)]


@pytest.mark.parametrize("host", NOBODYS)
def test_a_host_of_a_cloud_that_is_nobodys_is_not_there_as_a_proxy_says_it(
    visitor: Visitor, host: str
) -> None:
    with raw(visitor) as sock:
        sock.sendall(f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        answer = sock.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 502")
    assert visitor.sandbox.record == [Seen("CONNECT", host, "", "refused", 502, mutating=False)]


def test_plain_http_is_refused_and_so_is_the_metadata_service(visitor: Visitor) -> None:
    with raw(visitor) as sock:
        sock.sendall(
            b"GET http://169.254.169.254/latest/meta-data/?secret=1 HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n"
        )
        answer = sock.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 403")
    assert visitor.sandbox.record == [
        Seen("GET", "169.254.169.254", "/latest/meta-data/", "refused", 403, mutating=False)
    ]


@pytest.mark.parametrize(
    "nonsense", [b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"CONNECT\r\n\r\n", b""]
)
def test_nonsense_ends_only_its_own_connection(visitor: Visitor, nonsense: bytes) -> None:
    with raw(visitor) as sock:
        sock.sendall(nonsense)
        sock.shutdown(socket.SHUT_WR)
        assert b"200" not in sock.makefile("rb").read()
    assert visitor.get(f"https://{HOST}/").status == 404


def test_a_client_that_does_not_trust_the_authority_gets_nothing(visitor: Visitor) -> None:
    with raw(visitor) as sock:
        sock.sendall(b"CONNECT sts.amazonaws.com:443 HTTP/1.1\r\nHost: sts.amazonaws.com\r\n\r\n")
        sock.recv(4096)
        with pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(sock, server_hostname="sts.amazonaws.com")
    assert visitor.sandbox.record == []


def test_two_requests_share_a_connection(visitor: Visitor) -> None:
    connection = visitor.connection(HOST)
    for _ in range(2):
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert answer.status == 404
        answer.read()
    connection.close()
    assert len(visitor.sandbox.record) == 2


def test_http_1_is_what_is_spoken_though_h2_is_offered(visitor: Visitor) -> None:
    with inside(visitor, HOST) as tls:
        assert tls.selected_alpn_protocol() == "http/1.1"


def test_two_requests_sent_at_once_are_answered_in_turn(visitor: Visitor) -> None:
    with inside(visitor, HOST) as tls:
        tls.sendall(
            b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        )
        assert tls.makefile("rb").read().count(b"HTTP/1.1 404") == 2


def test_a_client_that_waits_for_100_continue_hears_it(visitor: Visitor) -> None:
    with inside(visitor, HOST) as tls:
        tls.sendall(
            b"PUT /k HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
        )
        assert tls.recv(4096).startswith(b"HTTP/1.1 100")
        tls.sendall(b"abc")
        assert tls.recv(4096).startswith(b"HTTP/1.1 404")


def test_chunked_bodies_are_read_whole(visitor: Visitor) -> None:
    body = b"Action=GetCallerIdentity&Version=2011-06-15"
    with inside(visitor, "sts.amazonaws.com") as tls:
        tls.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
        for part in (body[:10], body[10:], b""):
            tls.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        assert b"InvalidClientTokenId" in tls.makefile("rb").read()
    assert visitor.sandbox.record[0].action == "sts:GetCallerIdentity"


def test_the_certificate_is_for_the_host_and_lives_a_day(visitor: Visitor) -> None:
    with inside(visitor, HOST) as tls:
        certificate = x509.load_der_x509_certificate(tls.getpeercert(binary_form=True) or b"")
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [HOST]
    assert (
        certificate.not_valid_after_utc - certificate.not_valid_before_utc
    ).total_seconds() <= 25 * 3600


def test_the_authoritys_key_is_in_no_file(visitor: Visitor) -> None:
    visitor.get(f"https://{HOST}/")
    folder = visitor.sandbox.ca_file.parent
    assert [file.name for file in folder.rglob("*") if file.is_file()] == ["ca.pem"]
    assert b"PRIVATE" not in visitor.sandbox.ca_file.read_bytes()
    assert folder.stat().st_mode & 0o077 == 0


def test_nothing_is_left_on_the_disk() -> None:
    with Sandbox() as sandbox:
        folder = sandbox.ca_file.parent
    assert not folder.exists()


def test_many_clients_at_once_are_all_served(visitor: Visitor) -> None:
    def make(number: int) -> None:
        visitor.iam.create_role(RoleName=f"r{number}", AssumeRolePolicyDocument=trust())

    _ = visitor.iam
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(make, range(48)))
    assert len(visitor.iam.list_roles()["Roles"]) == 48


def test_many_tokens_at_once_do_not_wait_for_each_other_for_ever(visitor: Visitor) -> None:
    """STS asks the same door for the issuer's documents."""
    visitor.federate()
    _ = visitor.sts
    with ThreadPoolExecutor(16) as pool:
        assert len(list(pool.map(visitor.assume, [token()] * 32))) == 32


def test_a_sandbox_begins_empty(enter: Enter) -> None:
    visitor = enter()
    visitor.open_bucket()
    visitor.sandbox.__exit__(None, None, None)
    again = enter()
    assert again.s3.list_buckets()["Buckets"] == []
    again.open_bucket()
    again.sandbox.reset()
    assert again.sandbox.record == []
    assert again.s3.list_buckets()["Buckets"] == []


def test_one_sandbox_at_a_time(visitor: Visitor) -> None:
    with pytest.raises(BadInput, match="runs in this process already"):
        Sandbox().__enter__()
    assert visitor.get(f"https://{HOST}/").status == 404


def test_a_port_that_is_taken_is_told(visitor: Visitor) -> None:
    port = urlsplit(visitor.sandbox.proxy).port or 0
    visitor.sandbox.__exit__(None, None, None)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(BadInput, match="cannot listen"):
        Sandbox(Settings(port=port)).__enter__()
    with Sandbox(Settings(port=port)) as sandbox:
        assert sandbox.proxy == f"http://127.0.0.1:{port}"


def test_every_request_is_written_to_the_file_at_once_and_nothing_secret_with_it(
    enter: Enter, tmp_path: Path
) -> None:
    visitor = enter(record=tmp_path / "record.jsonl")
    visitor.federate()
    web_token = token()
    visitor.assume(web_token)
    visitor.get(f"https://{HOST}/k?token=hidden")
    text = (tmp_path / "record.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    first = {
        "method": "PUT",
        "host": HOST,
        "path": "/",
        "action": "s3:CreateBucket",
        "status": 200,
        "mutating": True,
    }
    assert lines[0] == {**first, "permissions": ["s3:CreateBucket"]}
    actions = {line["action"] for line in lines}
    assert {
        "s3:PutBucketPolicy",
        "s3:PutPublicAccessBlock",
        "s3:PutObject",
        "s3:GetObject",
        "iam:CreateRole",
        "sts:AssumeRoleWithWebIdentity",
    } <= actions
    assert "hidden" not in text
    assert web_token[:40] not in text


def test_only_writes_are_mutating(visitor: Visitor) -> None:
    visitor.federate()
    visitor.assume(token())
    before = len(visitor.sandbox.record)
    visitor.s3.head_bucket(Bucket=BUCKET)
    visitor.s3.list_objects_v2(Bucket=BUCKET)
    visitor.iam.list_open_id_connect_providers()
    visitor.iam.get_account_authorization_details(Filter=["Role"])
    assert not any(seen.mutating for seen in visitor.sandbox.record[before:])
    writes = {seen.action for seen in visitor.sandbox.record if seen.mutating}
    assert writes == {
        "s3:CreateBucket", "s3:PutPublicAccessBlock", "s3:PutBucketPolicy", "s3:PutObject", "iam:CreateOpenIDConnectProvider", "iam:CreateRole",
    }  # fmt: skip


def test_a_users_own_host_is_its_folder(enter: Enter, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / ".well-known").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (site / "link").symlink_to(tmp_path / "secret")
    document = site / ".well-known" / "openid-configuration"
    document.write_text("{}")
    visitor = enter(serve={"oidc.example.org": site})
    answer = visitor.get("https://oidc.example.org/.well-known/openid-configuration")
    assert (answer.status, answer.body, answer.headers["content-type"]) == (
        200,
        b"{}",
        "application/json",
    )
    document.write_text("[]")
    assert visitor.get("https://oidc.example.org/.well-known/openid-configuration").body == b"[]"
    for outside in ("/../secret", "/%2e%2e/secret", "/link", "/", "/none", "//etc/passwd", "/%00"):
        assert visitor.get(f"https://oidc.example.org{outside}").status == 404
    assert visitor.get("https://oidc.example.org/new", "PUT").status == 405


def test_a_users_own_host_can_be_an_issuer(enter: Enter, tmp_path: Path) -> None:
    issuer = "https://oidc.example.org/cluster"
    (tmp_path / "cluster" / ".well-known").mkdir(parents=True)
    (tmp_path / "cluster" / ".well-known" / "openid-configuration").write_bytes(discovery(issuer))
    (tmp_path / "cluster" / "keys.json").write_bytes(key_set(k1=0))
    visitor = enter(serve={"oidc.example.org": tmp_path})
    made = visitor.iam.create_open_id_connect_provider(
        Url=issuer, ClientIDList=["sts.amazonaws.com"]
    )["OpenIDConnectProviderArn"]
    assert made == f"arn:aws:iam::{ACCOUNT}:oidc-provider/oidc.example.org/cluster"
    visitor.iam.create_role(
        RoleName="r", AssumeRolePolicyDocument=trust(Principal={"Federated": made}, Condition={})
    )
    visitor.assume(token(iss=issuer))


def test_a_service_that_is_not_here_says_so(visitor: Visitor) -> None:
    stranger = visitor.connection(f"quantum.{REGION}.amazonaws.com")
    stranger.request("GET", "/", headers={"Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/x"})
    assert stranger.getresponse().status == 501
    stranger.close()


@pytest.mark.parametrize("settings", [{"failures": 2.0}, {"serve": {"a": Path("none")}}])
def test_settings_that_mean_nothing_are_bad_input(settings: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        Settings(**settings)  # pyright: ignore[reportArgumentType] - wrong on purpose


def test_a_record_that_cannot_be_written_is_told_and_the_next_sandbox_starts(
    tmp_path: Path,
) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        Sandbox(Settings(record=tmp_path / "none" / "record")).__enter__()
    with Sandbox():
        pass

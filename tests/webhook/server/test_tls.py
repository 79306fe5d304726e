"""Tests TLS versions and ciphers, and the replacement of certificates under load."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cwii_webhook.certificates import pem as x509
from cwii_webhook.server.messages import HttpRequest, HttpResponse
from cwii_webhook.server.tls import (
    CertificateFiles,
    Certificates,
    InvalidTlsConfig,
    TlsSettings,
    parse_tls_settings,
)

from tests.webhook.certificates.authority import Authority
from tests.webhook.server.local_server import Client, LocalServer, echo, run_async, run_server

GCM = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def load_certificates(files: CertificateFiles, settings: TlsSettings | None = None) -> Certificates:
    certificates = Certificates(files, settings or TlsSettings())
    certificates.refresh()
    return certificates


@pytest.mark.parametrize("text", ["1.3", "VersionTLS13", "TLSv1.3"])
def test_version_has_three_spellings(text: str) -> None:
    assert parse_tls_settings(text).min_version is ssl.TLSVersion.TLSv1_3
    assert parse_tls_settings().min_version is ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    ("go", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"),
        (GCM, "ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"),
        ("TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "DHE-RSA-AES128-GCM-SHA256"),
    ],
)
def test_go_cipher_name_is_translated_to_openssl(go: str, openssl: str) -> None:
    assert parse_tls_settings("1.2", f"TLS_AES_128_GCM_SHA256, {go}").ciphers == (openssl,)


@pytest.mark.parametrize(
    "name", ["TLS_ECDHE_RSA_WITH_AES_129_GCM_SHA256", "AES128-SHA", "nonsense"]
)
def test_unknown_cipher_is_an_error(name: str) -> None:
    with pytest.raises(InvalidTlsConfig, match=name):
        parse_tls_settings("", f"{GCM},{name}")


def test_unknown_version_is_an_error() -> None:
    with pytest.raises(InvalidTlsConfig, match=r"1\.4"):
        parse_tls_settings("1.4")


def test_only_tls_1_3_ciphers_require_tls_1_3() -> None:
    assert parse_tls_settings(
        "1.2", "TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA"
    ) == TlsSettings(ssl.TLSVersion.TLSv1_3)


def test_only_the_configured_cipher_is_accepted(authority: Authority, tmp_path: Path) -> None:
    certificates = load_certificates(authority.files(tmp_path), parse_tls_settings("1.2", GCM))

    async def cipher(server: LocalServer, ciphers: str) -> str:
        context = authority.trusted()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers)
        context.set_alpn_protocols(["h2", "http/1.1"])
        client = await server.connect(context)
        assert (await client.post()).status == 200
        tls = client.writer.get_extra_info("ssl_object")
        assert tls.selected_alpn_protocol() == "http/1.1"
        return str(tls.cipher()[0])

    async def scenario() -> None:
        async with run_server(certificates=certificates) as server:
            assert await cipher(server, "ALL") == "ECDHE-ECDSA-AES128-GCM-SHA256"
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await cipher(server, "ECDHE-ECDSA-AES256-GCM-SHA384")

    run_async(scenario)


def test_ipv6_is_served(authority: Authority, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with run_server(
            certificates=load_certificates(authority.files(tmp_path)), host="::1"
        ) as server:
            assert (await (await server.connect(authority.trusted())).post()).status == 200

    run_async(scenario)


def test_client_ca_rejects_clients_without_its_certificate(
    authority: Authority, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.crt"
    client_authority = Authority("api servers")
    ca.write_bytes(client_authority.pem)
    server_files = authority.files(tmp_path)
    certificates = load_certificates(
        CertificateFiles(server_files.certificate, server_files.key, ca)
    )

    async def scenario() -> None:
        async with run_server(
            lambda request: HttpResponse(200, ",".join(request.peer_names).encode()),
            certificates=certificates,
        ) as server:
            trusted = await server.connect(
                authority.trusted(client_authority.files(tmp_path, "webhook.cwii.svc"))
            )
            assert (await trusted.post()).body.startswith(b"webhook.cwii.svc,localhost,127.0.0.1,")
            for context in (
                authority.trusted(),
                authority.trusted(authority.files(tmp_path, "stranger")),
            ):
                with pytest.raises(
                    (ssl.SSLError, ConnectionError, EOFError, asyncio.IncompleteReadError)
                ):
                    await (await server.connect(context)).post()
            assert server.metric_value("cwii_http_request_duration_seconds_count") == 1

    run_async(scenario)


# Replacement of certificates.


def test_no_request_fails_while_certificates_are_replaced(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path, "server-0")
    files = CertificateFiles(files.certificate, files.key)
    certificates = load_certificates(files)
    trusted = authority.trusted()

    async def scenario() -> None:
        is_done = False
        counts = [0] * 6

        async def send_requests(server: LocalServer, number: int) -> None:
            """Keep one connection if `number` is even. Else reconnect for each request."""
            client = await server.connect(trusted)
            while not is_done:
                assert (await client.post(b"x" * 5000)).status == 200
                counts[number] += 1
                if number % 2:
                    await client.close()
                    client = await server.connect(trusted)

        async with run_server(certificates=certificates) as server:
            tasks = [
                asyncio.ensure_future(send_requests(server, number))
                for number in range(len(counts))
            ]
            for number in range(1, 21):
                authority.write(files, f"server-{number}")
                certificates.refresh()
                before = list(counts)
                while any(
                    now == then for now, then in zip(counts, before, strict=True)
                ) and not any(task.done() for task in tasks):
                    await asyncio.sleep(0)
                assert server_name(await server.connect(trusted)) == f"server-{number}"
            is_done = True
            await asyncio.gather(*tasks)
            assert certificates.load_count == 21

    run_async(scenario)


def server_name(client: Client) -> str:
    return str(
        dict(pair for row in client.writer.get_extra_info("peercert")["subject"] for pair in row)[
            "commonName"
        ]
    )


def test_certificate_without_its_key_is_not_loaded(authority: Authority, tmp_path: Path) -> None:
    files = authority.files(tmp_path, "old")
    problems: list[str] = []
    certificates = Certificates(files, TlsSettings(), problems.append)
    certificates.refresh()
    served = certificates.context
    certificate, key = authority.sign("new")
    files.certificate.write_bytes(certificate)
    for _ in range(3):
        certificates.refresh()
        assert certificates.context is served
    files.key.write_bytes(key)
    certificates.refresh()
    assert certificates.context is not served
    assert [
        str(files.certificate) in problem and str(files.key) in problem
        for problem in problems
        if problem
    ] == [True]
    assert problems[-1] == ""


def test_missing_certificate_is_loaded_when_it_appears(
    authority: Authority, tmp_path: Path
) -> None:
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    certificates = load_certificates(files)

    async def scenario() -> None:
        async with run_server(certificates=certificates) as server:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await server.connect(authority.trusted())
            assert "tls.crt" in certificates.not_ready_reason(0)
            authority.write(files)
            certificates.refresh()
            assert certificates.not_ready_reason(0) == ""
            assert (await (await server.connect(authority.trusted())).post()).status == 200

    run_async(scenario)


@pytest.mark.parametrize("broken", ["certificate", "key", "client_ca"])
def test_problem_names_the_invalid_file(authority: Authority, tmp_path: Path, broken: str) -> None:
    server_files = authority.files(tmp_path)
    files = CertificateFiles(server_files.certificate, server_files.key, tmp_path / "ca.crt")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    path: Path = getattr(files, broken)
    path.write_text("nonsense")
    certificates = load_certificates(files)
    assert str(path) in certificates.problem
    path.unlink()
    certificates.refresh()
    assert str(path) in certificates.problem


def test_problem_of_missing_or_swapped_files_has_a_remedy(
    authority: Authority, tmp_path: Path
) -> None:
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    assert load_certificates(files).problem.startswith(
        f"there is no {files.certificate} and no {files.key}: put the file there"
    )
    files.certificate.write_bytes(authority.sign("server")[0])
    assert load_certificates(files).problem.startswith(
        f"there is no {files.key}: put the file there"
    )
    authority.write(CertificateFiles(files.key, files.certificate))
    assert (
        load_certificates(files).problem
        == f"{files.certificate} holds a key, and {files.key} a certificate: swap the two"
    )
    files.key.write_bytes(files.certificate.read_bytes())
    assert (
        load_certificates(files).problem
        == f"{files.certificate} holds no certificate: it must be PEM"
    )


def test_encrypted_key_is_a_problem_and_prompts_for_no_password(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path)
    files.key.write_text(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3\n"
        "-----END ENCRYPTED PRIVATE KEY-----\n"
    )
    assert str(files.key) in load_certificates(files).problem


# Expiry.


@pytest.mark.parametrize("year", [2027, 2049, 2050, 2999])
def test_expiry_equals_what_cryptography_reads(
    authority: Authority, tmp_path: Path, year: int
) -> None:
    end = datetime(year, 11, 19, 12, 34, 56, tzinfo=UTC)
    files = authority.files(tmp_path, ends=end)
    assert x509.expiry_times(files.certificate.read_bytes() + authority.pem) == [
        end.timestamp(),
        authority.certificate.not_valid_after_utc.timestamp(),
    ]


def test_expired_certificate_is_not_ready(authority: Authority, tmp_path: Path) -> None:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    certificates = load_certificates(authority.files(tmp_path, ends=end))
    assert certificates.expires_at == end.timestamp()
    assert certificates.not_ready_reason(end.timestamp() - 1) == ""
    assert "expired" in certificates.not_ready_reason(end.timestamp())


@pytest.mark.parametrize("der", [b"", b"\x30", b"\x30\x82", b"\x30\x03\x02\x01\x01", b"\xff" * 50])
def test_invalid_certificate_is_an_error(der: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        x509.expiry_times(ssl.DER_cert_to_PEM_cert(der).encode())
    with pytest.raises(ValueError, match="no certificate"):
        x509.expiry_times(der)


def test_request_has_no_peer_names_without_a_client_ca(
    authority: Authority, tmp_path: Path
) -> None:
    requests: list[HttpRequest] = []

    def handle(request: HttpRequest) -> HttpResponse:
        requests.append(request)
        return echo(request)

    async def scenario() -> None:
        async with run_server(
            handle, certificates=load_certificates(authority.files(tmp_path))
        ) as server:
            await (await server.connect(authority.trusted())).post()

    run_async(scenario)
    assert [request.peer_names for request in requests] == [()]


# Mismatch of the certificate and ca.crt.


def test_ca_mismatch_is_reported_until_ca_crt_is_replaced(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path)
    certificates = load_certificates(files)
    assert certificates.not_ready_reason(0) == ""
    (tmp_path / "ca.crt").write_bytes(Authority("stranger").pem)
    certificates.refresh()
    assert certificates.not_ready_reason(0).startswith(
        f"{files.certificate} is not of the authority in {tmp_path / 'ca.crt'} ("
    )
    (tmp_path / "ca.crt").write_bytes(Authority("stranger").pem + authority.pem)
    certificates.refresh()
    assert certificates.not_ready_reason(0) == ""


def test_ca_mismatch_is_reported_with_a_client_ca(authority: Authority, tmp_path: Path) -> None:
    server_files = authority.files(tmp_path)
    (tmp_path / "clients.crt").write_bytes(authority.pem)
    files = CertificateFiles(server_files.certificate, server_files.key, tmp_path / "clients.crt")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    assert load_certificates(files).not_ready_reason(0) == ""
    (tmp_path / "ca.crt").write_bytes(Authority("stranger").pem)
    assert "is not of the authority" in load_certificates(files).not_ready_reason(0)


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_ca_crt_without_a_certificate_is_ignored(
    authority: Authority, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "ca.crt").write_bytes(content)
    assert load_certificates(authority.files(tmp_path)).not_ready_reason(0) == ""


def test_expired_certificate_is_not_a_ca_mismatch(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    certificates = load_certificates(
        authority.files(tmp_path, ends=datetime.now(UTC) - timedelta(hours=1))
    )
    assert "has expired" in certificates.not_ready_reason(datetime.now(UTC).timestamp())
    assert certificates.ca_mismatch == ""

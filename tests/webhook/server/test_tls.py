"""Versions and ciphers as our peers' flags say them, and certificates that are replaced while requests come."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cwii_webhook.certificates import pem as x509
from cwii_webhook.server.messages import HttpRequest, HttpResponse
from cwii_webhook.server.tls import Certificates, Files, Terms, Unusable, terms

from tests.webhook.certificates.authority import Authority
from tests.webhook.server.connection import Client, Ground, echo, serving, told

GCM = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def loaded(files: Files, terms: Terms | None = None) -> Certificates:
    certificates = Certificates(files, terms or Terms())
    certificates.refresh()
    return certificates


@pytest.mark.parametrize("text", ["1.3", "VersionTLS13", "TLSv1.3"])
def test_a_version_has_three_names(text: str) -> None:
    assert terms(text).minimum is ssl.TLSVersion.TLSv1_3
    assert terms().minimum is ssl.TLSVersion.TLSv1_2


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
def test_a_cipher_has_go_s_name_and_openssl_s(go: str, openssl: str) -> None:
    assert terms("1.2", f"TLS_AES_128_GCM_SHA256, {go}").ciphers == (openssl,)


@pytest.mark.parametrize(
    "name", ["TLS_ECDHE_RSA_WITH_AES_129_GCM_SHA256", "AES128-SHA", "nonsense"]
)
def test_a_cipher_that_is_none_is_told(name: str) -> None:
    with pytest.raises(Unusable, match=name):
        terms("", f"{GCM},{name}")


def test_a_version_that_is_none_is_told() -> None:
    with pytest.raises(Unusable, match=r"1\.4"):
        terms("1.4")


def test_ciphers_of_tls_1_3_alone_mean_tls_1_3() -> None:
    assert terms("1.2", "TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA") == Terms(
        ssl.TLSVersion.TLSv1_3
    )


def test_what_was_agreed_is_spoken_and_nothing_else(authority: Authority, tmp_path: Path) -> None:
    certificates = loaded(authority.files(tmp_path), terms("1.2", GCM))

    async def cipher(ground: Ground, ciphers: str) -> str:
        context = authority.trusted()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers)
        context.set_alpn_protocols(["h2", "http/1.1"])
        client = await ground.connect(context)
        assert (await client.ask()).status == 200
        spoken = client.writer.get_extra_info("ssl_object")
        assert spoken.selected_alpn_protocol() == "http/1.1"
        return str(spoken.cipher()[0])

    async def story() -> None:
        async with serving(certificates=certificates) as ground:
            assert await cipher(ground, "ALL") == "ECDHE-ECDSA-AES128-GCM-SHA256"
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await cipher(ground, "ECDHE-ECDSA-AES256-GCM-SHA384")

    told(story)


def test_ipv6_is_served_too(authority: Authority, tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(certificates=loaded(authority.files(tmp_path)), host="::1") as ground:
            assert (await (await ground.connect(authority.trusted())).ask()).status == 200

    told(story)


def test_with_a_client_ca_only_its_people_are_answered(
    authority: Authority, tmp_path: Path
) -> None:
    ca = tmp_path / "ca.crt"
    theirs = Authority("api servers")
    ca.write_bytes(theirs.pem)
    own = authority.files(tmp_path)
    certificates = loaded(Files(own.certificate, own.key, ca))

    async def story() -> None:
        async with serving(
            lambda asked: HttpResponse(200, ",".join(asked.peer_names).encode()),
            certificates=certificates,
        ) as ground:
            known = await ground.connect(
                authority.trusted(theirs.files(tmp_path, "webhook.cwii.svc"))
            )
            assert (await known.ask()).body.startswith(b"webhook.cwii.svc,localhost,127.0.0.1,")
            for context in (
                authority.trusted(),
                authority.trusted(authority.files(tmp_path, "stranger")),
            ):
                with pytest.raises(
                    (ssl.SSLError, ConnectionError, EOFError, asyncio.IncompleteReadError)
                ):
                    await (await ground.connect(context)).ask()
            assert ground.number("cwii_http_request_duration_seconds_count") == 1

    told(story)


# Replacing.


def test_certificates_are_replaced_under_load_and_no_request_fails(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path, "server-0")
    files = Files(files.certificate, files.key)
    certificates = loaded(files)
    trusted = authority.trusted()

    async def story() -> None:
        over = False
        asked = [0] * 6

        async def keep_asking(ground: Ground, number: int) -> None:
            """Half of them stay on one connection, half come anew for each request."""
            client = await ground.connect(trusted)
            while not over:
                assert (await client.ask(b"x" * 5000)).status == 200
                asked[number] += 1
                if number % 2:
                    await client.close()
                    client = await ground.connect(trusted)

        async with serving(certificates=certificates) as ground:
            load = [
                asyncio.ensure_future(keep_asking(ground, number)) for number in range(len(asked))
            ]
            for number in range(1, 21):
                authority.write(files, f"server-{number}")
                certificates.refresh()
                before = list(asked)
                while any(now == then for now, then in zip(asked, before, strict=True)) and not any(
                    task.done() for task in load
                ):
                    await asyncio.sleep(0)
                assert name_shown(await ground.connect(trusted)) == f"server-{number}"
            over = True
            await asyncio.gather(*load)
            assert certificates.loads == 21

    told(story)


def name_shown(client: Client) -> str:
    return str(
        dict(pair for row in client.writer.get_extra_info("peercert")["subject"] for pair in row)[
            "commonName"
        ]
    )


def test_half_of_a_replacement_changes_nothing_until_the_other_half_is_there(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path, "old")
    problems: list[str] = []
    certificates = Certificates(files, Terms(), problems.append)
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


def test_a_certificate_that_is_missing_is_waited_for(authority: Authority, tmp_path: Path) -> None:
    files = Files(tmp_path / "tls.crt", tmp_path / "tls.key")
    certificates = loaded(files)

    async def story() -> None:
        async with serving(certificates=certificates) as ground:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await ground.connect(authority.trusted())
            assert "tls.crt" in certificates.state(0)
            authority.write(files)
            certificates.refresh()
            assert certificates.state(0) == ""
            assert (await (await ground.connect(authority.trusted())).ask()).status == 200

    told(story)


@pytest.mark.parametrize("broken", ["certificate", "key", "client_ca"])
def test_a_file_that_is_nonsense_is_named(
    authority: Authority, tmp_path: Path, broken: str
) -> None:
    own = authority.files(tmp_path)
    files = Files(own.certificate, own.key, tmp_path / "ca.crt")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    path: Path = getattr(files, broken)
    path.write_text("nonsense")
    certificates = loaded(files)
    assert str(path) in certificates.problem
    path.unlink()
    certificates.refresh()
    assert str(path) in certificates.problem


def test_files_that_are_missing_or_swapped_are_told_with_what_to_do(
    authority: Authority, tmp_path: Path
) -> None:
    files = Files(tmp_path / "tls.crt", tmp_path / "tls.key")
    assert loaded(files).problem.startswith(
        f"there is no {files.certificate} and no {files.key}: put the file there"
    )
    files.certificate.write_bytes(authority.sign("server")[0])
    assert loaded(files).problem.startswith(f"there is no {files.key}: put the file there")
    authority.write(Files(files.key, files.certificate))
    assert (
        loaded(files).problem
        == f"{files.certificate} holds a key, and {files.key} a certificate: swap the two"
    )
    files.key.write_bytes(files.certificate.read_bytes())
    assert loaded(files).problem == f"{files.certificate} holds no certificate: it must be PEM"


def test_an_encrypted_key_is_told_and_nobody_is_asked_for_a_password(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path)
    files.key.write_text(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3\n-----END ENCRYPTED PRIVATE KEY-----\n"
    )
    assert str(files.key) in loaded(files).problem


# When it ends.


@pytest.mark.parametrize("year", [2027, 2049, 2050, 2999])
def test_the_end_of_a_certificate_is_what_cryptography_reads(
    authority: Authority, tmp_path: Path, year: int
) -> None:
    end = datetime(year, 11, 19, 12, 34, 56, tzinfo=UTC)
    files = authority.files(tmp_path, ends=end)
    assert x509.expiry_times(files.certificate.read_bytes() + authority.pem) == [
        end.timestamp(),
        authority.certificate.not_valid_after_utc.timestamp(),
    ]


def test_a_certificate_that_has_ended_is_told(authority: Authority, tmp_path: Path) -> None:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    certificates = loaded(authority.files(tmp_path, ends=end))
    assert certificates.ends == end.timestamp()
    assert certificates.state(end.timestamp() - 1) == ""
    assert "expired" in certificates.state(end.timestamp())


@pytest.mark.parametrize("der", [b"", b"\x30", b"\x30\x82", b"\x30\x03\x02\x01\x01", b"\xff" * 50])
def test_what_is_no_certificate_is_told(der: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate"):
        x509.expiry_times(ssl.DER_cert_to_PEM_cert(der).encode())
    with pytest.raises(ValueError, match="no certificate"):
        x509.expiry_times(der)


def test_the_handler_hears_nobody_s_name_where_none_was_asked_for(
    authority: Authority, tmp_path: Path
) -> None:
    seen: list[HttpRequest] = []

    def handle(asked: HttpRequest) -> HttpResponse:
        seen.append(asked)
        return echo(asked)

    async def story() -> None:
        async with serving(handle, certificates=loaded(authority.files(tmp_path))) as ground:
            await (await ground.connect(authority.trusted())).ask()

    told(story)
    assert [asked.peer_names for asked in seen] == [()]


# Whose it is.


def test_a_certificate_of_another_authority_than_lies_beside_it_is_told_until_either_is_replaced(
    authority: Authority, tmp_path: Path
) -> None:
    files = authority.files(tmp_path)
    certificates = loaded(files)
    assert certificates.state(0) == ""
    (tmp_path / "ca.crt").write_bytes(Authority("stranger").pem)
    certificates.refresh()
    assert certificates.state(0).startswith(
        f"{files.certificate} is not of the authority in {tmp_path / 'ca.crt'} ("
    )
    (tmp_path / "ca.crt").write_bytes(Authority("stranger").pem + authority.pem)
    certificates.refresh()
    assert certificates.state(0) == ""


def test_so_it_is_where_clients_have_to_show_who_they_are(
    authority: Authority, tmp_path: Path
) -> None:
    own = authority.files(tmp_path)
    (tmp_path / "clients.crt").write_bytes(authority.pem)
    files = Files(own.certificate, own.key, tmp_path / "clients.crt")
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    assert loaded(files).state(0) == ""
    (tmp_path / "ca.crt").write_bytes(Authority("stranger").pem)
    assert "is not of the authority" in loaded(files).state(0)


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_file_beside_it_that_holds_no_authority_says_nothing(
    authority: Authority, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "ca.crt").write_bytes(content)
    assert loaded(authority.files(tmp_path)).state(0) == ""


def test_a_certificate_that_has_ended_is_told_as_that(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    certificates = loaded(authority.files(tmp_path, ends=datetime.now(UTC) - timedelta(hours=1)))
    assert "has expired" in certificates.state(datetime.now(UTC).timestamp())
    assert certificates.stray == ""

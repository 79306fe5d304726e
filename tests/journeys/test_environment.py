"""Nothing of the caller's leads out of the sandbox: no proxy setting, no credential, no file, no metadata server."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.examples import two_requests
from tests.journeys.ground import BUCKET, HOST, INGRESS, NAME, REGION, REGISTRY, program

WHERE = f"--cloud aws --name {NAME} --region {REGION}"


class Planted(ThreadingHTTPServer):
    """Would hand out credentials, or take requests for AWS, if anybody came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        assert isinstance(self.server, Planted)
        self.server.asked.append(f"{self.command} {self.path}")
        body = json.dumps(
            {
                "AccessKeyId": "AKIAPLANTED",
                "SecretAccessKey": "planted",
                "Token": "planted",
                "Expiration": "2099-01-01T00:00:00Z",
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_HEAD = do_CONNECT = answer  # noqa: N815 - the names that http.server looks for

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class has it so
        del format, args


@pytest.fixture
def planted() -> Iterator[Planted]:
    server = Planted()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hostile(tmp_path: Path, planted: Planted) -> dict[str, str]:
    """Somebody who is logged in to real accounts, behind a proxy, on a machine of a cloud."""
    home = tmp_path / "home"
    (home / ".aws").mkdir(parents=True)
    (home / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = AKIAREALREALREALREAL\naws_secret_access_key = real\n"
    )
    (home / ".aws" / "config").write_text(
        f"[default]\nregion = ap-south-1\nendpoint_url = {planted.url}\n\n[profile real]\ncredential_process = touch {tmp_path}/asked-a-process\n"
    )
    return {
        "PATH": f"{Path(program('cwiictl')).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "NO_PROXY": "*",
        "no_proxy": "*",
        "HTTPS_PROXY": planted.url,
        "https_proxy": planted.url,
        "AWS_PROFILE": "real",
        "AWS_ACCESS_KEY_ID": "AKIAREALREALREALREAL",
        "AWS_SECRET_ACCESS_KEY": "real",
        "AWS_SESSION_TOKEN": "real",
        "AWS_ENDPOINT_URL": planted.url,
        "AWS_ENDPOINT_URL_IAM": planted.url,
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": planted.url,
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{planted.url}/credentials",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "real",
        "AWS_CONFIG_FILE": str(home / ".aws" / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(home / ".aws" / "credentials"),
    }


def in_sandbox(
    folder: Path, environment: dict[str, str], *script: str
) -> tuple[str, list[dict[str, str]]]:
    """What a shell told that ran these lines in `cwiictl sandbox run`, and what came through the door."""
    for name, content in two_requests().items():
        (folder / "requests").mkdir(exist_ok=True)
        (folder / "requests" / name).write_text(content)
    command = [
        program("cwiictl"),
        "sandbox",
        "run",
        "--record",
        "seen.jsonl",
        "--",
        "sh",
        "-euc",
        "\n".join(script),
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [
        json.loads(line) for line in (folder / "seen.jsonl").read_text().splitlines()
    ]


def test_the_aws_cli_lists_what_was_made_and_nothing_goes_out_but_through_the_door(
    tmp_path: Path, hostile: dict[str, str], planted: Planted
) -> None:
    told, seen = in_sandbox(
        tmp_path,
        hostile,
        f"cwiictl create-all {WHERE} --credentials-requests-dir requests --output-dir out --bits 2048 >/dev/null",
        "aws iam list-roles --query 'Roles[].RoleName' --output json",
        "aws iam list-open-id-connect-providers --query 'OpenIDConnectProviderList[].Arn' --output text",
        "aws s3 ls",
        f"aws s3api get-object --bucket {BUCKET} --key keys.json keys.json --query ContentType --output text",
        f"curl --silent --fail https://{HOST}/.well-known/openid-configuration >discovery.json || true",
        f"cwiictl delete {WHERE} --yes >/dev/null",
        "aws iam list-roles --query 'Roles[].RoleName' --output json",
    )

    assert INGRESS in told
    assert REGISTRY in told
    assert f":oidc-provider/{HOST}" in told
    assert BUCKET in told
    assert "application/json" in told
    assert told.rstrip().endswith("[]")
    assert json.loads((tmp_path / "keys.json").read_text())["keys"]
    assert planted.asked == []
    assert not (tmp_path / "asked-a-process").exists()
    services = {
        "cloudfront.amazonaws.com",
        "iam.amazonaws.com",
        "s3.amazonaws.com",
        f"s3.{REGION}.amazonaws.com",
        f"sts.{REGION}.amazonaws.com",
    }
    assert {line["host"].removeprefix(f"{BUCKET}.") for line in seen} <= services
    assert not any(line["action"] == "refused" for line in seen)


def test_no_secret_and_no_query_is_in_the_record(tmp_path: Path, hostile: dict[str, str]) -> None:
    in_sandbox(
        tmp_path,
        hostile,
        "aws sts get-caller-identity",
        "aws s3 ls",
        "aws iam get-role --role-name x || true",
    )

    text = (tmp_path / "seen.jsonl").read_text()
    assert "?" not in text
    assert "AKIA" not in text
    assert {frozenset(json.loads(line)) for line in text.splitlines()} == {
        frozenset({"method", "host", "path", "action", "status", "mutating", "permissions"})
    }


def test_another_host_cannot_be_reached_from_inside(
    tmp_path: Path, hostile: dict[str, str], planted: Planted
) -> None:
    script = "import urllib.request as r\ntry:\n    r.urlopen('https://example.org')\nexcept OSError as e:\n    print(e)\n"
    (tmp_path / "out.py").write_text(script)

    told, seen = in_sandbox(tmp_path, hostile, "python out.py")

    assert "403" in told
    assert [(line["host"], line["action"]) for line in seen] == [("example.org", "refused")]
    assert planted.asked == []


def test_a_run_is_cut_by_the_sandbox_after_the_write_that_was_named(
    tmp_path: Path, hostile: dict[str, str]
) -> None:
    for name, content in two_requests().items():
        (tmp_path / "requests").mkdir(exist_ok=True)
        (tmp_path / "requests" / name).write_text(content)
    cut = [program("cwiictl"), "sandbox", "run", "--record", "seen.jsonl", "--end-after", "3", "--"]
    command = [
        "cwiictl",
        "create-all",
        *WHERE.split(),
        "--credentials-requests-dir",
        "requests",
        "--output-dir",
        "out",
        "--bits",
        "2048",
    ]
    done = subprocess.run(
        [*cut, *command],
        cwd=tmp_path,
        env=hostile,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert done.returncode == 137
    assert (
        sum(
            '"mutating": true' in line
            for line in (tmp_path / "seen.jsonl").read_text().splitlines()
        )
        == 3
    )

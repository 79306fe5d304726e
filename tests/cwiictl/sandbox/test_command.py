"""`cwiictl sandbox run`, `start` and `env`, as programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

AWS = str(Path(sys.executable).parent / "aws")
PROGRAM = (sys.executable, "-c", "from cwiictl.cli.sandbox import sandbox; sandbox()")


def program(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **variables}
    return subprocess.run(
        [*PROGRAM, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def metadata_server() -> Iterator[HTTPServer]:
    """Somebody who would hand out credentials, if anybody asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = b'{"AccessKeyId": "planted", "SecretAccessKey": "planted", "Token": "planted", "Expiration": "2099-01-01T00:00:00Z"}'
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        do_PUT = do_GET  # noqa: N815 - the names that http.server looks for

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class has it so
            del format, args

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    assert asked == []


def test_the_aws_cli_runs_unmodified_and_nothing_of_the_callers_is_read(
    metadata_server: HTTPServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".aws").mkdir(parents=True)
    (home / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = AKIAREALREALREALREAL\naws_secret_access_key = real\n"
    )
    (home / ".aws" / "config").write_text(
        "[default]\nregion = ap-south-1\nendpoint_url = http://127.0.0.1:9\n"
    )
    planted = f"http://127.0.0.1:{metadata_server.server_port}"
    script = f"{AWS} s3api create-bucket --bucket made-here --region us-east-1 && {AWS} s3api list-buckets --query Buckets[].Name && {AWS} sts get-caller-identity"
    done = program(
        "run", "--record", str(tmp_path / "seen"), "--", "sh", "-c", script,
        HOME=str(home), NO_PROXY="*", no_proxy="*", AWS_PROFILE="default", AWS_ACCESS_KEY_ID="AKIAREALREALREALREAL", AWS_SECRET_ACCESS_KEY="real",
        AWS_EC2_METADATA_SERVICE_ENDPOINT=planted, AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{planted}/credentials",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "made-here" in done.stdout
    assert "arn:aws:iam::123456789012:user/sandbox" in done.stdout
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert [line["action"] for line in seen] == [
        "s3:CreateBucket",
        "s3:ListBuckets",
        "sts:GetCallerIdentity",
    ]


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)],
)
def test_the_exit_code_is_the_commands(script: str, code: int) -> None:
    assert program("run", "--", "sh", "-c", script).returncode == code


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    done = program("run", "--", "sh", "-c", "ls -d $(dirname $SSL_CERT_FILE)", TMPDIR=str(tmp_path))
    assert done.stdout.startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_command_is_ended_right_after_its_nth_write(tmp_path: Path) -> None:
    script = f"for n in 1 2 3; do {AWS} s3api create-bucket --bucket made-here-$n --region us-east-1; done; echo not reached"
    done = program(
        "run", "--end-after", "2", "--record", str(tmp_path / "seen"), "--", "sh", "-c", script
    )
    assert done.returncode == 137
    assert "not reached" not in done.stdout
    assert "write number 2" in done.stderr
    assert len((tmp_path / "seen").read_text().splitlines()) == 2


def test_ctrl_c_reaches_the_command_and_its_answer_counts(tmp_path: Path) -> None:
    command = [
        *PROGRAM,
        "run",
        "--",
        "sh",
        "-c",
        'trap "exit 42" INT; echo ready; while :; do sleep 0.05; done',
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "TMPDIR": str(tmp_path),
    }
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 42
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_does_not_exist_is_bad_input() -> None:
    done = program("run", "--", "no-such-program")
    assert "no-such-program cannot be started" in done.stderr


def test_a_shell_finds_the_sandbox_that_runs(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "XDG_RUNTIME_DIR": str(tmp_path),
    }
    with subprocess.Popen(
        [*PROGRAM, "start"], env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert "door is http://127.0.0.1:" in running.stdout.readline()
        assert running.stdout.readline()
        assert (tmp_path / "cwiictl" / "sandbox.json").stat().st_mode & 0o077 == 0
        shell = f'eval "$({" ".join(map(repr, PROGRAM))} env)"; echo ${{AWS_PROFILE-gone}}; {AWS} sts get-caller-identity --query Arn'
        done = subprocess.run(
            ["sh", "-c", shell],
            env={**environment, "AWS_PROFILE": "real"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout.split() == ["gone", '"arn:aws:iam::123456789012:user/sandbox"'], (
            done.stderr
        )
        assert "is running already" in program("start", XDG_RUNTIME_DIR=str(tmp_path)).stderr
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
    assert list((tmp_path / "cwiictl").iterdir()) == []


def test_no_sandbox_is_told_and_unset_needs_none(tmp_path: Path) -> None:
    none = program("env", XDG_RUNTIME_DIR=str(tmp_path))
    assert "no sandbox is running" in none.stderr
    assert none.stdout == "false\n", "whoever evaluates it hears of it"
    assert "unset HTTPS_PROXY" in program("env", "--unset", XDG_RUNTIME_DIR=str(tmp_path)).stdout


@pytest.mark.parametrize("command", [(), ("run",), ("start",), ("env",)])
def test_every_command_has_an_example_in_its_help(command: tuple[str, ...]) -> None:
    shown = program(*command, "--help").stdout
    assert "Example" in shown


def test_help_imports_nothing_slow() -> None:
    code = "import sys, cwiictl.cli.sandbox; print([m for m in ('moto', 'botocore', 'h11', 'jwt', 'cryptography') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_permissions_can_be_taken_and_deploying_can_take_no_time(tmp_path: Path) -> None:
    control = "Name=n,SigningProtocol=sigv4,SigningBehavior=always,OriginAccessControlOriginType=s3"
    script = f"{AWS} iam list-roles; {AWS} cloudfront create-origin-access-control --origin-access-control-config {control} --query ETag"
    record = tmp_path / "record.jsonl"
    done = program(
        "run",
        "--deny",
        "iam:List*",
        "--deny",
        "s3:*",
        "--deploy",
        "0",
        "--record",
        str(record),
        "--",
        "sh",
        "-c",
        script,
    )
    seen = [json.loads(line) for line in record.read_text().splitlines()]
    assert "not authorized to perform: iam:ListRoles on resource" in done.stderr
    assert [(one["action"], one["status"]) for one in seen] == [
        ("iam:ListRoles", 403),
        ("cloudfront:CreateOriginAccessControl", 201),
    ]

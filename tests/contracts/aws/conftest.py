"""The clients of AWS, on a sandbox of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import boto3
import pytest
from botocore.config import Config

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.aws.keyring import KEY, SECRET


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Settings(deploy=0.0)) as running:
        yield running


@pytest.fixture
def clients(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """As the program makes them, but told where the door is."""
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with ExitStack() as stack:
        session: Any = boto3.Session(
            aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1"
        )
        config = Config(proxies={"https": sandbox.proxy}, retries={"total_max_attempts": 1})
        made = {
            service: session.client(service, config=config, verify=str(sandbox.ca_file))
            for service in ("iam", "s3", "cloudfront")
        }
        for client in made.values():
            stack.callback(client.close)
        yield made

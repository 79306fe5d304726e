"""A kubeconfig of the shared cluster's admin, for whoever breaks it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cwiictl.errors import Problem
from cwiictl.kubernetes import connect
from tests.cluster.kube.reach import Reach


class Config:
    """A kubeconfig of two contexts, of which one is broken in a test's own way."""

    def __init__(self, reach: Reach, folder: Path) -> None:
        self.reach, self.file = reach, folder / "kubeconfig"
        pair = reach.authority.client("admin", "system:masters")
        self.content: dict[str, Any] = json.loads(
            reach.authority.kubeconfig(self.file, reach.urls[0], pair).read_bytes()
        )

    @property
    def user(self) -> dict[str, Any]:
        return self.content["users"][0]["user"]

    @property
    def cluster(self) -> dict[str, Any]:
        return self.content["clusters"][0]["cluster"]

    def is_(self, **user: Any) -> Config:
        self.content["users"][0]["user"] = user
        return self

    def asks(self, script: str, **more: Any) -> Config:
        """A plugin, in Python."""
        program = self.file.with_name("plugin")
        program.write_text(f"#!{sys.executable}\n{script}")
        program.chmod(0o700)
        spec = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "./plugin",
            "interactiveMode": "Never",
            **more,
        }
        return self.is_(exec=spec)

    def written(self) -> Path:
        self.file.write_text(json.dumps(self.content))
        return self.file

    def who(self, context: str | None = None) -> str:
        place = connect(self.written(), context)
        place.close()
        return place.caller

    def problem(self, context: str | None = None) -> Problem:
        with pytest.raises(Problem) as caught:
            connect(self.written(), context)
        assert caught.value.remedy
        return caught.value

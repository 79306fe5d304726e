"""The real helm, and the chart."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cwiictl.documents import documents
from cwiictl.install.body import Object
from tests.cluster.kube.helm import helm
from tests.cwiictl.install.chart_files import CHART
from tests.cwiictl.install.installed import IMAGE


class Refused(Exception):
    """What helm says."""


class Helm:
    """It keeps what it keeps in a folder of its own."""

    def __init__(self, folder: Path, kubeconfig: Path | None = None) -> None:
        self.program = helm()
        self.folder = folder
        keeping = {
            f"HELM_{what}_HOME": str(folder / what.lower()) for what in ("CACHE", "CONFIG", "DATA")
        }
        self._environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBECONFIG": str(kubeconfig or folder / "none"),
            **keeping,
        }

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [self.program, *words], env=self._environ, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    def values(self, said: Mapping[str, Any]) -> str:
        file = self.folder / "values.json"
        file.write_text(json.dumps({"image": IMAGE, **said}))
        return f"--values={file}"

    def rendered(self, said: Mapping[str, Any], *words: str) -> list[Object]:
        return list(read(self.run("template", "any", str(CHART), self.values(said), *words)))


def read(text: str) -> list[Object]:
    return [dict(document.value) for document in documents("helm's", text.encode())]

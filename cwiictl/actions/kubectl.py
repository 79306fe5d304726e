"""kubectl, for objects that are the user's own from then on: its contexts and credentials are the user's, too."""

from __future__ import annotations

import subprocess

from cwiictl.errors import BadInput


def kubectl(*words: str, told: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(("kubectl", *words), input=told, capture_output=True, check=False)
    except FileNotFoundError as e:
        raise BadInput(
            "kubectl is not here",
            remedy="install it, or leave --apply out and apply what is printed from where it is",
        ) from e

"""What talosctl makes of a machine's configuration, and a node of that: by their own code. A patch is its text, or a file's name behind an @."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

from tests.cluster.installers import modules

ENDPOINT = "https://192.0.2.1:6443"  # of its control plane


class NotTaken(Exception):
    """Talos' no, in its own words."""


@dataclass(frozen=True)
class Told:
    """What its API server is told of tokens."""

    issuers: list[str]
    audiences: list[str]
    accepted: list[str]  # keys, as PEM
    signs: str
    extra: dict[str, list[str]]


def generated(version: str, *patches: str) -> str:
    """Of a control plane, as this version of Talos wants it."""
    return _asked("generate", version, ENDPOINT, *patches)


def patched(have: str, *patches: str) -> str:
    return _asked("patch", *patches, given=have)


def told(have: str) -> Told:
    return Told(**json.loads(_asked("told", given=have)))


def _asked(*words: str, given: str = "") -> str:
    done = subprocess.run(
        [modules.talos(), *words], input=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotTaken(done.stderr.strip())
    return done.stdout

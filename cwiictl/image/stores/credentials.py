"""Who we are to a registry, from docker's own settings: `docker login` is how anybody gets in."""

from __future__ import annotations

import base64
import binascii
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cwiictl.errors import BadInput
from cwiictl.image.reference import HUB
from cwiictl.image.stores.answers import as_object

_TOKEN = "<token>"  # noqa: S105 - the name that helpers give to a secret that is one
_HUB_KEY = "https://index.docker.io/v1/"  # what `docker login` calls its own registry, under whichever of its names


@dataclass(frozen=True)
class Credentials:
    user: str
    secret: str = field(repr=False)

    @property
    def basic(self) -> str:
        return "Basic " + base64.b64encode(f"{self.user}:{self.secret}".encode()).decode()

    @property
    def refresh(self) -> bool:
        """Whether the secret is a token that others are asked for with."""
        return self.user == _TOKEN


def credentials(registry: str, environ: Mapping[str, str] = os.environ) -> Credentials | None:
    """None asks as anybody."""
    file = (
        Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or Path.home()) / ".docker")
        / "config.json"
    )
    settings = _settings(file)
    names = [_HUB_KEY, registry] if registry in HUB else [registry]
    return next((found for name in names if (found := _known(settings, name, file))), None)


def _known(settings: Mapping[str, Any], registry: str, file: Path) -> Credentials | None:
    helper = as_object(settings.get("credHelpers")).get(registry) or settings.get("credsStore")
    if isinstance(helper, str) and (found := _helped(helper, registry)):
        return found
    entry = as_object(as_object(settings.get("auths")).get(registry))
    if isinstance(token := entry.get("identitytoken"), str) and token:
        return Credentials(_TOKEN, token)
    return (
        _opened(entry["auth"], registry, file)
        if isinstance(entry.get("auth"), str) and entry["auth"]
        else None
    )


def _settings(file: Path) -> Mapping[str, Any]:
    try:
        found: object = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as e:
        raise BadInput(
            f"docker's settings {file} cannot be read: {e}",
            remedy="mend the file, or name another folder in DOCKER_CONFIG",
        ) from e
    return as_object(found)


def _opened(text: str, registry: str, file: Path) -> Credentials:
    try:
        user, _, secret = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError) as e:
        raise BadInput(
            f"what {file} holds for {registry} is no password in its form",
            remedy=f"log in again: docker login {registry}",
        ) from e
    return Credentials(user, secret)


def _helped(helper: str, registry: str) -> Credentials | None:
    """What a helper does not know is not wrong: perhaps nothing is needed."""
    command = f"docker-credential-{helper}"
    try:
        done = subprocess.run(
            [command, "get"],
            input=registry,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        found: Any = json.loads(done.stdout) if done.returncode == 0 else None
        return Credentials(str(found["Username"]), str(found["Secret"])) if found else None
    except FileNotFoundError as e:
        raise BadInput(
            f"docker's settings name the helper {command}, which is not on the PATH",
            remedy="install it, or log in without it",
        ) from e
    except (ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as e:
        raise BadInput(
            f"the helper {command} says nothing that can be understood of {registry}",
            remedy=f"log in again: docker login {registry}",
        ) from e

"""Who we are, as `docker login` has left it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.image.stores.credentials import Credentials, credentials

REGISTRY = "registry.example.org"
HUB = "https://index.docker.io/v1/"
AUTH = base64.b64encode(b"me:my:word").decode()


def found(folder: Path, settings: Any, registry: str = REGISTRY) -> Credentials | None:
    (folder / "config.json").write_text(
        settings if isinstance(settings, str) else json.dumps(settings)
    )
    return credentials(registry, {"DOCKER_CONFIG": str(folder)})


def with_helper(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells what it was asked."""
    helper = folder / "docker-credential-test"
    helper.write_text(
        '#!/bin/sh\nread -r registry\nprintf \'{"Username": "%s", "Secret": "%s"}\' "$1" "$registry"\n'
    )
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_who_never_logged_in_is_anybody(tmp_path: Path) -> None:
    assert credentials(REGISTRY, {"HOME": str(tmp_path)}) is None
    assert found(tmp_path, {"auths": {"other.example.org": {"auth": AUTH}}}) is None
    assert found(tmp_path, {"auths": {REGISTRY: {}}}) is None


def test_a_password_may_hold_a_colon(tmp_path: Path) -> None:
    assert found(tmp_path, {"auths": {REGISTRY: {"auth": AUTH}}}) == Credentials("me", "my:word")


def test_who_is_shown_is_shown_without_his_secret() -> None:
    assert repr(Credentials("me", "my:word")) == "Credentials(user='me')"


def test_a_token_of_identity_is_asked_with_and_not_sent(tmp_path: Path) -> None:
    who = found(tmp_path, {"auths": {REGISTRY: {"auth": AUTH, "identitytoken": "t"}}})

    assert who
    assert who.refresh
    assert who.secret == "t"


@pytest.mark.parametrize("settings", [{"credsStore": "test"}, {"credHelpers": {REGISTRY: "test"}}])
def test_a_helper_is_asked_by_docker_s_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    with_helper(tmp_path, monkeypatch)

    assert found(tmp_path, settings) == Credentials("get", REGISTRY)


@pytest.mark.parametrize("name", ["docker.io", "index.docker.io", "registry-1.docker.io"])
def test_docker_s_own_registry_has_one_entry_under_all_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with_helper(tmp_path, monkeypatch)

    assert found(tmp_path, {"auths": {HUB: {"auth": AUTH}}}, name) == Credentials("me", "my:word")
    assert found(tmp_path, {"auths": {name: {"auth": AUTH}}}, name) == Credentials("me", "my:word")
    for settings in ({"credsStore": "test"}, {"credHelpers": {HUB: "test"}}):
        assert found(tmp_path, settings, name) == Credentials("get", HUB)
    assert found(tmp_path, {"auths": {HUB: {"auth": AUTH}}}) is None


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("{", "docker's settings .* cannot be read"),
        ({"auths": {REGISTRY: {"auth": "!"}}}, "is no password in its form"),
        (
            {"credsStore": "nobody-has-this"},
            "docker-credential-nobody-has-this, which is not on the PATH",
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_told(tmp_path: Path, settings: Any, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        found(tmp_path, settings)

"""What tokens and pods tell of keys."""

from __future__ import annotations

import base64
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.rotate.tokens import bearing, kid, lasting, volumes
from cwiictl.rotate.waits import Volume

OLD = "A" * 12


def a_token(key: str) -> str:
    return jwt.encode({"sub": "somebody"}, "a secret that is long enough for it", headers={"kid": key})


def a_pod(*sources: Any, phase: str = "Running", **changes: Any) -> dict[str, Any]:
    projected = [{"name": "token", "projected": {"sources": [{"serviceAccountToken": source} for source in sources]}}]
    return {
        "metadata": {"namespace": "shop", "name": "web-1"},
        "spec": {"volumes": [{"name": "tmp", "emptyDir": {}}, *projected]},
        "status": {"phase": phase, **changes},
    }


def a_secret(name: str, token: str) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop", "name": name}, "data": {"token": base64.b64encode(token.encode()).decode()}}


def test_the_id_of_its_key_is_read_off_a_token() -> None:
    assert kid(a_token("B" * 43)) == "B" * 43


@given(st.text(max_size=60))
def test_what_is_no_token_has_no_key(text: str) -> None:
    assert kid(text) == ""


@pytest.mark.parametrize("header", ["[]", "1", '{"alg": "none"}'])
def test_nor_has_what_only_looks_like_one(header: str) -> None:
    assert kid(f"{base64.urlsafe_b64encode(header.encode()).decode()}.e30.") == ""


def test_every_token_of_a_pod_that_may_run_is_seen() -> None:
    cloud, own = {"audience": "sts.amazonaws.com", "expirationSeconds": 86400, "path": "token"}, {"path": "token"}

    assert list(volumes([a_pod(cloud, own)])) == [Volume("shop/web-1", "sts.amazonaws.com", 86400), Volume("shop/web-1", "", 3600)]
    assert list(volumes([a_pod(cloud, phase="Succeeded"), a_pod(cloud, phase="Failed")])) == []
    assert len(list(volumes([a_pod(cloud, phase="Pending")]))) == 1
    assert list(volumes([{"metadata": {"name": "bare"}, "spec": {}}])) == []


def test_only_secrets_that_the_old_key_has_signed_are_named() -> None:
    secrets = [a_secret("old", a_token(OLD + "x" * 31)), a_secret("new", a_token("B" * 43)), {"metadata": {"namespace": "shop", "name": "empty"}}]

    assert list(bearing(secrets, OLD)) == ["shop/old"]


def test_tokens_that_are_good_for_a_year_are_those_of_pods_from_before() -> None:
    own, since = {"expirationSeconds": 3607, "path": "token"}, "2026-11-19T12:00:00Z"
    before, after = a_pod(own, startTime="2026-11-19T11:59:59Z"), a_pod(own, startTime="2026-11-19T12:00:00Z")
    other = a_pod({"expirationSeconds": 3607, "audience": "sts.amazonaws.com"}, {"expirationSeconds": 7200}, startTime="2026-11-19T11:00:00Z")

    assert list(lasting([before, after, other, a_pod(own)], since)) == ["shop/web-1"]
    assert list(lasting([a_pod(own, phase="Succeeded", startTime="2026-11-19T11:00:00Z")], since)) == []

"""What tokens and pods tell of keys."""

from __future__ import annotations

import base64
from typing import Any

import jwt

from cwiictl.rotate.tokens import bearing, lasting, volumes
from cwiictl.rotate.waits import Volume

OLD = "A" * 12
MADE, LATER = "2026-11-19T11:59:59Z", "2026-11-19T12:00:00Z"


def a_token(key: str) -> str:
    return jwt.encode(
        {"sub": "somebody"}, "a secret that is long enough for it", headers={"kid": key}
    )


def a_pod(*sources: Any, phase: str = "Running", **changes: Any) -> dict[str, Any]:
    projected = [
        {
            "name": "token",
            "projected": {"sources": [{"serviceAccountToken": source} for source in sources]},
        }
    ]
    return {
        "metadata": {"namespace": "shop", "name": "web-1", "creationTimestamp": MADE},
        "spec": {"volumes": [{"name": "tmp", "emptyDir": {}}, *projected]},
        "status": {"phase": phase, **changes},
    }


def a_secret(name: str, token: str) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "shop", "name": name},
        "data": {"token": base64.b64encode(token.encode()).decode()},
    }


def test_every_token_of_a_pod_that_may_run_is_seen() -> None:
    cloud, own = (
        {"audience": "sts.amazonaws.com", "expirationSeconds": 86400, "path": "token"},
        {"path": "token"},
    )

    assert list(volumes([a_pod(cloud, own)], LATER)) == [
        Volume("shop/web-1", "sts.amazonaws.com", 86400, "token"),
        Volume("shop/web-1", "", 3600, "token"),
    ]
    assert (
        list(volumes([a_pod(cloud, phase="Succeeded"), a_pod(cloud, phase="Failed")], LATER)) == []
    )
    assert len(list(volumes([a_pod(cloud, phase="Pending")], LATER))) == 1
    assert list(volumes([{"metadata": {"name": "bare"}, "spec": {}}], LATER)) == []


def test_a_pod_that_was_made_since_has_no_token_of_the_old_key() -> None:
    assert (
        list(
            volumes(
                [a_pod({"audience": "sts.amazonaws.com", "expirationSeconds": 31_536_000})], MADE
            )
        )
        == []
    )


def test_only_secrets_that_the_old_key_has_signed_are_named() -> None:
    secrets = [
        a_secret("old", a_token(OLD + "x" * 31)),
        a_secret("new", a_token("B" * 43)),
        {"metadata": {"namespace": "shop", "name": "empty"}},
    ]

    assert list(bearing(secrets, OLD)) == ["shop/old"]


def test_a_token_that_names_no_key_may_be_of_the_old_one() -> None:
    """As they all did in the first years."""
    assert list(bearing([a_secret("ancient", a_token(""))], OLD)) == [
        "shop/ancient (which names no key)"
    ]


def test_tokens_that_are_good_for_a_year_are_those_of_pods_from_before() -> None:
    own, since = {"expirationSeconds": 3607, "path": "token"}, "2026-11-19T12:00:00Z"
    before, after = (
        a_pod(own, startTime="2026-11-19T11:59:59Z"),
        a_pod(own, startTime="2026-11-19T12:00:00Z"),
    )
    other = a_pod(
        {"expirationSeconds": 3607, "audience": "sts.amazonaws.com"},
        {"expirationSeconds": 7200},
        startTime="2026-11-19T11:00:00Z",
    )

    assert list(lasting([before, after, other, a_pod(own)], since)) == ["shop/web-1"]
    assert (
        list(lasting([a_pod(own, phase="Succeeded", startTime="2026-11-19T11:00:00Z")], since))
        == []
    )

"""From one configuration to the next: what API servers may be told before replicas are of the new kind, and before each entry has its bundle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cwiictl.install.body import Object
from cwiictl.install.configuration import softened

Body = Mapping[str, Any]

CONFIGURATION = "MutatingWebhookConfiguration"
REQUIRE = "-require"


def asks(body: Body) -> bool:
    """Whether pods are held up by it: then it comes when there is somebody to answer."""
    return body["kind"] == CONFIGURATION or (
        body["kind"].startswith("ValidatingAdmissionPolicy")
        and body["metadata"]["name"].endswith(REQUIRE)
    )


def of(bodies: Iterable[Object]) -> Object:
    return next(body for body in bodies if body["kind"] == CONFIGURATION)


def fewer(standing: Body | None, wanted: Object) -> Iterator[Object]:
    """Where a route goes: before any replica that answers it does, what is left of the entries that are there and believed."""
    if standing and bundled(standing) and _paths(standing) - _paths(wanted):
        there = {entry["name"] for entry in standing["webhooks"]}
        yield {
            **wanted,
            "webhooks": [entry for entry in wanted["webhooks"] if entry["name"] in there],
        }


def first(standing: Body | None, wanted: Object) -> Iterator[Object]:
    """Where none stands yet, nobody is refused by it. Where a run was cut before all had bundles, those that have theirs stay as they are."""
    there = {entry["name"] for entry in (standing or {}).get("webhooks") or ()}
    if not there:
        yield softened(wanted)
    elif standing and not bundled(standing):
        yield _believed(
            standing,
            {
                **wanted,
                "webhooks": [entry for entry in wanted["webhooks"] if entry["name"] in there],
            },
        )


def between(standing: Body | None, wanted: Object) -> Iterator[Object]:
    """Where entries are new, and whoever makes bundles has to see them first."""
    if {entry["name"] for entry in wanted["webhooks"]} - _certified(standing):
        yield _believed(standing, wanted)


def bundled(standing: Body) -> bool:
    """Whether all that it names are believed by a CA."""
    webhooks = standing.get("webhooks") or ()
    return bool(webhooks) and all(
        entry.get("clientConfig", {}).get("caBundle") for entry in webhooks
    )


def _believed(standing: Body | None, wanted: Object) -> Object:
    """An entry without a bundle refuses nobody."""
    softer, certified = (
        {entry["name"]: entry for entry in softened(wanted)["webhooks"]},
        _certified(standing),
    )
    return {
        **wanted,
        "webhooks": [
            entry if entry["name"] in certified else softer[entry["name"]]
            for entry in wanted["webhooks"]
        ],
    }


def _certified(standing: Body | None) -> set[str]:
    return {
        entry["name"]
        for entry in (standing or {}).get("webhooks") or ()
        if entry.get("clientConfig", {}).get("caBundle")
    }


def _paths(configuration: Body) -> set[str]:
    return {_path(entry) for entry in configuration.get("webhooks") or ()}


def _path(entry: Body) -> str:
    return str(entry["clientConfig"].get("service", {}).get("path", ""))

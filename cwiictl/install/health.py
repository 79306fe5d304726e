"""How an installed webhook is, judged from what its cluster shows of it, and from what its replicas say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cwiictl.install.release import release
from cwiictl.install.rollout import rollout

Body = Mapping[str, Any]
Word = Literal["as wanted", "drifted", "missing", "failed"]

AGE, BUILD, LET_THROUGH = (
    "cwii_cache_age_seconds",
    "cwii_build_info",
    "apiserver_admission_webhook_fail_open_count",
)
STALE = 300.0  # seconds: a watch is heard from once a minute, whatever happens
_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Finding:
    word: Word
    remarks: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""


def running(
    deployment: Body | None,
    pods: Sequence[Body],
    events: Iterable[Body],
    versions: Sequence[str] = (),
) -> Finding:
    """Its image, the versions of those who answer, and how many of its replicas are ready."""
    if deployment is None:
        return Finding(
            "missing", ("nobody answers: run install-webhook again, or uninstall-webhook",)
        )
    now = rollout(deployment, pods, events)
    (image, *_) = [
        container["image"] for container in deployment["spec"]["template"]["spec"]["containers"]
    ]
    told = (
        f"image {image}",
        *([f"version {' and '.join(versions)}"] if versions else []),
        *_helms(deployment),
        str(now),
    )
    if not now.wanted:
        return Finding(
            "failed",
            told,
            "nobody answers: it is scaled to no replicas",
            "scale it up, or run install-webhook again",
        )
    if now.whole:
        return Finding("as wanted", told)
    why = "; ".join(now.hindrances)
    return Finding(
        "failed",
        told,
        f"{now}{f': {why}' if why else ''}",
        "mend what hinders it, or run install-webhook again",
    )


def _helms(deployment: Body) -> Iterator[str]:
    if helms := release(deployment):
        yield f"it is {helms}"


def permitted(lacking: Iterable[object]) -> Finding:
    """Whoever answers reviews has to read what they are about."""
    told = ", ".join(map(str, lacking))
    return (
        Finding("failed", (), f"its ServiceAccount may not {told}", "run install-webhook again")
        if told
        else Finding("as wanted")
    )


def replica(ready: str, metrics: str) -> Finding:
    """`ready` is what it answers when it is asked why it is not, or empty."""
    ages = [value for _, value in samples(metrics, AGE)]
    told = (f"its picture of the cluster is {max(ages):.0f} s old",) if ages else ()
    if ready:
        return Finding(
            "failed", told, f"it is not ready: {ready}", "mend what it says, and see its log"
        )
    if ages and max(ages) > STALE:
        return Finding(
            "failed",
            told,
            f"it has not heard of the cluster for {max(ages):.0f} s",
            "see its log, and whether it reaches the API server",
        )
    return Finding("as wanted", told)


def let_through(metrics: str, configuration: Body) -> int:
    """How many pods an API server has let through since it started, because nobody answered."""
    ours = {entry["name"] for entry in configuration.get("webhooks") or ()}
    return int(
        sum(value for labels, value in samples(metrics, LET_THROUGH) if labels.get("name") in ours)
    )


def versions(metrics: Iterable[str]) -> tuple[str, ...]:
    """Of those who say so, each once."""
    found = {
        labels.get("version", "")
        for exposition in metrics
        for labels, _ in samples(exposition, BUILD)
    }
    return tuple(sorted(found - {""}))


def samples(exposition: str, name: str) -> Iterator[tuple[dict[str, str], float]]:
    """Of one metric, in Prometheus' text."""
    for line in exposition.splitlines():
        if line.startswith(name) and (found := _SAMPLE.match(line)) and found["name"] == name:
            yield dict(_LABEL.findall(found["labels"] or "")), float(found["value"])

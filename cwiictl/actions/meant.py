"""Which webhook a pod is explained by: the one that was told behind --, or the one that the cluster has installed, or ours as it is by default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cwii_webhook.dialects.common.external_config import ConfigMapKey, ExternalConfig
from cwii_webhook.dialects.dialect import Service
from cwii_webhook.dialects.registry import routes

from cwiictl.actions.cluster import version
from cwiictl.actions.installed import Installed, installed
from cwiictl.errors import BadInput, Denied
from cwiictl.explain import Unasked
from cwiictl.explain.installed import services
from cwiictl.explain.parts import listed, within
from cwiictl.explain.selection import paths
from cwiictl.install.conditions import BEYOND, MIRROR, PREFIXES
from cwiictl.kubernetes import Place

Body = Mapping[str, Any]
DEFAULTS = "by what it does by default: give its own flags behind --"


@dataclass(frozen=True)
class Way:
    """Of one dialect. `configuration` is what API servers ask it by, and `at` where; empty if there is none, and None if it is not known whether there is."""

    service: Service
    configuration: Body | None = None
    at: frozenset[str] = frozenset()

    @property
    def sources(self) -> tuple[ExternalConfig, ...]:
        """Of what it heeds besides annotations, what is at hand: the files of one that runs in a cluster are where its pods are."""
        return (
            self.service.external_config
            if self.configuration is None
            else tuple(
                each
                for each in self.service.external_config
                if isinstance(each.location, ConfigMapKey)
            )
        )

    def unasked(self, namespace: Body | None, pod: Body) -> Unasked | None:
        """Why no API server asks about such a pod, as far as that can be told: who may not read its namespace is shown what would be."""
        if self.configuration is None:
            return None
        if not self.configuration:
            return Unasked.NOT_CONFIGURED
        if namespace is None:
            return None
        about = within(namespace, "metadata")
        asked = paths(
            self.configuration, within(about, "labels"), within(pod, "metadata", "labels")
        )
        chosen = not str(about.get("name", "")).startswith(PREFIXES) and not self.at.isdisjoint(
            asked
        )
        return None if chosen else Unasked.NOT_SELECTED


@dataclass(frozen=True)
class Found:
    """`by` is whose word it is how they decide, to be told; and none speaks the dialect that was asked for if there are no ways."""

    ways: tuple[Way, ...] = ()
    by: tuple[str, ...] = ()


def found(place: Place, dialect: str) -> Found:
    """Of all that are installed in the cluster; of the dialect alone, if one is named."""
    try:
        those = installed(place)
    except BadInput:
        return Found(
            by=(f"No webhook of cwiictl's is installed in this cluster: explained {DEFAULTS}.",)
        )
    except Denied as e:
        return Found(
            by=(
                f"What webhook is installed in this cluster cannot be read ({e.problem}): explained {DEFAULTS}.",
            )
        )
    ways = {
        one.name: tuple(
            way for way in _ways(one, place) if dialect in {"", way.service.route.dialect}
        )
        for one in those
    }
    if not any(ways.values()):
        lacks = f"answers in the dialect {dialect}" if dialect else "has a Deployment"
        return Found(
            by=(f"No webhook that is installed in this cluster {lacks}: explained {DEFAULTS}.",)
        )
    by = (sentence for one in those if ways[one.name] for sentence in _by(one))
    return Found(tuple(way for some in ways.values() for way in some), tuple(by))


def _by(one: Installed) -> Iterator[str]:
    yield f"As Deployment {one.namespace}/{one.name} is told to."
    ours = (MIRROR["name"], BEYOND["name"])
    entries = listed(one.configuration or {}, "webhooks")
    theirs = dict.fromkeys(
        each["name"]
        for entry in entries
        for each in listed(entry, "matchConditions")
        if each["name"] not in ours
    )
    if theirs:
        yield f"The matchConditions of {one.name} are not looked at here ({', '.join(theirs)}): API servers do not ask about pods that they leave out."


def _ways(one: Installed, place: Place) -> Iterator[Way]:
    offered = services(one.deployment, version(place)) if one.deployment else ()
    by_path, configuration = routes(offered), one.configuration or {}
    asked = {
        str(within(entry, "clientConfig", "service").get("path", ""))
        for entry in listed(configuration, "webhooks")
    }
    for each in offered:
        yield Way(
            each,
            configuration,
            frozenset(path for path in asked if by_path.get(path.encode()) is each.route),
        )

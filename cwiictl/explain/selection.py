"""Which pods API servers ask about, and at which paths: selectors, as an API server matches them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cwiictl.explain.parts import listed, within

Body = Mapping[str, Any]
Labels = Mapping[str, str]


def paths(configuration: Body, around: Labels, pod: Labels) -> tuple[str, ...]:
    """For a pod that is made in a namespace with these labels: each once, in the order of the configuration."""
    return tuple(dict.fromkeys(_asked(configuration, around, pod)))


def matches(selector: Body, labels: Labels) -> bool:
    """One that says nothing matches all."""
    exact = all(labels.get(key) == value for key, value in within(selector, "matchLabels").items())
    return exact and all(_meets(each, labels) for each in listed(selector, "matchExpressions"))


def _asked(configuration: Body, around: Labels, pod: Labels) -> Iterator[str]:
    for entry in listed(configuration, "webhooks"):
        chosen = matches(within(entry, "namespaceSelector"), around) and matches(
            within(entry, "objectSelector"), pod
        )
        if chosen and any(map(_of_new_pods, listed(entry, "rules"))):
            yield str(within(entry, "clientConfig", "service").get("path", ""))


def _of_new_pods(rule: Body) -> bool:
    return bool({"pods", "*", "*/*"} & {*rule.get("resources", ())}) and bool(
        {"CREATE", "*"} & {*rule.get("operations", ())}
    )


def _meets(expression: Body, labels: Labels) -> bool:
    key, among = str(expression["key"]), set[str](expression.get("values") or ())
    match expression["operator"]:
        case "In":
            return labels.get(key) in among
        case "NotIn":
            return labels.get(key) not in among
        case "Exists":
            return key in labels
        case _:
            return key not in labels

"""Another webhook that hears the same annotations: two of them may give a pod different things, and who comes last is chance."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cwiictl.errors import Conflict
from cwiictl.install.release import release
from cwiictl.install.values import DIALECTS, Values

# What entries of others are called, and, where that is said of others too, what around them has to be like.
_ENTRIES: Mapping[str, str] = {
    "iam-for-pods.amazonaws.com": "eks",
    "pod-identity-webhook.amazonaws.com": "eks",
    "pod-identity-webhook.aws.mutate.io": "eks",
    "mutation.azure-workload-identity.io": "azwi",
    "pod-identity-webhook.azure.mutate.io": "azwi",
    "pod-identity-webhook.gcp.mutate.io": "gcpwif",
    "mutate.cwii.dev": "cwii",
}
_OURS = re.compile(rf"(?:pods|required|ephemeral)\.(?P<dialect>{'|'.join(DIALECTS)})\.cwii\.dev")
_GENERATED, _GCP = "mpod.kb.io", re.compile(r"gcp.*(wif|workload-identity)")


def rivals(
    values: Values, configurations: Iterable[Mapping[str, Any]]
) -> Mapping[str, tuple[str, ...]]:
    """By the names of their configurations, which of our dialects they hear."""
    found = {
        each["metadata"]["name"]: set(_heard(each))
        for each in configurations
        if each["metadata"]["name"] != values.name
    }
    shared = {
        name: tuple(dialect for dialect in values.dialects if dialect in heard)
        for name, heard in sorted(found.items())
    }
    return {name: dialects for name, dialects in shared.items() if dialects}


def check(values: Values, configurations: Iterable[Mapping[str, Any]]) -> None:
    those = {each["metadata"]["name"]: each for each in configurations}
    if not values.beside and (found := rivals(values, those.values())):
        told = "; ".join(
            f"{name} ({', '.join(dialects)}){_whose(those[name])}"
            for name, dialects in found.items()
        )
        raise Conflict(
            f"another webhook hears the same annotations: MutatingWebhookConfiguration {told}",
            remedy="take that one away first, leave its dialect out of dialects, or say --beside to have both",
        )


def _whose(configuration: Mapping[str, Any]) -> str:
    helms = release(configuration)
    return f", of {helms}" if helms else ""


def _heard(configuration: Mapping[str, Any]) -> Iterator[str]:
    for entry in configuration.get("webhooks") or ():
        if ours := _OURS.fullmatch(entry["name"]):
            yield ours["dialect"]
        elif entry["name"] in _ENTRIES:
            yield _ENTRIES[entry["name"]]
        elif entry["name"] == _GENERATED and _GCP.search(_around(configuration, entry)):
            yield "gcpwif"


def _around(configuration: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    client: Mapping[str, Any] = entry["clientConfig"]
    service: Mapping[str, str] = client.get("service", {})
    return " ".join(
        [configuration["metadata"]["name"], service.get("namespace", ""), service.get("name", "")]
    )

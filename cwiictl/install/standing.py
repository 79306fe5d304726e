"""An installation that is there already, and what of it cannot be changed in place: where it runs, and who makes its certificates.

Either would take its Secret or its CA from replicas that still serve with it, and pods would be refused, or go without, until all is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.errors import Conflict
from cwiictl.install.body import labels
from cwiictl.install.configuration import MAKERS
from cwiictl.install.rollover import bundled
from cwiictl.install.values import Values

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """As much of it as there is."""

    configuration: Body | None
    account: Body | None  # the renewer's

    @property
    def namespace(self) -> str:
        return served_from(self.configuration) if self.configuration else ""

    @property
    def maker(self) -> str:
        """Of certificates, in the words of `certificates.by`. Who has left no trace has yet to come."""
        words: Mapping[str, str] = (self.configuration["metadata"].get("annotations") or {}) if self.configuration else {}
        if said := next((by for by, key in MAKERS.items() if key in words), ""):
            return said
        if self.account:
            return "renewer"
        return "files" if self.configuration and bundled(self.configuration) else ""


def standing(values: Values, configuration: Body | None, account: Body | None) -> Standing:
    """What another calls so is no installation: that it is in the way is told elsewhere."""
    words: Mapping[str, str] = (configuration["metadata"].get("labels") or {}) if configuration else {}
    return Standing(configuration if labels(values).items() <= words.items() else None, account)


def served_from(configuration: Body) -> str:
    entries = configuration.get("webhooks") or ()
    return next((service["namespace"] for entry in entries if (service := entry["clientConfig"].get("service"))), "")


def check(values: Values, there: Standing) -> None:
    if there.namespace not in {"", values.namespace}:
        raise _another(values, f"runs in the namespace {there.namespace}, and namespace is {values.namespace}", f"namespace={there.namespace}")
    if there.maker not in {"", values.certificates.by}:
        told = f"has its certificates by {there.maker}, and certificates.by is {values.certificates.by}"
        raise _another(values, told, f"certificates.by={there.maker}")


def _another(values: Values, why: str, same: str) -> Conflict:
    """Two of them beside each other give a pod what one gives."""
    return Conflict(
        f"the webhook {values.name} {why}: that is not changed in place",
        remedy=f"leave it so with --set {same}, or take it out first with cwiictl uninstall-webhook --name {values.name}; so that no pod goes without"
        " meanwhile, install the new one --beside it, under a name and namespace of its own, and take this one out then",
    )

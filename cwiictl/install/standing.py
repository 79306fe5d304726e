"""An installation that is there already, and what of it cannot be changed in place: whose it is, where it runs, and who makes its certificates.

Of the last two, either would take its Secret or its CA from replicas that still serve with it, and pods would be refused, or go without, until all is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.errors import Conflict
from cwiictl.install.body import labels
from cwiictl.install.configuration import MAKERS
from cwiictl.install.release import release
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
        words: Mapping[str, str] = (
            (self.configuration["metadata"].get("annotations") or {}) if self.configuration else {}
        )
        if said := next((by for by, key in MAKERS.items() if key in words), ""):
            return said
        if self.account:
            return "renewer"
        return "files" if self.configuration and bundled(self.configuration) else ""


def standing(values: Values, configuration: Body | None, account: Body | None) -> Standing:
    """What another calls so is no installation: that it is in the way is told elsewhere."""
    words: Mapping[str, str] = (
        (configuration["metadata"].get("labels") or {}) if configuration else {}
    )
    return Standing(configuration if labels(values).items() <= words.items() else None, account)


def served_from(configuration: Body) -> str:
    entries = configuration.get("webhooks") or ()
    return next(
        (
            service["namespace"]
            for entry in entries
            if (service := entry["clientConfig"].get("service"))
        ),
        "",
    )


def check(values: Values, there: Standing) -> None:
    if there.configuration and (helms := release(there.configuration)):
        raise _another(
            values,
            f"is {helms}, which helm alone changes",
            "change it with helm upgrade",
            helms.ending,
        )
    ending = f"cwiictl uninstall-webhook --name {values.name}"
    if there.namespace not in {"", values.namespace}:
        told = f"runs in the namespace {there.namespace}, and namespace is {values.namespace}: that is not changed in place"
        raise _another(values, told, f"leave it so with --set namespace={there.namespace}", ending)
    if there.maker not in {"", values.certificates.by}:
        told = f"has its certificates by {there.maker}, and certificates.by is {values.certificates.by}: that is not changed in place"
        raise _another(
            values, told, f"leave it so with --set certificates.by={there.maker}", ending
        )


def _another(values: Values, why: str, instead: str, ending: str) -> Conflict:
    """Two of them beside each other give a pod what one gives."""
    return Conflict(
        f"the webhook {values.name} {why}",
        remedy=f"{instead}, or take it out first with {ending}; so that no pod goes without meanwhile, install the new one --beside it, under a name and"
        " namespace of its own, and take this one out then",
    )

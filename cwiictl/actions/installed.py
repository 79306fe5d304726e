"""Webhooks of ours that are installed in a cluster, whoever has installed them: found by what they are called."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.errors import BadInput
from cwiictl.install.body import PROGRAM
from cwiictl.install.rollover import CONFIGURATION
from cwiictl.install.standing import served_from
from cwiictl.kubernetes import Place
from cwiictl.kubernetes.place import Body

DEPLOYMENT = "Deployment.apps"
SELECTOR = f"app.kubernetes.io/name={PROGRAM}"


@dataclass(frozen=True)
class Installed:
    """As much of it as there is."""

    name: str
    namespace: str
    deployment: Body | None
    configuration: Body | None

    @property
    def beside(self) -> bool:
        """An API server: in its pod, and so in the cluster that this one runs in, if not on a node as a static pod."""
        return any(
            "url" in entry["clientConfig"]
            for entry in (self.configuration or {}).get("webhooks") or ()
        )


def installed(place: Place) -> tuple[Installed, ...]:
    """In the order in which API servers ask them: that of their configurations' names, wherever they run."""
    deployments = {
        each["metadata"]["name"]: each for each in place.api.list(DEPLOYMENT, selector=SELECTOR)
    }
    configurations = {
        each["metadata"]["name"]: each for each in place.api.list(CONFIGURATION, selector=SELECTOR)
    }
    names = sorted({*deployments, *configurations})
    if not names:
        raise BadInput(
            "no webhook of cwiictl's is installed in this cluster",
            remedy="install it with cwiictl install-webhook, or choose another --context",
        )
    return tuple(
        _installed(name, deployments.get(name), configurations.get(name)) for name in names
    )


def _installed(name: str, deployment: Body | None, configuration: Body | None) -> Installed:
    if deployment:
        return Installed(name, deployment["metadata"]["namespace"], deployment, configuration)
    return Installed(name, served_from(configuration) if configuration else "", None, configuration)

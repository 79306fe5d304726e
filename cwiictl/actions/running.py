"""A running cluster, as a rotation asks it: its API servers one by one, its pods, and the tokens that lie in Secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cwiictl import kubernetes
from cwiictl.errors import BadInput, Denied, Failed, Problem
from cwiictl.issuer.token import said
from cwiictl.kubernetes.place import Api, Place
from cwiictl.rotate.servers import Server
from cwiictl.rotate.waits import SKEW

ACCOUNT = ("default", "default")  # every cluster has it
AUDIENCE = "rotation.cwii.dev"  # nobody's: such a token is good for nothing
SECONDS = 600
TOKEN = "kubernetes.io/service-account-token"  # noqa: S105 - a type of Secret
LEASES = "apiserver.kubernetes.io/identity=kube-apiserver"
STALE = (
    SKEW + 60
)  # seconds behind the freshest; an API server renews its own every ten by its own clock, and takes it away when it ends in peace
LEAVING = 300  # seconds that an API server may go on signing when the Service names it no more: OpenShift's is given 210 for that, and 60 for its last requests
SERVICE = "the Service kubernetes"
UNASKED = (
    "where several are behind one address, as of a hosted control plane, give each one's own as --api-server URL, through a port-forward if need be;"
    f" the Lease of one that runs no more counts for {STALE // 60} minutes: wait, or delete it in kube-system"
)
_STARTED = re.compile(r"^process_start_time_seconds ([0-9.e+]+)$", re.MULTILINE)
_URL = re.compile(r"https://(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::([0-9]+))?/?")


class Running:
    def __init__(
        self,
        place: Place,
        each: Callable[[], Mapping[str, Api]],
        namer: str = SERVICE,
        changed: Callable[[], float | None] = lambda: None,
    ) -> None:
        """`each` are the API servers at their own addresses, as `namer` has them. `changed` says when one came or went last, if anybody noted it."""
        self.place, self.each, self.namer, self.changed, self.doubt = (
            place,
            each,
            namer,
            changed,
            "",
        )

    @property
    def context(self) -> str:
        return self.place.context

    def servers(self) -> Sequence[Server]:
        """And one more for those that nobody can ask: which run, and have no address of their own here."""
        asked = [_server(address, api) for address, api in sorted(self.each().items())]
        running = self._running()
        if len(running) <= len(asked):
            return asked
        told = f"{len(running)} renew their Leases ({', '.join(running)}), and {self.namer} names {len(asked)}, so not each could be asked"
        return [*asked, Server("not asked", problem=told, remedy=UNASKED)]

    def _running(self) -> Sequence[str]:
        """The machines of API servers that renew their Leases; what stands against knowing them is kept."""
        try:
            leases = self.place.api.list("Lease.coordination.k8s.io", "kube-system", LEASES)
        except Denied as e:
            leases, why = [], e.problem
        else:
            why = "" if leases else "none has a Lease in kube-system"
        self.doubt = (
            f"Whether API servers run that {self.namer} does not name is not known: {why}."
            if why
            else ""
        )
        return renewing(leases)

    def pods(self) -> Sequence[Mapping[str, Any]]:
        return self.place.api.list("Pod")

    def drivers(self) -> Sequence[Mapping[str, Any]]:
        return self.place.api.list("CSIDriver.storage.k8s.io")

    def started(self) -> float:
        """When the last of the API servers was, by its own clock: what each is told, it has been told since then."""
        return max(_started(address, api) for address, api in self.each().items())

    def ended(self) -> float | None:
        """When the last that is gone was, if that is known: who is named no more may answer for a while."""
        changed = self.changed()
        return None if changed is None else changed + LEAVING

    def token_secrets(self) -> Sequence[Mapping[str, Any]]:
        """No other Secret is read: what is in them is nobody's business here."""
        return self.place.api.list("Secret", fields=f"type={TOKEN}")


def renewing(leases: Sequence[Mapping[str, Any]]) -> list[str]:
    """By each other's clocks: who asks has been answered by one that renews."""
    moments = [
        (datetime.fromisoformat(lease["spec"]["renewTime"]), _machine(lease))
        for lease in leases
        if lease["spec"].get("renewTime")
    ]
    newest = max((moment for moment, _ in moments), default=None)
    return sorted(
        machine
        for moment, machine in moments
        if newest and (newest - moment).total_seconds() < STALE
    )


def _machine(lease: Mapping[str, Any]) -> str:
    return str(
        lease["metadata"].get("labels", {}).get("kubernetes.io/hostname")
        or lease["metadata"]["name"]
    )


def connecting(
    kubeconfig: Path | None, context: str | None, urls: Iterable[str] = ()
) -> Callable[[], Running]:
    """`urls` are the API servers' own, of whoever knows them better than the cluster does."""
    addresses = [_address(url) for url in urls]

    def connect() -> Running:
        place = kubernetes.connect(kubeconfig, context)
        from cwiictl.kubernetes.stores.endpoints import changed, endpoints, named  # noqa: PLC0415 - whoever asks no cluster loads no client

        if addresses:
            return Running(place, lambda: named(place.api, addresses), "--api-server")
        return Running(place, lambda: endpoints(place.api), changed=lambda: changed(place.api))

    return connect


def _address(url: str) -> str:
    found = _URL.fullmatch(url)
    if not found:
        raise BadInput(
            f"--api-server {url} is not the address of an API server",
            remedy="write it like https://10.0.0.11:6443",
        )
    return f"{found[1]}:{found[2] or 443}"


def _started(address: str, api: Api) -> float:
    found = _STARTED.search(api.text("/metrics"))
    if not found:
        raise Failed(
            f"the API server {address} does not say in /metrics when it was started",
            remedy="see what kubectl get --raw /metrics shows",
        )
    return float(found[1])


def _server(address: str, api: Api) -> Server:
    """Its token is looked at for its key's id, and forgotten."""
    try:
        keys: Any = api.document("/openid/v1/jwks")["keys"]
        signs = said(api.token(*ACCOUNT, AUDIENCE, SECONDS))
    except Problem as e:
        return Server(address, problem=f"it cannot be asked: {e.problem}")
    if not (signs and signs.claims.get("iss")):
        return Server(address, problem="the token that it gives is none that names its issuer")
    return Server(
        address,
        {str(key["kid"]): key for key in keys if "kid" in key},
        signs.kid,
        issuer=str(signs.claims["iss"]),
    )

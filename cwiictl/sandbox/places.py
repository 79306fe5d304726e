"""The table of host names: which cloud, or which folder, is which host.

A further cloud is a package with a Place, and a line in CLOUDS. A further service of a cloud is a module with a Part, and a line in the table of parts
where its Place is made (`Aws`, or Azure's and Google's `Realm`); behind a host that is new, its name is added to CLOUDS too. What is asked and
answered are the Request and Response of exchange.py; what an SDK has to find in its environment besides the door is in environment.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from .calls import Interpreter
from .exchange import Request, Response
from .faults import Fault, Faults
from .fetch import Fetcher
from .folders import Folder
from .tokens import Checker


class Part(Protocol):
    """One service: a place, but for the names of its hosts."""

    def action(
        self, request: Request
    ) -> tuple[str, bool]: ...  # what is asked in the service's words, and whether it is a write
    def permissions(
        self, request: Request
    ) -> tuple[str, ...]: ...  # what the caller must be allowed
    def handle(self, request: Request) -> Response: ...
    def fault(
        self, request: Request, fault: Fault
    ) -> Response: ...  # refused, in the service's own wire form
    def expired(
        self, request: Request
    ) -> Response | None: ...  # what a request with expired credentials hears, if it bears any
    def reset(self) -> None: ...


class Place(Part, Protocol):
    """What stands behind some host names."""

    def knows(self, host: str) -> bool: ...  # of the hosts with its suffix


@runtime_checkable
class Crowded(Protocol):
    """A place where many others may have their things too."""

    def crowd(self, count: int, partition: str) -> None: ...


@runtime_checkable
class Called(Protocol):
    """A place that is called by gRPC too, on some of its hosts."""

    def interpreter(self, host: str) -> Interpreter | None: ...


@runtime_checkable
class Furnishing(Protocol):
    """A place that leaves something in the home of who is in the sandbox, for their SDKs to find."""

    def furnish(self, home: Path) -> None: ...


@dataclass(frozen=True)
class Ground:
    """What a cloud stands on."""

    faults: Faults
    checker: Callable[[], Checker]  # each cloud keeps its own cache of issuers' keys
    web: Fetcher  # how a cloud reaches an issuer's host
    thumbprint: str  # SHA-1 of the authority that all hosts here are certified by
    strangers: frozenset[str]  # names of buckets and accounts that somebody else has


def _aws(ground: Ground) -> Place:
    from .aws import Aws  # noqa: PLC0415 - moto takes long to import: only when the sandbox is started

    return Aws(ground)


def _azure(ground: Ground) -> Place:
    from .azure import Azure  # noqa: PLC0415 - only when the sandbox is started

    return Azure(ground)


def _gcp(ground: Ground) -> Place:
    from .gcp import Gcp  # noqa: PLC0415 - only when the sandbox is started

    return Gcp(ground)


CLOUDS: dict[tuple[str, ...], Callable[[Ground], Place]] = {
    (
        ".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".c2s.ic.gov", ".sc2s.sgov.gov", ".cloud.adc-e.uk", ".csp.hci.ic.gov",
        ".cloudfront.net", ".cloudfront.cn",
    ): _aws,
    (
        "management.azure.com", "management.usgovcloudapi.net", "management.chinacloudapi.cn", "login.microsoftonline.com", "login.windows.net",
        "login.microsoft.com", "sts.windows.net", "login.microsoftonline.us", "login.usgovcloudapi.net", "login.partner.microsoftonline.cn",
        "login.chinacloudapi.cn", "graph.microsoft.com", "graph.microsoft.us", "microsoftgraph.chinacloudapi.cn",
        ".blob.core.windows.net", ".blob.core.usgovcloudapi.net", ".blob.core.chinacloudapi.cn",
    ): _azure,
    (".googleapis.com", ".apis-sandbox.goog"): _gcp,
}  # fmt: skip


class Places:
    def __init__(self, ground: Ground, served: Mapping[str, Path]) -> None:
        self._folders: dict[str, Place] = {
            host.lower(): Folder(root) for host, root in served.items()
        }
        self._clouds = [(suffixes, make(ground)) for suffixes, make in CLOUDS.items()]

    def find(self, host: str) -> Place | None:
        if host in self._folders:
            return self._folders[host]
        return next(
            (
                cloud
                for suffixes, cloud in self._clouds
                if host.endswith(suffixes) and cloud.knows(host)
            ),
            None,
        )

    def nobodys(self, host: str) -> bool:
        """Whether it is in a cloud's hands, as no account, bucket or region that there is."""
        return self.find(host) is None and any(
            suffix.startswith(".") and host.endswith(suffix)
            for suffixes, _ in self._clouds
            for suffix in suffixes
        )

    def reset(self) -> None:
        for _, cloud in self._clouds:
            cloud.reset()

    def furnish(self, home: Path) -> None:
        for _, cloud in self._clouds:
            if isinstance(cloud, Furnishing):
                cloud.furnish(home)

    def crowd(self, count: int, partition: str) -> None:
        for _, cloud in self._clouds:
            if isinstance(cloud, Crowded):
                cloud.crowd(count, partition)

"""Who asks for what: CredentialsRequests and the cluster's own file, sorted by cloud. Read and judged before any cloud is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl import files
from cwiictl.actions.order import Order
from cwiictl.actions.result import Row
from cwiictl.clouds import ALL, Cloud
from cwiictl.config import Request, Requests, credentials_requests
from cwiictl.errors import BadInput
from cwiictl.model import Workload

Ask = tuple[Workload, Any]  # and what the cloud made of its wishes
ELSEWHERE = frozenset(
    {"IBMCloudProviderSpec", "NutanixProviderSpec", "OpenStackProviderSpec", "VSphereProviderSpec"}
)


@dataclass(frozen=True)
class Asks:
    wanted: Mapping[str, tuple[Ask, ...]]  # by cloud
    gated: Mapping[str, tuple[Ask, ...]]  # not followed today, and so not left over either
    skipped: tuple[Row, ...]

    @property
    def workloads(self) -> list[Workload]:
        return [workload for some in self.wanted.values() for workload, _ in some]


def asks(order: Order) -> Asks:
    requests = _requests(order)
    clouds = chosen(order)
    wanted = {name: tuple(_wanted(order, requests, cloud)) for name, cloud in clouds.items()}
    gated = {
        name: tuple((r.workload, cloud.ask(r)) for r in requests.gated if r.kind == cloud.KIND)
        for name, cloud in clouds.items()
    }
    if "identities" in order.parts and not any(wanted.values()):
        raise BadInput(
            f"nobody asks {' or '.join(clouds)} for an identity",
            remedy="give --credentials-requests-dir DIR or a cluster.yaml that does",
        )
    for name in clouds:
        if order.prune and not wanted[name]:
            raise BadInput(
                f"nobody asks {name} for anything, so --prune would drop every identity there",
                remedy="give the right requests, or leave --prune out",
            )
    return Asks(wanted, gated, (*_skipped(requests, clouds), *_nothing(order, clouds)))


def chosen(order: Order) -> dict[str, Cloud]:
    for name in order.clouds:
        if name not in ALL:
            known = f"this version knows --cloud {', '.join(ALL)}"
            raise BadInput(f"cwiictl does not know the cloud {name}", remedy=known)
    return {name: ALL[name] for name in order.clouds}


def _wanted(order: Order, requests: Requests, cloud: Cloud) -> Iterator[Ask]:
    yield from (
        (request.workload, cloud.ask(request))
        for request in requests.wanted
        if request.kind == cloud.KIND
    )
    yield from (
        (asked.workload, cloud.ask_of(asked.asks[cloud.name]))
        for asked in order.workloads
        if cloud.name in asked.asks
    )


def _requests(order: Order) -> Requests:
    if "identities" not in order.parts or order.requests is None:
        return Requests((), ())
    requests = credentials_requests(files.folder(order.requests), tech_preview=order.tech_preview)
    if not requests.wanted and not requests.skipped:
        raise BadInput(
            f"the folder {order.requests} holds no CredentialsRequest",
            remedy="give the folder that they were extracted to",
        )
    kinds = {cloud.KIND for cloud in ALL.values()}
    for request in requests.wanted:
        if request.kind not in kinds | ELSEWHERE:
            raise BadInput(
                f"{request.source}: {request.name} asks for {request.kind}, which no cloud has",
                remedy=f"give one of: {', '.join(sorted(kinds))}",
            )
    return requests


def _skipped(requests: Requests, clouds: Mapping[str, Cloud]) -> Iterator[Row]:
    kinds = {cloud.KIND for cloud in clouds.values()}
    for skipped in requests.skipped:
        yield Row(skipped.name or skipped.source, "not tried", problem=skipped.why)
    for request in requests.wanted:
        if request.kind not in kinds:
            yield Row(request.name, "not tried", problem=_elsewhere(request))


def _nothing(order: Order, clouds: Mapping[str, Cloud]) -> Iterator[Row]:
    for asked in order.workloads:
        if not asked.asks.keys() & clouds.keys():
            yield Row(
                asked.workload.title,
                "not tried",
                problem=f"it asks nothing of {' or '.join(clouds)}",
            )


def _elsewhere(request: Request) -> str:
    return f"it asks for {request.kind}, of a cloud that was not selected"

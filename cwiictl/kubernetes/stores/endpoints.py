"""Each API server of a cluster at its own address, and not through whoever balances them: what is true of one need not be true of the next."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from cwiictl.kubernetes.place import Api
from cwiictl.kubernetes.stores.asked import Asked
from cwiictl.kubernetes.stores.wire import Wire

NAME = (
    "kubernetes.default.svc"  # which the certificate of every API server has, whatever its address
)
NOTHING: Mapping[str, Any] = {}
SELECTOR = "kubernetes.io/service-name=kubernetes"


def endpoints(api: Api) -> dict[str, Asked]:
    """By address. Who is not ready is none: it comes back with what it is started with."""
    return named(api, (address for each in _slices(api) for address in _addresses(each)))


def named(api: Api, addresses: Iterable[str]) -> dict[str, Asked]:
    asked = cast("Asked", api)
    return {
        address: Asked(_at(asked.wire, address), asked.kinds, asked.width) for address in addresses
    }


def changed(api: Api) -> float | None:
    """When an API server came or went last: they note that in these, also of one that was killed, and write them at no other time. None if nobody does."""
    notes = [
        [note["time"] for note in each["metadata"].get("managedFields", ()) if note.get("time")]
        for each in _slices(api)
    ]
    return (
        max(
            (datetime.fromisoformat(time).timestamp() for times in notes for time in times),
            default=None,
        )
        if all(notes)
        else None
    )


def _slices(api: Api) -> list[Mapping[str, Any]]:
    return api.list("EndpointSlice", "default", SELECTOR)


def _addresses(each: Mapping[str, Any]) -> Iterator[str]:
    ports = [
        port["port"] for port in each.get("ports") or () if port.get("name") in {"https", "", None}
    ]
    for endpoint in each.get("endpoints") or ():
        conditions: Mapping[str, Any] = endpoint.get("conditions") or NOTHING
        if conditions.get("ready") is not False:
            yield from (
                f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"
                for ip in endpoint["addresses"]
                for port in ports[:1]
            )


def _at(wire: Wire, address: str) -> Wire:
    configuration = copy.copy(wire.configuration)
    configuration.host, configuration.tls_server_name = f"https://{address}", NAME
    return Wire(configuration, 1)

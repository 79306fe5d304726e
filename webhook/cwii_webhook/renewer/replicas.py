"""Reads the certificate that each replica serves, at the replica's own address, ready or not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from cwii_webhook.kube.clock import Clock, TimedOut, with_timeout
from cwii_webhook.renewer.state import Replica

PORT_NAME = "https"  # selects the TLS port if the Service has several ports
CONNECT_TIMEOUT = 3.0  # seconds
MAX_CONNECTIONS = 16


class Endpoint(Struct):
    addresses: tuple[str, ...] = ()


class Port(Struct):
    name: str | None = None
    port: int | None = None


class Slice(Struct):
    endpoints: list[Endpoint] | None = None
    ports: list[Port] | None = None


class Slices(Struct):
    items: list[Slice] | None = None


_decode_slices: Final = msgspec.json.Decoder(Slices).decode


def parse_addresses(body: bytes) -> list[tuple[str, int]]:
    """Returns the addresses of a list of EndpointSlices, without duplicates.

    Slices of two IP families or of two controllers may contain the same address.
    """
    slices = _decode_slices(body).items or []
    return list(
        dict.fromkeys(
            (host, port)
            for each in slices
            for port in _tls_ports(each.ports or [])
            for endpoint in each.endpoints or []
            for host in endpoint.addresses
        )
    )


def _tls_ports(ports: Sequence[Port]) -> list[int]:
    return [
        each.port for each in ports if each.port and (len(ports) == 1 or each.name == PORT_NAME)
    ]


async def probe_replicas(
    addresses: Iterable[tuple[str, int]], name: str, clock: Clock
) -> tuple[Replica, ...]:
    """Connects to all replicas, and asks each for the certificate of the server name `name`."""
    semaphore = asyncio.Semaphore(MAX_CONNECTIONS)

    async def probe(host: str, port: int) -> Replica:
        async with semaphore:
            return await _probe(host, port, name, clock)

    return tuple(await asyncio.gather(*(probe(host, port) for host, port in addresses)))


async def _probe(host: str, port: int, name: str, clock: Clock) -> Replica:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        certificate = await with_timeout(
            clock, CONNECT_TIMEOUT, _read_certificate(host, port, name)
        )
    except TimedOut:
        return Replica(address, problem="does not answer")
    except OSError as e:
        return Replica(address, problem=f"does not answer with TLS ({e.strerror or e})")
    except EOFError:
        return Replica(address, problem="hangs up")
    return Replica(address, certificate)


async def _read_certificate(host: str, port: int, name: str) -> bytes:
    """Reads the certificate without verification, because the renewer only compares it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=name)
    try:
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        return tls.getpeercert(binary_form=True) or b""
    finally:
        writer.transport.abort()

"""What replicas show to whoever connects: each is asked at its own address, whether it is ready or not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from cwii_webhook.kube.clock import Clock, TimedOut, with_timeout
from cwii_webhook.renewer.state import Replica

PORT = "https"  # the name of the port with TLS, where a Service has several
CONNECT = 3.0  # seconds
AT_ONCE = 16


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


slices_of: Final = msgspec.json.Decoder(Slices).decode


def addresses(body: bytes) -> list[tuple[str, int]]:
    """Of EndpointSlices; each once, though slices of two families or two controllers may name it twice."""
    slices = slices_of(body).items or []
    return list(
        dict.fromkeys(
            (host, port)
            for each in slices
            for port in _ports(each.ports or [])
            for one in each.endpoints or []
            for host in one.addresses
        )
    )


def _ports(ports: Sequence[Port]) -> list[int]:
    return [each.port for each in ports if each.port and (len(ports) == 1 or each.name == PORT)]


async def shown(places: Iterable[tuple[str, int]], name: str, clock: Clock) -> tuple[Replica, ...]:
    turn = asyncio.Semaphore(AT_ONCE)

    async def asked(host: str, port: int) -> Replica:
        async with turn:
            return await _shown(host, port, name, clock)

    return tuple(await asyncio.gather(*(asked(host, port) for host, port in places)))


async def _shown(host: str, port: int, name: str, clock: Clock) -> Replica:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        return Replica(address, await with_timeout(clock, CONNECT, _certificate(host, port, name)))
    except TimedOut:
        return Replica(address, trouble="does not answer")
    except (OSError, EOFError) as e:
        return Replica(
            address,
            trouble=f"does not answer with TLS ({e.strerror or e})"
            if isinstance(e, OSError)
            else "hangs up",
        )


async def _certificate(host: str, port: int, name: str) -> bytes:
    """It is looked at, and trusted with nothing: that it is the one which we have signed is all that is asked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=name)
    try:
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        return tls.getpeercert(binary_form=True) or b""
    finally:
        writer.transport.abort()

"""What each API server signs as and with which key, and which keys it accepts: beside what the clouds say of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from cwiictl.actions.former import Lived, former
from cwiictl.actions.result import Result, Row
from cwiictl.actions.succession import Cluster
from cwiictl.issuer.rotation import begin
from cwiictl.rotate.servers import Server


def beside(result: Result, connect: Callable[[], Cluster]) -> Result:
    cluster = connect()
    return _told(result, cluster, cluster.servers())


def outliving(
    result: Result,
    connect: Callable[[], Lived],
    said: float | None,
    now: Callable[[], float] = time.time,
) -> Result:
    """And whether they can do without the issuer that they had before. `said` is when the last that signed as it was stopped, if somebody knows."""
    cluster = connect()
    servers = cluster.servers()
    return _told(result, cluster, servers).plus([former(cluster, servers, int(now()), said)])


def _told(result: Result, cluster: Cluster, servers: Iterable[Server]) -> Result:
    rows = [
        Row(f"k8s/api-server/{server.address}", "present", problem=server.problem or _said(server))
        for server in servers
    ]
    return replace(result.plus(rows), hints=(*result.hints, *filter(None, [cluster.doubt])))


def _said(server: Server) -> str:
    return f"signs as {server.issuer} with {begin(server.signs)}..., accepts {', '.join(f'{begin(kid)}...' for kid in sorted(server.keys))}"

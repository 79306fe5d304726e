"""Which keys each API server has, beside what the clouds say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from cwiictl.actions.result import Result, Row
from cwiictl.actions.succession import Cluster
from cwiictl.issuer.rotation import begin


def beside(result: Result, cluster: Callable[[], Cluster]) -> Result:
    asked = cluster()
    rows = [Row(f"k8s/api-server/{server.address}", "present", problem=server.problem or _said(server.signs, server.keys)) for server in asked.servers()]
    return replace(result.plus(rows), hints=(*result.hints, *filter(None, [asked.doubt])))


def _said(signs: str, accepts: Iterable[str]) -> str:
    return f"signs with {begin(signs)}..., accepts {', '.join(f'{begin(kid)}...' for kid in sorted(accepts))}"

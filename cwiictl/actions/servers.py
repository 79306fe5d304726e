"""Which keys each API server has, beside what the clouds say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cwiictl.actions.result import Result, Row
from cwiictl.actions.succession import Cluster
from cwiictl.issuer.rotation import begin


def beside(result: Result, cluster: Callable[[], Cluster]) -> Result:
    rows = [Row(f"k8s/api-server/{server.address}", "present", problem=server.problem or _said(server.signs, server.keys)) for server in cluster().servers()]
    return result.plus(rows)


def _said(signs: str, accepts: Iterable[str]) -> str:
    return f"signs with {begin(signs)}..., accepts {', '.join(f'{begin(kid)}...' for kid in sorted(accepts))}"

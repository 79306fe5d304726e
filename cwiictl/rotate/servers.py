"""The API servers, each asked at its own address: which keys it accepts, and which it signs with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cwiictl.issuer.rotation import Stage, begin


@dataclass(frozen=True)
class Server:
    """By the ids of keys. Why it could not be asked stands in `problem`, and what helps, if nothing at the server does, in `remedy`."""

    address: str
    keys: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict[str, Mapping[str, object]]
    )  # that it accepts, as it publishes them
    signs: str = ""
    problem: str = ""
    remedy: str = ""
    issuer: str = ""  # as which it signs


def lacking(stage: Stage, server: Server, old: str, new: str) -> str:
    """What a server lacks for this stage to be reached. Old and new are the beginnings of key ids."""
    accepts = frozenset(map(begin, server.keys))
    if server.problem:
        return server.problem
    if stage != "forget" and not {old, new} <= accepts:
        return f"it does not accept {' and '.join(f'{kid}...' for kid in (old, new) if kid not in accepts)}"
    if stage == "forget" and new not in accepts:
        return f"it does not accept {new}..."
    if stage in {"sign", "unpublish", "forget"} and begin(server.signs) != new:
        return f"it signs with {begin(server.signs)}..."
    if stage == "forget" and old in accepts:
        return f"it still accepts {old}..."
    return ""


def all_reached(stage: Stage, servers: Sequence[Server], old: str, new: str) -> bool:
    """Of no servers nothing is known, and so nothing is reached."""
    return bool(servers) and not any(lacking(stage, server, old, new) for server in servers)

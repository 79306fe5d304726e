"""Whether the API servers can do without the issuer that they had before: asked of each of them, and of the pods."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from cwiictl.actions.result import Row
from cwiictl.actions.succession import Cluster, moment, unasked
from cwiictl.errors import Problem
from cwiictl.rotate.former import divided, good
from cwiictl.rotate.servers import Server
from cwiictl.rotate.tokens import lasting, requested, volumes
from cwiictl.rotate.waits import SKEW

THING = "k8s/former-issuer"
NONE = "no pod has a token of an issuer before {issuer}; who has asked for one by hand (kubectl create token) is not known"


class Started(Cluster, Protocol):
    def started(self) -> float: ...  # when the last of its API servers was: what each signs as, it has signed as since then


def former(cluster: Started, servers: Sequence[Server], now: int) -> Row:
    if nobody := unasked(servers):
        return Row(THING, "incomplete", remarks=(nobody.problem, nobody.remedy))
    why = tuple(divided(servers)) or tuple(_held(cluster, now))
    return Row(THING, "incomplete", remarks=why) if why else Row(THING, "present", problem=NONE.format(issuer=servers[0].issuer))


def _held(cluster: Started, now: int) -> Iterator[str]:
    try:
        since, pods = math.ceil(cluster.started()), cluster.pods()
        before = moment(since + SKEW)
        found = (*volumes(pods, before), *requested(cluster.drivers()))
    except Problem as e:
        yield f"until when tokens of the issuer before are good is not known: {e.problem}"
    else:
        yield from good(since, found, tuple(lasting(pods, before)), now)

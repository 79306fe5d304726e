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
UNSEEN = "until when an API server that was not asked has signed, and as what, is not known: give as --since when the last was stopped that signed as another"


class Lived(Cluster, Protocol):
    def started(
        self,
    ) -> (
        float
    ): ...  # when the last of its API servers was: what each signs as, it has signed as since then
    def ended(
        self,
    ) -> (
        float | None
    ): ...  # when the last that is gone was, if that is known: it may have signed as another until then


def former(cluster: Lived, servers: Sequence[Server], now: int, said: float | None) -> Row:
    """`said` is when the last of another issuer ended, by whoever stopped it. What is seen to have been later counts all the same."""
    if nobody := unasked(servers):
        return Row(THING, "incomplete", remarks=(nobody.problem, nobody.remedy))
    why = tuple(divided(servers)) or tuple(_held(cluster, now, said))
    return (
        Row(THING, "incomplete", remarks=why)
        if why
        else Row(THING, "present", problem=NONE.format(issuer=servers[0].issuer))
    )


def _held(cluster: Lived, now: int, said: float | None) -> Iterator[str]:
    try:
        gone = [each for each in (cluster.ended(), said) if each is not None]
        since, pods = math.ceil(max([cluster.started(), *gone])), cluster.pods()
        before = moment(since + SKEW)
        found = (*volumes(pods, before), *requested(cluster.drivers()))
    except Problem as e:
        yield f"until when tokens of the issuer before are good is not known: {e.problem}"
        yield from filter(None, [e.remedy])
    else:
        if said is None and (cluster.doubt or not gone):
            yield UNSEEN
        yield from good(since, found, tuple(lasting(pods, before)), now)

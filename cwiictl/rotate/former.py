"""Until when a token of an issuer can be good that a cluster had before the one it has: so long API servers have to accept it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cwiictl.errors import few
from cwiictl.rotate.servers import Server
from cwiictl.rotate.waits import FLOOR, MOST, SKEW, Volume, date, longest, whose

YEAR = (
    365 * 24 * 3600
)  # that the API server makes the token of its own audience good for which every pod is given


def divided(servers: Sequence[Server]) -> Iterator[str]:
    """Why there is none yet that all sign as. What has not been asked may be one of any."""
    for server in servers:
        if server.problem:
            yield f"what the API server {server.address} signs as is not known: {server.problem}"
    issuers = sorted({server.issuer for server in servers if not server.problem})
    if len(issuers) > 1:
        yield f"the API servers sign as {' and '.join(issuers)}: bring the last of them to the new issuer first"


def good(
    since: int, volumes: tuple[Volume, ...], lasting: Sequence[str], now: int
) -> Iterator[str]:
    """Why one can be good, if any can. `since` then no API server has signed one, and of pods only those count that were there before."""
    last = longest(volumes, clouds=False)
    ends = since + max(last.seconds, FLOOR)
    yearlong = lasting if now < since + YEAR else ()
    if now < ends:
        yield f"tokens of the issuer before can be good until {date(ends)}: one may have been signed until {date(since)}, and {whose(last)}"
    if yearlong:
        yield f"who reads its token once and not again can use one of the issuer before until {date(since + YEAR)}: it may be one of {few(yearlong, MOST)}"
    if yearlong or (now < ends and last.name and last.seconds > FLOOR):
        yield f"a pod that is restarted after {date(since + SKEW)} has none"

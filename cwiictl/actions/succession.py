"""What the API servers have to do with a rotation: what they are given, and what each of them says of itself, asked at its own address."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from cwiictl import files, oidc
from cwiictl.actions.result import Row
from cwiictl.actions.soak import Soak, soaked
from cwiictl.actions.stage import Stage
from cwiictl.errors import BadInput, few
from cwiictl.installers import INSTALLERS
from cwiictl.issuer import rotation
from cwiictl.issuer.key import KEY
from cwiictl.issuer.rotation import Rotation, begin
from cwiictl.model import Succession
from cwiictl.rotate.servers import Server, all_reached, lacking
from cwiictl.rotate.tokens import bearing, filled, lasting, requested, volumes
from cwiictl.rotate.waits import MOST, SKEW, Volume, broken, early, unknown

MANAGERS = "Controller managers tell nobody which key they sign with, the tokens of Secrets: see that each was restarted with the new one, as README.txt says."


class Cluster(Protocol):
    """All that is asked of a running cluster."""

    @property
    def context(self) -> str: ...  # by which it is reached

    @property
    def doubt(
        self,
    ) -> str: ...  # why there may be more API servers than those that were asked last, if that is not known

    def servers(self) -> Sequence[Server]: ...  # each asked at its own address
    def pods(self) -> Sequence[Mapping[str, Any]]: ...
    def drivers(self) -> Sequence[Mapping[str, Any]]: ...  # of CSI
    def token_secrets(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True)
class Step:
    """What came of the API servers' part in a stage."""

    reached: bool = True
    rows: tuple[Row, ...] = ()
    files: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facing:
    """The API servers' side of a stage, and where the clouds' side stands."""

    stage: Stage
    cluster: Cluster
    stands: Rotation
    writes: bool


def accepting(at: Facing) -> Step:
    """No stage before this one has asked the cluster, so it may be another: what it were given would lack the key that it signs with."""
    servers = at.cluster.servers()
    if problem := _stranger(servers, at):
        raise problem
    return _given("accept", at, servers)


def _stranger(servers: Sequence[Server], at: Facing) -> BadInput | None:
    """Why what these servers accept is not known, or not of the cluster that is rotated."""
    remedy = f"is the context {at.cluster.context or 'of this pod'} the cluster? Say which it is with --kubeconfig and --context, and run again"
    if problem := unasked(servers):
        return problem
    if silent := next((server for server in servers if server.problem), None):
        told = f"which keys the API server {silent.address} accepts is not known: {silent.problem}"
        return BadInput(
            told, remedy=f"see that it is ready, and can be reached from here; {remedy}"
        )
    if not any(begin(kid) == at.stands.old for server in servers for kid in server.keys):
        return BadInput(
            f"no API server accepts the key {at.stands.old}... that is to be followed",
            remedy=remedy,
        )
    return None


def signing(at: Facing, soak: Soak) -> Step:
    """Nothing is handed out to sign with before every cloud takes what it signs. Meanwhile an API server may have come back with what it had before."""
    servers = _still("accept", at)
    if not all_reached("sign", servers, at.stands.old, at.stands.new) and at.writes:
        soaked(at.stage, at.stands, soak)
        servers = _still("accept", at)
    step = _given("sign", at, servers)
    return replace(step, hints=(MANAGERS,)) if step.reached else step


def unpublishing(at: Facing, soak: int, now: int, *, force: bool) -> Step:
    servers = _still("sign", at)
    if problem := unknown(at.stands):
        raise problem
    found = _volumes(at, at.cluster.pods())
    problem = early("unpublish", at.stands, found, soak, now)
    if problem and not force:
        raise problem
    hints = (f"By --force: {broken('unpublish', at.stands, found, now)}.",) if problem else ()
    return Step(rows=tuple(_rows("unpublish", servers, at.stands)), hints=hints)


def _volumes(at: Facing, pods: Iterable[Mapping[str, Any]]) -> tuple[Volume, ...]:
    """That may have been given a token of the old key."""
    return (*volumes(pods, moment(at.stands.signed + SKEW)), *requested(at.cluster.drivers()))


def moment(seconds: int) -> str:
    """As Kubernetes writes it, which sorts as the time itself."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def forgetting(at: Facing, now: int, *, force: bool) -> Step:
    servers, pods = _still("unpublish", at), at.cluster.pods()
    found = _volumes(at, pods)
    too_early = early("forget", at.stands, found, 0, now)
    legacy = _legacy(at.cluster.token_secrets(), at.stands)
    if problem := None if force else too_early or legacy:
        raise problem
    forced = (
        broken("forget", at.stands, found, now) if too_early else "",
        legacy.problem if legacy else "",
    )
    return replace(
        _given("forget", at, servers),
        hints=(*(f"By --force: {each}." for each in forced if each), *_extended(pods, at.stands)),
    )


def _legacy(secrets: Sequence[Mapping[str, Any]], stands: Rotation) -> BadInput | None:
    """Of which some may have been filled when nothing should have signed with the old key any more."""
    found, since = tuple(bearing(secrets, stands.old)), moment(stands.signed + SKEW)
    if not found:
        return None
    late = tuple(bearing((each for each in secrets if filled(each) >= since), stands.old))
    lags = (
        f", and that of {_named(late, 'Secret')} since {since}: a controller manager may have the old key yet"
        if late
        else ""
    )
    first = (
        "restart each controller manager with the new key, as README.txt of sign says; then "
        if late
        else ""
    )
    return BadInput(
        f"the old key {stands.old}... has signed the token of {_named(found, 'Secret')}, which would be refused{lags}",
        remedy=f"{first}delete these Secrets, or have their tokens made anew by deleting their data.token; --force breaks them",
    )


def _extended(pods: Sequence[Mapping[str, Any]], stands: Rotation) -> tuple[str, ...]:
    """The API server makes tokens of its own audience good for a year, for who never reads them again."""
    found = tuple(lasting(pods, moment(stands.signed)))
    told = "that reads its token once and not again is refused from then on, though the token is good for a year: restart such a one"
    return (
        (
            f"What has run since before the new key was signed with, and {told}. It may be one of {_named(found, 'pod')}.",
        )
        if found
        else ()
    )


def _named(names: Sequence[str], word: str) -> str:
    return f"the {word}{'s' if len(names) > 1 else ''} {few(names, MOST)}"


def _still(stage: rotation.Stage, at: Facing) -> Sequence[Server]:
    """What an earlier stage was proved by is looked at again: a server may have come back with what it had before."""
    servers, stands = at.cluster.servers(), at.stands
    if problem := unasked(servers):
        raise problem
    for server in servers:
        lack = lacking(stage, server, stands.old, stands.new)
        if lack and not (
            stage == "unpublish" and not lacking("forget", server, stands.old, stands.new)
        ):
            again = (
                f"run rotate-keys {stage}, and bring it there"
                if stands.stage == stage
                else "bring it there"
            )
            raise BadInput(
                f"the API server {server.address} is not where {stage} had brought it: {lack}",
                remedy=f"{again} again as its README.txt says",
            )
    return servers


def unasked(servers: Sequence[Server]) -> BadInput | None:
    """Why more may run than those that were asked."""
    if not servers:
        told = "the Service kubernetes names no API server, so none could be asked"
        return BadInput(
            told,
            remedy="see that it has endpoints: kubectl get endpointslices; or give each API server's own address as --api-server URL",
        )
    return next(
        (
            BadInput(f"of the API servers {server.problem}", remedy=server.remedy)
            for server in servers
            if server.remedy
        ),
        None,
    )


def _rows(stage: rotation.Stage, servers: Iterable[Server], stands: Rotation) -> Iterator[Row]:
    for server in servers:
        lack = lacking(stage, server, stands.old, stands.new)
        yield Row(
            f"k8s/api-server/{server.address}",
            "incomplete" if lack else "as wanted",
            remarks=(lack,) if lack else (),
        )


def _given(name: rotation.Stage, at: Facing, servers: Sequence[Server]) -> Step:
    """What the API servers lack is written for whoever can bring it to them."""
    rows = tuple(_rows(name, servers, at.stands))
    if all_reached(name, servers, at.stands.old, at.stands.new):
        return Step(rows=rows)
    tree, root = _tree(name, at, servers), at.stage.order.output
    files.ready(root, tree)
    written = files.write(root, tree) if at.writes else files.unlike(root, tree)
    paths = tuple(str(root / path) for path in sorted(tree))
    return Step(
        reached=False,
        rows=rows,
        files=paths,
        written=frozenset(str(root / path) for path in written),
    )


def _tree(name: rotation.Stage, at: Facing, servers: Iterable[Server]) -> dict[str, bytes]:
    """Whatever they accept today they go on accepting, but for the key that goes: they may have others."""
    published, pair = (
        {kid: jwk for server in servers for kid, jwk in server.keys.items()},
        at.stage.keys,
    )
    new = pair.get([KEY])[KEY]
    kept = [
        oidc.pem(jwk)
        for kid, jwk in sorted(published.items())
        if kid != new.kid and not (name == "forget" and begin(kid) == at.stands.old)
    ]
    old = next(
        (oidc.pem(jwk) for kid, jwk in published.items() if begin(kid) == at.stands.old), b""
    )
    succession = Succession(
        name,
        b"".join([*kept, new.pem.encode()]),
        old,
        at.stands.new,
        new.pem.encode(),
        pair.private or b"",
    )
    each = (
        INSTALLERS[installer].succeeded(succession, files.template)
        for installer in at.stage.order.installers
    )
    return {path: text for tree in each for path, text in tree.items()}

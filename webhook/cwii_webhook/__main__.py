"""cwii-webhook: a command line in the words of the webhook that it stands in for, and then a server until it is told to end."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cwii_webhook import health, instance, server, workers
from cwii_webhook.admission import PATIENCE, Admission
from cwii_webhook.cluster.access import Access, in_cluster
from cwii_webhook.cluster.access import Server as Reached
from cwii_webhook.cluster.api import Api
from cwii_webhook.cluster.clock import RealClock
from cwii_webhook.cluster.errors import BadAccess
from cwii_webhook.cluster.informer import Informer
from cwii_webhook.cluster.kinds import NAMESPACES, OWNERS, SERVICE_ACCOUNTS, config_map
from cwii_webhook.cluster.kubeconfig import from_kubeconfig
from cwii_webhook.cluster.lookups import Bounds
from cwii_webhook.connections import Connections, Limits
from cwii_webhook.delivery import ConfigMaps
from cwii_webhook.dialects import ALL, Dialect, Service, service
from cwii_webhook.diary import Diary
from cwii_webhook.door import Door, bind
from cwii_webhook.exchange import Handler
from cwii_webhook.log import Log
from cwii_webhook.metrics import Metrics
from cwii_webhook.reading import Reader, Troubles
from cwii_webhook.server import Drain, Server
from cwii_webhook.settings.flags import BadFlag
from cwii_webhook.settings.serving import Serving
from cwii_webhook.source import Key, Machine, Source
from cwii_webhook.tally import Tally
from cwii_webhook.tls import Certificates, Files, Unusable, terms

KINDS = {(kind.group, kind.kind): kind for kind in (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)}
PROGRAMS = {program: dialect for dialect in ALL.values() for program in dialect.programs}
NATIVE = frozenset({"iam.gke.io/gcp-service-account"})  # heard by cwii, and under no dialect's domain
LOOK = 1.0  # seconds between two looks at what is still lacking
USAGE = f"cwii-webhook {'|'.join(ALL)} [FLAG ...] [+ DIALECT [FLAG ...]]; --help behind one of them lists its flags"
HELP = (["--help"], ["-h"], ["-help"])
MORE = "+"  # begins the command line of a further dialect, which is served at /DIALECT/PATH


def main() -> None:
    try:
        sys.exit(run(sys.argv, os.environ))
    except (BadFlag, BadAccess, Unusable) as e:
        print(f"cwii-webhook: {e}", file=sys.stderr)
        sys.exit(2)


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    program, words = Path(argv[0]).name, list(argv[1:])
    if words[:1] in HELP and program not in PROGRAMS:
        print(USAGE)
        return 0
    first = PROGRAMS.get(program) or _named(words)
    if any([word] in HELP for word in words):
        print("\n".join(f"--{flag.name:<44} {flag.meaning}" for flag in first.flags if flag.field))
        return 0
    own, *others = _divided(words)
    offered = [service(first, own, environ, program=program)]
    for more in others:
        dialect = _named(more)
        offered.append(service(dialect, more, environ, path=f"/{dialect.name}{dialect.path}"))
    return Program(offered, environ).serve()


def _named(words: list[str]) -> Dialect:
    """Takes the name away."""
    name = words.pop(0) if words else ""
    if name not in ALL:
        raise BadFlag(f"{name!r} is no dialect" if name else "it is not said whose words are spoken", USAGE)
    return ALL[name]


def _divided(words: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == MORE:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


class Program:
    """All that is made once, before there are several processes."""

    def __init__(self, offered: Sequence[Service], environ: Mapping[str, str]) -> None:
        self.offered = offered
        self.serving = offered[0].serving
        self.sources = [source for each in offered for source in each.sources]
        _ask_machine(self.sources, environ)
        alone = dict.fromkeys(source.place.ref for source in self.sources if isinstance(source.place, Key))
        self.kinds = [*(kind for key, kind in KINDS.items() if any(key in each.kinds for each in offered)), *map(config_map, alone)]
        self.metrics = Metrics()
        self.log = Log(2, self.serving.log_level)
        self.tally = Tally(self.metrics, self.log)
        self.diary = Diary(self.metrics, self.log, tuple(ALL))
        resources = [kind.resource for kind in self.kinds]
        self.readiness = health.Readiness(self.metrics, "picture", "certificate")
        self.ages = self.metrics.gauge("cwii_picture_age_seconds", "Since a watch was last heard from.", max, kind=resources)
        self.sizes = self.metrics.gauge("cwii_picture_objects", "Objects in the picture.", max, kind=resources)
        self.access = _access(self.serving, environ)
        self.certificates = _certificates(self.serving, self.log)
        self.troubles = Troubles(self.metrics, self.log)

    def serve(self) -> int:
        for warning in (warning for each in self.offered for warning in each.warnings):
            self.log.warning(warning)
        count = self.serving.workers
        sockets = [_bound(host, port, count) for host, port in (self.serving.door, *self.serving.plain)]
        self.log.info("listening", paths=tuple(each.route.path for each in self.offered), ports=tuple(str(each[0].getsockname()[1]) for each in sockets))

        def work(number: int, leash: int | None) -> int:
            server.run(lambda: self._worker([each[number] for each in sockets], leash))
            return 0

        try:
            return workers.run(count, work, self.metrics, self.log)
        finally:
            for sock in (sock for each in sockets for sock in each):
                sock.close()

    async def _worker(self, sockets: Sequence[socket.socket], leash: int | None) -> None:
        clock = RealClock()
        told = health.answers(self.readiness, self.metrics)
        informer = Informer(self.access, self.kinds, _reads(self.offered), self.log.warning, Bounds(self.serving.grace))
        routes = {each.route.path.encode(): each.route for each in self.offered}
        writing = Api(self.access)
        admission = Admission(routes, lambda: informer.sight(clock.now() + PATIENCE), ConfigMaps(writing, clock), self.diary, told)
        first, *others = self._doors(sockets, admission, told)
        reader = Reader(self.sources, informer.held, self.troubles)
        looking = [asyncio.ensure_future(informer.run()), asyncio.ensure_future(self._look(informer, reader, admission))]
        serving = Server(first, others, self.readiness, self.log, Drain(self.serving.delay))
        for task in looking:
            task.add_done_callback(lambda ended: self._lost(ended, serving))
        try:
            await serving.run(leash)
        finally:
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)
            await writing.close()

    def _doors(self, sockets: Sequence[socket.socket], admission: Handler, told: Handler) -> list[Door]:
        """The one with TLS, and those without, which are counted by nobody."""
        first = Door(sockets[0], admission, Connections(Limits(), self.tally, time.monotonic), self.tally, self.certificates)
        aside = Tally(Metrics(), self.log)
        return [first, *(Door(sock, told, Connections(Limits(body=0), aside, time.monotonic), aside) for sock in sockets[1:])]

    def _lost(self, task: asyncio.Task[None], serving: Server) -> None:
        """Whoever goes on without looking at the cluster answers with what was: better that another begins anew."""
        if not task.cancelled() and (error := task.exception()):
            self.log.error("nobody looks at the cluster any more", error=f"{type(error).__name__}: {error}")
            serving.stop()

    async def _look(self, informer: Informer, reader: Reader, admission: Admission) -> None:
        """What is still lacking, what has changed beside annotations, and how old the picture is."""
        while True:
            lacks = "; ".join(informer.lacks())
            if not lacks:
                reader.look()
            admission.lacks = lacks
            self.readiness.say("picture", admission.lacks)
            for resource, age in informer.ages().items():
                self.ages.set(age, resource)
            for resource, size in informer.sizes().items():
                self.sizes.set(size, resource)
            await asyncio.sleep(LOOK if not admission.lacks else LOOK / 20)


def _ask_machine(sources: Sequence[Source], environ: Mapping[str, str]) -> None:
    """Once for all processes; without an answer nothing is served."""
    for source in (source for source in sources if isinstance(source.place, Machine)):
        if problem := source.take(instance.document(environ)):
            raise BadFlag(problem, "leave out --compose-role-arn, and write whole ARNs")


def _bound(host: str, port: int, count: int) -> list[socket.socket]:
    try:
        return bind(host, port, processes=count)
    except OSError as e:
        raise BadFlag(
            f"nobody can listen at {host or 'any address'}, port {port}: {e.strerror or e}", "name another with the flags for ports and addresses"
        ) from e


def _reads(offered: Sequence[Service]) -> Callable[[str], bool]:
    """Which annotations are kept: those of any dialect, for they warn of each other."""
    every = {dialect.domain for dialect in ALL.values()}.union(*[each.domains for each in offered])
    return lambda key: key.partition("/")[0] in every or key in NATIVE


def _access(serving: Serving, environ: Mapping[str, str]) -> Access:
    access = from_kubeconfig(Path(serving.kubeconfig), RealClock(), serving.context) if serving.kubeconfig else in_cluster(environ, RealClock())
    if serving.api:
        own = access.server
        access.server = Reached.at(serving.api, name=own.name, ca=own.ca, verify=own.verify)
    return access


def _certificates(serving: Serving, log: Log) -> Certificates:
    certificate, key = serving.pair
    files = Files(Path(certificate), Path(key), Path(serving.client_ca) if serving.client_ca else None)
    return Certificates(
        files, terms(serving.tls_min, serving.tls_ciphers), lambda problem: log.error(problem) if problem else log.info("a certificate is served")
    )


if __name__ == "__main__":
    main()

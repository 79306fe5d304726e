"""The whole program: what is made once, before there are several processes, and what each of them then does until it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.handler import REVIEW_TIMEOUT, AdmissionHandler
from cwii_webhook.dialects.common.external_config import ConfigMapKey, InstanceMetadata
from cwii_webhook.dialects.common.external_config_reader import ErrorReport, ExternalConfigReader
from cwii_webhook.dialects.cwii.settings import parse_delivery
from cwii_webhook.dialects.dialect import ServerVersion, Service
from cwii_webhook.dialects.eks import instance_metadata as instance
from cwii_webhook.dialects.registry import ALL, routes
from cwii_webhook.kube.access import Access, in_cluster
from cwii_webhook.kube.access import Server as Reached
from cwii_webhook.kube.cache.cluster import AccessSource, ConnectedCluster
from cwii_webhook.kube.cache.informer import CacheSettings
from cwii_webhook.kube.cache.lookups import LookupLimits
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.kubeconfig import from_kubeconfig
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS, single_config_map
from cwii_webhook.server import debug_pages as debug
from cwii_webhook.server import health, workers
from cwii_webhook.server import lifecycle as server
from cwii_webhook.server import watchdog as pulse
from cwii_webhook.server.connections import Connections, Limits
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.lifecycle import DrainTimes, Server
from cwii_webhook.server.listener import Listener, bind, listen
from cwii_webhook.server.messages import Handler
from cwii_webhook.server.tls import (
    CertificateFiles,
    Certificates,
    InvalidTlsConfig,
    TlsSettings,
    parse_tls_settings,
)
from cwii_webhook.settings.flags import BadFlag, OnBadFlag, raise_bad_flag
from cwii_webhook.settings.serving import Address, ServingSettings
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

KINDS = {(kind.group, kind.kind): kind for kind in (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)}
NATIVE = frozenset(
    {"iam.gke.io/gcp-service-account"}
)  # heard by cwii, and under no dialect's domain
LOOK = 1.0  # seconds between two looks at what is still lacking
MUTE = 5.0  # seconds until a machine that did not answer is asked again
LOOPBACK = "127.0.0.1"


class Offered(Protocol):
    def __call__(
        self, version: ServerVersion = (), refuse: OnBadFlag = raise_bad_flag
    ) -> list[Service]: ...


class Program:
    """As a sidecar, it takes what can be mended as a fault: it serves without what is missing, decides nothing, and tells why."""

    def __init__(
        self, offered: Offered, environ: Mapping[str, str], *, sidecar: bool = False
    ) -> None:
        self.sidecar = sidecar
        self.faults: list[str] = []
        self.lost = False  # the look at the cluster
        self.again = offered
        self.refuse: OnBadFlag = self._fault if sidecar else raise_bad_flag
        self.offered = offered(refuse=self.refuse)
        self.serving = self.offered[0].serving
        self.sources = [source for each in self.offered for source in each.external_config]
        self.environ = environ
        self.mute = self._machine()
        alone = dict.fromkeys(
            source.location.ref
            for source in self.sources
            if isinstance(source.location, ConfigMapKey)
        )
        self.kinds = [
            *(
                kind
                for key, kind in KINDS.items()
                if any(key in each.kinds for each in self.offered)
            ),
            *map(single_config_map, alone),
        ]
        self.metrics = Metrics()
        self.log = Log(2, self.serving.log_level)
        self.tally = HttpMetrics(self.metrics, self.log)
        self.diary = DecisionLog(self.metrics, self.log, tuple(ALL))
        resources = [kind.group_resource for kind in self.kinds]
        self.readiness = health.Readiness(self.metrics, "picture", "certificate")
        self.build = health.BuildInfo(self.metrics)
        self.ages = self.metrics.gauge(
            "cwii_picture_age_seconds", "Since a watch was last heard from.", max, kind=resources
        )
        self.sizes = self.metrics.gauge(
            "cwii_picture_objects", "Objects in the picture.", max, kind=resources
        )
        self.way = _way(self.serving, environ)
        self.access = self._access()
        self.certificates = self._certificates()
        self.push = self._push()
        self.troubles = ErrorReport(self.metrics, self.log)

    def bound(self) -> list[list[socket.socket]]:
        """For each place one of each process."""
        return [self._bound(host, port, self.serving.workers) for host, port in self.places]

    def serve(self, sockets: Sequence[Sequence[socket.socket]]) -> int:
        for warning in (warning for each in self.offered for warning in each.flags.warnings):
            self.log.warning(warning)
        for fault in filter(None, (*self.faults, self.mute)):
            self.log.error(fault)
        ports = [
            each[0].getsockname()[1] if each else port
            for each, (_, port) in zip(sockets, self.places, strict=True)
        ]
        self.log.info(
            "listening",
            paths=tuple(each.route.path for each in self.offered),
            ports=tuple(map(str, ports)),
        )

        def work(number: int, leash: int | None) -> int:
            push = self.push if number == 0 else None  # for all: each reads the numbers of all
            with pulse.run_watchdog() as watch:
                ended = push(self.serving.otlp, self.metrics) if push else None
                server.run(
                    lambda: self._worker(
                        [each[number] if each else None for each in sockets], leash, watch
                    )
                )
                if ended:
                    ended()
            return int(self.lost)

        try:
            return workers.run(self.serving.workers, work, self.metrics, self.log)
        finally:
            for sock in (sock for each in sockets for sock in each):
                sock.close()

    @property
    def places(self) -> tuple[Address, ...]:
        """The door, and where what is asked is not about pods."""
        debugging = [] if self.serving.debug_port is None else [(LOOPBACK, self.serving.debug_port)]
        return (self.serving.listen_address, *self.serving.plain_addresses, *debugging)

    async def _worker(
        self, sockets: Sequence[socket.socket | None], leash: int | None, watch: pulse.Watchdog
    ) -> None:
        self.build.publish()
        told = health.make_handler(self.readiness, self.metrics)
        look = ConnectedCluster(self.way, self.access, self._wants(), self.log.warning, RealClock())
        admission = AdmissionHandler(
            routes(self.offered), lambda: look.view(REVIEW_TIMEOUT), look, self.diary, told
        )
        admission.client_names = frozenset(self.serving.client_names)
        first, *others = self._doors(sockets, admission, told, look)
        late = [
            self._late(door, place)
            for door, place in zip((first, *others), self.places, strict=True)
            if door.is_waiting_for_port
        ]
        looking = [
            asyncio.ensure_future(doing)
            for doing in (
                watch.send_heartbeats(),
                look.run(),
                self._look(look, admission),
                self._ask(),
                *late,
            )
        ]
        serving = Server(first, others, self.readiness, self.log, DrainTimes(self.serving.delay))
        for task in looking:
            task.add_done_callback(lambda ended: self._lost(ended, serving))
        try:
            await serving.run(leash)
        finally:
            for task in looking:
                task.cancel()
            await asyncio.gather(*looking, return_exceptions=True)

    async def _late(self, door: Listener, place: Address) -> None:
        """Another has its port, until it has gone. Pods are decided without those that are plain, and whoever asks these hears why they are not."""
        if door.certificates:
            self.readiness.set_reason("door", f"nobody can listen at port {place[1]}")
        while door.is_waiting_for_port:
            await asyncio.sleep(LOOK)
            with contextlib.suppress(OSError):
                door.start_on(listen(*place, shared=self.serving.workers > 1))
        self.log.info("a port that was taken is listened at", port=place[1])
        if door.certificates:
            self.readiness.set_reason("door", "")

    def _doors(
        self,
        sockets: Sequence[socket.socket | None],
        admission: Handler,
        told: Handler,
        look: ConnectedCluster,
    ) -> list[Listener]:
        """The one with TLS, and those without, which are counted by nobody."""
        first = Listener(
            sockets[0],
            admission,
            Connections(Limits(), self.tally, time.monotonic),
            self.tally,
            self.certificates,
        )
        aside = HttpMetrics(Metrics(), self.log)
        answers = [told] * (len(sockets) - 1)
        if self.serving.debug_port is not None:
            answers[-1] = debug.make_handler({b"/debug/picture": lambda: _picture(look)})
        others = zip(sockets[1:], answers, strict=True)
        return [
            first,
            *(
                Listener(
                    sock,
                    answer,
                    Connections(Limits(max_body_bytes=0), aside, time.monotonic),
                    aside,
                )
                for sock, answer in others
            ),
        ]

    def _lost(self, task: asyncio.Task[None], serving: Server) -> None:
        """Whoever goes on without looking at the cluster answers with what was: better that another begins anew."""
        if not task.cancelled() and (error := task.exception()):
            self.log.error(
                "nobody looks at the cluster any more", error=f"{type(error).__name__}: {error}"
            )
            self.lost = True
            serving.stop()

    async def _look(self, look: ConnectedCluster, admission: AdmissionHandler) -> None:
        """What is still lacking, what has changed beside annotations, how old the picture is, and whether it is the picture of another API server."""
        seen: ServerVersion | None = None
        reader = ExternalConfigReader(self.sources, look, self.troubles)
        while True:
            if look.version != seen and (seen := look.version) and not self.faults:
                admission.set_routes(routes(self._anew(seen)))
            lacks = look.not_ready_reasons()
            if not lacks:
                reader.refresh()
            admission.not_ready_reason = "; ".join(filter(None, (*self.faults, self.mute, *lacks)))
            self.readiness.set_reason("picture", admission.not_ready_reason)
            for resource, age in look.ages().items():
                self.ages.set(age, resource)
            for resource, size in look.sizes().items():
                self.sizes.set(size, resource)
            await asyncio.sleep(LOOK if not admission.not_ready_reason else LOOK / 20)

    def _anew(self, version: ServerVersion) -> list[Service]:
        """Only those that are made with a version: the others go on with what their sources said, which may stand there no more."""
        return [
            anew if old.needs_server_version else old
            for old, anew in zip(self.offered, self.again(version), strict=True)
        ]

    def _machine(self) -> str:
        """Why it has not said what it is, if that is heeded: asked for all processes, and without an answer nothing is decided."""
        try:
            if any(isinstance(source.location, InstanceMetadata) for source in self.sources):
                self._heed(instance.read_document(self.environ))
        except BadFlag as e:
            if not self.sidecar:
                raise
            return str(e)
        return ""

    def _heed(self, said: str) -> None:
        for source in self.sources:
            if isinstance(source.location, InstanceMetadata) and (problem := source.update(said)):
                raise BadFlag(problem, "leave out --compose-role-arn, and write whole ARNs")

    async def _ask(self) -> None:
        """A machine that was mute at the start, until it answers. One try at a time: whoever ends waits for it."""
        while self.mute:
            await asyncio.sleep(MUTE)
            try:
                self._heed(
                    await asyncio.to_thread(instance.read_document, self.environ, retry_delays=())
                )
            except BadFlag as e:
                self.mute = str(e)
            else:
                self.mute = ""
                self.log.info("the instance's metadata is known now")

    def _wants(self) -> CacheSettings:
        writes = any(
            parse_delivery(str(each.flags.values.get("gcp_delivery", ""))) == "config-map"
            for each in self.offered
        )
        return CacheSettings(
            self.kinds,
            _reads(self.offered),
            LookupLimits(self.serving.grace),
            writes,
            any(each.needs_server_version for each in self.offered),
        )

    def _fault(self, bad: Exception) -> None:
        if str(bad) not in self.faults:
            self.faults.append(str(bad))

    def _access(self) -> Access | None:
        """A sidecar goes on trying."""
        try:
            return self.way.read()
        except BadAccess:
            if not self.sidecar:
                raise
            return None

    def _certificates(self) -> Certificates:
        certificate, key = self.serving.certificate_files
        files = CertificateFiles(
            Path(certificate),
            Path(key),
            Path(self.serving.client_ca) if self.serving.client_ca else None,
        )
        agreed = TlsSettings()
        try:
            agreed = parse_tls_settings(self.serving.tls_min, self.serving.tls_ciphers)
        except InvalidTlsConfig as e:
            if not self.sidecar:
                raise
            self._fault(e)
        return Certificates(
            files,
            agreed,
            lambda problem: (
                self.log.error(problem) if problem else self.log.info("a certificate is served")
            ),
        )

    def _push(self) -> Callable[[str, Metrics], Callable[[], None]] | None:
        if not self.serving.otlp:
            return None
        try:
            from cwii_webhook.telemetry.otlp import start_push  # noqa: PLC0415 - weighs as much as all the rest
        except ImportError:
            missing = BadFlag(
                "--otlp-endpoint needs more than is installed",
                "pip install 'cwii-webhook[otlp,server]'",
            )
            if not self.sidecar:
                raise missing from None
            self.log.error(str(missing))  # noqa: TRY400 - a sentence, and pods are none the worse for it
            return None
        return start_push

    def _bound(self, host: str, port: int, count: int) -> list[socket.socket]:
        """None, where a sidecar is to wait for it."""
        try:
            return bind(host, port, processes=count)
        except OSError as e:
            bad = BadFlag(
                f"nobody can listen at {host or 'any address'}, port {port}: {e.strerror or e}",
                "name another with the flags for ports and addresses",
            )
        if not self.sidecar:
            raise bad
        self.log.error(str(bad))
        return []


def serve(offered: Offered, environ: Mapping[str, str], *, sidecar: bool = False) -> int:
    """What it is to be is read from files and from the machine, which may hang as serving may."""
    with pulse.run_watchdog():
        program = Program(offered, environ, sidecar=sidecar)
        sockets = program.bound()
    return program.serve(sockets)


def _reads(offered: Sequence[Service]) -> Callable[[str], bool]:
    """Which annotations are kept: those of any dialect, for they warn of each other."""
    every = {dialect.domain for dialect in ALL.values()}.union(*[each.domains for each in offered])
    return lambda key: key.partition("/")[0] in every or key in NATIVE


def _picture(look: ConnectedCluster) -> str:
    ages, sizes = look.ages(), look.sizes()
    return "\n".join(
        [
            *(
                f"{kind}: {sizes[kind]} objects, heard of {age:.1f} s ago"
                for kind, age in ages.items()
            ),
            *look.not_ready_reasons(),
            *look.errors(),
        ]
    )


def _way(serving: ServingSettings, environ: Mapping[str, str]) -> AccessSource:
    def read() -> Access:
        access = (
            from_kubeconfig(Path(serving.kubeconfig), RealClock(), serving.context)
            if serving.kubeconfig
            else in_cluster(environ, RealClock())
        )
        access.namespace = environ.get("POD_NAMESPACE") or access.namespace
        if serving.api:
            own = access.server
            access.server = Reached.from_url(
                serving.api, tls_server_name=own.tls_server_name, ca=own.ca, verify=own.verify
            )
        return access

    return AccessSource(read, Path(serving.kubeconfig) if serving.kubeconfig else None)

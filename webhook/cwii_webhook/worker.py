"""Runs one worker process: decides admission reviews, and keeps the cluster cache current."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.handler import LOOKUP_TIMEOUT, AdmissionHandler
from cwii_webhook.dialects.common.external_config import InstanceMetadata
from cwii_webhook.dialects.common.external_config_reader import ErrorReport, ExternalConfigReader
from cwii_webhook.dialects.dialect import ServerVersion, Service
from cwii_webhook.dialects.eks import instance_metadata
from cwii_webhook.dialects.registry import ALL, routes
from cwii_webhook.kube.access import Access
from cwii_webhook.kube.cache.cluster import AccessSource, ConnectedCluster
from cwii_webhook.kube.cache.informer import CacheSettings
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.server import debug_pages, health
from cwii_webhook.server.connections import Connections, Limits
from cwii_webhook.server.http_metrics import HttpMetrics
from cwii_webhook.server.lifecycle import DrainTimes, WebhookServer
from cwii_webhook.server.listener import Listener, listen
from cwii_webhook.server.messages import Handler
from cwii_webhook.server.tls import Certificates
from cwii_webhook.server.watchdog import Watchdog
from cwii_webhook.settings.flags import BadFlag, OnBadFlag, raise_bad_flag
from cwii_webhook.settings.serving import LOOPBACK, Address, ServingSettings
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

# Names of readiness conditions. /readyz shows them to users, so they do not follow the code.
CACHE_CONDITION, CERTIFICATE_CONDITION, PORT_CONDITION = "picture", "certificate", "door"
REFRESH_INTERVAL = 1.0  # seconds
STARTUP_INTERVAL = 0.05  # seconds, while the process cannot decide reviews
PORT_RETRY_INTERVAL = 1.0  # seconds
METADATA_RETRY_INTERVAL = 5.0  # seconds


class BuildServices(Protocol):
    """Builds the services of the command line, for a version of the API server."""

    def __call__(
        self, server_version: ServerVersion = (), on_bad_flag: OnBadFlag = raise_bad_flag
    ) -> list[Service]: ...


class Instruments:
    """The log, and all metrics.

    Worker processes share the memory of the metrics, so all metrics are declared before the fork.
    """

    def __init__(self, log_level: str, resources: Sequence[str]) -> None:
        self.metrics = Metrics()
        self.log = Log(2, log_level)
        self.http = HttpMetrics(self.metrics, self.log)
        self.decisions = DecisionLog(self.metrics, self.log, tuple(ALL))
        self.readiness = health.Readiness(self.metrics, CACHE_CONDITION, CERTIFICATE_CONDITION)
        self.build = health.BuildInfo(self.metrics)
        self.cache_ages = self.metrics.gauge(
            "cwii_cache_age_seconds", "Since a watch was last heard from.", max, kind=resources
        )
        self.cache_sizes = self.metrics.gauge(
            "cwii_cache_objects", "Objects in the picture.", max, kind=resources
        )
        self.config_errors = ErrorReport(self.metrics, self.log)


class InstanceMetadataLoader:
    """Loads the metadata of the EC2 instance into the external configs that need it.

    The webhook decides no reviews while there is a `problem`.
    """

    def __init__(self, services: Sequence[Service], environ: Mapping[str, str]) -> None:
        self.problem = ""
        self._configs = [
            config
            for service in services
            for config in service.external_config
            if isinstance(config.location, InstanceMetadata)
        ]
        self._environ = environ

    def load(self) -> None:
        """Loads the metadata for all processes, with several attempts. Raises BadFlag."""
        if not self._configs:
            return
        try:
            self._apply(instance_metadata.read_document(self._environ))
        except BadFlag as e:
            self.problem = str(e)
            raise

    async def retry(self, log: Log) -> None:
        """Repeats the load until it succeeds.

        Each call in the thread makes one attempt, because a shutdown waits for the thread.
        """
        while self.problem:
            await asyncio.sleep(METADATA_RETRY_INTERVAL)
            try:
                self._apply(
                    await asyncio.to_thread(
                        instance_metadata.read_document, self._environ, retry_delays=()
                    )
                )
            except BadFlag as e:
                self.problem = str(e)
            else:
                self.problem = ""
                log.info("the instance's metadata is known now")

    def _apply(self, document: str) -> None:
        for config in self._configs:
            if problem := config.update(document):
                raise BadFlag(problem, "leave out --compose-role-arn, and write whole ARNs")


@dataclass(frozen=True)
class WorkerSetup:
    """What all worker processes have in common. The program builds it before the fork."""

    services: Sequence[Service]
    build_services: BuildServices
    faults: Sequence[str]  # configuration errors that prevent all decisions
    metadata: InstanceMetadataLoader
    access_source: AccessSource
    access: Access | None
    cache: CacheSettings
    certificates: Certificates
    instruments: Instruments

    @property
    def serving(self) -> ServingSettings:
        """The settings of the first dialect apply to the process."""
        return self.services[0].serving

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The addresses to listen at: for reviews with TLS, plain ones, and one for debugging."""
        port = self.serving.debug_port
        debugging = [] if port is None else [(LOOPBACK, port)]
        return (self.serving.listen_address, *self.serving.plain_addresses, *debugging)


class Worker:
    """One process that serves. `failed` says that a background task has ended it."""

    def __init__(self, setup: WorkerSetup, sockets: Sequence[socket.socket | None]) -> None:
        instruments, serving = setup.instruments, setup.serving
        self.failed = False
        self._setup = setup
        self._log = instruments.log
        self._readiness = instruments.readiness
        self._cluster = ConnectedCluster(
            setup.access_source, setup.access, setup.cache, self._log.warning, RealClock()
        )
        plain_handler = health.make_handler(self._readiness, instruments.metrics)
        self._admission = AdmissionHandler(
            routes(setup.services),
            lambda: self._cluster.view(LOOKUP_TIMEOUT),
            self._cluster,
            instruments.decisions,
            plain_handler,
        )
        self._admission.client_names = frozenset(serving.client_names)
        self._listeners = [
            self._tls_listener(sockets[0]),
            *self._plain_listeners(sockets[1:], plain_handler),
        ]
        self._server = WebhookServer(
            self._listeners[0],
            self._listeners[1:],
            self._readiness,
            self._log,
            DrainTimes(serving.delay),
        )

    async def run(self, parent_pipe: int | None, watchdog: Watchdog) -> None:
        """Serves until the process is told to stop, or a background task fails.

        The other end of `parent_pipe` closes when the parent process ends.
        """
        self._setup.instruments.build.publish()
        tasks = [
            asyncio.ensure_future(coroutine)
            for coroutine in (
                watchdog.send_heartbeats(),
                self._cluster.run(),
                self._refresh(),
                self._setup.metadata.retry(self._log),
                *(
                    self._wait_for_port(each, address)
                    for each, address in zip(self._listeners, self._setup.addresses, strict=True)
                    if each.is_waiting_for_port
                ),
            )
        ]
        for task in tasks:
            task.add_done_callback(self._stop_if_failed)
        try:
            await self._server.run(parent_pipe)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _tls_listener(self, sock: socket.socket | None) -> Listener:
        http_metrics = self._setup.instruments.http
        connections = Connections(Limits(), http_metrics, time.monotonic)
        return Listener(sock, self._admission, connections, http_metrics, self._setup.certificates)

    def _plain_listeners(
        self, sockets: Sequence[socket.socket | None], handler: Handler
    ) -> list[Listener]:
        """Builds the listeners without TLS. Their requests do not count in the metrics."""
        http_metrics = HttpMetrics(Metrics(), self._log)
        handlers = [handler] * len(sockets)
        if self._setup.serving.debug_port is not None:
            pages = {b"/debug/picture": lambda: _format_cache(self._cluster)}
            handlers[-1] = debug_pages.make_handler(pages)
        return [
            Listener(
                sock,
                each,
                Connections(Limits(max_body_bytes=0), http_metrics, time.monotonic),
                http_metrics,
            )
            for sock, each in zip(sockets, handlers, strict=True)
        ]

    async def _wait_for_port(self, waiting: Listener, address: Address) -> None:
        """Opens the listener once another process has released the port.

        The process decides reviews without a plain port, but it is not ready without the TLS port.
        """
        if waiting.certificates:
            self._readiness.set_reason(PORT_CONDITION, f"nobody can listen at port {address[1]}")
        while waiting.is_waiting_for_port:
            await asyncio.sleep(PORT_RETRY_INTERVAL)
            with contextlib.suppress(OSError):
                waiting.start_on(listen(*address, shared=self._setup.serving.workers > 1))
        self._log.info("a port that was taken is listened at", port=address[1])
        if waiting.certificates:
            self._readiness.set_reason(PORT_CONDITION, "")

    def _stop_if_failed(self, task: asyncio.Task[None]) -> None:
        """Ends the process if a background task fails, because its cache would become outdated."""
        if not task.cancelled() and (error := task.exception()):
            self._log.error(
                "nobody looks at the cluster any more", error=f"{type(error).__name__}: {error}"
            )
            self.failed = True
            self._server.stop()

    async def _refresh(self) -> None:
        """Applies external configs and the server's version, and updates readiness and metrics."""
        configs = [config for each in self._setup.services for config in each.external_config]
        reader = ExternalConfigReader(configs, self._cluster, self._setup.instruments.config_errors)
        applied_version: ServerVersion | None = None
        while True:
            if (version := self._cluster.version) != applied_version:
                applied_version = version
                if version and not self._setup.faults:
                    self._admission.set_routes(routes(self._rebuild_services(version)))
            missing = self._cluster.not_ready_reasons()
            if not missing:
                reader.refresh()
            problems = (*self._setup.faults, self._setup.metadata.problem, *missing)
            self._admission.not_ready_reason = "; ".join(filter(None, problems))
            self._readiness.set_reason(CACHE_CONDITION, self._admission.not_ready_reason)
            self._update_cache_metrics()
            await asyncio.sleep(
                STARTUP_INTERVAL if self._admission.not_ready_reason else REFRESH_INTERVAL
            )

    def _update_cache_metrics(self) -> None:
        for resource, age in self._cluster.ages().items():
            self._setup.instruments.cache_ages.set(age, resource)
        for resource, size in self._cluster.sizes().items():
            self._setup.instruments.cache_sizes.set(size, resource)

    def _rebuild_services(self, version: ServerVersion) -> list[Service]:
        """Rebuilds the services that depend on the version of the API server.

        The other services keep the content of external configs that may no longer exist.
        """
        rebuilt = self._setup.build_services(version)
        return [
            new if old.needs_server_version else old
            for old, new in zip(self._setup.services, rebuilt, strict=True)
        ]


def _format_cache(cluster: ConnectedCluster) -> str:
    ages, sizes = cluster.ages(), cluster.sizes()
    lines = [
        f"{kind}: {sizes[kind]} objects, heard of {age:.1f} s ago" for kind, age in ages.items()
    ]
    return "\n".join([*lines, *cluster.not_ready_reasons(), *cluster.errors()])

"""Builds the webhook from its command line, and runs its worker processes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cwii_webhook.dialects.common.external_config import ConfigMapKey
from cwii_webhook.dialects.cwii.settings import parse_delivery
from cwii_webhook.dialects.dialect import Service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.access import Access, ApiServer, in_cluster
from cwii_webhook.kube.cache.cluster import AccessSource
from cwii_webhook.kube.cache.informer import CacheSettings
from cwii_webhook.kube.cache.lookups import LookupLimits
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.kubeconfig import from_kubeconfig
from cwii_webhook.kube.resources import (
    NAMESPACES,
    OWNERS,
    SERVICE_ACCOUNTS,
    ApiResource,
    single_config_map,
)
from cwii_webhook.server import lifecycle, watchdog, workers
from cwii_webhook.server.listener import bind
from cwii_webhook.server.tls import (
    CertificateFiles,
    Certificates,
    InvalidTlsConfig,
    TlsSettings,
    parse_tls_settings,
)
from cwii_webhook.settings.flags import BadFlag, raise_bad_flag
from cwii_webhook.settings.serving import ServingSettings
from cwii_webhook.telemetry.metrics import Metrics
from cwii_webhook.worker import (
    BuildServices,
    InstanceMetadataLoader,
    Instruments,
    Worker,
    WorkerSetup,
)

KINDS = {(kind.group, kind.kind): kind for kind in (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)}
# The dialect cwii reads these annotations, which have the domain of no dialect.
EXTRA_ANNOTATIONS = frozenset({"iam.gke.io/gcp-service-account"})

StopPush = Callable[[], None]
# Starts to push metrics to a URL.
StartPush = Callable[[str, Metrics], StopPush]


class Program:
    """What is built once, before the worker processes are forked.

    A sidecar does not end because of an error that an operator can correct. It records a fault,
    serves without the faulty part, decides no reviews, and reports the reason.
    """

    def __init__(
        self, build_services: BuildServices, environ: Mapping[str, str], *, sidecar: bool = False
    ) -> None:
        self._sidecar = sidecar
        self._faults: list[str] = []
        services = build_services(on_bad_flag=self._add_fault if sidecar else raise_bad_flag)
        self._serving = services[0].serving
        metadata = InstanceMetadataLoader(services, environ)
        self._load_metadata(metadata)
        kinds = _watched_kinds(services)
        self._instruments = Instruments(
            self._serving.log_level, [kind.group_resource for kind in kinds]
        )
        self._log = self._instruments.log
        access_source = _access_source(self._serving, environ)
        access = self._read_access(access_source)
        certificates = self._certificates()
        self._setup = WorkerSetup(
            services=services,
            build_services=build_services,
            faults=tuple(self._faults),
            metadata=metadata,
            access_source=access_source,
            access=access,
            cache=_cache_settings(services, kinds),
            certificates=certificates,
            instruments=self._instruments,
        )
        self._start_push = self._import_push()

    def bind(self) -> list[list[socket.socket]]:
        """Opens the sockets: for each address, one socket per worker process."""
        return [self._bind(host, port) for host, port in self._setup.addresses]

    def serve(self, sockets: Sequence[Sequence[socket.socket]]) -> int:
        """Runs the worker processes until they end, and returns the exit code."""
        self._log_start(sockets)

        def work(number: int, parent_pipe: int | None) -> int:
            # One process pushes for all, because each process can read the metrics of all.
            start_push = self._start_push if number == 0 else None
            with watchdog.run_watchdog() as process_watchdog:
                stop_push = (
                    start_push(self._serving.otlp, self._instruments.metrics)
                    if start_push
                    else None
                )
                worker = Worker(self._setup, [each[number] if each else None for each in sockets])
                lifecycle.run(lambda: worker.run(parent_pipe, process_watchdog))
                if stop_push:
                    stop_push()
            return int(worker.failed)

        try:
            return workers.run(self._serving.workers, work, self._instruments.metrics, self._log)
        finally:
            for sock in (sock for each in sockets for sock in each):
                sock.close()

    def _log_start(self, sockets: Sequence[Sequence[socket.socket]]) -> None:
        services = self._setup.services
        for warning in (warning for service in services for warning in service.flags.warnings):
            self._log.warning(warning)
        for fault in filter(None, (*self._faults, self._setup.metadata.problem)):
            self._log.error(fault)
        ports = [
            each[0].getsockname()[1] if each else port
            for each, (_, port) in zip(sockets, self._setup.addresses, strict=True)
        ]
        self._log.info(
            "listening",
            paths=tuple(service.route.path for service in services),
            ports=tuple(map(str, ports)),
        )

    def _add_fault(self, error: Exception) -> None:
        if str(error) not in self._faults:
            self._faults.append(str(error))

    def _load_metadata(self, metadata: InstanceMetadataLoader) -> None:
        """Continues after an error in a sidecar, because the workers repeat the load."""
        try:
            metadata.load()
        except BadFlag:
            if not self._sidecar:
                raise

    def _read_access(self, source: AccessSource) -> Access | None:
        """Returns None if a sidecar has no valid access yet. The workers try again."""
        try:
            return source.read()
        except BadAccess:
            if not self._sidecar:
                raise
            return None

    def _certificates(self) -> Certificates:
        certificate, key = self._serving.certificate_files
        client_ca = Path(self._serving.client_ca) if self._serving.client_ca else None
        tls_terms = TlsSettings()
        try:
            tls_terms = parse_tls_settings(self._serving.tls_min, self._serving.tls_ciphers)
        except InvalidTlsConfig as e:
            if not self._sidecar:
                raise
            self._add_fault(e)
        return Certificates(
            CertificateFiles(Path(certificate), Path(key), client_ca),
            tls_terms,
            self._log_certificate,
        )

    def _log_certificate(self, problem: str) -> None:
        if problem:
            self._log.error(problem)
        else:
            self._log.info("a certificate is served")

    def _import_push(self) -> StartPush | None:
        """Imports the OTLP exporter only if it is configured, because it is very large."""
        if not self._serving.otlp:
            return None
        try:
            from cwii_webhook.telemetry.otlp import start_push  # noqa: PLC0415
        except ImportError:
            missing = BadFlag(
                "--otlp-endpoint needs more than is installed",
                "pip install 'cwii-webhook[otlp,server]'",
            )
            if not self._sidecar:
                raise missing from None
            # Only an error in the log: decisions do not depend on the exporter.
            self._log.error(str(missing))
            return None
        return start_push

    def _bind(self, host: str, port: int) -> list[socket.socket]:
        """Opens the sockets of one address. A sidecar gets none if the port is taken."""
        try:
            return bind(host, port, processes=self._serving.workers)
        except OSError as e:
            bad = BadFlag(
                f"nobody can listen at {host or 'any address'}, port {port}: {e.strerror or e}",
                "name another with the flags for ports and addresses",
            )
        if not self._sidecar:
            raise bad
        self._log.error(str(bad))
        return []


def serve(
    build_services: BuildServices, environ: Mapping[str, str], *, sidecar: bool = False
) -> int:
    """Builds the program and serves.

    The watchdog also covers the start, because files and the metadata service can block.
    """
    with watchdog.run_watchdog():
        program = Program(build_services, environ, sidecar=sidecar)
        sockets = program.bind()
    return program.serve(sockets)


def _watched_kinds(services: Sequence[Service]) -> list[ApiResource]:
    """Returns the kinds of objects that the dialects read, and single ConfigMaps."""
    config_maps = dict.fromkeys(
        config.location.ref
        for service in services
        for config in service.external_config
        if isinstance(config.location, ConfigMapKey)
    )
    return [
        *(kind for key, kind in KINDS.items() if any(key in each.kinds for each in services)),
        *map(single_config_map, config_maps),
    ]


def _cache_settings(services: Sequence[Service], kinds: Sequence[ApiResource]) -> CacheSettings:
    writes = any(
        parse_delivery(str(service.flags.values.get("gcp_delivery", ""))) == "config-map"
        for service in services
    )
    return CacheSettings(
        kinds,
        _annotation_filter(services),
        LookupLimits(services[0].serving.grace),
        writes,
        any(service.needs_server_version for service in services),
    )


def _annotation_filter(services: Sequence[Service]) -> Callable[[str], bool]:
    """Selects the annotations to cache: those of all dialects, which warn of each other's."""
    domains = {dialect.domain for dialect in ALL.values()}.union(
        *[service.domains for service in services]
    )
    return lambda key: key.partition("/")[0] in domains or key in EXTRA_ANNOTATIONS


def _access_source(serving: ServingSettings, environ: Mapping[str, str]) -> AccessSource:
    """Finds the API server by the kubeconfig, or from inside the cluster."""

    def read() -> Access:
        access = (
            from_kubeconfig(Path(serving.kubeconfig), RealClock(), serving.context)
            if serving.kubeconfig
            else in_cluster(environ, RealClock())
        )
        access.namespace = environ.get("POD_NAMESPACE") or access.namespace
        if serving.api:
            server = access.server
            access.server = ApiServer.from_url(
                serving.api,
                tls_server_name=server.tls_server_name,
                ca=server.ca,
                verify=server.verify,
            )
        return access

    return AccessSource(read, Path(serving.kubeconfig) if serving.kubeconfig else None)

"""Settings that all dialects share: addresses, TLS, access to the cluster, logging."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from cwii_webhook.settings.flags import (
    BadFlag,
    Flag,
    OnBadFlag,
    ParsedFlags,
    build_settings,
    raise_bad_flag,
)

Address = tuple[str, int]
LOOPBACK = "127.0.0.1"
UNSPECIFIED_HOSTS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared, not listened at
LEVELS = ("debug", "info", "warning", "error")


class ServingSettings(Struct, frozen=True):
    """The values of the shared flags. Flags address the fields by name. Times are in seconds."""

    address: Address = ("", 8443)
    port: int | None = None  # replaces the port of the address
    cert_dir: str = ""  # contains tls.crt and tls.key
    cert: str = ""
    key: str = ""
    client_ca: str = ""  # the file of the CA that signs client certificates
    client_names: tuple[str, ...] = ()  # a client certificate must have one of these names
    tls_min: str = ""
    tls_ciphers: tuple[str, ...] = ()
    health: Address | None = None
    metrics: Address | None = None
    metrics_port: int | None = None
    kubeconfig: str = ""
    context: str = ""
    api: str = ""  # the URL of the API server, replaces that of the kubeconfig
    grace: float = 0.2
    delay: float = 10.0
    workers: int = 1
    sidecar: bool = False
    debug_port: int | None = None
    otlp: str = ""
    log_level: str = "info"

    @property
    def listen_address(self) -> Address:
        """The address for admission reviews.

        A sidecar listens on the loopback by default, because its API server runs beside it.
        """
        host, port = self.address
        if self.sidecar and host in UNSPECIFIED_HOSTS:
            host = LOOPBACK
        return (host, port if self.port is None else self.port)

    @property
    def certificate_files(self) -> tuple[str, str]:
        """The paths of the certificate and of its key."""
        return (self.cert or f"{self.cert_dir}/tls.crt", self.key or f"{self.cert_dir}/tls.key")

    @property
    def plain_addresses(self) -> tuple[Address, ...]:
        """The addresses of health and metrics, without TLS. Both can share one address."""
        metrics = self.metrics if self.metrics_port is None else ("", self.metrics_port)
        return tuple(
            dict.fromkeys(
                address
                for address in (self.health, metrics)
                if address is not None and address[1] >= 0
            )
        )


class _ServingSection(Struct, frozen=True):
    serving: ServingSettings = ServingSettings()


def serving_settings(
    flags: ParsedFlags, default: ServingSettings, on_bad_flag: OnBadFlag = raise_bad_flag
) -> ServingSettings:
    """Builds the settings. The dialect's default replaces missing and invalid values."""
    parsed = build_settings(flags, _ServingSection).serving
    given = {
        field.removeprefix("serving.") for field in flags.values if field.startswith("serving.")
    }
    fields = {
        name: getattr(parsed if name in given else default, name)
        for name in ServingSettings.__struct_fields__
    }
    for name, bad in _find_invalid(ServingSettings(**fields)):
        on_bad_flag(bad)
        fields[name] = getattr(default, name)
    return ServingSettings(**fields)


def _find_invalid(settings: ServingSettings) -> Iterator[tuple[str, BadFlag]]:
    """Yields the name of each field with an invalid value."""
    if bool(settings.cert) != bool(settings.key):
        yield (
            "cert" if settings.cert else "key",
            BadFlag("of certificate and key only one is named", "name both files"),
        )
    for name, port in (
        ("port", settings.listen_address[1]),
        ("metrics_port", max(0, settings.metrics_port or 0)),
        ("debug_port", settings.debug_port or 0),
    ):
        if not 0 <= port <= 65535:
            yield (
                name,
                BadFlag(
                    f"there is no port {port}",
                    "give one from 1 to 65535, or 0 for any that is free",
                ),
            )
    if settings.log_level not in LEVELS:
        yield (
            "log_level",
            BadFlag(f"--log-level is {settings.log_level!r}", f"use one of {', '.join(LEVELS)}"),
        )
    if settings.workers < 1:
        yield (
            "workers",
            BadFlag(f"--workers is {settings.workers}", "give a number of processes, one at least"),
        )
    if settings.client_names and not settings.client_ca:
        yield (
            "client_names",
            BadFlag(
                "--client-names are given without --client-ca",
                "name the file of the CA that signs those names",
            ),
        )
    for name, seconds in (("grace", settings.grace), ("delay", settings.delay)):
        if seconds < 0:
            yield name, BadFlag("a time is less than nothing", "say it as 200ms or 10s")


_KLOG_NAMES = (
    "v vmodule logtostderr alsologtostderr log-dir log-file log-file-max-size log-backtrace-at "
    "stderrthreshold skip-headers skip-log-headers add-dir-header one-output"
)
_IGNORED_SWITCHES = frozenset(
    {
        "logtostderr",
        "alsologtostderr",
        "skip-headers",
        "skip-log-headers",
        "add-dir-header",
        "one-output",
        "zap-devel",
    }
)


def ignored_flags(names: str, why: str) -> tuple[Flag, ...]:
    """Makes flags that are accepted for compatibility and have no effect."""
    return tuple(
        Flag(name, "switch" if name in _IGNORED_SWITCHES else "text", why) for name in names.split()
    )


COMMON_FLAGS: tuple[Flag, ...] = (
    Flag(
        "kubeconfig",
        "text",
        "How to reach the API server from outside a cluster.",
        "serving.kubeconfig",
        "KUBECONFIG",
    ),
    Flag("context", "text", "Which of its contexts, if not the current one.", "serving.context"),
    Flag(
        "client-ca",
        "text",
        "File of the CA that API servers' client certificates are of. Without it anybody may ask.",
        "serving.client_ca",
    ),
    Flag(
        "client-names",
        "words",
        "Names, one of which such a certificate has to bear; without it any of that CA will do.",
        "serving.client_names",
    ),
    Flag(
        "tls-min-version",
        "text",
        "Least version of TLS: 1.2, TLSv1.2, VersionTLS12 and the like.",
        "serving.tls_min",
    ),
    Flag(
        "tls-cipher-suites",
        "words",
        "Ciphers of TLS 1.2, by their IANA names.",
        "serving.tls_ciphers",
    ),
    Flag(
        "lookup-grace",
        "duration",
        "How long an object that is not there yet is looked for.",
        "serving.grace",
    ),
    Flag(
        "shutdown-delay",
        "duration",
        "How long it goes on serving after it was told to end.",
        "serving.delay",
    ),
    Flag("workers", "number", "Processes that share the port.", "serving.workers"),
    Flag(
        "sidecar",
        "switch",
        "Beside a kube-apiserver: listen on the loopback, and never exit for what can be mended, "
        "but answer 503, and say why.",
        "serving.sidecar",
        "CWII_SIDECAR",
    ),
    Flag(
        "debug-port",
        "number",
        "Port on the loopback where tasks, memory and the picture are told.",
        "serving.debug_port",
    ),
    Flag(
        "otlp-endpoint",
        "text",
        "Where metrics are pushed to as well, by OTLP over HTTP; needs the extra otlp.",
        "serving.otlp",
    ),
)
LOG_FLAG_NOTICE = "the log is lines of JSON; --log-level says how much of it"
LOG_LEVEL = Flag("log-level", "text", "debug, info, warning or error.", "serving.log_level")
KLOG_FLAGS: tuple[Flag, ...] = ignored_flags(_KLOG_NAMES, LOG_FLAG_NOTICE)
ZAP_FLAGS: tuple[Flag, ...] = ignored_flags(
    "zap-devel zap-encoder zap-log-level zap-stacktrace-level zap-time-encoding", LOG_FLAG_NOTICE
)

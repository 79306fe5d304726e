"""How a server is to be reached and how it reaches the cluster: what every dialect's command line says too, each in its own words."""

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
LOOPBACK, ANY = "127.0.0.1", frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - what is not taken for an address of its own
LEVELS = ("debug", "info", "warning", "error")


class ServingSettings(Struct, frozen=True):
    address: Address = ("", 8443)
    port: int | None = None  # of the address, where a peer has a flag for it alone
    cert_dir: str = ""  # with tls.crt and tls.key in it
    cert: str = ""
    key: str = ""
    client_ca: str = ""  # whom a client's certificate has to be of
    client_names: tuple[str, ...] = ()  # one of which it has to bear
    tls_min: str = ""
    tls_ciphers: tuple[str, ...] = ()
    health: Address | None = None
    metrics: Address | None = None
    metrics_port: int | None = None
    kubeconfig: str = ""
    context: str = ""
    api: str = ""  # the API server's URL, instead of what the kubeconfig says
    grace: float = 0.2
    delay: float = 10.0
    workers: int = 1
    sidecar: bool = False
    debug_port: int | None = None
    otlp: str = ""
    log_level: str = "info"

    @property
    def listen_address(self) -> Address:
        """Who asks a sidecar is beside it. Whoever wants others to ask names an address of its own for that."""
        host = LOOPBACK if self.sidecar and self.address[0] in ANY else self.address[0]
        return (host, self.address[1] if self.port is None else self.port)

    @property
    def certificate_files(self) -> tuple[str, str]:
        """The files of the certificate and of its key."""
        return (self.cert or f"{self.cert_dir}/tls.crt", self.key or f"{self.cert_dir}/tls.key")

    @property
    def plain_addresses(self) -> tuple[Address, ...]:
        """Where health and metrics are asked for, without TLS. One place may serve both."""
        metrics = self.metrics if self.metrics_port is None else ("", self.metrics_port)
        return tuple(
            dict.fromkeys(
                place for place in (self.health, metrics) if place is not None and place[1] >= 0
            )
        )


class Served(Struct, frozen=True):
    serving: ServingSettings = ServingSettings()


def serving_settings(
    told: ParsedFlags, default: ServingSettings, refuse: OnBadFlag = raise_bad_flag
) -> ServingSettings:
    """What was told, and for the rest, and for what was refused, what the dialect has by default."""
    said = build_settings(told, Served).serving
    given = {
        field.removeprefix("serving.") for field in told.values if field.startswith("serving.")
    }
    kept = {
        name: getattr(said if name in given else default, name)
        for name in ServingSettings.__struct_fields__
    }
    for name, bad in _wrong(ServingSettings(**kept)):
        refuse(bad)
        kept[name] = getattr(default, name)
    return ServingSettings(**kept)


def _wrong(told: ServingSettings) -> Iterator[tuple[str, BadFlag]]:
    if bool(told.cert) != bool(told.key):
        yield (
            "cert" if told.cert else "key",
            BadFlag("of certificate and key only one is named", "name both files"),
        )
    for name, port in (
        ("port", told.listen_address[1]),
        ("metrics_port", max(0, told.metrics_port or 0)),
        ("debug_port", told.debug_port or 0),
    ):
        if not 0 <= port <= 65535:
            yield (
                name,
                BadFlag(
                    f"there is no port {port}",
                    "give one from 1 to 65535, or 0 for any that is free",
                ),
            )
    if told.log_level not in LEVELS:
        yield (
            "log_level",
            BadFlag(f"--log-level is {told.log_level!r}", f"use one of {', '.join(LEVELS)}"),
        )
    if told.workers < 1:
        yield (
            "workers",
            BadFlag(f"--workers is {told.workers}", "give a number of processes, one at least"),
        )
    if told.client_names and not told.client_ca:
        yield (
            "client_names",
            BadFlag(
                "--client-names are given without --client-ca",
                "name the file of the CA that signs those names",
            ),
        )
    for name, seconds in (("grace", told.grace), ("delay", told.delay)):
        if seconds < 0:
            yield name, BadFlag("a time is less than nothing", "say it as 200ms or 10s")


_KLOG = (
    "v vmodule logtostderr alsologtostderr log-dir log-file log-file-max-size log-backtrace-at stderrthreshold skip-headers skip-log-headers "
    "add-dir-header one-output"
)
_SWITCHES = frozenset(
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
    """Flags of peers that say how something is done that is done otherwise here."""
    return tuple(
        Flag(name, "switch" if name in _SWITCHES else "text", why) for name in names.split()
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
        "Beside a kube-apiserver: listen on the loopback, and never exit for what can be mended, but answer 503, and say why.",
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
OWN_LOG = "the log is lines of JSON; --log-level says how much of it"
LOG_LEVEL = Flag("log-level", "text", "debug, info, warning or error.", "serving.log_level")
KLOG_FLAGS: tuple[Flag, ...] = ignored_flags(_KLOG, OWN_LOG)
ZAP_FLAGS: tuple[Flag, ...] = ignored_flags(
    "zap-devel zap-encoder zap-log-level zap-stacktrace-level zap-time-encoding", OWN_LOG
)

"""The webhook's command line: where it listens, in the words of its first dialect, and what each dialect is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cwii_webhook.dialects.dialect import Service, build_service
from cwii_webhook.dialects.registry import ALL, SEPARATOR
from cwii_webhook.settings.flags import BadFlag

from cwiictl.audiences import AZURE
from cwiictl.errors import BadInput
from cwiictl.install.values import Dialect, Values

HTTPS, PLAIN = 8443, 8080
CERTIFICATES = "/tls"


@dataclass(frozen=True)
class Doors:
    """Where it listens, and where its certificate is."""

    https: int = HTTPS
    plain: int = PLAIN
    metrics: int = PLAIN
    host: str = ""  # of what is not TLS
    certificates: str = CERTIFICATES


OWN = Doors()  # in a pod of its own


def command(values: Values, doors: Doors = OWN, more: Iterable[str] = ()) -> list[str]:
    """Behind the image's entrypoint. `more` is told the first dialect."""
    words = [
        [SEPARATOR, dialect, *_words(values, dialect, doors, more)] for dialect in values.served
    ]
    return [word for each in words for word in each][1:]


def understood(values: Values, doors: Doors = OWN, more: Iterable[str] = ()) -> tuple[Service, ...]:
    """What the webhook makes of it. What it would not start with is better told before it is installed."""
    try:
        first, *others = (_words(values, dialect, doors, more) for dialect in values.served)
        further = [
            build_service(ALL[dialect], words, {}, path=path(dialect))
            for dialect, words in zip(values.served[1:], others, strict=True)
        ]
        return (build_service(ALL[values.served[0]], first, {}), *further)
    except BadFlag as bad:
        raise BadInput(f"the webhook would not start: {bad.problem}", remedy=bad.remedy) from bad


def path(dialect: Dialect) -> str:
    """Where its reviews are posted to: the same, whichever others are served beside it."""
    return f"/{dialect}{ALL[dialect].path}"


def _words(values: Values, dialect: Dialect, doors: Doors, more: Iterable[str]) -> list[str]:
    """The first one is told for all how they are served. azwi's proxies are told its log's level too: none, where nobody asks for more."""
    serving = (*_serving(dialect, doors), *more) if dialect == values.served[0] else ()
    level = (
        [f"--log-level={values.log_level}"]
        if serving and (dialect != "azwi" or values.log_level != "info")
        else []
    )
    told = [f"--{flag}={value}" for flag, value in _flags(values, dialect).items() if value]
    own: tuple[str, ...] = getattr(values.arguments, dialect)
    return [*serving, *level, *told, *own]


def _serving(dialect: Dialect, doors: Doors) -> tuple[str, ...]:
    pair = (f"--tls-cert={doors.certificates}/tls.crt", f"--tls-key={doors.certificates}/tls.key")
    folder = (f"--port={doors.https}", f"--webhook-cert-dir={doors.certificates}")
    plain, metrics = f"{doors.host}:{doors.plain}", f"{doors.host}:{doors.metrics}"
    return {
        "cwii": (f"--addr=:{doors.https}", *pair, f"--health-addr={plain}"),
        "eks": (
            f"--port={doors.https}",
            *pair,
            f"--metrics-addr={plain}" if doors.host else f"--metrics-port={doors.plain}",
        ),
        "azwi": (*folder, f"--health-addr={plain}", f"--metrics-addr={metrics}"),
        "gcpwif": (
            *folder,
            f"--health-probe-bind-address={plain}",
            f"--metrics-bind-address={metrics}",
        ),
    }[dialect]


def _flags(values: Values, dialect: Dialect) -> Mapping[str, str]:
    aws, azure, gcp = values.aws, values.azure, values.gcp
    audience = azure.audience or (AZURE[azure.environment]["webhook"] if azure.environment else "")
    return {
        "cwii": {
            "aws-default-audience": aws.audience,
            "aws-default-region": aws.region,
            "az-default-audience": audience,
            "gcp-default-audience": gcp.provider and f"//iam.googleapis.com/{gcp.provider}",
            "gcp-delivery": gcp.delivery,
        },
        "eks": {"token-audience": aws.audience, "aws-default-region": aws.region},
        "azwi": {
            "audience": audience,
            "tenant-id": azure.tenant_id,
            "azure-environment": azure.environment,
        },
        "gcpwif": {"token-audience": gcp.audience, "gcp-default-region": gcp.region},
    }[dialect]

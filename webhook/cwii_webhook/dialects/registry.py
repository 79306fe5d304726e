"""The table of dialects: whose words are understood, at which path, by which names it is called, and what is made of its command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from cwii_webhook import differences
from cwii_webhook.admission.admit import Mutator, Route
from cwii_webhook.admission.owners import ABOVE, OWNERS
from cwii_webhook.dialects.azwi import annotations as azwi_words
from cwii_webhook.dialects.azwi import settings as azwi
from cwii_webhook.dialects.azwi.mutator import AzwiMutator
from cwii_webhook.dialects.common import annotations as vocabulary
from cwii_webhook.dialects.common.external_config import ExternalConfig, HasExternalConfig
from cwii_webhook.dialects.cwii import annotations as cwii_words
from cwii_webhook.dialects.cwii import settings as cwii
from cwii_webhook.dialects.cwii.dialect import clouds
from cwii_webhook.dialects.eks import annotations as eks_words
from cwii_webhook.dialects.eks import settings as eks
from cwii_webhook.dialects.eks.mutator import EksMutator
from cwii_webhook.dialects.gcpwif import annotations as gcpwif_words
from cwii_webhook.dialects.gcpwif import settings as gcpwif
from cwii_webhook.dialects.gcpwif.mutator import GcpwifMutator
from cwii_webhook.differences import azwi as azwi_differences
from cwii_webhook.differences import cwii as cwii_differences
from cwii_webhook.differences import eks as eks_differences
from cwii_webhook.differences import gcpwif as gcpwif_differences
from cwii_webhook.settings.flags import (
    BadFlag,
    Flag,
    OnBadFlag,
    ParsedFlags,
    build_settings,
    parse,
    parse_log_level,
    raise_bad_flag,
)
from cwii_webhook.settings.serving import ServingSettings, serving_settings

Kind = tuple[str, str]  # group and kind
Version = tuple[int, ...]  # of an API server, (1, 32); or empty where it is not known

SEPARATOR = "+"  # begins the command line of a further dialect, which is served at /DIALECT/PATH
SERVICE_ACCOUNTS: frozenset[Kind] = frozenset({("", "ServiceAccount")})
ALL_SOURCES: frozenset[Kind] = (
    SERVICE_ACCOUNTS | {("", "Namespace")} | OWNERS | frozenset[Kind]().union(*ABOVE.values())
)


class Dialect(Struct, frozen=True):
    name: str
    path: str
    flags: tuple[Flag, ...]
    serving: ServingSettings
    mutators: Callable[[ParsedFlags, str], tuple[Mutator, ...]]
    annotations: tuple[vocabulary.Annotation, ...]
    differences: tuple[differences.Difference, ...]
    domain: str  # of its annotations, where no flag says another
    programs: tuple[
        str, ...
    ] = ()  # the names of files by which it is called, OpenShift's among them
    kinds: frozenset[Kind] = SERVICE_ACCOUNTS  # of objects that it asks the picture for
    version: bool = False  # asks for the API server's version
    level: str = ""  # the field, if any, that is told how much the log tells, besides what its own meaning is
    selecting: tuple[
        str, ...
    ] = ()  # flags with which it heeds by itself what selectors in its webhook configuration heed elsewhere
    marker: str = ""


class Service(Struct, frozen=True):
    """One command line, understood: what is given where, what has to be known for it, and how it is served."""

    route: Route
    serving: ServingSettings
    kinds: frozenset[Kind]
    domains: frozenset[str]
    flags: ParsedFlags
    version: bool = False  # of the API server, which it has to be made with
    external_config: tuple[ExternalConfig, ...] = ()


def _cwii(told: ParsedFlags, _program: str) -> tuple[Mutator, ...]:
    return clouds(cwii.settings(told))


def _eks(told: ParsedFlags, _program: str) -> tuple[Mutator, ...]:
    return (EksMutator(build_settings(told, eks.Settings)),)


def _azwi(told: ParsedFlags, program: str) -> tuple[Mutator, ...]:
    return (AzwiMutator(azwi.settings(told, program)),)


def _gcpwif(told: ParsedFlags, _program: str) -> tuple[Mutator, ...]:
    return (GcpwifMutator(gcpwif.settings(told)),)


ALL: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "cwii",
            "/mutate",
            cwii.FLAGS,
            cwii.SERVING,
            _cwii,
            cwii_words.ALL,
            cwii_differences.ALL,
            cwii_words.DOMAIN,
            ("cwii",),
            ALL_SOURCES,
            marker=cwii_words.INJECTED.key,
        ),
        Dialect(
            "eks",
            "/mutate",
            eks.FLAGS,
            eks.SERVING,
            _eks,
            eks_words.ALL,
            eks_differences.ALL,
            eks_words.DOMAIN,
            ("aws-pod-identity-webhook", "amazon-eks-pod-identity-webhook"),
        ),
        Dialect(
            "azwi",
            "/mutate-v1-pod",
            azwi.FLAGS,
            azwi.SERVING,
            _azwi,
            azwi_words.ALL,
            azwi_differences.ALL,
            azwi_words.DOMAIN,
            (azwi.HOSTED,),
            version=True,
            level="proxy.log_level",
            selecting=("--check-label=true",),
        ),
        Dialect(
            "gcpwif",
            "/mutate-v1-pod",
            gcpwif.FLAGS,
            gcpwif.SERVING,
            _gcpwif,
            gcpwif_words.ALL,
            gcpwif_differences.ALL,
            gcpwif_words.DOMAIN,
            ("gcp-workload-identity-federation-webhook",),
        ),
    )
}


def service(  # noqa: PLR0913 - most of it by name, and seldom
    dialect: Dialect,
    words: Sequence[str],
    environ: Mapping[str, str],
    *,
    path: str = "",
    program: str = "",
    refuse: OnBadFlag = raise_bad_flag,
    version: Version = (),
) -> Service:
    """As it was told, for an API server of that version; raises BadFlag. One that is served beside another, at a path of its own, has no say in how."""
    told = parse(dialect.flags, words, environ, refuse)
    if path and (
        spoken := [
            f for f in parse(dialect.flags, words, {}, _unheard).values if f.startswith("serving.")
        ]
    ):
        refuse(
            BadFlag(
                f"{dialect.name} is served where the first dialect is, and is told its {spoken[0].removeprefix('serving.')}",
                "tell the first one",
            )
        )
    mutators = _mutators(dialect, told, program, refuse, version)
    route = Route(dialect.name, path or dialect.path, mutators, marker=dialect.marker)
    domain = str(told.values.get("domain", dialect.domain))
    sources = tuple(
        [
            source
            for mutator in mutators
            if isinstance(mutator, HasExternalConfig)
            for source in mutator.external_config
        ]
    )
    return Service(
        route,
        serving_settings(_leveled(told, dialect), dialect.serving, refuse),
        dialect.kinds,
        frozenset({domain}),
        told,
        dialect.version,
        sources,
    )


def _leveled(told: ParsedFlags, dialect: Dialect) -> ParsedFlags:
    text = told.values.get(dialect.level)
    return (
        ParsedFlags({**told.values, "serving.log_level": parse_log_level(str(text))})
        if text in azwi.LOG_LEVELS[1:]
        else told
    )


def _mutators(
    dialect: Dialect, told: ParsedFlags, program: str, refuse: OnBadFlag, version: Version
) -> tuple[Mutator, ...]:
    known = {"kubernetes": version} if dialect.version and version else {}
    try:
        return dialect.mutators(ParsedFlags({**told.values, **known}), program)
    except BadFlag as e:
        refuse(e)
        return ()


def _unheard(_bad: BadFlag) -> None:
    """It was told before."""


def split_command_line(words: Iterable[str]) -> list[list[str]]:
    """The command line of each dialect."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def routes(offered: Iterable[Service]) -> Mapping[bytes, Route]:
    """The first is answered at its own path, and as all others are, too: whoever comes before or behind another is found where it was."""
    services = tuple(offered)
    found = {
        f"/{each.route.dialect}{ALL[each.route.dialect].path}".encode(): each.route
        for each in services
    }
    return found | {each.route.path.encode(): each.route for each in services}

"""Defines what a dialect is, and builds a service from a dialect and its command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from cwii_webhook.admission.admit import Mutator, Route, no_hints
from cwii_webhook.admission.annotation_sources import (
    OWNERS,
    OWNERS_OF_OWNERS,
    GroupKind,
    PodContext,
)
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.common.external_config import ExternalConfig
from cwii_webhook.settings.flags import BadFlag, Flag, OnBadFlag, ParsedFlags, parse, raise_bad_flag
from cwii_webhook.settings.serving import ServingSettings, serving_settings

ServerVersion = tuple[int, ...]  # of the API server, such as (1, 32); empty: unknown

SERVICE_ACCOUNTS: frozenset[GroupKind] = frozenset({("", "ServiceAccount")})
ALL_SOURCES: frozenset[GroupKind] = (
    SERVICE_ACCOUNTS
    | {("", "Namespace")}
    | OWNERS
    | frozenset[GroupKind]().union(*OWNERS_OF_OWNERS.values())
)


class DialectBehavior(Struct, frozen=True):
    """What a dialect does with pods, for one set of flags."""

    mutators: tuple[Mutator, ...] = ()
    typo_hints: Callable[[PodContext], tuple[str, ...]] = no_hints
    external_config: tuple[ExternalConfig, ...] = ()


class Dialect(Struct, frozen=True, kw_only=True):
    """A webhook that this one can stand in for: its annotations, flags, path and behavior."""

    name: str
    path: str
    flags: tuple[Flag, ...]
    serving: ServingSettings  # defaults
    defaults: Struct | None = None  # of all other flags, for --help
    build: Callable[
        [ParsedFlags, str], DialectBehavior
    ]  # from flags and program name; raises BadFlag
    annotations: tuple[Annotation, ...]
    domain: str  # default domain of the annotations
    program_names: tuple[str, ...] = ()  # names of the peer's binary
    kinds: frozenset[GroupKind] = SERVICE_ACCOUNTS  # kinds of the objects that it reads
    needs_server_version: bool = False
    log_level: Callable[[ParsedFlags], str] | None = None  # if another flag sets the level
    selector_flags: tuple[str, ...] = ()  # flags that replace selectors in the configuration
    marker: str = ""


class Service(Struct, frozen=True):
    """A dialect with its flags: the route, what it reads, and how it is served."""

    route: Route
    serving: ServingSettings
    kinds: frozenset[GroupKind]
    domains: frozenset[str]
    flags: ParsedFlags
    needs_server_version: bool = False
    external_config: tuple[ExternalConfig, ...] = ()


def build_service(  # noqa: PLR0913 - all but three have defaults
    dialect: Dialect,
    arguments: Sequence[str],
    environ: Mapping[str, str],
    *,
    path: str = "",
    program: str = "",
    on_bad_flag: OnBadFlag = raise_bad_flag,
    server_version: ServerVersion = (),
) -> Service:
    """Builds the service that a command line asks for.

    With a path, the dialect is served beside another one, whose serving flags apply.
    """
    flags = parse(dialect.flags, arguments, environ, on_bad_flag)
    if path:
        _refuse_serving_flags(dialect, arguments, on_bad_flag)
    behavior = _behavior(dialect, flags, program, on_bad_flag, server_version)
    route = Route(
        dialect.name,
        path or dialect.path,
        behavior.mutators,
        marker=dialect.marker,
        typo_hints=behavior.typo_hints,
        has_external_config=bool(behavior.external_config),
    )
    serving = serving_settings(_with_log_level(dialect, flags), dialect.serving, on_bad_flag)
    domain = str(flags.values.get("domain", dialect.domain))
    return Service(
        route,
        serving,
        dialect.kinds,
        frozenset({domain}),
        flags,
        dialect.needs_server_version,
        behavior.external_config,
    )


def _refuse_serving_flags(
    dialect: Dialect, arguments: Sequence[str], on_bad_flag: OnBadFlag
) -> None:
    fields = parse(dialect.flags, arguments, {}, _ignore).values
    serving = [field for field in fields if field.startswith("serving.")]
    if serving:
        problem = (
            f"{dialect.name} is served where the first dialect is, and is told its "
            f"{serving[0].removeprefix('serving.')}"
        )
        on_bad_flag(BadFlag(problem, "tell the first one"))


def _ignore(_error: BadFlag) -> None:
    """The error was reported when all flags were parsed."""


def _behavior(
    dialect: Dialect,
    flags: ParsedFlags,
    program: str,
    on_bad_flag: OnBadFlag,
    server_version: ServerVersion,
) -> DialectBehavior:
    values = {**flags.values}
    if dialect.needs_server_version and server_version:
        values["kubernetes"] = server_version
    try:
        return dialect.build(ParsedFlags(values), program)
    except BadFlag as e:
        on_bad_flag(e)
        return DialectBehavior()


def _with_log_level(dialect: Dialect, flags: ParsedFlags) -> ParsedFlags:
    level = dialect.log_level(flags) if dialect.log_level else ""
    return ParsedFlags({**flags.values, "serving.log_level": level}) if level else flags

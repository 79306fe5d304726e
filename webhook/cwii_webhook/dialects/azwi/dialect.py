"""The dialect of azure-workload-identity: Azure identities for labelled pods."""

from __future__ import annotations

from cwii_webhook.dialects.azwi import annotations as keys
from cwii_webhook.dialects.azwi.mutator import AzwiMutator
from cwii_webhook.dialects.azwi.settings import (
    FLAGS,
    HOSTED_PROGRAM,
    LOG_LEVELS,
    SERVING,
    Settings,
    parse_settings,
)
from cwii_webhook.dialects.dialect import Dialect, DialectBehavior
from cwii_webhook.settings.flags import ParsedFlags, parse_log_level


def _build(flags: ParsedFlags, program: str) -> DialectBehavior:
    mutator = AzwiMutator(parse_settings(flags, program))
    return DialectBehavior((mutator,), mutator.typo_hints)


def _log_level(flags: ParsedFlags) -> str:
    """--log-level is the level of the proxies and of the webhook."""
    text = flags.values.get("proxy.log_level")
    return parse_log_level(str(text)) if text in LOG_LEVELS[1:] else ""


AZWI = Dialect(
    name="azwi",
    path="/mutate-v1-pod",
    flags=FLAGS,
    serving=SERVING,
    defaults=Settings(),
    build=_build,
    annotations=keys.ALL,
    domain=keys.DOMAIN,
    program_names=(HOSTED_PROGRAM,),
    needs_server_version=True,
    log_level=_log_level,
    selector_flags=("--check-label=true",),
)

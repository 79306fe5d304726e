"""The dialect cwii: identities in AWS, Azure and Google Cloud, several for one pod."""

from __future__ import annotations

from cwii_webhook.dialects.common.typo_hints import TypoHints
from cwii_webhook.dialects.cwii import annotations as keys
from cwii_webhook.dialects.cwii.aws import aws_mutator
from cwii_webhook.dialects.cwii.azure import azure_mutator
from cwii_webhook.dialects.cwii.gcp import gcp_mutator
from cwii_webhook.dialects.cwii.settings import FLAGS, SERVING, Settings, parse_settings
from cwii_webhook.dialects.dialect import ALL_SOURCES, Dialect, DialectBehavior

_TYPO_HINTS = TypoHints("cwii", keys.DOMAIN, keys.ALL, is_exclusive=True)


def behavior(settings: Settings) -> DialectBehavior:
    """Returns the mutators of the enabled clouds, in the order in which they inject."""
    clouds = (
        (settings.gcp_enabled, gcp_mutator),
        (settings.aws_enabled, aws_mutator),
        (settings.az_enabled, azure_mutator),
    )
    mutators = tuple([mutator(settings) for is_enabled, mutator in clouds if is_enabled])
    return DialectBehavior(mutators, _TYPO_HINTS.for_all_sources) if mutators else DialectBehavior()


CWII = Dialect(
    name="cwii",
    path="/mutate",
    flags=FLAGS,
    serving=SERVING,
    defaults=Settings(),
    build=lambda flags, _program: behavior(parse_settings(flags)),
    annotations=keys.ALL,
    domain=keys.DOMAIN,
    program_names=("cwii",),
    kinds=ALL_SOURCES,
    marker=keys.INJECTED.key,
)

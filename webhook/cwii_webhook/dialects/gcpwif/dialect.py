"""The dialect of gcp-workload-identity-federation-webhook: Google Cloud identities."""

from __future__ import annotations

from cwii_webhook.dialects.dialect import Dialect, DialectBehavior
from cwii_webhook.dialects.gcpwif import annotations as keys
from cwii_webhook.dialects.gcpwif.mutator import GcpwifMutator
from cwii_webhook.dialects.gcpwif.settings import FLAGS, SERVING, Settings, parse_settings
from cwii_webhook.settings.flags import ParsedFlags


def _build(flags: ParsedFlags, _program: str) -> DialectBehavior:
    mutator = GcpwifMutator(parse_settings(flags))
    return DialectBehavior((mutator,), mutator.typo_hints)


GCPWIF = Dialect(
    name="gcpwif",
    path="/mutate-v1-pod",
    flags=FLAGS,
    serving=SERVING,
    defaults=Settings(),
    build=_build,
    annotations=keys.ALL,
    domain=keys.DOMAIN,
    program_names=("gcp-workload-identity-federation-webhook",),
)

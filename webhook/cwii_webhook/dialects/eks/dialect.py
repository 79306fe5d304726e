"""The dialect of amazon-eks-pod-identity-webhook: IAM roles, and EKS Pod Identity."""

from __future__ import annotations

from cwii_webhook.dialects.dialect import Dialect, DialectBehavior
from cwii_webhook.dialects.eks import annotations as keys
from cwii_webhook.dialects.eks.mutator import EksMutator
from cwii_webhook.dialects.eks.settings import FLAGS, SERVING, Settings
from cwii_webhook.settings.flags import ParsedFlags, build_settings


def _build(flags: ParsedFlags, _program: str) -> DialectBehavior:
    mutator = EksMutator(build_settings(flags, Settings))
    return DialectBehavior((mutator,), mutator.typo_hints, mutator.external_config)


EKS = Dialect(
    name="eks",
    path="/mutate",
    flags=FLAGS,
    serving=SERVING,
    defaults=Settings(),
    build=_build,
    annotations=keys.ALL,
    domain=keys.DOMAIN,
    program_names=("aws-pod-identity-webhook", "amazon-eks-pod-identity-webhook"),
)

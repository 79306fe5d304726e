"""What create-all leaves for the webhook: the ids that came out, as values that `install-webhook` begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from cwiictl.manifests import dump, template
from cwiictl.model import Binding

FILE = "webhook.yaml"
REGION, TENANT, ENVIRONMENT = (
    "aws_region",
    "azure_tenant_id",
    "azure_environment",
)  # facts, in the words of a Secret
_AUDIENCE, _PROVIDER = "cwii.dev/gcp-audience", "//iam.googleapis.com/"


def told(facts: Mapping[str, str], bindings: Iterable[Binding]) -> dict[str, dict[str, str]]:
    """Cloud by cloud. Google's provider is told by whoever was given an identity that it speaks for."""
    providers = sorted({binding.annotations.get(_AUDIENCE, "") for binding in bindings})
    said = {
        "aws": {"region": facts.get(REGION, "")},
        "azure": {"tenantId": facts.get(TENANT, ""), "environment": facts.get(ENVIRONMENT, "")},
        "gcp": {
            "provider": next(
                (each.removeprefix(_PROVIDER) for each in providers if each.startswith(_PROVIDER)),
                "",
            )
        },
    }
    return {
        cloud: words
        for cloud, of in said.items()
        if (words := {key: value for key, value in of.items() if value})
    }


def file(lying: bytes, told: Mapping[str, Mapping[str, str]]) -> bytes:
    """What lies there of other clouds, and all else that was written into it by hand, stays."""
    there: dict[str, Any] = template(lying.decode(errors="replace")) if lying.strip() else {}
    return dump(
        {
            **there,
            **{
                cloud: {**cast("dict[str, Any]", there.get(cloud) or {}), **words}
                for cloud, words in told.items()
            },
        }
    )

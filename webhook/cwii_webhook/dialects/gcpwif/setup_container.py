"""Builds the init container `gcloud-setup`, which configures gcloud for the pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from cwii_webhook.admission.injection import NO_TOKEN_MOUNT, HelperContainer, Json, env_var
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.helper_container import helper_user, security_context
from cwii_webhook.dialects.common.pod_traits import (
    DeclaredResources,
    declared_resources,
    has_pod_resources,
    least_resources,
)
from cwii_webhook.dialects.gcpwif.paths import (
    CLOUDSDK_CONFIG,
    CREDENTIALS_FILE,
    TOKEN_FILE,
    VOLUME_MOUNTS,
)
from cwii_webhook.dialects.gcpwif.request import IdentityRequest

Resources = Mapping[str, Mapping[str, object]]

NAME = "gcloud-setup"

# Values of users are in variables, and the quotes keep each of them one word for the shell.
SCRIPT = f"""\
gcloud iam workload-identity-pools create-cred-config \\
  "$GCP_WORKLOAD_IDENTITY_PROVIDER" \\
  --service-account="$GCP_SERVICE_ACCOUNT" \\
  --output-file="$CLOUDSDK_CONFIG/{CREDENTIALS_FILE}" \\
  --credential-source-file={TOKEN_FILE}
gcloud auth login --cred-file="$CLOUDSDK_CONFIG/{CREDENTIALS_FILE}"
"""

# Used only if the pod would lose its QoS class, or its place in a quota, without them.
_CPU, _MEMORY = "500m", "256Mi"


class SetupContainer:
    """Builds the container, with the image and the resources of the webhook."""

    def __init__(self, image: str, resources: Json | None) -> None:
        self._resources = cast("Resources", resources or {})
        self._manifest = {
            "name": NAME,
            "image": image,
            "command": ["sh", "-c", SCRIPT],
            "volumeMounts": [*VOLUME_MOUNTS["gcloud"], NO_TOKEN_MOUNT],
        }

    def helper(self, pod: Pod, request: IdentityRequest) -> HelperContainer:
        """The annotated user takes precedence over the one that the containers share."""
        user = helper_user(pod) if request.user is None else request.user
        env = [
            env_var("GCP_WORKLOAD_IDENTITY_PROVIDER", request.provider),
            env_var("GCP_SERVICE_ACCOUNT", request.email),
            CLOUDSDK_CONFIG,
            env_var("CLOUDSDK_CORE_PROJECT", request.project),
        ]
        # The API server refuses container resources beyond the pod's.
        no_resources: Resources = {}
        configured = no_resources if has_pod_resources(pod) else self._resources
        resources = _resources(configured, declared_resources(pod))
        manifest = {
            **self._manifest,
            "env": env,
            "securityContext": security_context(user),
            **({"resources": resources} if resources else {}),
        }
        return HelperContainer(NAME, manifest, runs_first=True, replaces_existing=True)


def _resources(configured: Resources, declared: DeclaredResources) -> dict[str, object]:
    """Combines the configured resources with the least that the pod needs.

    Where the pod has limits, the container requests its limit.
    """
    least = least_resources(declared, _CPU, _MEMORY)
    requests, limits = configured.get("requests", {}), configured.get("limits", {})
    preferred = {**requests, **limits}
    equal = {name: preferred.get(name, value) for name, value in least.get("limits", {}).items()}
    missing = {n: value for n, value in least.get("requests", {}).items() if n not in limits}
    combined = {
        **configured,
        "requests": {**missing, **requests, **equal},
        "limits": {**limits, **equal},
    }
    return {key: amounts for key, amounts in combined.items() if amounts}

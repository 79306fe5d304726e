"""The container that sets gcloud up before the pod's own start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from cwii_webhook.admission.injection import NO_TOKEN_MOUNT, HelperContainer, Json, variable
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common import helper_container as guest
from cwii_webhook.dialects.common.pod_traits import (
    DeclaredResources,
    declared_resources,
    has_pod_resources,
    least_resources,
)
from cwii_webhook.dialects.gcpwif.paths import CONFIG, FILE, MOUNTS, TOKEN_FILE
from cwii_webhook.dialects.gcpwif.request import IdentityRequest

NAME = "gcloud-setup"

# What users wrote comes in variables, and the shell, which alone expands them here, keeps each one word.
SCRIPT = f"""\
gcloud iam workload-identity-pools create-cred-config \\
  "$GCP_WORKLOAD_IDENTITY_PROVIDER" \\
  --service-account="$GCP_SERVICE_ACCOUNT" \\
  --output-file="$CLOUDSDK_CONFIG/{FILE}" \\
  --credential-source-file={TOKEN_FILE}
gcloud auth login --cred-file="$CLOUDSDK_CONFIG/{FILE}"
"""

_CPU, _MEMORY = (
    "500m",
    "256Mi",
)  # said only where a container that says nothing would cost the pod its class, or its place under a quota


class SetupContainer:
    """What does not depend on the pod is made once."""

    def __init__(self, image: str, resources: Json | None) -> None:
        self._resources = resources
        self._body = {
            "name": NAME,
            "image": image,
            "command": ["sh", "-c", SCRIPT],
            "volumeMounts": [*MOUNTS["gcloud"], NO_TOKEN_MOUNT],
        }

        self._known: Memo[
            tuple[IdentityRequest, int | None, bool, DeclaredResources], HelperContainer
        ] = Memo()

    def joining(self, pod: Pod, asked: IdentityRequest) -> HelperContainer:
        """The user that the ServiceAccount names goes before the one that the pod's containers share."""
        runs_as = guest.helper_user(pod) if asked.user is None else asked.user
        key = asked, runs_as, has_pod_resources(pod), declared_resources(pod)
        return self._known.get(key) or self._known.keep(
            key, self._joining(*key), guest.WEIGHT + len(asked.provider) + len(asked.email)
        )

    def _joining(
        self,
        asked: IdentityRequest,
        user: int | None,
        shared: bool,  # noqa: FBT001
        asking: DeclaredResources,
    ) -> HelperContainer:
        env = [
            variable("GCP_WORKLOAD_IDENTITY_PROVIDER", asked.provider),
            variable("GCP_SERVICE_ACCOUNT", asked.email),
            CONFIG,
            variable("CLOUDSDK_CORE_PROJECT", asked.project),
        ]
        body = {
            **self._body,
            "env": env,
            "securityContext": guest.security_context(user),
            **_resources({} if shared else self._resources, asking),
        }
        return HelperContainer(NAME, body, first=True, replaces_existing=True)


def _resources(asked: Json | None, asking: DeclaredResources) -> dict[str, object]:
    """What the webhook was told, and what has to be said beside it. What is limited is requested alike."""
    told = cast("Mapping[str, Mapping[str, object]]", asked or {})
    more, requests, limits = (
        least_resources(asking, _CPU, _MEMORY),
        told.get("requests", {}),
        told.get("limits", {}),
    )
    limited = {
        name: {**requests, **limits}.get(name, amount)
        for name, amount in more.get("limits", {}).items()
    }
    unsaid = {
        name: amount for name, amount in more.get("requests", {}).items() if name not in limits
    }
    said = {**told, "requests": {**unsaid, **requests, **limited}, "limits": {**limits, **limited}}
    return (
        {"resources": {key: amounts for key, amounts in said.items() if amounts}}
        if any(said.values())
        else {}
    )

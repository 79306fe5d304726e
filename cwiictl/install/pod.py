"""What all our pods have in common: nothing that a restricted namespace would refuse, and no user of their own, for OpenShift chooses one."""

from __future__ import annotations

from typing import Any

from cwiictl.errors import BadInput
from cwiictl.install.body import Object, labels
from cwiictl.install.values import Values

CLOSED: Object = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
RESTRICTED: Object = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def template(values: Values, program: str, account: str, container: Object, **more: Any) -> Object:
    metadata: Object = {"labels": {**values.pod_labels, **labels(values, program)}}
    if values.pod_annotations:
        metadata["annotations"] = dict(values.pod_annotations)
    spec: Object = {
        "serviceAccountName": account,
        "automountServiceAccountToken": True,
        "securityContext": RESTRICTED,
        **_where(values),
        "containers": [
            {
                **container,
                "image": image(values),
                "terminationMessagePolicy": "FallbackToLogsOnError",
                "securityContext": CLOSED,
            }
        ],
        **more,
    }
    return {"metadata": metadata, "spec": spec}


def image(values: Values) -> str:
    if not values.image:
        raise BadInput(
            "no image is named for the webhook",
            remedy="say image, best with its digest: `cwiictl image push REGISTRY/cwii-webhook:VERSION` makes one, and prints it",
        )
    return values.image


def _where(values: Values) -> Object:
    """Left out where nothing is said, as the API server would have it."""
    said: Object = {
        "priorityClassName": values.priority_class,
        "imagePullSecrets": [{"name": name} for name in values.image_pull_secrets],
        "nodeSelector": dict(values.node_selector),
        "tolerations": list(values.tolerations),
    }
    return {key: value for key, value in said.items() if value}

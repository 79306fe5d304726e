"""When API servers ask the webhook, and what they do when it cannot be asked."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from cwiictl.install.body import Object, body
from cwiictl.install.command import path
from cwiictl.install.conditions import REQUIRE, conditions, elsewhere
from cwiictl.install.values import Dialect, Values

Policy = Literal["Ignore", "Fail"]

SHIPPED: dict[Dialect, Policy] = {
    "cwii": "Ignore",
    "eks": "Ignore",
    "azwi": "Fail",
    "gcpwif": "Ignore",
}  # as each peer has it
SELECTED: dict[Dialect, Object] = {  # and by what label
    "eks": {
        "matchExpressions": [
            {"key": "eks.amazonaws.com/skip-pod-identity-webhook", "operator": "DoesNotExist"}
        ]
    },
    "azwi": {"matchLabels": {"azure.workload.identity/use": "true"}},
}
MAKERS = {
    "cert-manager": "cert-manager.io/inject-ca-from",
    "service-ca": "service.beta.openshift.io/inject-cabundle",
}  # who go by an annotation
_CREATED: Object = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
    "scope": "Namespaced",
}
_JOINED: Object = {**_CREATED, "operations": ["UPDATE"], "resources": ["pods/ephemeralcontainers"]}


def configuration(values: Values) -> Object:
    webhooks = [entry for dialect in values.served for entry in _entries(values, dialect)]
    annotations = _bundled(values)
    return body(
        values,
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        annotations=annotations,
        cluster=True,
        webhooks=webhooks,
    )


def softened(configuration: Object) -> Object:
    """As it is made first: nobody is refused while there is no bundle, and no webhook to answer."""
    return {
        **configuration,
        "webhooks": [{**entry, "failurePolicy": "Ignore"} for entry in configuration["webhooks"]],
    }


def unserved(configuration: Mapping[str, Any], said: str) -> bool:
    """Whether an API server says there that it could not call one of these entries, or that a pod came without where that is not allowed.

    Whatever else it has against a pod is not ours.
    """
    words = [
        f'failed calling webhook "{entry["name"]}"' for entry in configuration.get("webhooks") or ()
    ]
    return any(
        each in said
        for each in (
            *words,
            f"ValidatingAdmissionPolicy '{configuration['metadata']['name']}-require'",
        )
    )


def _entries(values: Values, dialect: Dialect) -> Iterator[Object]:
    """Namespaces that require it have an entry of their own, whatever becomes of others: a new entry would have no bundle until the renewer's next run."""
    policy = SHIPPED[dialect] if values.failure_policy == "AsShipped" else values.failure_policy
    required: Object = {"key": REQUIRE, "operator": "In", "values": ["true"]}
    yield _entry(values, dialect, "pods", policy, _CREATED, {**required, "operator": "NotIn"})
    yield _entry(values, dialect, "required", "Fail", _CREATED, required)
    if dialect in values.ephemeral_containers:
        yield _entry(values, dialect, "ephemeral", "Ignore", _JOINED)


def _entry(
    values: Values, dialect: Dialect, what: str, policy: Policy, rule: Object, *namespaces: Object
) -> Object:
    service = {
        "name": values.name,
        "namespace": values.namespace,
        "port": 443,
        "path": path(dialect),
    }
    return {
        "name": f"{what}.{dialect}.cwii.dev",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service, **_bundle(values)},
        "failurePolicy": policy,
        "matchConditions": conditions(values),
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchExpressions": [elsewhere(values), *namespaces]},
        **({"objectSelector": SELECTED[dialect]} if dialect in SELECTED else {}),
        "reinvocationPolicy": "IfNeeded",
        "rules": [rule],
        "sideEffects": "NoneOnDryRun"
        if dialect == "cwii" and values.gcp.delivery == "config-map"
        else "None",
        "timeoutSeconds": values.timeout_seconds,
    }


def _bundle(values: Values) -> Object:
    """Only where nobody else keeps it."""
    return (
        {"caBundle": base64.b64encode(values.certificates.ca.encode()).decode()}
        if values.certificates.by == "files"
        else {}
    )


def _bundled(values: Values) -> dict[str, str]:
    """Who is to fill it in, if that goes by an annotation."""
    told = {"cert-manager": f"{values.namespace}/{values.serving_secret}", "service-ca": "true"}
    by = values.certificates.by
    return {MAKERS[by]: told[by]} if by in MAKERS else {}

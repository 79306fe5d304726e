"""What API servers see to by themselves, in CEL: that nobody goes without a token that they asked for, and that the renewer changes bundles alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cwiictl.errors import BadInput
from cwiictl.install.body import Object, body
from cwiictl.install.conditions import BEYOND, MIRROR, elsewhere
from cwiictl.install.values import Values
from cwiictl.install.version import POLICIES, Version

_GROUP = "admissionregistration.k8s.io"
_VERSION = f"{_GROUP}/v1"
CLOUDS: Mapping[str, str] = {"aws": "AWS", "az": "Azure", "gcp": "Google Cloud"}

_METADATA = ("name", "labels", "annotations", "finalizers", "ownerReferences")
_ENTRY = (
    "name", "admissionReviewVersions", "failurePolicy", "matchConditions", "matchPolicy", "namespaceSelector", "objectSelector", "reinvocationPolicy",
    "rules", "sideEffects", "timeoutSeconds",
)  # fmt: skip
_CLIENT = ("service", "url")


def policies(values: Values, kubernetes: Version) -> Iterator[Object]:
    """That the renewer's rights are narrow does not depend on it, but that it could change what else stands in its configuration."""
    if values.certificates.by == "renewer" and kubernetes >= POLICIES:
        yield from _policy(values, values.renewer, _renewer(values))


def requirement(values: Values, kubernetes: Version) -> Iterator[Object]:
    """Behind the configuration: what it refuses is what the webhook should have seen to."""
    if values.require and kubernetes < POLICIES:
        raise BadInput(
            f"require needs Kubernetes {'.'.join(map(str, POLICIES))}, and this is {'.'.join(map(str, kubernetes))}",
            remedy="leave require out, and label namespaces cwii.dev/require=true instead",
        )
    if values.require:
        yield from _policy(values, f"{values.name}-require", _requirement(values))


def _policy(values: Values, name: str, spec: Object) -> Iterator[Object]:
    yield body(values, _VERSION, "ValidatingAdmissionPolicy", name, cluster=True, spec={"failurePolicy": "Fail", **spec})
    yield body(values, _VERSION, "ValidatingAdmissionPolicyBinding", name, cluster=True, spec={"policyName": name, "validationActions": ["Deny"]})


def _requirement(values: Values) -> Object:
    """Pods as they are after all webhooks. Who asks by a ServiceAccount or an owner is not seen from here."""
    rule: Object = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "Namespaced"}
    return {
        "matchConstraints": {"namespaceSelector": {"matchExpressions": [elsewhere(values)]}, "resourceRules": [rule]},
        "matchConditions": [MIRROR, BEYOND],
        "variables": [
            {"name": "said", "expression": "has(object.metadata.annotations) ? object.metadata.annotations : {}"},
            {"name": "around", "expression": "has(namespaceObject.metadata.annotations) ? namespaceObject.metadata.annotations : {}"},
            {"name": "volumes", "expression": "has(object.spec.volumes) ? object.spec.volumes.filter(v, has(v.projected)).map(v, v.name) : []"},
        ],
        "validations": [*(_cwii() if "cwii" in values.dialects else ()), *(_azwi() if "azwi" in values.dialects else ())],
    }


def _cwii() -> Iterator[Object]:
    for short, cloud in CLOUDS.items():
        word = f"cwii.dev/{short}-inject"
        said, around = (f"{whose}['{word}'].trim().lowerAscii()" for whose in ("variables.said", "variables.around"))
        yield {
            "expression": f"!(('{word}' in variables.said && {said} in ['true', 'false']) ? {said} == 'true'"
            f" : ('{word}' in variables.around && {around} == 'true')) || 'cwii-{short}-token' in variables.volumes",
            "message": f"{word} asks for an identity in {cloud}, and the pod was given no token: it would act as its node. See why with"
            f' `cwiictl explain`, create it again when the webhook answers, or write {word}: "false" on the pod.',
        }


def _azwi() -> Iterator[Object]:
    label = "azure.workload.identity/use"
    yield {
        "expression": f"!(has(object.metadata.labels) && '{label}' in object.metadata.labels && object.metadata.labels['{label}'] == 'true')"
        " || variables.volumes.exists(v, v == 'azure-identity-token' || v.startsWith('azure-workload-identity-reserved-'))",
        "message": f"the label {label} asks for an identity in Azure, and the pod was given no token: create it again when the webhook answers,"
        " or take the label away.",
    }


def _renewer(values: Values) -> Object:
    """All but the bundles is as it was. A field that is new to Kubernetes is not looked at, and not known to the renewer either."""
    user = f"system:serviceaccount:{values.namespace}:{values.renewer}"
    resources = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    rule: Object = {"apiGroups": [_GROUP], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": resources, "scope": "*"}
    return {
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "the-renewer", "expression": f"request.userInfo.username == '{user}'"}],
        "validations": [
            {
                "expression": _same("object.metadata", "oldObject.metadata", _METADATA),
                "message": "the renewer may change the bundles of a configuration, and not what it is called or marked with",
            },
            {
                "expression": "has(object.webhooks) == has(oldObject.webhooks) && (!has(object.webhooks) || size(object.webhooks) == size(oldObject.webhooks)"
                " && object.webhooks.all(new, oldObject.webhooks.exists(old,"
                f" {_same('new', 'old', _ENTRY)} && {_same('new.clientConfig', 'old.clientConfig', _CLIENT)})))",
                "message": "the renewer may change the bundles of a configuration, and nothing else of its webhooks",
            },
        ],
    }


def _same(new: str, old: str, fields: Iterable[str]) -> str:
    """A field that neither has is the same, too."""
    return " && ".join(f"{new}.?{field} == {old}.?{field}" for field in fields)

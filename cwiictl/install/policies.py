"""What API servers see to by themselves, in CEL: that nobody goes without a token that they asked for, and that the renewer changes bundles alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cwii_webhook.dialects.cwii.google_credentials import CONFIG_MAP_LABELS, FILE, NAME

from cwiictl.errors import BadInput
from cwiictl.install.body import Object, body
from cwiictl.install.conditions import BEYOND, MIRROR, PREFIXES, elsewhere, excluded
from cwiictl.install.rights import writes
from cwiictl.install.served import Served
from cwiictl.install.values import Values

_GROUP = "admissionregistration.k8s.io"
_VERSION = f"{_GROUP}/v1"
CLOUDS: Mapping[str, str] = {"aws": "AWS", "az": "Azure", "gcp": "Google Cloud"}

_METADATA = ("name", "labels", "annotations", "finalizers", "ownerReferences")
_ENTRY = (
    "name", "admissionReviewVersions", "failurePolicy", "matchConditions", "matchPolicy", "namespaceSelector", "objectSelector", "reinvocationPolicy",
    "rules", "sideEffects", "timeoutSeconds",
)  # fmt: skip
_CLIENT = ("service", "url")


def policies(values: Values, served: Served) -> Iterator[Object]:
    """What rights cannot say: that the renewer changes bundles and nothing else in its configuration, and what the webhook's ConfigMaps are like."""
    if not served.policies:
        return
    if values.certificates.by == "renewer":
        yield from _policy(values, values.renewer, _renewer(values))
    if writes(values):
        yield from _policy(values, f"{values.name}-config-maps", _config_maps(values))


def requirement(values: Values, served: Served) -> Iterator[Object]:
    """Behind the configuration: what it refuses is what the webhook should have seen to."""
    if values.require and not served.policies:
        raise BadInput(
            "require needs ValidatingAdmissionPolicy, which the cluster does not serve (Kubernetes 1.30 does)",
            remedy="leave require out, and label namespaces cwii.dev/require=true instead",
        )
    if values.require:
        yield from _policy(values, f"{values.name}-require", _requirement(values))


def _policy(values: Values, name: str, spec: Object) -> Iterator[Object]:
    yield body(
        values,
        _VERSION,
        "ValidatingAdmissionPolicy",
        name,
        cluster=True,
        spec={"failurePolicy": "Fail", **spec},
    )
    yield body(
        values,
        _VERSION,
        "ValidatingAdmissionPolicyBinding",
        name,
        cluster=True,
        spec={"policyName": name, "validationActions": ["Deny"]},
    )


def _requirement(values: Values) -> Object:
    """Pods as they are after all webhooks. Who asks by a ServiceAccount or an owner is not seen from here."""
    rule: Object = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
        "scope": "Namespaced",
    }
    return {
        "matchConstraints": {
            "namespaceSelector": {"matchExpressions": [elsewhere(values)]},
            "resourceRules": [rule],
        },
        "matchConditions": [MIRROR, BEYOND],
        "variables": [
            {
                "name": "said",
                "expression": "has(object.metadata.annotations) ? object.metadata.annotations : {}",
            },
            {
                "name": "around",
                "expression": "has(namespaceObject.metadata.annotations) ? namespaceObject.metadata.annotations : {}",
            },
            {
                "name": "volumes",
                "expression": "has(object.spec.volumes) ? object.spec.volumes.filter(v, has(v.projected)).map(v, v.name) : []",
            },
        ],
        "validations": [
            *(_cwii() if "cwii" in values.dialects else ()),
            *(_azwi() if "azwi" in values.dialects else ()),
        ],
    }


def _cwii() -> Iterator[Object]:
    for short, cloud in CLOUDS.items():
        word = f"cwii.dev/{short}-inject"
        said, around = (
            f"{whose}['{word}'].trim().lowerAscii()"
            for whose in ("variables.said", "variables.around")
        )
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
    resources = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
    rule: Object = {
        "apiGroups": [_GROUP],
        "apiVersions": ["*"],
        "operations": ["UPDATE"],
        "resources": resources,
        "scope": "*",
    }
    return {
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [_only(values, "the-renewer", values.renewer)],
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


def _config_maps(values: Values) -> Object:
    """A review may be forged, and whoever has the account's token could write what they want: this is as much as it may."""
    rule: Object = {
        "apiGroups": [""],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["configmaps"],
        "scope": "*",
    }
    spared = " || ".join(
        (
            f"request.namespace in {excluded(values)}",
            *(f"request.namespace.startsWith('{prefix}')" for prefix in PREFIXES),
        )
    )
    return {
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [_only(values, "the-webhook", values.name)],
        "validations": [
            {
                "expression": f"!({spared})",
                "message": "the webhook may write no ConfigMaps into namespaces whose pods it has no business with",
            },
            {
                "expression": f"object.metadata.name.matches('^{NAME}-[0-9a-f]{{12}}$') && {_marked('object')}"
                f" && has(object.data) && object.data.all(key, key == '{FILE}') && !has(object.binaryData)",
                "message": "the webhook may write ConfigMaps with Google's credentials, called and marked as it does it, and no others",
            },
            {
                "expression": f"oldObject == null || ({_marked('oldObject')})",
                "message": "the webhook may change ConfigMaps that bear its mark, and no others",
            },
        ],
    }


def _marked(what: str) -> str:
    ours = " && ".join(
        f"'{key}' in {what}.metadata.labels && {what}.metadata.labels['{key}'] == '{text}'"
        for key, text in CONFIG_MAP_LABELS.items()
    )
    return f"has({what}.metadata.labels) && {ours}"


def _only(values: Values, called: str, account: str) -> Object:
    return {
        "name": called,
        "expression": f"request.userInfo.username == 'system:serviceaccount:{values.namespace}:{account}'",
    }


def _same(new: str, old: str, fields: Iterable[str]) -> str:
    """A field that neither has is the same, too."""
    return " && ".join(f"{new}.?{field} == {old}.?{field}" for field in fields)

"""A pod that nobody makes: sent in a dry run, it shows whether reviews are answered, and believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.eks import annotations as eks
from cwii_webhook.dialects.gcpwif import annotations as gcpwif

from cwiictl.install.command import understood
from cwiictl.install.conditions import spared
from cwiictl.install.values import Dialect, Values

Body = dict[str, Any]

ROLE = "arn:aws:iam::000000000000:role/nobody"
# What each dialect hears on the pod itself.
_ASKS: Mapping[Dialect, Mapping[str, Mapping[str, str]]] = {
    "cwii": {"annotations": {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}},
    "azwi": {"labels": {"azure.workload.identity/use": "true"}},
}
# In the others only ServiceAccounts ask: with all of these words, in the domain of its annotations.
_ASKED: Mapping[Dialect, Callable[[str], tuple[Annotation, ...]]] = {
    "eks": lambda domain: (eks.eks_annotations(domain).role_arn,),
    "gcpwif": lambda domain: (
        gcpwif.gcpwif_annotations(domain).provider,
        gcpwif.gcpwif_annotations(domain).email,
    ),
}
_GIVEN: Mapping[Dialect, frozenset[str]] = {  # one of them
    "cwii": frozenset({"AWS_ROLE_ARN"}),
    "eks": frozenset({"AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI"}),
    "azwi": frozenset({"AZURE_FEDERATED_TOKEN_FILE"}),
    "gcpwif": frozenset({"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG"}),
}


def asked(values: Values, dialect: Dialect) -> tuple[str, ...]:
    """The annotations by which ServiceAccounts ask; none in a dialect in which pods ask themselves."""
    if dialect not in _ASKED:
        return ()
    (domain,) = next(each.domains for each in understood(values) if each.route.dialect == dialect)
    return tuple(word.key for word in _ASKED[dialect](domain))


def askers(
    values: Values, keys: tuple[str, ...], accounts: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Those that ask by these, where pods are looked at, in an order that is always the same."""
    asking = [
        each
        for each in accounts
        if _says(each, keys) and not spared(values, each["metadata"]["namespace"])
    ]
    return sorted(
        asking, key=lambda each: (each["metadata"]["namespace"], each["metadata"]["name"])
    )


def pod(dialect: Dialect, namespace: str, account: str = "") -> Body:
    """One that any namespace would take, if it lets pods in at all. Where pods do not ask themselves, `account` does."""
    closed = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "nobody",
        "image": "nobody.invalid/nobody",
        "securityContext": {**closed, "runAsNonRoot": True, "runAsUser": 65532},
        "resources": {
            "requests": {"cpu": "1m", "memory": "1Mi"},
            "limits": {"cpu": "1m", "memory": "1Mi"},
        },
    }
    metadata = {
        "generateName": "cwii-webhook-smoke-",
        "namespace": namespace,
        **_ASKS.get(dialect, {}),
    }
    whose = {"serviceAccountName": account} if account else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "automountServiceAccountToken": False, **whose},
    }


def given(dialect: Dialect, answered: Mapping[str, Any]) -> bool:
    """Whether the pod, as the API server would have made it, was given what it asks for."""
    names = {
        variable["name"]
        for container in answered["spec"]["containers"]
        for variable in container.get("env") or ()
    }
    return not _GIVEN[dialect].isdisjoint(names)


def _says(account: Mapping[str, Any], keys: Iterable[str]) -> bool:
    said: Mapping[str, str] = account["metadata"].get("annotations") or {}
    return all(said.get(key) for key in keys)

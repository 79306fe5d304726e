"""Values as people would say them, and what is installed of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cwiictl.install.body import Object
from cwiictl.install.given import read, values
from cwiictl.install.objects import objects
from cwiictl.install.values import Values

IMAGE = "registry.example.com/cwii-webhook@sha256:" + "0123456789abcdef" * 4
CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/pool/providers/provider"

FILES: Mapping[str, dict[str, Any]] = {
    "nothing": {},
    "one-replica": {"replicas": 1, "name": "single", "namespace": "tools"},
    "all-dialects": {
        "dialects": ["azwi", "gcpwif", "eks", "cwii"],
        "aws": {"region": "eu-west-1", "audience": "sts.amazonaws.com"},
        "azure": {
            "tenantId": "11111111-2222-3333-4444-555555555555",
            "environment": "AzureUSGovernmentCloud",
        },
        "gcp": {"provider": PROVIDER, "audience": "sts.googleapis.com", "region": "europe-west1"},
        "ephemeralContainers": ["cwii", "azwi"],
        "require": True,
    },
    "azwi-alone": {
        "dialects": ["azwi"],
        "azure": {"tenantId": "common", "audience": "api://other"},
        "logLevel": "debug",
        "require": True,
    },
    "eks-alone": {
        "dialects": ["eks"],
        "aws": {"region": "eu-west-1"},
        "logLevel": "debug",
        "ephemeralContainers": [],
    },
    "gcpwif-first": {
        "dialects": ["gcpwif", "azwi"],
        "azure": {"tenantId": "common", "environment": "AzurePublicCloud"},
        "failurePolicy": "Ignore",
    },
    "fail-everywhere": {
        "failurePolicy": "Fail",
        "excludedNamespaces": ["calico-system", "cert-manager", "calico-system"],
        "timeoutSeconds": 3,
    },
    "config-maps": {
        "gcp": {"delivery": "config-map", "provider": PROVIDER},
        "arguments": {"cwii": ["--verify-images=registry.example.com/*", "--workers=2"]},
    },
    "cert-manager": {"certificates": {"by": "cert-manager"}},
    "cert-managers-issuer": {
        "certificates": {"by": "cert-manager", "validity": "720h", "issuer": {"name": "company"}}
    },
    "openshift": {"certificates": {"by": "service-ca"}, "createNamespace": False},
    "files": {"certificates": {"by": "files", "secret": "made-by-hand", "ca": CA}},
    "short-lives": {
        "certificates": {"validity": "2m", "caValidity": "6m", "schedule": "* * * * *"},
        "disruptionBudget": False,
    },
    "scaled": {
        "autoscaling": {"enabled": True, "minReplicas": 3, "maxReplicas": 9, "cpu": 50},
        "monitoring": {"scrape": True, "labels": {"release": "main"}},
    },
    "scaled-from-one": {"autoscaling": {"enabled": True, "minReplicas": 1}, "flowControl": False},
    "watched": {
        "monitoring": {"scrape": True, "alerts": True, "dashboard": True},
        "networkPolicy": {
            "enabled": True,
            "metricsFrom": [
                {
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": "monitoring"}
                    }
                }
            ],
        },
    },
    "closed": {"networkPolicy": {"enabled": True}},
    "placed": {
        "imagePullSecrets": ["pull", "1234"],
        "priorityClass": "",
        "nodeSelector": {"kubernetes.io/os": None, "node-role.kubernetes.io/infra": ""},
        "tolerations": [{"key": "infra", "operator": "Exists", "effect": "NoSchedule"}],
        "topologyKeys": [],
        "podLabels": {"team": "identity", "app.kubernetes.io/name": "not-ours"},
        "podAnnotations": {"example.com/on": "true"},
        "resources": {"requests": {"cpu": 1}, "limits": {"memory": None}},
    },
    "odd-words": {
        "name": "true",
        "namespace": "1e3",
        "excludedNamespaces": ["no", "0x1f"],
        "priorityClass": "null",
        "aws": {"audience": "a#b:c!"},
        "podAnnotations": {"a": "yes", "b": "1", "c": "{{ .Values.image }}", "d": "two\nlines"},
        "nodeSelector": {"y": "on"},
        "arguments": {"cwii": ["--verify-images=a: b,c #d,'\\"]},
        "monitoring": {"scrape": True, "alerts": True},
    },
    "odd-names": {
        "name": "y",
        "namespace": "123",
        "certificates": {"by": "files", "secret": "1", "ca": CA},
        "matchConditions": [{"name": "1", "expression": "true"}],
    },
    "odd-issuer": {
        "name": "on",
        "namespace": "null",
        "certificates": {"by": "cert-manager", "issuer": {"name": "1.0", "kind": "Issuer"}},
    },
    "odd-service": {
        "name": "n",
        "namespace": "off",
        "certificates": {"by": "service-ca"},
        "networkPolicy": {"enabled": True},
    },
    "conditions": {
        "matchConditions": [
            {
                "name": "asked",
                "expression": "has(object.metadata.labels) && 'ask' in object.metadata.labels",
            }
        ]
    },
}


def some(**said: Any) -> Values:
    return values(read("values.yaml", json.dumps({"image": IMAGE, **said}).encode()))


def of(name: str) -> Values:
    return some(**FILES[name])


def found(those: Iterable[Object], kind: str, name: str = "") -> Object:
    (one,) = [
        each for each in those if each["kind"] == kind and name in {"", each["metadata"]["name"]}
    ]
    return one


def installed(kind: str, name: str = "", /, **said: Any) -> Object:
    """The only one of its kind, or the one of this name."""
    return found(objects(some(**said)), kind, name)


def kinds(those: Iterable[Object]) -> list[str]:
    return [each["kind"] for each in those]

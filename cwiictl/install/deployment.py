"""The processes that answer reviews, and how they are reached and kept."""

from __future__ import annotations

from collections.abc import Iterator

from cwiictl.install.body import APPS, CORE, PROGRAM, Object, body, labels
from cwiictl.install.command import CERTIFICATES, HTTPS, PLAIN, command, understood
from cwiictl.install.pod import template
from cwiictl.install.values import Values

GRACE = 45  # seconds: it goes on serving for 10, and 30 more what was begun


def deployment(values: Values) -> Object:
    understood(values)
    replicas = {} if values.autoscaling.enabled else {"replicas": values.replicas}
    spec: Object = {
        **replicas,
        "revisionHistoryLimit": 3,
        "selector": {"matchLabels": labels(values)},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
        },
        "template": template(
            values,
            PROGRAM,
            values.name,
            _container(values),
            terminationGracePeriodSeconds=GRACE,
            topologySpreadConstraints=[_spread(values, key) for key in values.topology_keys],
            volumes=[_certificates(values)],
        ),
    }
    return body(values, APPS, "Deployment", spec=spec)


def _container(values: Values) -> Object:
    return {
        "name": "webhook",
        "args": command(values),
        "ports": [
            {"name": "https", "containerPort": HTTPS},
            {"name": "plain", "containerPort": PLAIN},
        ],
        "resources": {
            "requests": dict(values.resources.requests),
            "limits": dict(values.resources.limits),
        },
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": "plain"},
            "periodSeconds": 2,
            "failureThreshold": 2,
        },
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": "plain"},
            "periodSeconds": 10,
            "failureThreshold": 6,
        },
        "volumeMounts": [{"name": "certificates", "mountPath": CERTIFICATES, "readOnly": True}],
    }


def _certificates(values: Values) -> Object:
    """By their keys: a Secret that nobody has filled yet is waited for by the kubelet, which looks again sooner than into a folder that is mounted."""
    keys = ["tls.crt", "tls.key", *(["ca.crt"] if values.certificates.by == "renewer" else [])]
    return {
        "name": "certificates",
        "secret": {
            "secretName": values.serving_secret,
            "items": [{"key": key, "path": key} for key in keys],
        },
    }


def _spread(values: Values, key: str) -> Object:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels(values)},
    }


def service(values: Values) -> Object:
    annotations = (
        {"service.beta.openshift.io/serving-cert-secret-name": values.serving_secret}
        if values.certificates.by == "service-ca"
        else {}
    )
    ports: list[Object] = [
        {"name": "https", "port": 443, "targetPort": "https"},
        {"name": "metrics", "port": PLAIN, "targetPort": "plain"},
    ]
    return body(
        values,
        CORE,
        "Service",
        annotations=annotations,
        spec={"selector": labels(values), "ports": ports},
    )


def budget(values: Values) -> Iterator[Object]:
    if values.disruption_budget and values.replicated:
        spec = {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": labels(values)},
        }
        yield body(values, "policy/v1", "PodDisruptionBudget", spec=spec)


def autoscaler(values: Values) -> Iterator[Object]:
    scale = values.autoscaling
    if not scale.enabled:
        return
    spec: Object = {
        "scaleTargetRef": {"apiVersion": APPS, "kind": "Deployment", "name": values.name},
        "minReplicas": scale.min_replicas,
        "maxReplicas": scale.max_replicas,
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": scale.cpu},
                },
            }
        ],
    }
    yield body(values, "autoscaling/v2", "HorizontalPodAutoscaler", spec=spec)

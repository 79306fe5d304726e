"""A small priority level of the API servers' own for what the webhook reads: a crowd of others does not hold it up, and it holds up nobody."""

from __future__ import annotations

from collections.abc import Iterator

from cwiictl.install.body import Object, body
from cwiictl.install.served import Served
from cwiictl.install.values import Values

PRECEDENCE = 800  # before those for all ServiceAccounts, 9000, and behind those for nodes


def priority(values: Values, served: Served) -> Iterator[Object]:
    if not (values.flow_control and served.flow):
        return
    version = f"flowcontrol.apiserver.k8s.io/{served.flow}"
    queuing = {"queues": 16, "handSize": 4, "queueLengthLimit": 50}
    limited = {
        "nominalConcurrencyShares": 5,
        "limitResponse": {"type": "Queue", "queuing": queuing},
    }
    yield body(
        values,
        version,
        "PriorityLevelConfiguration",
        cluster=True,
        spec={"type": "Limited", "limited": limited},
    )
    rules: Object = {
        "subjects": [
            _subject(values, name)
            for name in (
                values.name,
                *([values.renewer] if values.certificates.by == "renewer" else []),
            )
        ],
        "resourceRules": [
            {
                "apiGroups": ["*"],
                "resources": ["*"],
                "verbs": ["*"],
                "namespaces": ["*"],
                "clusterScope": True,
            }
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }
    spec: Object = {
        "priorityLevelConfiguration": {"name": values.name},
        "matchingPrecedence": PRECEDENCE,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [rules],
    }
    yield body(values, version, "FlowSchema", cluster=True, spec=spec)


def _subject(values: Values, name: str) -> Object:
    return {
        "kind": "ServiceAccount",
        "serviceAccount": {"name": name, "namespace": values.namespace},
    }

"""Who may reach it."""

from __future__ import annotations

from collections.abc import Iterator

from cwiictl.install.body import Object, body, labels
from cwiictl.install.values import Values


def network(values: Values) -> Iterator[Object]:
    if not values.network_policy.enabled:
        return
    rules: list[Object] = [{"ports": [{"port": "https", "protocol": "TCP"}]}]
    if values.network_policy.metrics_from:
        rules.append(
            {
                "from": list(values.network_policy.metrics_from),
                "ports": [{"port": "plain", "protocol": "TCP"}],
            }
        )
    spec: Object = {
        "podSelector": {"matchLabels": labels(values)},
        "policyTypes": ["Ingress"],
        "ingress": rules,
    }
    yield body(values, "networking.k8s.io/v1", "NetworkPolicy", spec=spec)

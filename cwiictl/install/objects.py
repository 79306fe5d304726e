"""All that is installed, in the order in which it is made; backwards it is taken away."""

from __future__ import annotations

from collections.abc import Iterator

from cwiictl.install.body import CORE, Object, body
from cwiictl.install.configuration import configuration
from cwiictl.install.deployment import autoscaler, budget, deployment, service
from cwiictl.install.flow import priority
from cwiictl.install.issuance import issuance
from cwiictl.install.monitoring import monitoring
from cwiictl.install.network import network
from cwiictl.install.policies import policies, requirement
from cwiictl.install.renewal import renewal, secrets
from cwiictl.install.rights import accounts, rights
from cwiictl.install.values import Values
from cwiictl.install.version import NEWEST, Version


def objects(values: Values, kubernetes: Version = NEWEST) -> tuple[Object, ...]:
    return (
        *namespace(values),
        *accounts(values),
        *secrets(values),
        *rights(values),
        *priority(values, kubernetes),
        *policies(values, kubernetes),
        *network(values),
        *issuance(values),
        service(values),
        deployment(values),
        *budget(values),
        *autoscaler(values),
        *renewal(values),
        *monitoring(values),
        configuration(values),
        *requirement(values, kubernetes),
    )


def namespace(values: Values) -> Iterator[Object]:
    """Closed to pods that could do harm, ours included."""
    if values.create_namespace:
        made = body(values, CORE, "Namespace", values.namespace, cluster=True)
        made["metadata"]["labels"] |= {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
        yield made

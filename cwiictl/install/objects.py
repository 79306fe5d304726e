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
from cwiictl.install.served import EVERYTHING, Served
from cwiictl.install.values import Values


def objects(values: Values, served: Served = EVERYTHING) -> tuple[Object, ...]:
    return (
        *namespace(values),
        *accounts(values),
        *secrets(values),
        *rights(values),
        *priority(values, served),
        *policies(values, served),
        *network(values),
        *issuance(values),
        service(values),
        deployment(values),
        *budget(values),
        *autoscaler(values),
        *renewal(values),
        *monitoring(values),
        configuration(values),
        *requirement(values, served),
    )


def namespace(values: Values) -> Iterator[Object]:
    """Closed to pods that could do harm, ours included."""
    if values.create_namespace:
        made = body(values, CORE, "Namespace", values.namespace, cluster=True)
        made["metadata"]["labels"] |= {
            f"pod-security.kubernetes.io/{mode}": "restricted"
            for mode in ("enforce", "audit", "warn")
        }
        yield made

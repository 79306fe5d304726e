"""OpenShift, whose Cloud Credential Operator may run a webhook of its own: then that is left alone, and what it hears is left to it.

What the operator has made it puts back every moment: whoever wrote over it would write for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from cwiictl.errors import Conflict
from cwiictl.install.rivals import rivals
from cwiictl.install.values import Values

Body = Mapping[str, Any]

OPERATOR, NAMESPACE = (
    "pod-identity-webhook",
    "openshift-cloud-credential-operator",
)  # what all of it is called, and where it is
CLUSTER = "Infrastructure.config.openshift.io"  # which every OpenShift has, and nobody else
TENANT = ("azure-credentials", "azure_tenant_id")  # a Secret there, and the key in it


def operated(configurations: Iterable[Body]) -> Body | None:
    """The operator's configuration, if it runs its webhook."""
    return next((each for each in configurations if each["metadata"]["name"] == OPERATOR), None)


def below(tenant: str) -> dict[str, Any]:
    """What is so on OpenShift where nobody says otherwise, and the operator runs no webhook: it has CAs of its own, and says who a pod may be."""
    told: dict[str, Any] = {
        "certificates": {"by": "service-ca"},
        "podAnnotations": {"openshift.io/required-scc": "restricted-v2"},
    }
    return told | ({"azure": {"tenantId": tenant}} if tenant else {})


def apart(values: Values, operator: Body) -> tuple[Values, tuple[str, ...]]:
    """With the dialects that the operator's webhook does not hear, and what is to be told of the others."""
    if values.name == OPERATOR:
        raise Conflict(
            f"{OPERATOR} is what OpenShift's Cloud Credential Operator calls its own webhook, and it would put that back",
            remedy="choose another name, or have the operator run this image",
        )
    heard = rivals(values, [operator]).get(OPERATOR, ())
    left = tuple(dialect for dialect in values.dialects if dialect not in heard)
    if values.beside or not heard:
        return values, ()
    if not left:
        raise Conflict(
            f"OpenShift's Cloud Credential Operator runs a webhook that hears {', '.join(heard)} already, and nothing else was asked for",
            remedy="have the operator run this image, ask for another dialect, such as cwii, or say --beside to have both",
        )
    hint = (
        f"OpenShift's own webhook hears {', '.join(heard)}, which is left to it: --beside has both."
    )
    return msgspec.structs.replace(
        values,
        dialects=left,
        ephemeral_containers=tuple(e for e in values.ephemeral_containers if e in left),
    ), (hint,)

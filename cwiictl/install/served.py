"""What of ours not every cluster serves. Without it the webhook is installed all the same, and that is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cwiictl.install.rights import writes
from cwiictl.install.values import Values

FLOWS = ("v1", "v1beta3")  # the newest is taken


@dataclass(frozen=True)
class Served:
    policies: bool = True  # ValidatingAdmissionPolicy, which came with Kubernetes 1.30
    flow: str = FLOWS[0]  # in which version there are priority levels, if at all: v1 came with 1.29


EVERYTHING = Served()


def foregone(values: Values, served: Served) -> Iterator[str]:
    """In sentences."""
    alone = [
        *(
            ["the renewer changes nothing but bundles in its configuration"]
            if values.certificates.by == "renewer"
            else []
        ),
        *(["the webhook writes no ConfigMaps but its own"] if writes(values) else []),
    ]
    if alone and not served.policies:
        yield f"The cluster serves no ValidatingAdmissionPolicy (Kubernetes 1.30 does): that {' and '.join(alone)} is not seen to by its API servers."
    if values.flow_control and not served.flow:
        yield "The cluster serves no flow control: the webhook's reads have no priority level of their own, and may wait in a crowd of others."

"""The least policies, one of each cloud."""

from __future__ import annotations

from typing import Any

from cwiictl.actions.order import Order
from cwiictl.clouds import ALL


def least(order: Order, command: str) -> dict[str, Any]:
    """By cloud."""
    return {
        name: ALL[name].least(command, ALL[name].Spec(**told), order.cluster)
        for name, told in order.clouds.items()
    }

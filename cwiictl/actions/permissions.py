"""The least policies, one of each cloud."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cwiictl.actions.order import Order
from cwiictl.clouds import ALL


def least(order: Order, command: str) -> Iterator[Any]:
    for name, told in order.clouds.items():
        cloud = ALL[name]
        yield cloud.least(command, cloud.Spec(**told), order.cluster)

"""For whom a role was made that nobody asks for here, as far as it still says so: so it can be judged as those are that were asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.spec import Ask
from cwiictl.model import Cluster, Workload
from cwiictl.verify.holder import whose

_TITLE = re.compile(r"Kubernetes role for (?P<title>[^/ ]+/[^/ ]+)")


def recognised(_cluster: Cluster, _name: str, have: RoleState) -> tuple[Workload, Ask] | None:
    told = _TITLE.fullmatch(have.description)
    workload = whose(_subjects(have), told["title"] if told else "")
    return (workload, Ask(have.policy, have.managed)) if workload else None


def _subjects(have: RoleState) -> Iterator[str]:
    """Of any issuer: whether it is the cluster's is judged later."""
    for statement in _many(have.trust.get("Statement")):
        for tests in cast(
            "Mapping[str, Mapping[str, Any]]", statement.get("Condition", {})
        ).values():
            yield from (
                str(value)
                for key, values in tests.items()
                if key.endswith(":sub")
                for value in _many(values)
            )


def _many(value: object) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else [value]

"""How a cloud's identities can be said instead of made: as resources that an operator makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

from cwiictl.engine.resource import Plan
from cwiictl.manifests import Template
from cwiictl.model import Cluster


class Words(Protocol):
    def unconnected(
        self, spec: Any, cluster: Cluster, connected: Callable[[], Any], /
    ) -> Any: ...  # stores for a plan that nobody acts on
    def objects(
        self, plan: Plan, secret: str, template: Template, /
    ) -> Mapping[str, list[dict[str, Any]]]: ...  # by the names of files


@dataclass(frozen=True)
class Format:
    name: str
    operator: str
    module: str

    @property
    def words(self) -> Words:
        """Loaded by whom asks for it."""
        return cast("Words", import_module(self.module))

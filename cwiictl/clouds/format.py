"""How a cloud's identities can be said instead of made: as resources that an operator makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from cwiictl.engine.resource import Plan
from cwiictl.manifests import Template
from cwiictl.model import Cluster


class Format(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def operator(self) -> str: ...
    def unconnected(self, spec: Any, cluster: Cluster, connected: Callable[[], Any], /) -> Any: ...  # stores for a plan that nobody acts on
    def objects(self, plan: Plan, secret: str, template: Template, /) -> Mapping[str, list[dict[str, Any]]]: ...  # by the names of files

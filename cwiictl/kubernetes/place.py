"""A cluster that somebody is connected to: who, to which, and what it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cwiictl.engine.resource import Store
from cwiictl.kubernetes.kinds import Kind, Kinds
from cwiictl.kubernetes.rights import Right
from cwiictl.kubernetes.state import ObjectState

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a pod answers, as the API server passes it on. Where none can be had, why."""

    status: int
    text: str


class Api(Protocol):
    """What is asked of a cluster beside its being as it should. Kinds are named as in `kinds.STAGES`: Pod, Deployment.apps; a name that is clear suffices."""

    def get(self, kind: str, namespace: str, name: str, /) -> Body | None: ...
    def list(
        self, kind: str, namespace: str = "", selector: str = "", fields: str = "", most: int = 0
    ) -> list[Body]: ...  # by labels, and by fields
    def create(self, body: Body, *, dry: bool = False) -> Body: ...  # with generateName too
    def patch(
        self, kind: str, namespace: str, name: str, part: Body, /
    ) -> Body: ...  # what is said there, and no more
    def delete(
        self, kind: str, namespace: str, name: str, /
    ) -> None: ...  # what was made by `create`
    def logs(self, namespace: str, pod: str, container: str = "", lines: int = 100) -> str: ...
    def answer(
        self, namespace: str, pod: str, port: int, path: str
    ) -> str: ...  # a pod's own, or why there is none; empty for who may not ask
    def token(
        self, namespace: str, account: str, audience: str, seconds: int = 600
    ) -> str: ...  # without an audience, for those of the API server itself
    def lacking(
        self, rights: Iterable[Right], user: str = ""
    ) -> tuple[Right, ...]: ...  # of these, what whoever asks may not, or somebody else
    def document(self, path: str) -> Any: ...  # such as /openid/v1/jwks
    def text(self, path: str) -> str: ...  # such as /metrics
    def through(
        self, namespace: str, pod: str, port: int, path: str, /
    ) -> Answer: ...  # plain HTTP, by the API server's proxy


@dataclass(frozen=True)
class Place:
    server: str
    context: str
    version: str  # v1.33.1
    caller: str
    kinds: Kinds
    store: Callable[[Kind], Store[ObjectState]]  # one of each kind
    api: Api
    close: Callable[[], None] = field(repr=False)
    name: str = ""  # where there are two
    within: str = ""  # the one namespace that is looked through for what is ours, if it is not all

"""Objects as resources: what is to be installed, each with what must be there before it."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cwiictl.engine.resource import Difference, Known, Resource, Walk
from cwiictl.errors import BadInput
from cwiictl.kubernetes import fields, kinds, state
from cwiictl.kubernetes.place import Place
from cwiictl.kubernetes.state import SECRET, ObjectState

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Object(Resource[ObjectState]):
    """What its body does not say is not ours: another fills it, and nobody compares it."""

    body: Body
    data: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)  # of a Secret
    after: tuple[Object, ...] = field(default=(), repr=False)

    def want(self, known: Known) -> ObjectState:  # noqa: ARG002 - it is known from the start
        return ObjectState(body=self.body, data=self.data)

    def differing(self, want: ObjectState, have: ObjectState) -> tuple[Difference, ...]:
        """Of two things as the API server shows them: `want` is what it made of ours in a rehearsal."""
        return tuple(state.differing(want.live, have.live))


@dataclass(frozen=True)
class Part(Object):
    """What we add to another's object, which is there: it bears our mark as long as we are in it, and is left as it would be without us."""

    @property
    def brought(self) -> bool:
        return True

    @property
    def exclusive(self) -> bool:
        return True

    def grows(self, want: ObjectState, have: ObjectState, made: Collection[str]) -> bool:
        del want, made
        return have.owner is None


def resources(bodies: Sequence[Body], place: Place, parts: Collection[str] = ()) -> list[Object]:
    """In the order of installation: each stage holds the one before, and so its Namespace. `parts` are kinds of which we have only a part."""
    made: list[Object] = []
    before: tuple[Object, ...] = ()
    for titles in kinds.STAGES:
        stage = tuple(
            _object(body, place, before, Part if title in parts else Object)
            for title in titles
            for body in bodies
            if _title(body) == title
        )
        made += stage
        before = stage or before
    if strange := [body for body in bodies if _title(body) not in kinds.STAGE]:
        raise BadInput(
            f"{strange[0]['kind']} {_name(strange[0])} is of no kind that cwiictl installs, and would find again",
            remedy="apply it by kubectl",
        )
    return made


def walk(place: Place, titles: Collection[str] = kinds.STAGE.keys()) -> Walk:
    """What of these kinds the cluster serves. What refers to other things is the last to be made, and so the first to go."""
    stores = {
        title: place.store(kind)
        for title in kinds.STAGE
        if title in titles and (kind := place.kinds.get(title)) and kind.title == title
    }
    around = (stores.pop(kinds.NAMESPACE),) if kinds.NAMESPACE in stores else ()
    return Walk((), (), (), using=tuple(stores.values()), around=around)


def _object(body: Body, place: Place, before: tuple[Object, ...], of: type[Object]) -> Object:
    """As the API server would show it: without what is empty, and a Secret's texts where it has them."""
    about = {key: said for key, said in body["metadata"].items() if said or said is False}
    rest = {
        key: said
        for key, said in body.items()
        if key not in {"data", "stringData"} or body["kind"] != SECRET
    }
    return of(
        _name(body),
        place.store(place.kinds.of(body)),
        {**rest, "metadata": about},
        _data(body),
        before,
    )


def _data(body: Body) -> dict[str, str]:
    if body["kind"] != SECRET:
        return {}
    texts = {
        key: base64.b64encode(text.encode()).decode()
        for key, text in fields.within(body, "stringData").items()
    }
    return {**fields.within(body, "data"), **texts}


def _name(body: Body) -> str:
    about = body["metadata"]
    return f"{about['namespace']}/{about['name']}" if about.get("namespace") else str(about["name"])


def _title(body: Body) -> str:
    return kinds.title(body["apiVersion"], body["kind"])

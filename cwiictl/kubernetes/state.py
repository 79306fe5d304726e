"""What an object is, as far as it is ours to say: what we have applied of it, and who holds the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cwiictl import names
from cwiictl.engine.resource import Difference, Mark, State, aside
from cwiictl.kubernetes import fields

SECRET = "Secret"  # noqa: S105 - the kind of that name
HIDDEN, ANOTHER = "<hidden>", "<hidden, and another>"

REPLICAS = ("f:spec", "f:replicas")
_MARKS = {
    ("f:metadata", "f:labels", f"f:{key}") for key in (names.INSTALLATION_KEY, names.MANAGED_BY)
} | {("f:metadata", "f:annotations", f"f:{key}") for key in (names.HOLD_KEY, names.ORIGIN_KEY)}


@dataclass(frozen=True, kw_only=True)
class ObjectState(State):
    body: Mapping[str, Any]  # without our mark
    data: Mapping[str, str] = field(
        default_factory=dict[str, str], repr=False, metadata={"secret": True}
    )  # of a Secret
    live: Any = aside()  # noqa: RUF009 - a field; all of it, as the API server shows it, or would; never told: it may be a Secret


def owner(live: fields.Object) -> Mark | None:
    """Whose it is: labels can be copied, so whoever bears ours and was never ours is not."""
    return (
        names.installed(
            fields.within(live, "metadata", "labels"),
            fields.within(live, "metadata", "annotations"),
        )
        if fields.known(live)
        else None
    )


def state(live: fields.Object) -> ObjectState:
    """Of what is not ours all that its makers may have said."""
    mark, held = owner(live), fields.ours(live)
    part: dict[str, Any] = (
        fields.cut(live, held)
        if held
        else {key: part for key, part in live.items() if key != "status"}
    )
    named = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    about = _unmarked(fields.within(part, "metadata"), mark)
    body = {
        **part,
        "apiVersion": live["apiVersion"],
        "kind": live["kind"],
        "metadata": {**named, **about},
    }
    secret = fields.within(body, "data") if live["kind"] == SECRET else fields.NOTHING
    return ObjectState(
        body={key: said for key, said in body.items() if not secret or key != "data"},
        data=secret,
        live=live,
        owner=mark,
    )


def stated(want: ObjectState, have: ObjectState | None = None) -> dict[str, Any]:
    """The whole of what is applied, with its mark."""
    about = want.body["metadata"]
    marked = (
        {"labels": names.labelled(want.owner), "annotations": names.annotated(want.owner)}
        if want.owner
        else {}
    )
    both = {key: {**about.get(key, {}), **mark} for key, mark in marked.items()}
    return {
        **want.body,
        **_handed_over(want, have),
        "metadata": {**about, **both},
        **({"data": want.data} if want.data else {}),
    }


def _handed_over(want: ObjectState, have: ObjectState | None) -> dict[str, Any]:
    """How many there are, where that is left to another from now on: dropped, it would be one until that other has heard of it."""
    spec = fields.within(want.body, "spec")
    if (
        have is None
        or "replicas" in spec
        or REPLICAS not in set(fields.leaves(fields.ours(have.live)))
    ):
        return {}
    return {"spec": {**spec, "replicas": fields.value(have.live, REPLICAS)}}


def differing(made: fields.Object, live: fields.Object) -> Iterator[Difference]:
    """Field by field, from what is to what would be. A field that we no longer speak for, and nobody else does, goes."""
    paths = {*fields.leaves(fields.ours(made)), *fields.leaves(fields.ours(live))} - _MARKS
    ends = sorted(paths - {longer[:end] for longer in paths for end in range(1, len(longer))})
    for path in dict.fromkeys(_element(path, made, live) for path in ends):
        there, then = fields.value(live, path), fields.value(made, path)
        if there != then:
            secret = live["kind"] == SECRET and path[0] == "f:data"
            yield Difference(
                fields.told(path), *(_hidden(there, then) if secret else (there, then))
            )


def _element(path: fields.Path, made: fields.Object, live: fields.Object) -> fields.Path:
    """An element of a list that comes or goes is one difference, and not one for each field in it."""
    elements = (path[:end] for end in range(1, len(path)) if path[end - 1].startswith("k:"))
    return next(
        (
            each
            for each in elements
            if (fields.value(made, each) is None) != (fields.value(live, each) is None)
        ),
        path,
    )


def _hidden(there: object, then: object) -> tuple[object, object]:
    return (
        None if there is None else HIDDEN,
        None if then is None else HIDDEN if there is None else ANOTHER,
    )


def _unmarked(about: Mapping[str, Any], mark: Mark | None) -> dict[str, Any]:
    marks = {"labels": names.labelled(mark), "annotations": names.annotated(mark)} if mark else {}
    said = {
        key: {k: v for k, v in fields.within(about, key).items() if k not in marks.get(key, {})}
        for key in ("labels", "annotations")
    }
    return {key: words for key, words in said.items() if words}

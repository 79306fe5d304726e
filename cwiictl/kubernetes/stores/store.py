"""Objects of one kind. They are written by server-side apply: the API server keeps the notes of what is whose."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from cwiictl import names
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet
from cwiictl.kubernetes import fields, holders
from cwiictl.kubernetes.kinds import NAMESPACE, Kind
from cwiictl.kubernetes.state import ObjectState, owner, state, stated
from cwiictl.kubernetes.stores.errors import Refused, told
from cwiictl.kubernetes.stores.wire import MERGE, METADATA, Wire

# What is applied over a version is not made where there is none, and the other way round. No object has ever had the first version of all.
NONE = {"resourceVersion": "1"}
THERE = "default"  # a Namespace that every cluster has


class Objects:
    """Addressed by NAMESPACE/NAME, or NAME. Between a reading and a write nobody else's write is lost: each pins what was read."""

    bulk = False

    def __init__(
        self, wire: Wire, of: Kind, patience: float = 120.0, place: str = "", within: str = ""
    ) -> None:
        self.wire, self.of, self.patience, self.within = wire, of, patience, within
        self.kind = f"k8s/{of.short}@{place}" if place else f"k8s/{of.short}"

    @told()
    def get(self, objects: Collection[str], /) -> Mapping[str, ObjectState]:
        found = {name: self._read(name) for name in objects}
        return {name: state(live) for name, live in found.items() if live}

    @told()
    def rehearse(self, name: str, want: ObjectState, have: ObjectState | None, /) -> ObjectState:
        """Whoever sets what others hold learns here whether they would put up with it."""
        try:
            made = self._apply(name, want, have, force=True, dry=True)
        except Refused as e:
            if have is None and e.status == 404:
                return self._elsewhere(name, want)
            raise
        taking = have is not None and _taking(want, have)
        if have and (
            standing := holders.conflict(self._address(name), made, have.live, taking=taking)
        ):
            raise standing
        return state(made)

    @told()
    def put(self, name: str, want: ObjectState, have: ObjectState | None, /) -> ObjectState:
        if have and have.owner and want.owner is None:
            return state(
                self._withdraw(name, have)
                if have.owner.hold == "brought"
                else self._release(name, have, have.owner)
            )
        try:
            return state(self._apply(name, want, have))
        except Refused as e:
            if not e.held:
                raise
            if have is None:
                raise NotYet(f"{self._address(name)} is there already") from e
        self.rehearse(name, want, have)
        return state(self._apply(name, want, have, force=True))

    @told()
    def drop(self, name: str, /) -> None:
        """Done when it is gone: who has put a finalizer on it may take their time."""
        live = self._read(name)
        if live is None:
            return
        if owner(live) is None:
            raise Conflict(
                f"{self._address(name)} no longer bears our mark",
                remedy="leave it to whoever has taken it, or delete it with kubectl",
            )
        pinned = {"preconditions": _pins(live), "propagationPolicy": "Background"}
        try:
            left = self.wire.call(
                "DELETE",
                self.of.place(name),
                body={"apiVersion": "v1", "kind": "DeleteOptions", **pinned},
            )
        except Refused as e:
            if e.status != 404:
                raise
        else:
            self._past(name, left)

    @told()
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """Only what tells of them is read: Secrets keep theirs."""
        found = self.wire.list(
            self.of.path(self.within), f"{names.INSTALLATION_KEY}={cluster}", METADATA
        )
        marks = {_name(live): owner(live) for live in found}
        return {name: mark for name, mark in marks.items() if mark and mark.cluster == cluster}

    def _read(self, name: str) -> dict[str, Any] | None:
        live = self.wire.find(self.of.place(name))
        if live:
            self._past(name, live)
        return live

    def _past(self, name: str, live: Mapping[str, Any]) -> None:
        """What is on its way out is neither there nor not: nothing is built on it."""
        about: Mapping[str, Any] = live.get("metadata", {})
        if about.get("deletionTimestamp"):
            around = fields.within(live, "spec") if self.of.title == NAMESPACE else fields.NOTHING
            held = [*(about.get("finalizers") or ()), *(around.get("finalizers") or ())]
            waits = f", and waits for {', '.join(held)}" if held else ""
            remedy = "run again when it is gone; where who should take off a finalizer is gone itself, kubectl edit takes it off"
            raise NotYet(f"{self._address(name)} is being deleted{waits}", remedy=remedy)

    def _apply(
        self,
        name: str,
        want: ObjectState,
        have: ObjectState | None,
        *,
        force: bool = False,
        dry: bool = False,
    ) -> dict[str, Any]:
        body = stated(want, have)
        pinned = {**body["metadata"], **(_pins(have.live) if have else NONE)}
        return self.wire.apply(
            self.of.place(name), {**body, "metadata": pinned}, force=force, dry=dry
        )

    def _elsewhere(self, name: str, want: ObjectState) -> ObjectState:
        """What is in no Namespace yet nobody can show. That it is well formed one that is there can tell; who may be in that is a question of its own."""
        there = replace(
            want, body={**want.body, "metadata": {**want.body["metadata"], "namespace": THERE}}
        )
        try:
            self._apply(f"{THERE}/{name.rpartition('/')[2]}", there, None, force=True, dry=True)
        except Refused as e:
            if e.malformed:
                raise
        return want

    def _release(self, name: str, have: ObjectState, mark: Mark) -> dict[str, Any]:
        """It stays as it is, and nothing of it is held by us any more: whoever applies it next has no quarrel with who has left."""
        kept = [
            entry for entry in fields.entries(have.live) if entry.get("manager") != fields.MANAGER
        ]
        gone = {
            "labels": dict.fromkeys(names.labelled(mark)),
            "annotations": dict.fromkeys(names.annotated(mark)),
        }
        about = {**gone, "managedFields": kept or [{}], **_pins(have.live)}
        return self.wire.call(
            "PATCH",
            self.of.place(name),
            {"fieldManager": fields.MANAGER},
            {"metadata": about},
            MERGE,
        )

    def _withdraw(self, name: str, have: ObjectState) -> dict[str, Any]:
        """From what is another's, of which a part was ours: whoever applies nothing takes away all that was theirs alone."""
        named = {
            key: have.live["metadata"][key]
            for key in ("name", "namespace")
            if key in have.live["metadata"]
        }
        body = {
            "apiVersion": have.live["apiVersion"],
            "kind": have.live["kind"],
            "metadata": {**named, **_pins(have.live)},
        }
        return self.wire.apply(self.of.place(name), body)

    def _address(self, name: str) -> str:
        return f"{self.kind}/{name}"


def _pins(live: Mapping[str, Any]) -> dict[str, str]:
    return {key: live["metadata"][key] for key in ("uid", "resourceVersion")}


def _taking(want: ObjectState, have: ObjectState) -> bool:
    """It was another's until now."""
    return want.owner is not None and (
        have.owner is None or have.owner.cluster != want.owner.cluster
    )


def _name(live: Mapping[str, Any]) -> str:
    about = live["metadata"]
    return f"{about['namespace']}/{about['name']}" if "namespace" in about else str(about["name"])

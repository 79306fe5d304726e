"""A running cluster as the picture that the webhook's deciding is asked with: listed at once, or one object after another as it is needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cwii_webhook.admission.annotation_sources import GroupKind as Titled
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef

from cwiictl.errors import BadInput, Denied, Failed
from cwiictl.explain.objects import Objects
from cwiictl.kubernetes import Place
from cwiictl.kubernetes.kinds import Kind
from cwiictl.kubernetes.place import Body
from cwiictl.model import LABEL

NAME = re.compile(r"[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?")


@dataclass
class Live(Objects):
    """What it does not hold is asked for when it is needed, unless all of that kind have been listed."""

    place: Place = field(kw_only=True)
    bodies: dict[ObjectRef, Body] = field(
        default_factory=dict[ObjectRef, Body], kw_only=True
    )  # of what was listed
    listed: set[Titled] = field(default_factory=set[Titled], kw_only=True)

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        if (
            ref not in self.held
            and ref not in self.missed
            and (ref.group, ref.kind) not in self.listed
            and (body := _found(self.place, ref))
        ):
            self.hold(body)
        return super().get(ref)

    def body(self, ref: ObjectRef) -> Body | None:
        """Of an object that is there and may be read."""
        try:
            return _found(self.place, ref)
        except Denied:
            return None

    def list(self, kinds: Iterable[Titled]) -> None:
        """Of those that the cluster serves."""
        for group, name in kinds:
            self.listed.add((group, name))
            if kind := served(self.place, group, name):
                self.bodies |= {self.hold(body): body for body in self.place.api.list(kind.title)}


def served(place: Place, group: str, kind: str) -> Kind | None:
    return place.kinds.get(f"{kind}.{group}" if group else kind)


def got(place: Place, thing: str, namespace: str) -> bytes:
    """As kubectl has it: pod/web, or deployment/web."""
    kind, slash, name = thing.partition("/")
    if not slash or not NAME.fullmatch(name) or not LABEL.fullmatch(namespace):
        raise BadInput(
            f"{thing} in namespace {namespace} can be no object",
            remedy="write KIND/NAME, such as pod/web, and give the namespace with -n",
        )
    body = place.api.get(place.kinds.called(kind).title, namespace, name)
    if body is None:
        raise Failed(
            f"there is no {thing} in namespace {namespace}",
            remedy="see kubectl get, and give its namespace with -n",
        )
    return json.dumps(body).encode()


def _found(place: Place, ref: ObjectRef) -> Body | None:
    """A pod's author writes the names of its owners: what no object can be called is not asked for."""
    if not NAME.fullmatch(ref.name) or (ref.namespace and not LABEL.fullmatch(ref.namespace)):
        return None
    kind = served(place, ref.group, ref.kind)
    return place.api.get(kind.title, ref.namespace, ref.name) if kind else None

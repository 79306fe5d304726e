"""Objects from files, as the webhook would find them in a cluster: a pod, or the pod of a workload, and a picture of all the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef, OwnerReference
from cwii_webhook.dialects.common.typo_hints import nearest_match

from cwiictl.documents import Document, kind_of
from cwiictl.errors import BadInput

# where a workload keeps the pod that it makes; a CronJob makes Jobs, and a Deployment ReplicaSets
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "Job": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Rollout": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
BETWEEN: Mapping[str, tuple[str, str]] = {
    "Deployment": ("apps/v1", "ReplicaSet"),
    "Rollout": ("apps/v1", "ReplicaSet"),
    "CronJob": ("batch/v1", "Job"),
}
CLUSTER_WIDE = frozenset({"Namespace"})
NOBODY = "00000000-0000-4000-8000-000000000000"  # the uid of what has none in its file


@dataclass(frozen=True)
class Pod:
    """As an API server shows it to webhooks: what it would have filled in is there."""

    namespace: str
    body: Mapping[str, Any]

    def __str__(self) -> str:
        meta = self.body["metadata"]
        return f"Pod {self.namespace}/{meta.get('name') or meta.get('generateName', '')}"


@dataclass
class Objects:
    """A picture of what was given, and no more. What was looked for in vain is remembered: a user will want to know."""

    namespace: str = "default"
    held: dict[ObjectRef, ObjectMetadata] = field(default_factory=dict[ObjectRef, ObjectMetadata])
    missed: dict[ObjectRef, None] = field(default_factory=dict[ObjectRef, None])

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        if ref not in self.held:
            self.missed[ref] = None
        return self.held.get(ref)

    def near(self, ref: ObjectRef) -> str:
        """The one that may have been meant: of a name like it, or of its name in another namespace."""
        alike = [one for one in self.held if one.kind == ref.kind]
        found = nearest_match(
            ref.name, [one.name for one in alike if one.namespace == ref.namespace]
        )
        return found or next(
            (f"{one.namespace}/{one.name}" for one in alike if one.name == ref.name), ""
        )

    def hold(self, body: Mapping[str, Any]) -> ObjectRef:
        meta, kind = _meta(body), str(body.get("kind", ""))
        space = "" if kind in CLUSTER_WIDE else str(meta.get("namespace") or self.namespace)
        ref = ObjectRef(_group(body), kind, space, str(meta.get("name", "")))
        texts = msgspec.convert(
            (body.get("data") if kind == "ConfigMap" else meta.get("annotations")) or {},
            dict[str, str],
        )
        owners = msgspec.convert(meta.get("ownerReferences") or [], tuple[OwnerReference, ...])
        self.held[ref] = ObjectMetadata(texts, owners, str(meta.get("uid") or NOBODY))
        return ref


def read(documents: Iterable[Document], objects: Objects) -> list[Pod]:
    """All that could be asked about, in the order of the files. Everything becomes part of the picture."""
    every = [each for document in documents for each in _single(document)]
    sources: dict[ObjectRef, str] = {}
    for document in every:
        _check_texts(document)
        try:
            ref = objects.hold(document.value)
        except msgspec.ValidationError as e:
            raise BadInput(
                f"{document.source} is no Kubernetes object: {e}",
                remedy="give it as kubectl shows it",
            ) from e
        if ref.name and ref in sources:
            raise BadInput(
                f"{ref} is given twice, in {sources[ref]} and in {document.source}",
                remedy="leave one of the two",
            )
        sources[ref] = document.source
    return [pod for document in every for pod in _pods(document, objects)]


def _check_texts(document: Document) -> None:
    """Annotations and labels, its own and its pods': what YAML reads as something else than a text, Kubernetes would not take."""
    for around in ((), TEMPLATES.get(str(document.value.get("kind")), ())):
        for kind in ("annotations", "labels"):
            texts: object = document.value
            for step in (*around, "metadata", kind):
                texts = _object(texts).get(step)
            for key, text in _object(texts).items():
                if not isinstance(text, str):
                    _no_text(document, (*around, "metadata", kind, key), text)


def _no_text(document: Document, path: tuple[str, ...], value: object) -> None:
    shown = "true" if value is True else "false" if value is False else value
    raise BadInput(
        f"{document.where(*path)} has the {path[-2].removesuffix('s')} {path[-1]}, which YAML reads as {kind_of(value)}, and Kubernetes takes texts alone",
        remedy=f'quote it: "{shown}"'
        if isinstance(value, (bool, int, float))
        else "write a text there, in quotes",
    )


def _single(document: Document) -> Iterator[Document]:
    if document.value.get("kind") == "List":
        yield from document.items()
    else:
        yield document


def _pods(document: Document, objects: Objects) -> Iterator[Pod]:
    kind = document.value.get("kind")
    if kind == "Pod":
        yield _pod(document, document.value, objects, _claimed(document.value, objects))
    elif kind in TEMPLATES:
        template = _below(document, TEMPLATES[str(kind)])
        yield _pod(document, template, objects, [_owner(document.value, objects)])


def _below(document: Document, path: tuple[str, ...]) -> Mapping[str, Any]:
    here: Mapping[str, Any] = document.value
    for step in path:
        here = _object(here.get(step))
    if not here:
        raise BadInput(
            f"{document.source} has no {'.'.join(path)}", remedy="give a workload that makes pods"
        )
    return here


def _pod(
    document: Document,
    template: Mapping[str, Any],
    objects: Objects,
    owners: list[Mapping[str, object]],
) -> Pod:
    """The API server fills in the ServiceAccount before it asks anybody."""
    meta, spec = _meta(template), _object(template.get("spec"))
    if not spec:
        raise BadInput(
            f"{document.source} has no spec of a pod", remedy="give the pod as kubectl shows it"
        )
    outer = _meta(document.value)
    space = str(meta.get("namespace") or outer.get("namespace") or objects.namespace)
    named: Mapping[str, object] = (
        {} if meta.get("name") else {"generateName": f"{outer.get('name', 'pod')}-"}
    )
    full: dict[str, Any] = {
        **meta,
        **named,
        "namespace": space,
        **({"ownerReferences": owners} if owners else {}),
    }
    account = {
        "serviceAccountName": spec.get("serviceAccountName")
        or spec.get("serviceAccount")
        or "default"
    }
    return Pod(
        space, {"apiVersion": "v1", "kind": "Pod", "metadata": full, "spec": {**spec, **account}}
    )


def _owner(workload: Mapping[str, Any], objects: Objects) -> Mapping[str, object]:
    """The reference that its pods bear: to itself, or to what it makes in between."""
    meta, kind = _meta(workload), str(workload["kind"])
    own = _reference(
        str(workload.get("apiVersion", "")),
        kind,
        str(meta.get("name", "")),
        str(meta.get("uid") or NOBODY),
    )
    if kind not in BETWEEN:
        return own
    version, between = BETWEEN[kind]
    name = f"{meta.get('name', '')}-x"
    objects.hold(
        {
            "apiVersion": version,
            "kind": between,
            "metadata": {
                "name": name,
                "namespace": meta.get("namespace"),
                "ownerReferences": [own],
            },
        }
    )
    return _reference(version, between, name, NOBODY)


def _claimed(pod: Mapping[str, Any], objects: Objects) -> list[Mapping[str, object]]:
    """Its owners. One that has no uid in its file is whom they name: a cluster gives uids, and a file from elsewhere has none."""
    meta = _meta(pod)
    space = str(meta.get("namespace") or objects.namespace)
    given = [_object(one) for one in cast("list[object]", meta.get("ownerReferences") or [])]
    refs = [
        ObjectRef(_group(one), str(one.get("kind")), space, str(one.get("name"))) for one in given
    ]
    return [
        {**one, "uid": NOBODY} if objects.held.get(ref, ObjectMetadata()).uid == NOBODY else one
        for one, ref in zip(given, refs, strict=True)
    ]


def _reference(version: str, kind: str, name: str, uid: str) -> Mapping[str, object]:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def _meta(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(body.get("metadata"))


def _object(value: object) -> Mapping[str, Any]:
    """Empty where something else stands."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _group(body: Mapping[str, Any]) -> str:
    return str(body.get("apiVersion", "")).rpartition("/")[0]

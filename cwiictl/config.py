"""The text of CredentialsRequests → who asks for what. Knows no cloud: a providerSpec is handed on as it was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import msgspec

from cwiictl.documents import Document, documents
from cwiictl.errors import BadInput
from cwiictl.model import SUBDOMAIN, TOKEN_PATH, Workload
from cwiictl.shapes import refuse_twins, told

GROUP = "cloudcredential.openshift.io"
KIND = "CredentialsRequest"
DELETED = "release.openshift.io/delete"
FEATURE_SET = "release.openshift.io/feature-set"
TECH_PREVIEW = "TechPreviewNoUpgrade"
GATED = "it belongs to the feature set"

_TOKEN_PATH = re.compile(r"/[^\x00-\x1f\x7f]+")


@dataclass(frozen=True)
class Request:
    """One CredentialsRequest. `spec` is its providerSpec, for the cloud whose `kind` it is."""

    name: str
    workload: Workload
    kind: str
    spec: Mapping[str, object]
    source: str


@dataclass(frozen=True)
class Skipped:
    """What was read and is not wanted, with the reason: nobody should have to guess why an identity is not there."""

    name: str
    source: str
    why: str


@dataclass(frozen=True)
class Requests:
    wanted: tuple[Request, ...]
    skipped: tuple[Skipped, ...]
    gated: tuple[
        Request, ...
    ] = ()  # among the skipped: requests of a feature set that is not followed today


def credentials_requests(texts: Mapping[str, bytes], *, tech_preview: bool) -> Requests:
    """Files by name, their objects in their order: so that two runs, and two machines, ask in the same order."""
    wanted: list[Request] = []
    skipped: list[Skipped] = []
    gated: list[Request] = []
    for document in _objects(texts):
        meta = told(document, _Object).metadata
        why = _reason_to_skip(document, meta, tech_preview=tech_preview)
        if why:
            skipped.append(Skipped(_shown(meta.name), document.source, why))
            gated += [_request(document, meta)] if why.startswith(GATED) else []
        else:
            wanted.append(_request(document, meta))
    for kind in dict.fromkeys(
        request.kind for request in wanted
    ):  # of each cloud: a component asks all of them for the same Secret
        refuse_twins(
            [
                (f"the Secret {request.workload.title}", request.source)
                for request in wanted
                if request.kind == kind
            ]
        )
        refuse_twins(
            [
                (f"the name {request.name}", request.source)
                for request in wanted
                if request.kind == kind
            ]
        )
    return Requests(tuple(wanted), tuple(skipped), tuple(gated))


# --- what is in the objects: only the fields that we look at ---


_Word: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class _Metadata(msgspec.Struct):
    name: str = ""
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, rename="camel"):
    api_version: _Word
    kind: _Word
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Reference(msgspec.Struct):
    namespace: str
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    secret_ref: _Reference
    provider_spec: dict[str, Any]
    service_account_names: list[str] | None = None
    cloud_token_path: str | None = None


class _Asking(msgspec.Struct):
    spec: _Spec


class _Provider(msgspec.Struct):
    kind: _Word


class _Providing(msgspec.Struct, rename="camel"):
    provider_spec: _Provider


class _AskingWith(msgspec.Struct):
    spec: _Providing


# --- reading ---


def _objects(texts: Mapping[str, bytes]) -> Iterator[Document]:
    for name in sorted(texts):
        for document in documents(name, texts[name]):
            yield from _unrolled(document)


def _unrolled(document: Document) -> Iterator[Document]:
    if document.value.get("kind") in (
        "List",
        f"{KIND}List",
    ):  # no set: a kind that is a list by mistake cannot be looked for in one
        for item in document.items():
            yield from _unrolled(item)
    else:
        yield document


def _reason_to_skip(document: Document, meta: _Metadata, *, tech_preview: bool) -> str:
    """The filters and their order are ccoctl's: whoever changes tools gets the same identities."""
    if not _asks(document):
        return f"it is a {_shown(document.value['kind'])}, no {KIND}"
    annotations = meta.annotations or {}
    if annotations.get(DELETED) == "true":
        return f"it is marked {DELETED}"
    if FEATURE_SET not in annotations:
        return ""
    if not tech_preview:
        return f"{GATED} {annotations[FEATURE_SET]!r}"
    return (
        ""
        if annotations[FEATURE_SET] == TECH_PREVIEW
        else f"{GATED} {annotations[FEATURE_SET]!r}, which is not {TECH_PREVIEW}"
    )


def _asks(document: Document) -> bool:
    """Half right is a slip of the pen, and passing over it would lose an identity silently."""
    version, kind = str(document.value["apiVersion"]), document.value["kind"]
    group = version.split("/", maxsplit=1)[0]
    if (group == GROUP) != (kind == KIND):
        raise BadInput(
            f"{document.source} is a {_shown(kind)} of {_shown(version)}, which does not exist",
            remedy=f"write kind: {KIND} and apiVersion: {GROUP}/v1",
        )
    return group == GROUP


def _shown(word: object) -> str:
    """A stranger's word, unable to move the cursor of the terminal that it is shown on."""
    text = str(word)
    return text if text.isprintable() else repr(text)


def _request(document: Document, meta: _Metadata) -> Request:
    if not SUBDOMAIN.fullmatch(meta.name):
        raise BadInput(
            f"metadata.name {meta.name!r} in {document.where('metadata', 'name')} is not a Kubernetes name",
            remedy="use lower-case letters, digits and '-', beginning and ending with a letter or digit",
        )
    spec = told(document, _Asking).spec
    provider = told(document, _AskingWith).spec.provider_spec
    workload = Workload(
        namespace=spec.secret_ref.namespace,
        name=spec.secret_ref.name,
        service_accounts=tuple(spec.service_account_names or ()),
        token_path=_token_path(document, spec),
        source=document.source,
    )
    return Request(meta.name, workload, provider.kind, spec.provider_spec, document.source)


def _token_path(document: Document, spec: _Spec) -> str:
    """It becomes a line of a credentials file, where a line break would be another setting."""
    path = spec.cloud_token_path or TOKEN_PATH
    if not _TOKEN_PATH.fullmatch(path):
        where = document.where("spec", "cloudTokenPath")
        raise BadInput(
            f"spec.cloudTokenPath {path!r} in {where} is no absolute path",
            remedy="give the path of the token in the pod, beginning with '/'",
        )
    return path

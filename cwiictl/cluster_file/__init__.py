"""cluster.yaml: the text of a cluster's own file → all that options would say, and the workloads that ask for identities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from cwiictl.cluster_file.words import (
    KIND,
    VERSION,
    CloudWords,
    FileShape,
    IssuerShape,
    Words,
    shape,
)
from cwiictl.cluster_file.workloads import WorkloadAsk, workloads
from cwiictl.documents import Document, documents
from cwiictl.errors import BadInput
from cwiictl.model import Cluster
from cwiictl.shapes import nearest, told

__all__ = ["CloudWords", "ClusterFile", "Words", "WorkloadAsk", "load"]


@dataclass(frozen=True)
class ClusterFile:
    """What the file says; what it does not say is empty. Paths are as written: seen from the folder of the file."""

    cluster: Cluster
    clouds: Mapping[
        str, Mapping[str, Any]
    ]  # by name, in the file's order: the given fields of each one's Spec
    host: str = ""  # the cloud that hosts the issuer
    url: str = ""
    exists: bool = False
    from_cluster: bool = False
    requests: Path | None = None
    tech_preview: bool = False
    output: Path | None = None
    public_key: Path | None = None
    installers: tuple[str, ...] = ()
    workloads: tuple[WorkloadAsk, ...] = ()

    def seen_from(self, folder: Path) -> ClusterFile:
        """With paths as they are for a program that was started elsewhere; `folder` is the file's."""
        paths = {"requests": self.requests, "output": self.output, "public_key": self.public_key}
        return replace(self, **{field: folder / path for field, path in paths.items() if path})


def load(name: str, text: bytes, words: Words) -> ClusterFile:
    """`name` is the file's, for messages. What is wrong is told with its line."""
    document = _only(name, documents(name, text))
    _refuse_others(document)
    file = told(document, shape(words))
    issuer = _issuer(document, file.issuer)
    asked = workloads(document, file.workloads, words)
    requests = file.credentials_requests
    return ClusterFile(
        cluster=_cluster(document, file),
        clouds=_clouds(document, words),
        host=issuer.in_,
        url=issuer.url,
        exists=issuer.exists,
        from_cluster=issuer.from_cluster,
        requests=Path(requests.dir) if requests else None,
        tech_preview=bool(requests and requests.tech_preview),
        output=_path(file.output_dir),
        public_key=_path(file.public_key_file),
        installers=tuple(dict.fromkeys(file.installer)),
        workloads=asked,
    )


def _only(name: str, found: Iterator[Document]) -> Document:
    every = list(found)
    if not every:
        raise BadInput(
            f"{name} is empty", remedy=f"begin with apiVersion: {VERSION} and kind: {KIND}"
        )
    if len(every) > 1:
        raise BadInput(
            f"{every[1].source} begins another object", remedy="write one cluster in one file"
        )
    return every[0]


class _Head(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str


def _refuse_others(document: Document) -> None:
    """First: what is wrong in a file of another kind is not worth telling."""
    head = told(document, _Head)
    if (head.api_version, head.kind) != (VERSION, KIND):
        raise BadInput(
            f"{document.source} is a {head.kind!r} of {head.api_version!r}, and no {KIND} of {VERSION}",
            remedy=f"write apiVersion: {VERSION} and kind: {KIND}, or give the cluster's own file",
        )


def _cluster(document: Document, file: FileShape) -> Cluster:
    try:
        return Cluster(file.name, tags=file.tags)
    except BadInput as error:
        raise BadInput(f"{document.where('name')}: {error.problem}", remedy=error.remedy) from error


def _clouds(document: Document, words: Words) -> dict[str, dict[str, Any]]:
    clouds = cast("Mapping[str, Mapping[str, Any]]", document.at("clouds"))
    if not clouds:
        raise BadInput(
            f"clouds in {document.where('clouds')} names no cloud",
            remedy=f"name one or more of: {', '.join(words.clouds)}",
        )
    return {cloud: words.given(cloud, section) for cloud, section in clouds.items()}


def _issuer(document: Document, issuer: IssuerShape) -> IssuerShape:
    clouds = cast("Mapping[str, object]", document.at("clouds"))
    if issuer.in_ and issuer.in_ not in clouds:
        raise BadInput(
            f"issuer.in in {document.where('issuer', 'in')} is {issuer.in_}, which is not under clouds",
            remedy=nearest(issuer.in_, tuple(clouds)),
        )
    if issuer.url and not issuer.url.startswith("https://"):
        raise BadInput(
            f"issuer.url in {document.where('issuer', 'url')} is not https",
            remedy="serve the documents over https: clouds read nothing else",
        )
    if issuer.in_ and issuer.url:
        raise BadInput(
            f"{document.where_key('issuer', 'url')} names a host of your own, and issuer.in a cloud",
            remedy="leave one of the two",
        )
    if issuer.exists and not issuer.url:
        raise BadInput(
            f"{document.where_key('issuer', 'exists')} says that the issuer exists, and not where",
            remedy="add issuer.url",
        )
    return issuer


def _path(text: str) -> Path | None:
    return Path(text) if text else None

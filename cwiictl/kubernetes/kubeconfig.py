"""Kubeconfigs, as kubectl reads them: several make one, and what is said first is believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from cwiictl.documents import documents
from cwiictl.errors import BadInput

FILES = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}  # named beside the kubeconfig that names them
ACTING = ("as", "as-uid", "as-groups", "as-user-extra")


@dataclass(frozen=True)
class Access:
    """Of one context: which cluster, and as whom. Its files have absolute paths."""

    context: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]


def access(files: Mapping[Path, bytes], context: str = "") -> Access:
    read = [(path, _content(path, text)) for path, text in files.items()]
    where = ", ".join(map(str, files))
    name = context or next(
        (str(said) for _, content in read if (said := content.get("current-context"))), ""
    )
    if not name:
        raise BadInput(
            f"{where} names no current context",
            remedy="choose one with --context, or kubectl config use-context",
        )
    chosen = _one(read, "context", name, where)
    cluster = _one(read, "cluster", str(chosen.get("cluster", "")), where)
    user = _one(read, "user", str(chosen["user"]), where) if chosen.get("user") else {}
    if acting := next((key for key in ACTING if key in user), ""):
        raise BadInput(
            f"the user of the context {name} acts as somebody else ({acting}), which cwiictl cannot",
            remedy="choose another --context",
        )
    if not cluster.get("server"):
        raise BadInput(
            f"the cluster of the context {name} has no server in {where}",
            remedy="choose another --context, or mend the kubeconfig",
        )
    return Access(name, cluster, user)


def _content(path: Path, text: bytes) -> Mapping[str, Any]:
    found = list(documents(str(path), text))
    if len(found) != 1 or not all(
        isinstance(found[0].value.get(f"{what}s") or [], list)
        for what in ("context", "cluster", "user")
    ):
        raise BadInput(
            f"{path} is no kubeconfig", remedy="give a file as kubectl config view --raw prints it"
        )
    return found[0].value


def _one(
    read: Sequence[tuple[Path, Mapping[str, Any]]], what: str, name: str, where: str
) -> dict[str, Any]:
    for path, content in read:
        for named, said in _named(content, what):
            if named == name:
                return {**said, **_beside(path, what, said)}
    there = sorted({named for _, content in read for named, _ in _named(content, what)})
    raise BadInput(
        f"there is no {what} {name!r} in {where}", remedy=f"it has: {', '.join(there) or 'none'}"
    )


def _named(content: Mapping[str, Any], what: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for each in content.get(f"{what}s") or ():
        if isinstance(each, Mapping):
            entry = cast("Mapping[str, Any]", each)
            yield str(entry.get("name", "")), entry.get(what) or {}


def _beside(path: Path, what: str, said: Mapping[str, Any]) -> dict[str, Any]:
    files: dict[str, Any] = {
        key: str(path.absolute().parent / said[key]) for key in FILES.get(what, ()) if said.get(key)
    }
    plugin = cast("Mapping[str, Any]", said.get("exec") or {})
    if "/" in str(plugin.get("command", "")):
        files["exec"] = {**plugin, "command": str(path.absolute().parent / plugin["command"])}
    return files

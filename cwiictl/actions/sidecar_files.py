"""The same as files, for people who put them where they belong themselves."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cwii_webhook.certificates.pem import KeyPair

from cwiictl import files
from cwiictl.actions.authorities import certified, signer
from cwiictl.actions.beside import Beside, connected, wanted
from cwiictl.actions.result import Result
from cwiictl.documents import documents
from cwiictl.errors import BadInput
from cwiictl.install.sidecar import tree
from cwiictl.install.sidecar.secrets import CRT, KEY, read
from cwiictl.install.sidecar.sidecar import Sidecar


def written(beside: Beside, *, dry: bool) -> Result:
    """No cluster is written to, and only one whose Secrets are the CAs is read."""
    asked, folder = wanted(beside), beside.order.output
    files.ready(folder)
    root, client = _signers(beside)
    made, hints = certified(asked, root, client, _lying(asked, folder, static=beside.static))
    content = (
        tree.static_tree(asked, made, files.template)
        if beside.static
        else tree.sidecar_tree(asked, made, files.template, _deployment(beside.whole))
    )
    files.ready(folder, content)
    new = files.unlike(folder, content) if dry else files.write(folder, content)
    paths, changed = (tuple(str(folder / name) for name in some) for some in (content, new))
    return Result(
        files=paths,
        written=frozenset(changed),
        hints=hints,
        taker="kubeadm" if beside.static else "kubectl",
        planned=dry,
    )


def _signers(beside: Beside) -> list[KeyPair]:
    sources = (beside.root, beside.client)
    if all(source.file for source in sources):
        return [signer(source, None, "") for source in sources]
    with connected(beside) as place:
        return [signer(source, place, beside.namespace) for source in sources]


def _lying(asked: Sidecar, folder: Path, *, static: bool) -> Mapping[str, Mapping[str, bytes]]:
    """What an earlier run has made. It is only kept if nothing is wrong with it, so that what cannot be read is as good as none."""
    with suppress(BadInput, LookupError, TypeError, ValueError):
        if static:
            return {
                asked.serving: {
                    name: files.found(folder / tree.FILES / name) for name in (CRT, KEY)
                },
                asked.kubeconfig: _client(folder),
            }
        told = _documents(tree.SECRETS, folder)
        return {each["metadata"]["name"]: read(each) for each in told}
    return {}


def _client(folder: Path) -> dict[str, bytes]:
    """The pair in a kubeconfig."""
    users = [
        each["users"][0]["user"] for each in _documents(f"{tree.FILES}/{tree.KUBECONFIG}", folder)
    ]
    return {
        key: base64.b64decode(user[field])
        for user in users
        for key, field in ((CRT, "client-certificate-data"), (KEY, "client-key-data"))
    }


def _documents(name: str, folder: Path) -> list[Any]:
    return [each.value for each in documents(name, files.found(folder / name))]


def _deployment(file: Path | None) -> Mapping[str, Any] | None:
    if file is None:
        return None
    found = [
        each
        for each in documents(str(file), files.read(file, "the Deployment"))
        if each.value.get("kind") == "Deployment"
    ]
    if len(found) != 1:
        raise BadInput(
            f"{file} has {len(found)} Deployments",
            remedy="give the kube-apiserver's alone, as kubectl get deployment kube-apiserver -o yaml",
        )
    return found[0].value

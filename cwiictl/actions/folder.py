"""Whose the output folder is: the key pair that lies in it is taken for the cluster's, so that it can be no second one's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cwiictl import files, names
from cwiictl.actions.order import Order
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS

NOTE = ".cwiictl-cluster"  # lies there where nothing else says it
ISSUER = re.compile(
    rb"(?:serviceAccountIssuer: |service-account-issuer(?:: |=|\n\s+value: ))'?(https://[^\s']+)"
)


def judge(order: Order, *, writes: bool) -> None:
    """Refuses what is another cluster's. With only a key in it, it is nobody's yet."""
    taken = (
        "issuer" in order.parts and order.public_key is None and order.from_cluster is None
    ) or (writes and order.installers)
    other = _whose(order.output) if taken else ""
    if other and other != order.cluster.name:
        raise BadInput(
            f"the output directory {order.output} holds the keys and manifests of cluster {other}, and this run is for cluster {order.cluster.name}",
            remedy=f"give each cluster a folder of its own with --output-dir, or move the files away if there is no cluster {other} any more",
        )


def judge_issuer(order: Order, url: str) -> None:
    """Refuses to write over what tells an installer of another issuer, if that is not of a cloud which is asked itself whether it knows one."""
    lying = _lying(order.output) if url and order.installers and not order.move_issuer else []
    strange = [other for other in lying if names.hosted(other).get("cloud") not in order.clouds]
    if strange and url not in lying:
        raise BadInput(
            f"the files in {order.output} are of the issuer {strange[0]}, and this run would make another: {url}",
            remedy="give all clouds of the cluster in one run, or trust that one with --issuer-url URL --issuer-exists; --move-issuer means another",
        )


def noted(order: Order, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    """What is to be written beside these files, so that they say whose they are: often their issuer does."""
    saying = {path: tree.get(path, text) for path, text in _files(order.output).items()}
    told = {names.cluster_of(url) for url in _told(saying)}
    return (
        {}
        if not tree or told == {order.cluster.name}
        else {NOTE: f"{order.cluster.name}\n".encode()}
    )


def _whose(output: Path) -> str:
    if note := files.found(output / NOTE).decode(errors="replace").strip():
        return note
    return next((cluster for url in _lying(output) if (cluster := names.cluster_of(url))), "")


def issuers(output: Path) -> dict[Path, list[str]]:
    """All that a file there tells the cluster to sign as, by that file."""
    found = {
        output / name: [url.decode(errors="replace") for url in ISSUER.findall(text)]
        for name, text in _files(output).items()
    }
    return {path: urls for path, urls in found.items() if urls}


def _lying(output: Path) -> list[str]:
    """The issuers that files there tell of."""
    return _told(_files(output))


def _files(output: Path) -> dict[str, bytes]:
    return {
        installer.issuer_in: files.found(output / installer.issuer_in)
        for installer in INSTALLERS.values()
    }


def _told(tree: Mapping[str, bytes]) -> list[str]:
    return [url for text in tree.values() if (url := _issuer(text))]


def _issuer(text: bytes) -> str:
    found = ISSUER.search(text)
    return found[1].decode(errors="replace") if found else ""

"""What lies in the output folder for the cluster and its workloads, and whether it is still true. Files that are not there say nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cwiictl import files, manifests
from cwiictl.actions import folder
from cwiictl.actions.look import Look
from cwiictl.errors import Problem
from cwiictl.install import handover as webhook
from cwiictl.installers import INSTALLERS
from cwiictl.model import Handover
from cwiictl.verify.finding import Finding, whole
from cwiictl.verify.told import differing

TOLD = "what is told"
AGAIN = "have it written anew by create-all, and apply it to the cluster"


def told(look: Look) -> Iterator[Finding]:
    """By the path of each."""
    yield from _issuer(look)
    for name, want in _tree(look).items():
        path = look.stage.order.output / name
        if path.is_file():
            yield from whole(str(path), TOLD, _differing(path, want))


def _tree(look: Look) -> dict[str, bytes]:
    """As it would be written now, but for what is of the issuer alone. What could not be written for an installer lies there for another."""
    handover = Handover(bindings=tuple(look.stage.bindings(look.found)))
    ids = webhook.told(look.stage.facts, handover.bindings)
    tree = {webhook.FILE: manifests.dump(ids)} if ids else {}
    for installer in INSTALLERS.values():
        with suppress(Problem):
            tree |= installer.render(handover, files.template)
    return tree


def _differing(path: Path, want: bytes) -> Iterator[Finding]:
    try:
        problem = next(
            (f"{path}: {wrong}" for wrong in differing(str(path), files.found(path), want)), ""
        )
    except Problem as e:
        problem = e.problem
    if problem:
        yield Finding(str(path), TOLD, "failed", problem, AGAIN)


def _issuer(look: Look) -> Iterator[Finding]:
    """A cluster may be told of an issuer that it had before, too."""
    for path, issuers in folder.issuers(look.stage.order.output).items():
        wrong = f"{path} tells the cluster to sign tokens as {', '.join(issuers)}, and not as {look.url}"
        yield from whole(
            str(path),
            TOLD,
            [] if look.url in issuers else [Finding(str(path), TOLD, "failed", wrong, AGAIN)],
        )

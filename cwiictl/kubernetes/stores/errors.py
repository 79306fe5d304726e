"""The API server's answers in our words, translated once, where they enter."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled

NOTHING: Mapping[str, Any] = {}
HELD = "FieldManagerConflict"
UNFIT = re.compile(
    "failed to create typed patch object|unable to convert unstructured object|failed to convert new object"
)  # with 500: it is what we say
DENIED = re.compile(
    r"denied (the )?request", re.IGNORECASE
)  # by somebody's admission: no right would help
ESCALATES = "attempting to grant RBAC permissions not currently held"
DISTRUSTED = re.compile(
    r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|hostname mismatch|doesn't match",
    re.IGNORECASE,
)
UNTLS = re.compile(r"\[SSL|\[X509|TLS|WRONG_VERSION_NUMBER|PEM lib", re.IGNORECASE)
TUNNEL = re.compile(r"Tunnel connection failed: (40[37])\b")
NOISE = re.compile(
    r"<[^>]*>:? ?|HTTPS?Connection(Pool)?\([^)]*\):? ?"
)  # how the client writes its own parts into its sentences


class Refused(Exception):
    """The API server's no."""

    def __init__(self, status: int, said: Mapping[str, Any], after: str = "") -> None:
        self.status = status
        self.reason = str(said.get("reason") or "")
        self.message = " ".join(str(said.get("message") or "no reason given").split()).rstrip(".")
        details: Mapping[str, Any] = said.get("details") or NOTHING
        self.causes: list[Mapping[str, Any]] = list(details.get("causes") or ())
        self.after = float(after) if after.isdigit() else None
        super().__init__(f"{status} {self.message}")

    @property
    def held(self) -> bool:
        """Others hold fields that were to be set."""
        return self.status == 409 and any(cause.get("reason") == HELD for cause in self.causes)

    @property
    def malformed(self) -> bool:
        """Wherever it were: no namespace's rights, rules or quotas have a say in that."""
        return not DENIED.search(self.message) and (
            self.status in {400, 422} or bool(self.status >= 500 and UNFIT.search(self.message))
        )

    @property
    def ending(self) -> bool:
        """What it would be in is on its way out."""
        return any(cause.get("reason") == "NamespaceTerminating" for cause in self.causes)


@contextmanager
def told() -> Generator[None]:
    """What is raised within is in our words. It decorates what a store does."""
    try:
        yield
    except Refused as e:
        raise answered(e) from e


def answered(e: Refused) -> Problem:
    if e.status == 401:
        return unknown(e.message)
    if e.status in {429, 503}:
        return Throttled(
            f"the cluster asks for patience: {e.message}",
            remedy="run again later, or with a lower --concurrency",
            after=e.after,
        )
    if e.status in {404, 408, 409, 410} or (e.status >= 500 and not e.malformed) or e.ending:
        return NotYet(
            f"the cluster is not ready for it: {e.message}", remedy="run again later", after=e.after
        )
    if e.status == 403 and not DENIED.search(e.message):
        also = ", who grants only what they have" if ESCALATES in e.message else ""
        return Denied(
            f"the cluster does not allow it: {e.message}",
            remedy=f"have that granted to who runs this{also}, or choose another --context",
        )
    if e.status == 422 and "immutable" in e.message:
        return Failed(
            f"the cluster refuses it: {e.message}",
            remedy="this cannot be changed in place: delete the object, and run again",
        )
    return Failed(f"the cluster refuses it: {e.message}", remedy="mend what it says and run again")


def unknown(why: str) -> BadInput:
    return BadInput(
        f"the cluster does not know who asks: {why}",
        remedy="log in again, or give the right --kubeconfig and --context",
    )


def unreached(server: str, why: object) -> Problem:
    """There was no answer at all."""
    said = " ".join(NOISE.sub("", str(why)).split()).rstrip(".")
    if tunnel := TUNNEL.search(said):
        remedy = "have it let that address through (a sandbox's does with --let ADDRESS), or leave the address out of it by NO_PROXY"
        return Failed(
            f"the proxy lets nothing through to {server}: it says {tunnel[1]}", remedy=remedy
        )
    if DISTRUSTED.search(said):
        remedy = "give a kubeconfig with the certificate-authority of this cluster, and the name that its certificate has"
        return Failed(f"the certificate of {server} is not believed: {said}", remedy=remedy)
    if UNTLS.search(said):
        return Failed(
            f"no TLS connection to {server}: {said}",
            remedy="see that the kubeconfig's server, client-certificate and client-key are right",
        )
    return NotYet(
        f"the cluster at {server} cannot be reached: {said}",
        remedy="see that it runs, and that the kubeconfig's server, the network and the proxy are right",
    )

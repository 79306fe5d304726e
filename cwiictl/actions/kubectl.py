"""The cluster that kubectl is set to, as far as it is looked at or told something through kubectl: its contexts and credentials are the user's own."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Any

from cwii_webhook.picture import Ref, Seen

from cwiictl.errors import BadInput, Failed
from cwiictl.explain.objects import Objects
from cwiictl.model import LABEL

NAME = re.compile(r"[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?")
NO_SUCH_KIND = "the server doesn't have a resource type"


def kubectl(*words: str, told: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(("kubectl", *words), input=told, capture_output=True, check=False)
    except FileNotFoundError as e:
        raise BadInput("kubectl is not here", remedy="install it, or give objects in files, as in kubectl get ... -o yaml, from where it is") from e


def got(thing: str, namespace: str) -> bytes:
    """As `kubectl get` has it: pod/web, or deployment/web."""
    done = kubectl("get", "--namespace", namespace, "--output", "json", "--", thing)
    if done.returncode:
        raise Failed(f"kubectl does not get {thing} of namespace {namespace}: {_said(done)}", remedy="see that kubectl get shows it")
    return done.stdout


@dataclass
class Live(Objects):
    """A picture of a cluster, of which each object is asked for when it is needed."""

    def seen(self, ref: Ref) -> Seen | None:
        if ref not in self.held and ref not in self.missed and (body := _found(ref)):
            self.hold(body)
        return super().seen(ref)


def _found(ref: Ref) -> dict[str, Any] | None:
    """A pod's author writes the names of its owners: what no object can be called is none of kubectl's words."""
    if not NAME.fullmatch(ref.name) or (ref.namespace and not LABEL.fullmatch(ref.namespace)):
        return None
    kind = f"{ref.kind}.{ref.group}" if ref.group else ref.kind
    within = ("--namespace", ref.namespace) if ref.namespace else ()
    done = kubectl("get", *within, "--ignore-not-found", "--output", "json", "--", kind, ref.name)
    if done.returncode and NO_SUCH_KIND not in _said(done):
        raise Failed(f"kubectl does not get {ref}: {_said(done)}", remedy="see that you may get it")
    return json.loads(done.stdout) if done.stdout.strip() and not done.returncode else None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode(errors="replace").strip()

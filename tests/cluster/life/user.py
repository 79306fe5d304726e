"""Whoever installs the webhook in a cluster: by the command line, with what create-all has left; and what is seen of it in the cluster."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.imaged import IMAGE
from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import Cluster
from tests.cluster.traces import seen_within

PROGRAM = Path(sysconfig.get_path("scripts")) / "cwiictl"
NAME, HOME = "cwii-webhook", "cwii-system"
OURS = f"/api/v1/namespaces/{HOME}/pods"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{HOME}/deployments/{NAME}"
CONFIGURATION = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{NAME}"
WRITING = {"create", "update", "patch", "delete", "deletecollection"}
ASKING = {
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "selfsubjectrulesreviews",
}  # are made like objects, and are none


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    def __contains__(self, words: str) -> bool:
        """However its lines are broken."""
        return words in " ".join(f"{self.out} {self.err}".split())

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.out}{self.err}"


@dataclass(frozen=True)
class User:
    """`output` is the folder that create-all has written; `who` is their name in the cluster."""

    cluster: Cluster
    kubeconfig: Path
    output: Path
    who: str

    @property
    def admin(self) -> Client:
        """Somebody else, who looks on."""
        return self.cluster.admin

    def says(self, *words: str) -> Said:
        environ = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.kubeconfig.parent),
            "KUBECONFIG": str(self.kubeconfig),
        }
        done = subprocess.run(
            [str(PROGRAM), *words],
            cwd=self.kubeconfig.parent,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def installs(self, *words: str) -> Said:
        return self.says(
            "install-webhook", "--output-dir", str(self.output), "--image", IMAGE, *words
        )

    def has(self, *words: str) -> Said:
        """What these words say is installed, whatever was before."""
        said = self.installs(*words, "--prune", "--yes")
        assert said.code == 0, said
        return said

    def has_none(self) -> None:
        said = self.says("uninstall-webhook", "--yes")
        assert said.code == 0, said

    def wrote(self, before: int = 0) -> list[str]:
        """In the API server's own words; `before` is how many it had counted then."""
        return [
            f"{each['verb']} {each['requestURI']}"
            for each in self.cluster.reach.requests()
            if self._writes(each)
        ][before:]

    def _writes(self, request: Object) -> bool:
        about: Any = request.get("objectRef") or {}
        return (
            request["user"].get("username") == self.who
            and request["verb"] in WRITING
            and "dryRun=All" not in request["requestURI"]
            and about.get("resource") not in ASKING
        )

    # --- the webhook ---

    def pods(self) -> list[Object]:
        return [
            pod
            for pod in self.admin.list(OURS)
            if pod["metadata"]["labels"].get("app.kubernetes.io/name") == NAME
        ]

    def ready(self, replicas: int = 2) -> bool:
        status = self.admin.get(DEPLOYMENT)["status"]
        return status.get("readyReplicas", 0) == replicas == status.get("replicas", 0)

    def scaled(self, replicas: int) -> None:
        """By hand; and all else has gone."""
        self.admin.patch(DEPLOYMENT, {"spec": {"replicas": replicas}})
        assert seen_within(90, lambda: len(self.pods()) == replicas and self.ready(replicas)), (
            self.pods()
        )

    def bundles(self) -> set[str]:
        return {
            entry["clientConfig"].get("caBundle", "")
            for entry in self.admin.get(CONFIGURATION)["webhooks"]
        }


def space(user: User, name: str, **about: dict[str, str]) -> str:
    """A namespace, once: its path in the API."""
    if not user.admin.exists(f"/api/v1/namespaces/{name}"):
        user.admin.create("/api/v1/namespaces", {"metadata": {"name": name, **about}})
        assert seen_within(
            30, lambda: user.admin.exists(f"/api/v1/namespaces/{name}/serviceaccounts/default")
        )
    return f"/api/v1/namespaces/{name}"

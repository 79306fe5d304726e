"""A namespace of a test's own, with the accounts and pods in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.reach import Reach

Words = Mapping[str, str]

ACCOUNT = "worker"
HOOK = "test.cwii.dev/hook"  # the label that says which webhook is asked


def a_name(prefix: str) -> str:
    """That nobody else has."""
    return f"{prefix}-{uuid4().hex[:8]}"


def plain(**spec: Any) -> Object:
    """The smallest pod, without a name of its own."""
    return {
        "metadata": {"generateName": "p-"},
        "spec": {
            "serviceAccountName": ACCOUNT,
            "containers": [{"name": "c", "image": "c"}],
            **spec,
        },
    }


class Space:
    def __init__(
        self,
        reach: Reach,
        *,
        hook: str = "",
        labels: Words | None = None,
        annotations: Words | None = None,
        name: str = "",
    ) -> None:
        self.name = name or a_name("space")
        self._admins = reach.admins
        said = {**(labels or {}), **({HOOK: hook} if hook else {})}
        self.admin.create(
            "/api/v1/namespaces",
            {
                "metadata": {
                    "name": self.name,
                    "labels": said,
                    "annotations": dict(annotations or {}),
                }
            },
        )

    @property
    def admin(self) -> Client:
        return self._admins[0]

    def path(self, plural: str, group: str = "", version: str = "v1") -> str:
        return f"{f'/apis/{group}' if group else '/api'}/{version}/namespaces/{self.name}/{plural}"

    def account(self, says: Words, name: str = ACCOUNT, server: int = 0) -> Space:
        self._admins[server].create(
            self.path("serviceaccounts"), {"metadata": {"name": name, "annotations": dict(says)}}
        )
        return self

    def quota(self, hard: Words) -> Space:
        """Nobody counts what is used: there is nothing yet."""
        path, bounds = self.path("resourcequotas"), {"hard": dict(hard)}
        self.admin.create(path, {"metadata": {"name": "q"}, "spec": bounds})
        self.admin.patch(
            f"{path}/q/status", {"status": {**bounds, "used": dict.fromkeys(hard, "0")}}
        )
        return self

    def tell(self, says: Mapping[str, str | None], name: str = ACCOUNT, server: int = 0) -> None:
        self._admins[server].patch(
            f"{self.path('serviceaccounts')}/{name}", {"metadata": {"annotations": dict(says)}}
        )

    def create(self, pod: Object, server: int = 0) -> Object:
        return self._admins[server].create(self.path("pods"), pod)

    def tried(self, pod: Object, server: int = 0) -> Object:
        """What would be created."""
        return self._admins[server].create(f"{self.path('pods')}?dryRun=All", pod)


def volumes(pod: Object) -> dict[str, Object]:
    """By their names; but for the API server's own token."""
    return {
        volume["name"]: volume
        for volume in pod["spec"].get("volumes", [])
        if not volume["name"].startswith("kube-api-access-")
    }


def first(pod: Object) -> Object:
    return pod["spec"]["containers"][0]


def mounts(container: Object) -> dict[str, str]:
    """Where which volume is; but for the API server's own token."""
    return {
        mount["mountPath"]: mount["name"]
        for mount in container.get("volumeMounts", [])
        if not mount["name"].startswith("kube-api-access-")
    }


def variables(container: Object) -> dict[str, str]:
    return {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}

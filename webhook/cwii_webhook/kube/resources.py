"""The kinds of objects that a dialect may ask for, and where the API server keeps them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from cwii_webhook.admission.cluster_view import ObjectRef

# A name comes from whoever posts a review. What no object can be called is not asked for: `..` would be another place.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class Kind:
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    optional: bool = False  # not every cluster has it
    only: ObjectRef | None = None  # this one alone is looked at, and its data with it

    @property
    def api(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def path(self) -> str:
        """Where all of them are that are looked at."""
        return (
            f"{self.api}/namespaces/{quote(self.only.namespace, safe='')}/{self.plural}"
            if self.only
            else f"{self.api}/{self.plural}"
        )

    @property
    def choice(self) -> Mapping[str, str]:
        """Which of those. A Role that names one object allows just this to be asked."""
        return {"fieldSelector": f"metadata.name={self.only.name}"} if self.only else {}

    @property
    def resource(self) -> str:
        """As in a ClusterRole and in messages: deployments.apps."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def one(self, ref: ObjectRef) -> str | None:
        """Where this one is; nowhere, if nothing can be called so."""
        if not _NAME.fullmatch(ref.name) or (
            self.namespaced and not _NAMESPACE.fullmatch(ref.namespace)
        ):
            return None
        within = f"namespaces/{quote(ref.namespace, safe='')}/" if self.namespaced else ""
        return f"{self.api}/{within}{self.plural}/{quote(ref.name, safe='')}"


def config_map(ref: ObjectRef) -> Kind:
    """One of them alone."""
    return Kind("", "v1", "ConfigMap", "configmaps", only=ref)


SERVICE_ACCOUNTS: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts")
NAMESPACES: Final = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
CONFIG_MAPS: Final = Kind("", "v1", "ConfigMap", "configmaps")
OWNERS: Final = (
    Kind("apps", "v1", "ReplicaSet", "replicasets"),
    Kind("apps", "v1", "Deployment", "deployments"),
    Kind("apps", "v1", "StatefulSet", "statefulsets"),
    Kind("apps", "v1", "DaemonSet", "daemonsets"),
    Kind("batch", "v1", "Job", "jobs"),
    Kind("batch", "v1", "CronJob", "cronjobs"),
    Kind("argoproj.io", "v1alpha1", "Rollout", "rollouts", optional=True),
)

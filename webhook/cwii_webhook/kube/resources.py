"""API resources that the dialects read, and their URL paths."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from cwii_webhook.admission.cluster_view import ObjectRef

# Names come from AdmissionReviews, which can be forged. The webhook requests valid names only:
# `..` would change the path of the request.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class ApiResource:
    """A resource of the Kubernetes API, or one object of it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    optional: bool = False  # a custom resource that a cluster may lack
    single_object: ObjectRef | None = None  # watch only this object, and keep its data

    @property
    def api_path(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def path(self) -> str:
        """Path of the collection to list and watch."""
        if self.single_object is None:
            return f"{self.api_path}/{self.plural}"
        namespace = quote(self.single_object.namespace, safe="")
        return f"{self.api_path}/namespaces/{namespace}/{self.plural}"

    @property
    def selector(self) -> Mapping[str, str]:
        """Query parameters that select `single_object`.

        A Role with `resourceNames` allows a list or watch only with this field selector.
        """
        return (
            {"fieldSelector": f"metadata.name={self.single_object.name}"}
            if self.single_object
            else {}
        )

    @property
    def group_resource(self) -> str:
        """Name for messages, such as deployments.apps."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def object_path(self, ref: ObjectRef) -> str | None:
        """Path of one object, or None if the name is invalid."""
        if not _NAME.fullmatch(ref.name) or (
            self.namespaced and not _NAMESPACE.fullmatch(ref.namespace)
        ):
            return None
        namespace_path = f"namespaces/{quote(ref.namespace, safe='')}/" if self.namespaced else ""
        return f"{self.api_path}/{namespace_path}{self.plural}/{quote(ref.name, safe='')}"


def single_config_map(ref: ObjectRef) -> ApiResource:
    """The ConfigMap resource, limited to one object."""
    return ApiResource("", "v1", "ConfigMap", "configmaps", single_object=ref)


SERVICE_ACCOUNTS: Final = ApiResource("", "v1", "ServiceAccount", "serviceaccounts")
NAMESPACES: Final = ApiResource("", "v1", "Namespace", "namespaces", namespaced=False)
CONFIG_MAPS: Final = ApiResource("", "v1", "ConfigMap", "configmaps")
OWNERS: Final = (
    ApiResource("apps", "v1", "ReplicaSet", "replicasets"),
    ApiResource("apps", "v1", "Deployment", "deployments"),
    ApiResource("apps", "v1", "StatefulSet", "statefulsets"),
    ApiResource("apps", "v1", "DaemonSet", "daemonsets"),
    ApiResource("batch", "v1", "Job", "jobs"),
    ApiResource("batch", "v1", "CronJob", "cronjobs"),
    ApiResource("argoproj.io", "v1alpha1", "Rollout", "rollouts", optional=True),
)

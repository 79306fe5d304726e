"""What whoever runs cwiictl must be allowed to do in Google Cloud, command by command, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.clouds.gcp.spec import Spec
from cwiictl.model import Cluster

PROJECT = "resourcemanager.projects"
BUCKET = "storage.buckets"
OBJECT = "storage.objects"
POOL = "iam.googleapis.com/workloadIdentityPools"
PROVIDER = "iam.googleapis.com/workloadIdentityPoolProviders"
ACCOUNT = "iam.serviceAccounts"
ROLE = "iam.roles"
API = "serviceusage.services"

READ: Mapping[str, tuple[str, ...]] = {
    "project": (f"{PROJECT}.get", f"{API}.get", f"{API}.use"),
    "bucket": (f"{BUCKET}.get", f"{BUCKET}.getIamPolicy", f"{BUCKET}.list", f"{OBJECT}.list"),
    "object": (f"{OBJECT}.get",),
    "pool": (f"{POOL}.get", f"{POOL}.list"),
    "provider": (f"{PROVIDER}.get", f"{PROVIDER}.list"),
    "account": (f"{ACCOUNT}.get", f"{ACCOUNT}.getIamPolicy", f"{ACCOUNT}.list"),
    "role": (f"{ROLE}.get", f"{ROLE}.list"),
    "policy": (f"{PROJECT}.getIamPolicy",),
}
WRITE: Mapping[str, tuple[str, ...]] = {
    "bucket": (f"{BUCKET}.create", f"{BUCKET}.setIamPolicy", f"{BUCKET}.update"),
    "object": (f"{OBJECT}.create", f"{OBJECT}.delete"),  # what is written anew is deleted first
    "pool": (f"{POOL}.create", f"{POOL}.undelete", f"{POOL}.update"),
    "provider": (f"{PROVIDER}.create", f"{PROVIDER}.undelete", f"{PROVIDER}.update"),
    "account": (
        f"{ACCOUNT}.create",
        f"{ACCOUNT}.enable",
        f"{ACCOUNT}.setIamPolicy",
        f"{ACCOUNT}.update",
    ),
    "role": (f"{ROLE}.create", f"{ROLE}.undelete", f"{ROLE}.update"),
    "policy": (f"{PROJECT}.setIamPolicy",),
}
DROP: Mapping[str, tuple[str, ...]] = {
    "bucket": (f"{BUCKET}.delete", f"{BUCKET}.update"),
    "object": (f"{OBJECT}.delete",),
    "pool": (f"{POOL}.delete", f"{POOL}.update"),
    "provider": (f"{PROVIDER}.delete", f"{PROVIDER}.update"),
    "account": (f"{ACCOUNT}.delete", f"{ACCOUNT}.update"),
    "role": (f"{ROLE}.delete", f"{ROLE}.update"),
    "policy": (f"{PROJECT}.setIamPolicy",),
}
WITHDRAW = (
    f"{ACCOUNT}.update",
    f"{POOL}.update",
)  # to say no more that something has roles in another project
ROTATE: Mapping[str, tuple[str, ...]] = {
    "object": WRITE["object"],
    "provider": (f"{PROVIDER}.update",),
}
ENABLE: Mapping[str, tuple[str, ...]] = {"api": (f"{API}.enable", "serviceusage.operations.get")}
ASKED: Mapping[str, tuple[str, ...]] = {
    **WRITE,
    **ENABLE,
    "bucket": (f"{BUCKET}.create",),
}  # the others a project's owners have on the bucket, once it is there

COMMANDS: Mapping[str, tuple[Mapping[str, tuple[str, ...]], ...]] = {
    "create": (READ, WRITE),
    "status": (READ,),
    "delete": (READ, DROP),
    "rotate": (READ, ROTATE),
}


@dataclass(frozen=True)
class Grant:
    """Permissions in one project: where a thing is yet to be made, the project is asked."""

    permissions: tuple[str, ...]
    project: str


def making(kinds: Mapping[str, tuple[str, ...]]) -> Iterator[Grant]:
    """What making these kinds needs, in these very projects."""
    yield from (
        Grant(ASKED[kind], project) for kind, projects in kinds.items() for project in projects
    )


LEFT = (".update", ".setIamPolicy")  # what letting go of a thing takes: to write it


def dropping(kind: str, *, owned: bool) -> tuple[str, ...]:
    """What taking down one of a kind needs; to let go of one is no more than to take our mark away. Inside a bucket its own policy has the word."""
    if kind == "bucket":
        return (f"{BUCKET}.delete",) if owned else ()
    return tuple(each for each in DROP[kind] if kind == "policy" or each.endswith(LEFT) != owned)


def least(command: str, spec: Spec, cluster: Cluster) -> Mapping[str, Any]:
    """As `gcloud iam roles create --file` takes it."""
    sets = (
        (*COMMANDS[command], ENABLE) if spec.enable and command == "create" else COMMANDS[command]
    )
    return {
        "title": f"cwiictl {command} {cluster.name}",
        "description": f"What cwiictl {command} needs for the cluster {cluster.name}.",
        "stage": "GA",
        "includedPermissions": sorted(
            {permission for granted in sets for some in granted.values() for permission in some}
        ),
    }

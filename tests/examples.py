"""The smallest valid thing of each kind, changed by keyword."""

from __future__ import annotations

from typing import Any

import yaml

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.bucket import BucketState, PublicAccess
from cwiictl.clouds.aws.resources.oidc_provider import OidcProviderState
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.spec import KIND
from cwiictl.config import Request
from cwiictl.model import Cluster, Workload

ACCOUNT = "123456789012"
GROUP = "cloudcredential.openshift.io/v1"


def a_cluster(name: str = "demo") -> Cluster:
    return Cluster(name)


def a_workload(**changes: Any) -> Workload:
    told: dict[str, Any] = {
        "namespace": "kube-system",
        "name": "cloud-credentials",
        "service_accounts": ("operator",),
        "source": "a file",
    }
    return Workload(**{**told, **changes})


def a_request(spec: dict[str, Any] | None = None, **changes: Any) -> Request:
    asked = {"kind": KIND, "statementEntries": [an_entry()]} if spec is None else spec
    told: dict[str, Any] = {
        "name": "a-request",
        "workload": a_workload(),
        "kind": KIND,
        "spec": asked,
        "source": "a file",
    }
    return Request(**{**told, **changes})


def an_entry(
    *actions: str, resource: str = "*", condition: dict[str, Any] | None = None
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "effect": "Allow",
        "action": list(actions or ("ec2:DescribeInstances",)),
        "resource": resource,
    }
    return {**entry, "policyCondition": condition} if condition else entry


def a_role(**changes: Any) -> RoleState:
    provider = f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"
    trusted = policy.allow(
        "sts:AssumeRoleWithWebIdentity",
        Principal={"Federated": provider},
        Condition={"StringEquals": {"issuer.example.org:sub": "x"}},
    )
    state: dict[str, Any] = {
        "arn": f"arn:aws:iam::{ACCOUNT}:role/a-cluster-role",
        "description": "a role",
        "trust": policy.canonical(trusted),
        "policy": policy.canonical(policy.allow("ec2:DescribeInstances", Resource="*")),
        "boundary": "",
        "tags": {"Name": "a-cluster"},
    }
    return RoleState(**{**state, **changes})


def a_provider(**changes: Any) -> OidcProviderState:
    state: dict[str, Any] = {
        "url": "https://issuer.example.org",
        "audiences": frozenset({"openshift"}),
        "tags": {"Name": "a-cluster"},
    }
    return OidcProviderState(**{**state, **changes})


def a_bucket(name: str = "a-cluster-oidc", **changes: Any) -> BucketState:
    state: dict[str, Any] = {
        "region": "us-east-1",
        "public_access": PublicAccess(block_policy=False, restrict=False),
        "policy": policy.canonical(
            policy.allow(
                "s3:GetObject",
                Sid="AllowReadPublicAccess",
                Principal="*",
                Resource=f"arn:aws:s3:::{name}/*",
            )
        ),
        "tags": {"Name": "a-cluster"},
    }
    return BucketState(**{**state, **changes})


# --- CredentialsRequests as files ---


def an_object(
    name: str,
    namespace: str,
    secret: str,
    *accounts: str,
    entries: list[dict[str, Any]] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A CredentialsRequest. Without accounts its ServiceAccount has the request's name."""
    return {
        "apiVersion": GROUP,
        "kind": "CredentialsRequest",
        "metadata": {"name": name, "namespace": "openshift-cloud-credential-operator"},
        "spec": {
            "secretRef": {"namespace": namespace, "name": secret},
            "serviceAccountNames": list(accounts or (name,)),
            "providerSpec": {
                "apiVersion": GROUP,
                "kind": KIND,
                "statementEntries": entries or [an_entry()],
            },
            **spec,
        },
    }


def text(*objects: dict[str, Any]) -> str:
    return yaml.safe_dump_all(objects, sort_keys=False)


def two_requests() -> dict[str, str]:
    return {
        "ingress.yaml": text(
            an_object("openshift-ingress", "openshift-ingress-operator", "cloud-credentials", "ingress-operator", entries=[an_entry("route53:ListHostedZones")])
        ),
        "registry.yaml": text(
            an_object(
                "openshift-image-registry", "openshift-image-registry", "installer-cloud-credentials", "registry", "cluster-image-registry-operator",
                entries=[an_entry("s3:ListBucket", "s3:GetObject")],
            )
        ),
    }  # fmt: skip


def an_azure_object(
    name: str, namespace: str, secret: str, *accounts: str, **asked: Any
) -> dict[str, Any]:
    """A CredentialsRequest of Azure's, with the words of its providerSpec."""
    return an_object(
        name,
        namespace,
        secret,
        *accounts,
        providerSpec={"apiVersion": GROUP, "kind": "AzureProviderSpec", **asked},
    )


def two_azure_requests() -> dict[str, str]:
    """One that is given a role, and one that is given powers."""
    ingress = an_azure_object(
        "openshift-ingress-azure",
        "openshift-ingress-operator",
        "cloud-credentials",
        "ingress-operator",
        roleBindings=[{"role": "Contributor"}],
    )
    registry = an_azure_object(
        "openshift-image-registry-azure",
        "openshift-image-registry",
        "installer-cloud-credentials",
        "registry",
        "cluster-image-registry-operator",
        permissions=[
            "Microsoft.Storage/storageAccounts/read",
            "Microsoft.Storage/storageAccounts/listKeys/action",
        ],
        dataPermissions=["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"],
    )
    return {"ingress.yaml": text(ingress), "registry.yaml": text(registry)}


def a_gcp_object(
    name: str, namespace: str, secret: str, *accounts: str, **asked: Any
) -> dict[str, Any]:
    """A CredentialsRequest of Google's, with the words of its providerSpec."""
    return an_object(
        name,
        namespace,
        secret,
        *accounts,
        providerSpec={"apiVersion": GROUP, "kind": "GCPProviderSpec", **asked},
    )


def two_gcp_requests() -> dict[str, str]:
    """One that is given a role, and one that is given permissions."""
    ingress = a_gcp_object(
        "openshift-ingress-gcp",
        "openshift-ingress-operator",
        "cloud-credentials",
        "ingress-operator",
        predefinedRoles=["roles/dns.admin"],
    )
    registry = a_gcp_object(
        "openshift-image-registry-gcs", "openshift-image-registry", "installer-cloud-credentials", "registry", "cluster-image-registry-operator",
        permissions=["storage.buckets.get", "storage.buckets.create", "storage.objects.get"],
    )  # fmt: skip
    return {"ingress.yaml": text(ingress), "registry.yaml": text(registry)}

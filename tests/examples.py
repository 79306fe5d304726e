"""The smallest valid thing of each kind, changed by keyword; and twenty requests as a cluster's release has them."""

from __future__ import annotations

import json
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
    told: dict[str, Any] = {"namespace": "kube-system", "name": "cloud-credentials", "service_accounts": ("operator",), "source": "a file"}
    return Workload(**{**told, **changes})


def a_request(spec: dict[str, Any] | None = None, **changes: Any) -> Request:
    asked = {"kind": KIND, "statementEntries": [an_entry()]} if spec is None else spec
    told: dict[str, Any] = {"name": "a-request", "workload": a_workload(), "kind": KIND, "spec": asked, "source": "a file"}
    return Request(**{**told, **changes})


def an_entry(*actions: str, resource: str = "*", condition: dict[str, Any] | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"effect": "Allow", "action": list(actions or ("ec2:DescribeInstances",)), "resource": resource}
    return {**entry, "policyCondition": condition} if condition else entry


def a_role(**changes: Any) -> RoleState:
    provider = f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"
    trusted = policy.allow("sts:AssumeRoleWithWebIdentity", Principal={"Federated": provider}, Condition={"StringEquals": {"issuer.example.org:sub": "x"}})
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
    state: dict[str, Any] = {"url": "https://issuer.example.org", "audiences": frozenset({"openshift"}), "tags": {"Name": "a-cluster"}}
    return OidcProviderState(**{**state, **changes})


def a_bucket(name: str = "a-cluster-oidc", **changes: Any) -> BucketState:
    state: dict[str, Any] = {
        "region": "us-east-1",
        "public_access": PublicAccess(block_policy=False, restrict=False),
        "policy": policy.canonical(policy.allow("s3:GetObject", Sid="AllowReadPublicAccess", Principal="*", Resource=f"arn:aws:s3:::{name}/*")),
        "tags": {"Name": "a-cluster"},
    }
    return BucketState(**{**state, **changes})


# --- CredentialsRequests as files ---


def an_object(name: str, namespace: str, secret: str, *accounts: str, entries: list[dict[str, Any]] | None = None, **spec: Any) -> dict[str, Any]:
    """A CredentialsRequest. Without accounts its ServiceAccount has the request's name."""
    return {
        "apiVersion": GROUP,
        "kind": "CredentialsRequest",
        "metadata": {"name": name, "namespace": "openshift-cloud-credential-operator"},
        "spec": {
            "secretRef": {"namespace": namespace, "name": secret},
            "serviceAccountNames": list(accounts or (name,)),
            "providerSpec": {"apiVersion": GROUP, "kind": KIND, "statementEntries": entries or [an_entry()]},
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


def twenty_requests() -> dict[str, str]:
    """With all that is special about some: several ServiceAccounts, a condition, a Deny, a token's path, two in one file, JSON, a name over IAM's limit."""
    files = two_requests()
    grants = [
        an_entry("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKeyWithoutPlainText"),
        an_entry("kms:CreateGrant", "kms:ListGrants", "kms:RevokeGrant", condition={"Bool": {"kms:GrantIsForAWSResource": True}}),
    ]
    files["ebs-csi.yaml"] = text(
        an_object(
            "aws-ebs-csi-driver-operator", "openshift-cluster-csi-drivers", "ebs-cloud-credentials",
            "aws-ebs-csi-driver-operator", "aws-ebs-csi-driver-controller-sa",
            entries=[an_entry("ec2:AttachVolume", "ec2:CreateVolume", "ec2:DetachVolume"), *grants],
        )
    )  # fmt: skip
    files["machine-api.yml"] = text(
        an_object(
            "openshift-machine-api-aws", "openshift-machine-api", "aws-cloud-credentials", "machine-api-controllers",
            entries=[an_entry("ec2:RunInstances", "ec2:TerminateInstances"), an_entry("iam:PassRole", "iam:CreateServiceLinkedRole"), *grants],
        )
    )  # fmt: skip
    files["network.yaml"] = text(
        an_object(
            "openshift-cloud-network-config-controller-aws", "openshift-cloud-network-config-controller", "cloud-credentials",
            "cloud-network-config-controller",
            entries=[an_entry("ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses", "ec2:DescribeSubnets")],
            cloudTokenPath="/var/run/secrets/tokens/cloud/token",
        ),
        an_object(
            "cloud-credential-operator-iam-ro", "openshift-cloud-credential-operator", "cloud-credential-operator-iam-ro-creds", "cloud-credential-operator",
            entries=[an_entry("iam:GetUser", "iam:GetUserPolicy", "iam:ListAccessKeys")],
        ),
    )  # fmt: skip
    files["capa.yaml"] = text(
        an_object(
            "openshift-cluster-api-aws", "openshift-cluster-api", "capa-manager-bootstrap-credentials-of-the-infrastructure-provider",
            "capa-controller-manager",
            entries=[
                an_entry("ec2:CreateTags", resource="arn:aws:ec2:*:*:instance/*", condition={"StringEquals": {"aws:RequestTag/owner": ["b", "a"]}}),
                {"effect": "Deny", "action": ["ec2:DeleteVpc"], "resource": "*"},
            ],
        )
    )  # fmt: skip
    files["logging.json"] = json.dumps(an_object("lokistack", "openshift-logging", "logging-loki-aws", "logging-loki", "logging-loki-ruler"))
    for name, namespace, action in OPERATORS:
        files[f"{name}.yaml"] = text(an_object(name, namespace, f"{name}-cloud-credentials", entries=[an_entry(action)]))
    return files


OPERATORS = (
    ("aws-efs-csi-driver-operator", "openshift-cluster-csi-drivers", "elasticfilesystem:DescribeAccessPoints"),
    ("aws-load-balancer-operator", "aws-load-balancer-operator", "elasticloadbalancing:DescribeLoadBalancers"),
    ("aws-node-termination-handler", "kube-system", "autoscaling:CompleteLifecycleAction"),
    ("cert-manager", "cert-manager", "route53:GetChange"),
    ("cluster-autoscaler", "kube-system", "autoscaling:SetDesiredCapacity"),
    ("external-dns", "external-dns-operator", "route53:ChangeResourceRecordSets"),
    ("external-secrets", "external-secrets", "secretsmanager:GetSecretValue"),
    ("karpenter", "karpenter", "ec2:CreateFleet"),
    ("oadp", "openshift-adp", "s3:PutObject"),
    ("prometheus-remote-write", "monitoring", "aps:RemoteWrite"),
    ("thanos", "open-cluster-management-observability", "s3:GetObject"),
    ("velero", "velero", "ec2:CreateSnapshot"),
)


def an_azure_object(name: str, namespace: str, secret: str, *accounts: str, **asked: Any) -> dict[str, Any]:
    """A CredentialsRequest of Azure's, with the words of its providerSpec."""
    return an_object(name, namespace, secret, *accounts, providerSpec={"apiVersion": GROUP, "kind": "AzureProviderSpec", **asked})


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
        permissions=["Microsoft.Storage/storageAccounts/read", "Microsoft.Storage/storageAccounts/listKeys/action"],
        dataPermissions=["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"],
    )
    return {"ingress.yaml": text(ingress), "registry.yaml": text(registry)}


def a_dozen_azure_requests() -> dict[str, str]:
    """As a release has them, with all that is special about some: both ways to ask, several and strange ServiceAccounts, a token's path, long names."""
    files = two_azure_requests()
    network, disks = "Microsoft.Network/loadBalancers/*", "Microsoft.Compute/disks/*"
    files["machine-api.yaml"] = text(
        an_azure_object(
            "openshift-machine-api-azure", "openshift-machine-api", "azure-cloud-credentials", "machine-api-controllers",
            permissions=["Microsoft.Compute/virtualMachines/write", "Microsoft.Network/networkInterfaces/read", network],
        )
    )  # fmt: skip
    files["csi.yml"] = text(
        an_azure_object(
            "azure-disk-csi-driver-operator", "openshift-cluster-csi-drivers", "azure-disk-credentials",
            "azure-disk-csi-driver-operator", "azure-disk-csi-driver-controller-sa",
            permissions=[disks, "Microsoft.Compute/snapshots/*"],
        ),
        an_azure_object(
            "azure-file-csi-driver-operator", "openshift-cluster-csi-drivers", "azure-file-credentials",
            "azure-file-csi-driver-operator", "azure-file-csi-driver-controller-sa", "azure-file-csi-driver-node-sa",
            roleBindings=[{"role": "Azure Red Hat OpenShift File Storage Operator"}],
        ),
    )  # fmt: skip
    config = an_azure_object(
        "openshift-cloud-network-config-controller-azure", "openshift-cloud-network-config-controller", "cloud-credentials", "cloud-network-config-controller",
        permissions=["Microsoft.Network/networkInterfaces/write", "Microsoft.Network/virtualNetworks/subnets/join/action"],
    )  # fmt: skip
    config["spec"]["cloudTokenPath"] = "/var/run/secrets/tokens/cloud/token"
    files["network.yaml"] = text(config)
    files["controller.yaml"] = text(
        an_azure_object(
            "openshift-azure-cloud-controller-manager", "openshift-cloud-controller-manager", "azure-cloud-credentials",
            "cloud-controller-manager", "cloud-node-manager",
            permissions=["Microsoft.Compute/virtualMachines/read", network], roleBindings=[{"role": "Reader"}],
        )
    )  # fmt: skip
    files["capz.yaml"] = text(
        an_azure_object("openshift-cluster-api-azure", "openshift-cluster-api", "capz-manager-bootstrap-credentials", roleBindings=[{"role": "contributor"}])
    )
    files["logging.json"] = json.dumps(
        an_azure_object(
            "lokistack", "openshift-logging", "logging.loki.azure", "logging.loki", "lo",
            dataPermissions=["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"],
        )
    )  # fmt: skip
    files["dns.yaml"] = text(
        an_azure_object(
            "external-dns", "external-dns-operator", "external-dns-credentials",
            roleBindings=[{"role": "DNS Zone Contributor"}, {"role": "befefa01-2a29-4197-83a8-272ff33ce314"}, {"role": "Private DNS Zone Contributor"}],
        )
    )  # fmt: skip
    files["velero.yaml"] = text(
        an_azure_object("oadp", "openshift-adp", "cloud-credentials-azure", "velero", roleBindings=[{"role": "Storage Blob Data Contributor"}])
    )
    files["thanos.yaml"] = text(
        an_azure_object(
            "thanos", "open-cluster-management-observability", f"object-storage-{'of-all-that-was-ever-measured-' * 3}credentials",
            f"thanos-{'that-keeps-and-compacts-and-' * 4}serves", roleBindings=[{"role": "Storage Blob Data Reader"}],
        )
    )  # fmt: skip
    return files


def a_gcp_object(name: str, namespace: str, secret: str, *accounts: str, **asked: Any) -> dict[str, Any]:
    """A CredentialsRequest of Google's, with the words of its providerSpec."""
    return an_object(name, namespace, secret, *accounts, providerSpec={"apiVersion": GROUP, "kind": "GCPProviderSpec", **asked})


def two_gcp_requests() -> dict[str, str]:
    """One that is given a role, and one that is given permissions."""
    ingress = a_gcp_object("openshift-ingress-gcp", "openshift-ingress-operator", "cloud-credentials", "ingress-operator", predefinedRoles=["roles/dns.admin"])
    registry = a_gcp_object(
        "openshift-image-registry-gcs", "openshift-image-registry", "installer-cloud-credentials", "registry", "cluster-image-registry-operator",
        permissions=["storage.buckets.get", "storage.buckets.create", "storage.objects.get"],
    )  # fmt: skip
    return {"ingress.yaml": text(ingress), "registry.yaml": text(registry)}


def twenty_gcp_requests() -> dict[str, str]:
    """As a release has them, with all that is special about some: roles, permissions and both, several ServiceAccounts, a token's path, two in one file, JSON,
    permissions that another asks for too, names over Google's limits."""
    files = two_gcp_requests()
    files["registry.yaml"] = text(
        a_gcp_object(
            "openshift-image-registry-gcs", "openshift-image-registry", "installer-cloud-credentials", "registry", "cluster-image-registry-operator",
            predefinedRoles=["roles/storage.admin"],
            permissions=["resourcemanager.tagValueBindings.create", "resourcemanager.tagValues.get", "resourcemanager.tagValues.list"],
        )
    )  # fmt: skip
    files["machine-api.yml"] = text(
        a_gcp_object(
            "openshift-machine-api-gcp", "openshift-machine-api", "gcp-cloud-credentials", "machine-api-controllers",
            predefinedRoles=["roles/compute.instanceAdmin.v1", "roles/iam.serviceAccountUser", "roles/compute.instanceAdmin.v1"],
        )
    )  # fmt: skip
    files["csi.yaml"] = text(
        a_gcp_object(
            "openshift-gcp-pd-csi-driver-operator", "openshift-cluster-csi-drivers", "gcp-pd-cloud-credentials",
            "gcp-pd-csi-driver-operator", "gcp-pd-csi-driver-controller-sa",
            predefinedRoles=["roles/compute.storageAdmin", "roles/iam.serviceAccountUser", "roles/resourcemanager.tagUser"],
            permissions=["compute.instances.attachDisk", "compute.instances.detachDisk", "compute.instances.get"],
        ),
        a_gcp_object(
            "openshift-gcp-filestore-csi-driver-operator", "openshift-cluster-csi-drivers", "gcp-filestore-cloud-credentials",
            "gcp-filestore-csi-driver-operator", "gcp-filestore-csi-driver-controller-sa",
            predefinedRoles=["roles/file.editor", "roles/resourcemanager.tagUser"],
        ),
    )  # fmt: skip
    config = a_gcp_object(
        "openshift-cloud-network-config-controller-gcp", "openshift-cloud-network-config-controller", "cloud-credentials", "cloud-network-config-controller",
        permissions=["compute.instances.updateNetworkInterface", "compute.subnetworks.use", "compute.zoneOperations.get", "compute.subnetworks.get"],
    )  # fmt: skip
    config["spec"]["cloudTokenPath"] = "/var/run/secrets/tokens/cloud/token"
    files["network.yaml"] = text(config)
    files["controller.yaml"] = text(
        a_gcp_object(
            "openshift-gcp-ccm", "openshift-cloud-controller-manager", "gcp-ccm-cloud-credentials", "cloud-controller-manager", "cloud-provider",
            predefinedRoles=["roles/compute.instanceAdmin", "roles/compute.loadBalancerAdmin", "roles/iam.serviceAccountUser"],
        )
    )  # fmt: skip
    reading = ["iam.roles.get", "iam.serviceAccounts.get", "iam.serviceAccountKeys.list", "resourcemanager.projects.get", "serviceusage.services.list"]
    files["credentials.yaml"] = text(
        a_gcp_object(
            "cloud-credential-operator-gcp-ro-creds", "openshift-cloud-credential-operator", "cloud-credential-operator-gcp-ro-creds",
            "cloud-credential-operator", permissions=reading,
        ),
        a_gcp_object("a-second-reader", "audit", "audit-credentials", permissions=[*reversed(reading), reading[0]]),
    )  # fmt: skip
    files["capg.yaml"] = text(
        a_gcp_object(
            "openshift-cluster-api-gcp", "openshift-cluster-api", "capg-manager-bootstrap-credentials-of-the-infrastructure-provider",
            f"capg-{'that-makes-machines-' * 2}controller",
            predefinedRoles=["roles/compute.admin", "roles/iam.serviceAccountUser"],
        )
    )  # fmt: skip
    files["logging.json"] = json.dumps(
        a_gcp_object("lokistack", "openshift-logging", "logging-loki-gcp", "logging-loki", "logging-loki-ruler", predefinedRoles=["roles/storage.objectAdmin"])
    )
    for name, namespace, role in GCP_OPERATORS:
        files[f"{name}.yaml"] = text(a_gcp_object(name, namespace, f"{name}-cloud-credentials", predefinedRoles=[role]))
    return files


GCP_OPERATORS = (
    ("cert-manager", "cert-manager", "roles/dns.admin"),
    ("cluster-autoscaler", "kube-system", "roles/compute.viewer"),
    ("external-dns", "external-dns-operator", "roles/dns.admin"),
    ("external-secrets", "external-secrets", "roles/secretmanager.secretAccessor"),
    ("fluent-bit", "logging", "roles/logging.logWriter"),
    ("oadp", "openshift-adp", "roles/compute.storageAdmin"),
    ("prometheus-remote-write", "monitoring", "roles/monitoring.metricWriter"),
    ("thanos", "open-cluster-management-observability", "roles/storage.objectUser"),
    ("velero", "velero", "roles/storage.objectAdmin"),
)

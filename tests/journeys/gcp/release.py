"""Twenty requests as a cluster's release has them for Google Cloud.

With all that is special about some: roles, permissions and both, several ServiceAccounts, a token's path, two in one file, JSON, permissions that another
asks for too, names over Google's limits.
"""

from __future__ import annotations

import json

from tests.examples import a_gcp_object, text, two_gcp_requests

OPERATORS = (
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
READING = (
    "iam.roles.get",
    "iam.serviceAccounts.get",
    "iam.serviceAccountKeys.list",
    "resourcemanager.projects.get",
    "serviceusage.services.list",
)


def twenty_gcp_requests() -> dict[str, str]:
    operators = {
        f"{name}.yaml": text(
            a_gcp_object(name, namespace, f"{name}-cloud-credentials", predefinedRoles=[role])
        )
        for name, namespace, role in OPERATORS
    }
    return {
        **two_gcp_requests(),
        **storage(),
        **machines(),
        **drivers(),
        **networks(),
        **readers(),
        **operators,
    }


def storage() -> dict[str, str]:
    registry = a_gcp_object(
        "openshift-image-registry-gcs", "openshift-image-registry", "installer-cloud-credentials", "registry", "cluster-image-registry-operator",
        predefinedRoles=["roles/storage.admin"],
        permissions=["resourcemanager.tagValueBindings.create", "resourcemanager.tagValues.get", "resourcemanager.tagValues.list"],
    )  # fmt: skip
    logging = a_gcp_object(
        "lokistack", "openshift-logging", "logging-loki-gcp", "logging-loki", "logging-loki-ruler", predefinedRoles=["roles/storage.objectAdmin"]
    )  # fmt: skip
    return {"registry.yaml": text(registry), "logging.json": json.dumps(logging)}


def machines() -> dict[str, str]:
    machine_api = a_gcp_object(
        "openshift-machine-api-gcp", "openshift-machine-api", "gcp-cloud-credentials", "machine-api-controllers",
        predefinedRoles=["roles/compute.instanceAdmin.v1", "roles/iam.serviceAccountUser", "roles/compute.instanceAdmin.v1"],
    )  # fmt: skip
    controller = a_gcp_object(
        "openshift-gcp-ccm", "openshift-cloud-controller-manager", "gcp-ccm-cloud-credentials", "cloud-controller-manager", "cloud-provider",
        predefinedRoles=["roles/compute.instanceAdmin", "roles/compute.loadBalancerAdmin", "roles/iam.serviceAccountUser"],
    )  # fmt: skip
    capg = a_gcp_object(
        "openshift-cluster-api-gcp", "openshift-cluster-api", "capg-manager-bootstrap-credentials-of-the-infrastructure-provider",
        f"capg-{'that-makes-machines-' * 2}controller",
        predefinedRoles=["roles/compute.admin", "roles/iam.serviceAccountUser"],
    )  # fmt: skip
    return {
        "machine-api.yml": text(machine_api),
        "controller.yaml": text(controller),
        "capg.yaml": text(capg),
    }


def drivers() -> dict[str, str]:
    disks = a_gcp_object(
        "openshift-gcp-pd-csi-driver-operator", "openshift-cluster-csi-drivers", "gcp-pd-cloud-credentials",
        "gcp-pd-csi-driver-operator", "gcp-pd-csi-driver-controller-sa",
        predefinedRoles=["roles/compute.storageAdmin", "roles/iam.serviceAccountUser", "roles/resourcemanager.tagUser"],
        permissions=["compute.instances.attachDisk", "compute.instances.detachDisk", "compute.instances.get"],
    )  # fmt: skip
    files = a_gcp_object(
        "openshift-gcp-filestore-csi-driver-operator", "openshift-cluster-csi-drivers", "gcp-filestore-cloud-credentials",
        "gcp-filestore-csi-driver-operator", "gcp-filestore-csi-driver-controller-sa",
        predefinedRoles=["roles/file.editor", "roles/resourcemanager.tagUser"],
    )  # fmt: skip
    return {"csi.yaml": text(disks, files)}


def networks() -> dict[str, str]:
    config = a_gcp_object(
        "openshift-cloud-network-config-controller-gcp", "openshift-cloud-network-config-controller", "cloud-credentials", "cloud-network-config-controller",
        permissions=["compute.instances.updateNetworkInterface", "compute.subnetworks.use", "compute.zoneOperations.get", "compute.subnetworks.get"],
    )  # fmt: skip
    config["spec"]["cloudTokenPath"] = "/var/run/secrets/tokens/cloud/token"
    return {"network.yaml": text(config)}


def readers() -> dict[str, str]:
    first = a_gcp_object(
        "cloud-credential-operator-gcp-ro-creds", "openshift-cloud-credential-operator", "cloud-credential-operator-gcp-ro-creds",
        "cloud-credential-operator", permissions=[*READING],
    )  # fmt: skip
    second = a_gcp_object(
        "a-second-reader",
        "audit",
        "audit-credentials",
        permissions=[*reversed(READING), READING[0]],
    )
    return {"credentials.yaml": text(first, second)}

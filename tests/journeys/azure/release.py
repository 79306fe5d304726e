"""A dozen requests as a cluster's release has them for Azure.

With all that is special about some: both ways to ask, several and strange ServiceAccounts, a token's path, long names.
"""

from __future__ import annotations

import json

from tests.examples import an_azure_object, text, two_azure_requests

BALANCERS = "Microsoft.Network/loadBalancers/*"


def a_dozen_azure_requests() -> dict[str, str]:
    return {**two_azure_requests(), **machines(), **drivers(), **networks(), **storage()}


def machines() -> dict[str, str]:
    machine_api = an_azure_object(
        "openshift-machine-api-azure", "openshift-machine-api", "azure-cloud-credentials", "machine-api-controllers",
        permissions=["Microsoft.Compute/virtualMachines/write", "Microsoft.Network/networkInterfaces/read", BALANCERS],
    )  # fmt: skip
    controller = an_azure_object(
        "openshift-azure-cloud-controller-manager", "openshift-cloud-controller-manager", "azure-cloud-credentials",
        "cloud-controller-manager", "cloud-node-manager",
        permissions=["Microsoft.Compute/virtualMachines/read", BALANCERS], roleBindings=[{"role": "Reader"}],
    )  # fmt: skip
    capz = an_azure_object(
        "openshift-cluster-api-azure", "openshift-cluster-api", "capz-manager-bootstrap-credentials", roleBindings=[{"role": "contributor"}]
    )  # fmt: skip
    return {
        "machine-api.yaml": text(machine_api),
        "controller.yaml": text(controller),
        "capz.yaml": text(capz),
    }


def drivers() -> dict[str, str]:
    disks = an_azure_object(
        "azure-disk-csi-driver-operator", "openshift-cluster-csi-drivers", "azure-disk-credentials",
        "azure-disk-csi-driver-operator", "azure-disk-csi-driver-controller-sa",
        permissions=["Microsoft.Compute/disks/*", "Microsoft.Compute/snapshots/*"],
    )  # fmt: skip
    files = an_azure_object(
        "azure-file-csi-driver-operator", "openshift-cluster-csi-drivers", "azure-file-credentials",
        "azure-file-csi-driver-operator", "azure-file-csi-driver-controller-sa", "azure-file-csi-driver-node-sa",
        roleBindings=[{"role": "Azure Red Hat OpenShift File Storage Operator"}],
    )  # fmt: skip
    return {"csi.yml": text(disks, files)}


def networks() -> dict[str, str]:
    config = an_azure_object(
        "openshift-cloud-network-config-controller-azure", "openshift-cloud-network-config-controller", "cloud-credentials", "cloud-network-config-controller",
        permissions=["Microsoft.Network/networkInterfaces/write", "Microsoft.Network/virtualNetworks/subnets/join/action"],
    )  # fmt: skip
    config["spec"]["cloudTokenPath"] = "/var/run/secrets/tokens/cloud/token"
    dns = an_azure_object(
        "external-dns", "external-dns-operator", "external-dns-credentials",
        roleBindings=[{"role": "DNS Zone Contributor"}, {"role": "befefa01-2a29-4197-83a8-272ff33ce314"}, {"role": "Private DNS Zone Contributor"}],
    )  # fmt: skip
    return {"network.yaml": text(config), "dns.yaml": text(dns)}


def storage() -> dict[str, str]:
    logging = an_azure_object(
        "lokistack", "openshift-logging", "logging.loki.azure", "logging.loki", "lo",
        dataPermissions=["Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"],
    )  # fmt: skip
    velero = an_azure_object(
        "oadp",
        "openshift-adp",
        "cloud-credentials-azure",
        "velero",
        roleBindings=[{"role": "Storage Blob Data Contributor"}],
    )
    thanos = an_azure_object(
        "thanos", "open-cluster-management-observability", f"object-storage-{'of-all-that-was-ever-measured-' * 3}credentials",
        f"thanos-{'that-keeps-and-compacts-and-' * 4}serves", roleBindings=[{"role": "Storage Blob Data Reader"}],
    )  # fmt: skip
    return {
        "logging.json": json.dumps(logging),
        "velero.yaml": text(velero),
        "thanos.yaml": text(thanos),
    }

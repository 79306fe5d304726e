"""Google's own roles; of the some two thousand, those that are met in this field."""

from __future__ import annotations

from dataclasses import dataclass

from . import catalogue


@dataclass(frozen=True)
class Predefined:
    """What a role gives, with stars, and what of that it does not."""

    title: str
    given: tuple[str, ...]
    taken: tuple[str, ...] = ()

    def allows(self, permission: str) -> bool:
        return catalogue.matches(permission, self.given) and not catalogue.matches(
            permission, self.taken
        )

    @property
    def permissions(self) -> tuple[str, ...]:
        return tuple(
            one for one in catalogue.expanded(self.given) if not catalogue.matches(one, self.taken)
        )


_SEE = ("resourcemanager.projects.get", "resourcemanager.projects.list")
_USE = ("serviceusage.quotas.get", "serviceusage.services.get", "serviceusage.services.list")
_TOKENS = tuple(
    f"iam.serviceAccounts.{verb}"
    for verb in ("getAccessToken", "getOpenIdToken", "implicitDelegation", "signBlob", "signJwt")
)
_BUCKETS = (  # owners have them by the policies that new buckets are born with, and not by their role
    "storage.objects.*", "storage.multipartUploads.*", "storage.managedFolders.*", "storage.folders.*", "storage.buckets.get", "storage.buckets.update",
    "storage.buckets.*IamPolicy",
)  # fmt: skip
_ADMIN = ("*.setIamPolicy", "iam.roles.create", "iam.roles.update", "iam.roles.delete", "iam.roles.undelete", "iam.workloadIdentityPool*",
          "resourcemanager.projects.delete")  # fmt: skip
_LOOK = ("iam.serviceAccounts.get", "iam.serviceAccounts.list", *_SEE)
_READ = ("*.get", "*.list", "*.getIamPolicy", "*.listTagBindings", "*.listEffectiveTags")
_BALANCING = (
    "compute.addresses.*", "compute.backend*", "compute.forwardingRules.*", "compute.globalAddresses.*", "compute.globalForwardingRules.*",
    "compute.healthChecks.*", "compute.httpHealthChecks.*", "compute.httpsHealthChecks.*", "compute.instanceGroups.*", "compute.*etworkEndpointGroups.*",
    "compute.regionBackendServices.*", "compute.regionHealthChecks.*", "compute.ssl*", "compute.target*", "compute.urlMaps.*", "compute.regionUrlMaps.*",
    "compute.instances.get", "compute.instances.list", "compute.instances.use", "compute.networks.get", "compute.networks.list", "compute.networks.use",
    "compute.projects.get", "compute.subnetworks.get", "compute.subnetworks.list", "compute.subnetworks.use", "compute.globalOperations.get",
    "compute.regionOperations.get", "compute.securityPolicies.get", "compute.securityPolicies.list", "compute.securityPolicies.use",
)  # fmt: skip
_NETWORK = (
    "compute.addresses.*", "compute.forwardingRules.*", "compute.globalAddresses.*", "compute.globalForwardingRules.*", "compute.networks.*",
    "compute.routers.*", "compute.routes.*", "compute.subnetworks.*", "compute.backend*", "compute.healthChecks.*", "compute.firewalls.get",
    "compute.firewalls.list", "compute.instances.get", "compute.instances.list", "compute.projects.get", "compute.*Operations.get", "compute.regions.*",
    "compute.zones.*", "compute.target*", "compute.urlMaps.*", "compute.*etworkEndpointGroups.*",
)  # fmt: skip
_INSTANCES = (
    "compute.instances.*", "compute.disks.*", "compute.images.*", "compute.instanceGroup*", "compute.instanceTemplates.*", "compute.snapshots.*",
    "compute.machineTypes.*", "compute.diskTypes.*", "compute.licenses.*", "compute.subnetworks.get", "compute.subnetworks.list", "compute.subnetworks.use",
    "compute.subnetworks.useExternalIp", "compute.networks.get", "compute.networks.list", "compute.networks.use", "compute.networks.useExternalIp",
    "compute.addresses.get", "compute.addresses.list", "compute.addresses.use", "compute.*Operations.get", "compute.*Operations.list", "compute.projects.get",
    "compute.regions.*", "compute.zones.*",
)  # fmt: skip
_DISKS = (
    "compute.disk*", "compute.images.*", "compute.snapshots.*", "compute.licenses.*", "compute.*Operations.get", "compute.*Operations.list",
    "compute.projects.get", "compute.regions.*", "compute.zones.*",
)  # fmt: skip
_OBJECTS = (
    "storage.folders.*",
    "storage.managedFolders.*",
    "storage.multipartUploads.*",
    "storage.objects.*",
    "orgpolicy.policy.get",
    *_SEE,
)

PREDEFINED: dict[str, Predefined] = {
    "roles/owner": Predefined("Owner", ("*",), (*_TOKENS, *_BUCKETS)),
    "roles/editor": Predefined("Editor", ("*",), (*_TOKENS, *_BUCKETS, *_ADMIN)),
    "roles/viewer": Predefined("Viewer", _READ, _BUCKETS),
    "roles/browser": Predefined("Browser", ("resourcemanager.projects.getIamPolicy", *_SEE)),
    "roles/iam.securityAdmin": Predefined("Security Admin", ("*.getIamPolicy", "*.setIamPolicy", "iam.serviceAccounts.get", "*.list", *_SEE)),
    "roles/iam.securityReviewer": Predefined("Security Reviewer", ("*.getIamPolicy", "*.list")),
    "roles/iam.roleAdmin": Predefined("Role Administrator", ("iam.roles.*", "resourcemanager.projects.getIamPolicy", *_SEE)),
    "roles/iam.roleViewer": Predefined("Role Viewer", ("iam.roles.get", "iam.roles.list", "resourcemanager.projects.getIamPolicy", *_SEE)),
    "roles/iam.serviceAccountAdmin": Predefined(
        "Service Account Admin",
        ("iam.serviceAccounts.*", *_SEE),
        (*_TOKENS, "iam.serviceAccounts.actAs"),
    ),
    "roles/iam.serviceAccountCreator": Predefined("Create Service Accounts", ("iam.serviceAccounts.create", *_LOOK)),
    "roles/iam.serviceAccountDeleter": Predefined("Delete Service Accounts", ("iam.serviceAccounts.delete", *_LOOK)),
    "roles/iam.serviceAccountViewer": Predefined(
        "View Service Accounts",
        ("iam.serviceAccountKeys.get", "iam.serviceAccountKeys.list", "iam.serviceAccounts.getIamPolicy", *_LOOK),
    ),
    "roles/iam.serviceAccountKeyAdmin": Predefined(
        "Service Account Key Admin", ("iam.serviceAccountKeys.*", *_LOOK)
    ),
    "roles/iam.serviceAccountUser": Predefined(
        "Service Account User", ("iam.serviceAccounts.actAs", *_LOOK)
    ),
    "roles/iam.serviceAccountTokenCreator": Predefined(
        "Service Account Token Creator", (*_TOKENS, *_LOOK)
    ),
    "roles/iam.serviceAccountOpenIdTokenCreator": Predefined("Service Account OpenID Connect Identity Token Creator", ("iam.serviceAccounts.getOpenIdToken",)),
    "roles/iam.workloadIdentityUser": Predefined(
        "Workload Identity User",
        ("iam.serviceAccounts.get", "iam.serviceAccounts.getAccessToken", "iam.serviceAccounts.getOpenIdToken", "iam.serviceAccounts.list"),
    ),
    "roles/iam.workloadIdentityPoolAdmin": Predefined(
        "IAM Workload Identity Pool Admin", ("iam.googleapis.com/workloadIdentityPool*", *_SEE), ("iam.workloadIdentityPools.*IamPolicy",)
    ),
    "roles/iam.workloadIdentityPoolViewer": Predefined(
        "IAM Workload Identity Pool Viewer", ("iam.googleapis.com/workloadIdentityPool*.get", "iam.googleapis.com/workloadIdentityPool*.list", *_SEE)
    ),
    "roles/resourcemanager.projectIamAdmin": Predefined(
        "Project IAM Admin",
        ("resourcemanager.projects.get", "resourcemanager.projects.getIamPolicy", "resourcemanager.projects.setIamPolicy",
         "resourcemanager.projects.*PolicyBinding*", "iam.policybindings.*"),
    ),
    "roles/resourcemanager.tagUser": Predefined(
        "Tag User",
        ("resourcemanager.tagKeys.get", "resourcemanager.tagKeys.list", "resourcemanager.tagValues.get", "resourcemanager.tagValues.list",
         "resourcemanager.tagValueBindings.*", "resourcemanager.hierarchyNodes.*", "*.createTagBinding", "*.deleteTagBinding", "*.listTagBindings",
         "*.listEffectiveTags", "resourcemanager.projects.get"),
    ),
    "roles/serviceusage.serviceUsageAdmin": Predefined(
        "Service Usage Admin", ("serviceusage.operations.*", "serviceusage.quotas.*", "serviceusage.services.*", "monitoring.timeSeries.list")
    ),
    "roles/serviceusage.serviceUsageConsumer": Predefined(
        "Service Usage Consumer", (*_USE, "serviceusage.services.use", "monitoring.timeSeries.list")
    ),
    "roles/serviceusage.serviceUsageViewer": Predefined("Service Usage Viewer", (*_USE, "serviceusage.operations.get", "serviceusage.operations.list")),
    "roles/storage.admin": Predefined("Storage Admin", ("storage.*", "orgpolicy.policy.get", "firebase.projects.get", *_SEE), ("storage.hmacKeys.*",)),
    "roles/storage.objectAdmin": Predefined("Storage Object Admin", _OBJECTS),
    "roles/storage.objectUser": Predefined("Storage Object User", _OBJECTS, ("storage.objects.*IamPolicy", "storage.managedFolders.*IamPolicy")),
    "roles/storage.objectCreator": Predefined(
        "Storage Object Creator", ("storage.objects.create", "storage.multipartUploads.create", "storage.multipartUploads.abort", "orgpolicy.policy.get", *_SEE)
    ),
    "roles/storage.objectViewer": Predefined(
        "Storage Object Viewer",
        ("storage.folders.get", "storage.folders.list", "storage.managedFolders.get", "storage.managedFolders.list", "storage.objects.get",
         "storage.objects.list", *_SEE),
    ),
    "roles/storage.legacyBucketOwner": Predefined(
        "Storage Legacy Bucket Owner",
        ("storage.buckets.get", "storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy", "storage.buckets.update", "storage.multipartUploads.*",
         "storage.objects.create", "storage.objects.delete", "storage.objects.list", "storage.objects.restore", "storage.objects.setRetention"),
    ),
    "roles/storage.legacyBucketWriter": Predefined(
        "Storage Legacy Bucket Writer",
        ("storage.buckets.get", "storage.multipartUploads.*", "storage.objects.create", "storage.objects.delete", "storage.objects.list"),
    ),
    "roles/storage.legacyBucketReader": Predefined(
        "Storage Legacy Bucket Reader", ("storage.buckets.get", "storage.multipartUploads.list", "storage.objects.list")
    ),
    "roles/storage.legacyObjectOwner": Predefined(
        "Storage Legacy Object Owner",
        ("storage.objects.get", "storage.objects.getIamPolicy", "storage.objects.setIamPolicy", "storage.objects.update", "storage.objects.setRetention"),
    ),
    "roles/storage.legacyObjectReader": Predefined("Storage Legacy Object Reader", ("storage.objects.get",)),
    "roles/storage.insightsCollectorService": Predefined("Storage Insights Collector Service", ("storage.buckets.get", "storage.buckets.getObjectInsights")),
    "roles/dns.admin": Predefined("DNS Administrator", ("dns.*", "compute.networks.get", "compute.networks.list", *_SEE), ("dns.*.setIamPolicy",)),
    "roles/dns.reader": Predefined("DNS Reader", ("dns.*.get", "dns.*.list", "compute.networks.get", "compute.networks.list", *_SEE)),
    "roles/compute.admin": Predefined("Compute Admin", ("compute.*", *_SEE, *_USE)),
    "roles/compute.viewer": Predefined("Compute Viewer", ("compute.*.get", "compute.*.list", "compute.*.getIamPolicy", *_SEE, *_USE)),
    "roles/compute.instanceAdmin": Predefined("Compute Instance Admin (beta)", (*_INSTANCES, *_SEE, *_USE), ("*.setIamPolicy",)),
    "roles/compute.instanceAdmin.v1": Predefined("Compute Instance Admin (v1)", (*_INSTANCES, *_SEE, *_USE)),
    "roles/compute.loadBalancerAdmin": Predefined("Compute Load Balancer Admin", (*_BALANCING, *_SEE, *_USE)),
    "roles/compute.networkAdmin": Predefined("Compute Network Admin", (*_NETWORK, *_SEE, *_USE)),
    "roles/compute.networkUser": Predefined(
        "Compute Network User",
        ("compute.addresses.createInternal", "compute.addresses.deleteInternal", "compute.addresses.get", "compute.addresses.list",
         "compute.addresses.useInternal", "compute.firewalls.get", "compute.firewalls.list", "compute.networks.get", "compute.networks.list",
         "compute.networks.use", "compute.networks.access", "compute.networks.useExternalIp", "compute.subnetworks.get", "compute.subnetworks.list",
         "compute.subnetworks.use", "compute.subnetworks.useExternalIp", *_SEE, *_USE),
    ),
    "roles/compute.networkViewer": Predefined(
        "Compute Network Viewer",
        (*(f"compute.{thing}.{verb}" for thing in
           ("networks", "subnetworks", "firewalls", "routers", "routes", "addresses", "forwardingRules", "backendServices") for verb in ("get", "list")),
         *_SEE, *_USE),
    ),
    "roles/compute.securityAdmin": Predefined(
        "Compute Security Admin",
        ("compute.firewall*", "compute.securityPolicies.*", "compute.ssl*", "compute.networks.get", "compute.networks.list", "compute.networks.updatePolicy",
         "compute.*Operations.get", "compute.projects.get", "compute.instances.list", "compute.subnetworks.get", "compute.subnetworks.list", *_SEE, *_USE),
    ),
    "roles/compute.storageAdmin": Predefined("Compute Storage Admin", (*_DISKS, *_SEE, *_USE)),
    "roles/file.editor": Predefined("Cloud Filestore Editor", ("file.*",)),
    "roles/file.viewer": Predefined("Cloud Filestore Viewer", ("file.*.get", "file.*.list")),
    "roles/logging.logWriter": Predefined("Logs Writer", ("logging.logEntries.create", "logging.logEntries.route")),
    "roles/monitoring.metricWriter": Predefined(
        "Monitoring Metric Writer",
        ("monitoring.metricDescriptors.create", "monitoring.metricDescriptors.get", "monitoring.metricDescriptors.list",
         "monitoring.monitoredResourceDescriptors.get", "monitoring.monitoredResourceDescriptors.list", "monitoring.timeSeries.create"),
    ),
    "roles/secretmanager.secretAccessor": Predefined("Secret Manager Secret Accessor", ("secretmanager.versions.access", *_SEE)),
    "roles/secretmanager.viewer": Predefined(
        "Secret Manager Viewer", ("secretmanager.secrets.get", "secretmanager.secrets.list", "secretmanager.versions.get", "secretmanager.versions.list", *_SEE)
    ),
    "roles/cloudkms.cryptoKeyEncrypterDecrypter": Predefined(
        "Cloud KMS CryptoKey Encrypter/Decrypter",
        ("cloudkms.cryptoKeyVersions.useToEncrypt", "cloudkms.cryptoKeyVersions.useToDecrypt", "cloudkms.locations.get", "cloudkms.locations.list",
         "resourcemanager.projects.get"),
    ),
    "roles/artifactregistry.reader": Predefined(
        "Artifact Registry Reader",
        ("artifactregistry.repositories.get", "artifactregistry.repositories.list", "artifactregistry.repositories.downloadArtifacts"),
    ),
    "roles/container.viewer": Predefined("Kubernetes Engine Viewer", ("container.*.get", "container.*.list", *_SEE)),
    "roles/pubsub.publisher": Predefined("Pub/Sub Publisher", ("pubsub.topics.publish",)),
}  # fmt: skip

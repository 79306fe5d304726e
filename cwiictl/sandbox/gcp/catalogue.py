"""The permissions that there are: of the some ten thousand, those that are met in this field. What they do not name here of other services is believed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_THING = "create delete get list update"
_POLICY = "getIamPolicy setIamPolicy"
_TAGS = "createTagBinding deleteTagBinding listEffectiveTags listTagBindings"
_OPERATION = "get list"

_WHOLE = {  # of these there are no further ones
    "iam.roles": f"{_THING} undelete",
    "iam.serviceAccountKeys": "create delete disable enable get list",
    "iam.serviceAccounts": f"{_THING} {_POLICY} {_TAGS} actAs disable enable getAccessToken getOpenIdToken implicitDelegation signBlob signJwt undelete",
    "iam.workloadIdentityPoolProviderKeys": "create delete get list undelete",
    "iam.workloadIdentityPoolProviders": f"{_THING} undelete",
    "iam.workloadIdentityPools": f"{_THING} {_POLICY} undelete createPolicyBinding deletePolicyBinding updatePolicyBinding searchPolicyBindings",
    "resourcemanager.projects": f"{_THING} {_POLICY} {_TAGS} createBillingAssignment deleteBillingAssignment move undelete updateLiens "
    "createPolicyBinding deletePolicyBinding updatePolicyBinding searchPolicyBindings",
    "resourcemanager.tagValueBindings": "create delete",
    "resourcemanager.hierarchyNodes": "createTagBinding deleteTagBinding listEffectiveTags listTagBindings",
    "serviceusage.services": "disable enable get list use",
    "storage.buckets": f"{_THING} {_POLICY} {_TAGS} enableObjectRetention getIpFilter getObjectInsights relocate restore setIpFilter",
    "storage.objects": f"{_THING} {_POLICY} move overrideUnlockedRetention restore setRetention",
    "storage.multipartUploads": "abort create list listParts",
    "storage.hmacKeys": _THING,
    "dns.changes": "create get list",
    "dns.managedZones": f"{_THING} {_POLICY}",
    "dns.resourceRecordSets": _THING,
    "dns.managedZoneOperations": _OPERATION,
}
_PART = {  # of these there may be
    "resourcemanager.tagKeys": f"{_THING} {_POLICY}",
    "resourcemanager.tagValues": f"{_THING} {_POLICY}",
    "serviceusage.operations": "cancel delete get list",
    "serviceusage.quotas": "get update",
    "storage.folders": "create delete get list rename",
    "storage.managedFolders": f"create delete get list {_POLICY}",
    "storage.bucketOperations": "cancel get list",
    "dns.dnsKeys": _OPERATION,
    "dns.networks": "bindDNSResponsePolicy bindPrivateDNSPolicy bindPrivateDNSZone targetWithPeeringZone",
    "dns.policies": f"{_THING} {_POLICY}",
    "dns.projects": "get",
    "file.backups": _THING,
    "file.instances": f"{_THING} restore revert",
    "file.locations": _OPERATION,
    "file.operations": "cancel delete get list",
    "file.snapshots": _THING,
    "compute.addresses": f"create createInternal delete deleteInternal get list setLabels use useInternal {_TAGS}",
    "compute.backendServices": f"{_THING} {_POLICY} {_TAGS} addSignedUrlKey deleteSignedUrlKey setSecurityPolicy use",
    "compute.disks": f"{_THING} {_POLICY} {_TAGS} addResourcePolicies createSnapshot removeResourcePolicies resize setLabels use useReadOnly",
    "compute.diskTypes": _OPERATION,
    "compute.firewalls": f"{_THING} {_TAGS}",
    "compute.forwardingRules": f"{_THING} {_TAGS} pscCreate pscDelete setLabels setTarget use",
    "compute.globalAddresses": f"create createInternal delete deleteInternal get list setLabels use {_TAGS}",
    "compute.globalForwardingRules": f"{_THING} {_TAGS} setLabels setTarget",
    "compute.globalOperations": "delete get list",
    "compute.healthChecks": f"{_THING} {_TAGS} use useReadOnly",
    "compute.httpHealthChecks": f"{_THING} use useReadOnly",
    "compute.images": f"{_THING} {_POLICY} {_TAGS} deprecate getFromFamily setLabels useReadOnly",
    "compute.instanceGroupManagers": f"{_THING} use",
    "compute.instanceGroups": f"{_THING} {_TAGS} use",
    "compute.instanceTemplates": f"create delete get list {_POLICY} useReadOnly",
    "compute.instances": f"{_THING} {_POLICY} {_TAGS} addAccessConfig attachDisk deleteAccessConfig detachDisk getSerialPortOutput osAdminLogin osLogin reset "
    "resume setLabels setMachineType setMetadata setMinCpuPlatform setScheduling setServiceAccount setTags start stop suspend updateAccessConfig "
    "updateNetworkInterface use useReadOnly",
    "compute.licenses": f"create delete get list {_POLICY}",
    "compute.machineTypes": _OPERATION,
    "compute.networks": f"{_THING} {_TAGS} access addPeering removePeering updatePeering updatePolicy use useExternalIp",
    "compute.networkEndpointGroups": f"create delete get list {_TAGS} attachNetworkEndpoints detachNetworkEndpoints use",
    "compute.projects": "get setCommonInstanceMetadata setDefaultNetworkTier setUsageExportBucket",
    "compute.regionBackendServices": f"{_THING} {_POLICY} {_TAGS} setSecurityPolicy use",
    "compute.regionHealthChecks": f"{_THING} {_TAGS} use useReadOnly",
    "compute.regionOperations": "delete get list",
    "compute.regions": _OPERATION,
    "compute.routers": f"{_THING} use",
    "compute.routes": "create delete get list",
    "compute.securityPolicies": f"{_THING} {_TAGS} use setLabels",
    "compute.snapshots": f"create delete get list {_POLICY} {_TAGS} setLabels useReadOnly",
    "compute.sslCertificates": f"create delete get list {_TAGS}",
    "compute.sslPolicies": f"{_THING} {_TAGS} listAvailableFeatures use",
    "compute.subnetworks": f"{_THING} {_POLICY} {_TAGS} expandIpCidrRange mirror setPrivateIpGoogleAccess use useExternalIp",
    "compute.targetHttpProxies": f"{_THING} {_TAGS} setUrlMap use",
    "compute.targetHttpsProxies": f"{_THING} {_TAGS} setSslCertificates setSslPolicy setUrlMap use",
    "compute.targetInstances": f"create delete get list {_TAGS} setSecurityPolicy use",
    "compute.targetPools": f"{_THING} {_TAGS} addHealthCheck addInstance removeHealthCheck removeInstance setSecurityPolicy use",
    "compute.targetTcpProxies": f"{_THING} {_TAGS} use",
    "compute.urlMaps": f"{_THING} {_TAGS} invalidateCache use validate",
    "compute.zoneOperations": "delete get list",
    "compute.zones": _OPERATION,
}  # fmt: skip
_ALL = tuple(
    sorted(
        f"{thing}.{verb}"
        for table in (_WHOLE, _PART)
        for thing, verbs in table.items()
        for verb in verbs.split()
    )
)
_FORM = re.compile(r"[a-z][a-zA-Z0-9-]*\.[a-zA-Z][a-zA-Z0-9]*\.[a-zA-Z][a-zA-Z0-9]*")
_ABOVE = (
    "resourcemanager.organizations.",
    "resourcemanager.folders.",
    "billing.accounts.",
    "iam.workforcePools.",
    "accesscontextmanager.",
)
_NOT_IN_PROJECTS = frozenset(
    {
        "resourcemanager.projects.list",
        "resourcemanager.projects.create",
        "resourcemanager.projects.move",
    }
)


def spelled(permission: str) -> str:
    """Pools are said with the whole name of their service, too."""
    return permission.replace("iam.googleapis.com/", "iam.", 1)


def exists(permission: str) -> bool:
    found = spelled(permission)
    thing, _, verb = found.rpartition(".")
    return bool(_FORM.fullmatch(found)) and (thing not in _WHOLE or verb in _WHOLE[thing].split())


def customisable(permission: str) -> bool:
    """Whether a custom role of a project may have it."""
    found = spelled(permission)
    return exists(found) and found not in _NOT_IN_PROJECTS and not found.startswith(_ABOVE)


@cache
def expanded(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """All that these mean; what has no star is meant as it is."""
    plain = {one for one in patterns if "*" not in one}
    return tuple(sorted(plain | {one for one in _ALL if matches(one, patterns)}))


def matches(permission: str, patterns: Iterable[str]) -> bool:
    found = spelled(permission)
    return any(_pattern(spelled(one)).fullmatch(found) for one in patterns)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace("\\*", ".*").replace("\\?", "."))

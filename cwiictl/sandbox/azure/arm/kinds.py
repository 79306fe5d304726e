"""The types that are known here, how Azure writes them, and the versions of the API that each has."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.exchange import Request

from .address import Address

CORE_VERSIONS = (
    "2014-04-01-preview", "2014-04-01", "2015-01-01", "2015-11-01", "2016-02-01", "2016-06-01", "2016-07-01", "2016-09-01", "2017-03-01", "2017-05-01",
    "2017-05-10", "2017-06-01", "2017-08-01", "2017-12-01", "2018-01-01", "2018-02-01", "2018-05-01", "2018-06-01", "2018-07-01", "2018-08-01", "2018-09-01",
    "2018-11-01", "2019-03-01", "2019-05-01", "2019-05-10", "2019-06-01", "2019-07-01", "2019-08-01", "2019-09-01", "2019-10-01", "2019-11-01", "2020-01-01",
    "2020-05-01", "2020-06-01", "2020-07-01", "2020-08-01", "2020-09-01", "2020-10-01", "2021-01-01", "2021-04-01", "2022-01-01", "2022-05-01", "2022-06-01",
    "2022-09-01", "2022-12-01", "2023-03-01", "2023-07-01", "2024-03-01", "2024-07-01", "2024-11-01", "2025-03-01", "2025-04-01",
)  # fmt: skip
_STORAGE = (
    "2015-05-01-preview", "2015-06-15", "2016-01-01", "2016-05-01", "2016-12-01", "2017-06-01", "2017-10-01", "2018-02-01", "2018-03-01-preview", "2018-07-01",
    "2018-11-01", "2019-04-01", "2019-06-01", "2020-08-01-preview", "2021-01-01", "2021-02-01", "2021-04-01", "2021-05-01", "2021-06-01", "2021-08-01",
    "2021-09-01", "2022-05-01", "2022-09-01", "2023-01-01", "2023-04-01", "2023-05-01", "2024-01-01", "2025-01-01", "2025-06-01", "2025-08-01", "2026-04-01",
    "2026-09-01",
)  # fmt: skip
_FEDERATED = (
    "2022-01-31-preview",
    "2023-01-31",
    "2023-07-31-preview",
    "2024-11-30",
    "2025-01-31-preview",
    "2025-05-31-preview",
)
_IDENTITIES = ("2015-08-31-preview", "2018-11-30", "2021-09-30-preview", *_FEDERATED)
_ASSIGNMENTS = (
    "2014-07-01-preview", "2014-10-01-preview", "2015-05-01-preview", "2015-06-01", "2015-07-01", "2016-07-01", "2017-05-01", "2017-09-01",
    "2017-10-01-preview", "2018-01-01-preview", "2018-07-01", "2018-09-01-preview", "2018-12-01-preview", "2019-04-01-preview", "2020-03-01-preview",
    "2020-04-01-preview", "2020-08-01-preview", "2020-10-01-preview", "2021-04-01-preview", "2022-01-01-preview", "2022-04-01",
)  # fmt: skip
_DEFINITIONS = (
    "2014-07-01-preview",
    "2015-07-01",
    "2016-07-01",
    "2017-05-01",
    "2018-01-01-preview",
    "2018-07-01",
    "2022-04-01",
    "2022-05-01-preview",
)
_LOCKS = (
    "2015-01-01",
    "2015-05-01-preview",
    "2015-06-01",
    "2016-09-01",
    "2017-04-01",
    "2020-05-01",
)
_NETWORK = (
    "2018-05-01", "2018-09-01", "2020-01-01", "2020-06-01", "2020-11-01", "2021-02-01", "2021-08-01", "2022-01-01", "2022-05-01", "2022-07-01", "2023-02-01",
    "2023-07-01-preview", "2023-09-01", "2023-11-01", "2024-01-01", "2024-03-01", "2024-05-01", "2024-06-01", "2024-07-01", "2024-10-01", "2025-01-01",
    "2025-03-01",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    name: str
    versions: tuple[str, ...]

    @property
    def namespace(self) -> str:
        return self.name.partition("/")[0]

    @property
    def type(self) -> str:
        return self.name.partition("/")[2]


def _kinds(versions: tuple[str, ...], *names: str) -> dict[str, Kind]:
    return {name.lower(): Kind(name, versions) for name in names}


_ACCOUNTS = "Microsoft.Storage/storageAccounts"
KINDS: dict[str, Kind] = {
    **_kinds(
        _STORAGE, "Microsoft.Storage/checkNameAvailability", _ACCOUNTS, "Microsoft.Storage/locations/asyncoperations", f"{_ACCOUNTS}/blobServices",
        f"{_ACCOUNTS}/blobServices/containers", f"{_ACCOUNTS}/fileServices", f"{_ACCOUNTS}/queueServices", f"{_ACCOUNTS}/tableServices",
        f"{_ACCOUNTS}/managementPolicies", f"{_ACCOUNTS}/privateEndpointConnections", f"{_ACCOUNTS}/fileServices/shares",
        f"{_ACCOUNTS}/queueServices/queues", f"{_ACCOUNTS}/tableServices/tables",
    ),
    **_kinds(_IDENTITIES, "Microsoft.ManagedIdentity/userAssignedIdentities"),
    **_kinds(_FEDERATED, "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials"),
    **_kinds(_ASSIGNMENTS, "Microsoft.Authorization/roleAssignments", "Microsoft.Authorization/permissions"),
    **_kinds(_DEFINITIONS, "Microsoft.Authorization/roleDefinitions"),
    **_kinds(_LOCKS, "Microsoft.Authorization/locks"),
    **_kinds(CORE_VERSIONS, "Microsoft.Resources/tags"),
    **_kinds(
        _NETWORK, *(f"Microsoft.Network/{name}" for name in (
            "dnsZones", "privateDnsZones", "virtualNetworks", "virtualNetworks/subnets", "networkSecurityGroups", "routeTables", "publicIPAddresses",
            "natGateways",
        )),
    ),
}  # fmt: skip
CORE: dict[str, str] = {  # what has no provider in its address, with the words of its permission
    "subscriptions": "",
    "tenants": "",
    "providers": "",
    "subscriptions/{}": "Microsoft.Resources/subscriptions",
    "subscriptions/{}/locations": "Microsoft.Resources/subscriptions/locations",
    "subscriptions/{}/tagnames": "Microsoft.Resources/subscriptions/tagNames",
    "subscriptions/{}/resources": "Microsoft.Resources/subscriptions/resources",
    "subscriptions/{}/operationresults/{}": "Microsoft.Resources/subscriptions/operationresults",
    "subscriptions/{}/providers": "Microsoft.Resources/subscriptions/providers",
    "subscriptions/{}/providers/{}": "Microsoft.Resources/subscriptions/providers",
    "subscriptions/{}/providers/{}/register": "",
    "subscriptions/{}/providers/{}/unregister": "",
    "subscriptions/{}/resourcegroups": "Microsoft.Resources/subscriptions/resourceGroups",
    "subscriptions/{}/resourcegroups/{}": "Microsoft.Resources/subscriptions/resourceGroups",
    "subscriptions/{}/resourcegroups/{}/resources": "Microsoft.Resources/subscriptions/resourcegroups/resources",
}
NAMESPACES = sorted({kind.namespace for kind in KINDS.values()})


def find(request: Request, address: Address) -> Kind | None:
    """The type that is meant; an action belongs to the type that it is done with."""
    return KINDS.get(address.kind) or (
        KINDS.get(address.kind.rpartition("/")[0]) if request.method == "POST" else None
    )


def check(request: Request, address: Address, locations: tuple[str, ...]) -> None:
    version = request.asked.get("api-version", "")
    if not version:
        raise Refusal(
            400,
            "MissingApiVersionParameter",
            "The api-version query parameter (?api-version=) is required for all requests.",
        )
    kind = find(request, address)
    if address.shape in CORE:
        if version not in CORE_VERSIONS:
            supported = ",".join(reversed(CORE_VERSIONS))
            raise Refusal(
                400,
                "InvalidApiVersionParameter",
                f"The api-version '{version}' is invalid. The supported versions are '{supported}'.",
            )
    elif kind is None:
        raise _unknown(address, version)
    elif version.lower() not in kind.versions:
        words = (
            f"No registered resource provider found for location '{locations[0]}' and API version '{version}' for type '{kind.type}'. The supported"
            f" api-versions are '{', '.join(reversed(kind.versions))}'. The supported locations are '{', '.join(locations)}'."
        )
        raise Refusal(400, "NoRegisteredProviderFound", words)


def _unknown(address: Address, version: str) -> Refusal:
    namespace = next(
        (known for known in NAMESPACES if known.lower() == address.namespace.lower()), ""
    )
    if not address.namespace:
        return Refusal(404, "NotFound", f"The resource path '{address.id}' is not known.")
    if not namespace:
        return Refusal(
            404,
            "InvalidResourceNamespace",
            f"The resource namespace '{address.namespace}' is invalid.",
        )
    kind = "/".join(address.types)
    words = f"The resource type '{kind}' could not be found in the namespace '{namespace}' for api version '{version}'. The supported api-versions are ''."
    return Refusal(404, "InvalidResourceType", words)

"""Where each cloud has its regions, and how their names are written."""

from __future__ import annotations

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.clouds import Cloud

_OF = {
    "AzureCloud": (
        "eastus", "eastus2", "westus", "westus2", "westus3", "centralus", "northcentralus", "southcentralus", "westcentralus", "canadacentral", "canadaeast",
        "mexicocentral", "brazilsouth", "brazilsoutheast", "chilecentral", "northeurope", "westeurope", "uksouth", "ukwest", "francecentral", "francesouth",
        "germanywestcentral", "germanynorth", "switzerlandnorth", "switzerlandwest", "norwayeast", "norwaywest", "swedencentral", "polandcentral",
        "italynorth", "spaincentral", "austriaeast", "uaenorth", "uaecentral", "qatarcentral", "israelcentral", "southafricanorth", "southafricawest",
        "centralindia", "southindia", "westindia", "jioindiawest", "eastasia", "southeastasia", "japaneast", "japanwest", "koreacentral", "koreasouth",
        "australiaeast", "australiasoutheast", "australiacentral", "newzealandnorth", "indonesiacentral", "malaysiawest",
    ),
    "AzureUSGovernment": ("usgovvirginia", "usgovarizona", "usgovtexas", "usdodcentral", "usdodeast"),
    "AzureChinaCloud": ("chinanorth", "chinanorth2", "chinanorth3", "chinaeast", "chinaeast2", "chinaeast3"),
}  # fmt: skip


def known(cloud: Cloud) -> tuple[str, ...]:
    return _OF[cloud.name]


def normal(location: str) -> str:
    """`East US` is `eastus`."""
    return location.replace(" ", "").lower()


def needed(found: object) -> str:
    if not isinstance(found, str) or not found.strip():
        raise Refusal(
            400, "LocationRequired", "The location property is required for this definition."
        )
    return normal(found)


def available(cloud: Cloud, found: object, kind: str) -> str:
    """A region of this cloud, for a thing of this type."""
    location = needed(found)
    if location not in known(cloud):
        regions = ",".join(known(cloud))
        words = f"The provided location '{found}' is not available for resource type '{kind}'. List of available regions for the resource type is '{regions}'."
        raise Refusal(400, "LocationNotAvailableForResourceType", words)
    return location

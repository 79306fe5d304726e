"""Azure's three clouds: each has its own hosts, and believes only tokens that were made for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cloud:
    name: str
    authorities: tuple[str, ...]  # the first is what the others redirect to
    management: str
    audiences: tuple[str, ...]  # under which its management knows itself
    suffix: str  # of its storage hosts
    others: tuple[str, ...]  # what else tokens are asked for here

    @property
    def authority(self) -> str:
        return self.authorities[0]


CLOUDS = (
    Cloud(
        "AzureCloud",
        (
            "login.microsoftonline.com",
            "login.windows.net",
            "login.microsoft.com",
            "sts.windows.net",
        ),
        "management.azure.com",
        ("https://management.azure.com", "https://management.core.windows.net"),
        "core.windows.net",
        ("https://graph.microsoft.com", "https://vault.azure.net"),
    ),
    Cloud(
        "AzureUSGovernment",
        ("login.microsoftonline.us", "login.usgovcloudapi.net"),
        "management.usgovcloudapi.net",
        ("https://management.usgovcloudapi.net", "https://management.core.usgovcloudapi.net"),
        "core.usgovcloudapi.net",
        ("https://graph.microsoft.us", "https://vault.usgovcloudapi.net"),
    ),
    Cloud(
        "AzureChinaCloud",
        ("login.partner.microsoftonline.cn", "login.chinacloudapi.cn"),
        "management.chinacloudapi.cn",
        ("https://management.chinacloudapi.cn", "https://management.core.chinacloudapi.cn"),
        "core.chinacloudapi.cn",
        ("https://microsoftgraph.chinacloudapi.cn", "https://vault.azure.cn"),
    ),
)

STORAGE = "https://storage.azure.com"  # all storage of all clouds; besides, each account is an audience of its own
BY_AUTHORITY = {host: cloud for cloud in CLOUDS for host in cloud.authorities}
BY_MANAGEMENT = {cloud.management: cloud for cloud in CLOUDS}
BY_SUFFIX = {cloud.suffix: cloud for cloud in CLOUDS}

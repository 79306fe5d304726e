"""Azure's separate worlds: where each is logged in to, managed and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl.audiences import AZURE, Asker
from cwiictl.errors import BadInput
from cwiictl.shapes import nearest


@dataclass(frozen=True)
class Environment:
    name: str
    authority: str  # the host that credentials are shown to
    manager: str  # the host of Azure Resource Manager
    storage: str  # what the hosts of storage end with

    @property
    def scope(self) -> str:
        """For whom the operator's own tokens are."""
        return f"https://{self.manager}/.default"

    @property
    def audiences(self) -> Mapping[Asker, str]:
        return AZURE[self.name]

    def blobs(self, account: str) -> str:
        """The host that serves an account's blobs."""
        return f"{account}.blob.{self.storage}"


PUBLIC = "AzurePublicCloud"

ENVIRONMENTS = (
    Environment(PUBLIC, "login.microsoftonline.com", "management.azure.com", "core.windows.net"),
    Environment(
        "AzureUSGovernmentCloud",
        "login.microsoftonline.us",
        "management.usgovcloudapi.net",
        "core.usgovcloudapi.net",
    ),
    Environment(
        "AzureChinaCloud",
        "login.chinacloudapi.cn",
        "management.chinacloudapi.cn",
        "core.chinacloudapi.cn",
    ),
)


def environment(name: str) -> Environment:
    known = {each.name.lower(): each for each in ENVIRONMENTS}
    found = known.get((name or PUBLIC).lower())
    if found is None:
        raise BadInput(
            f"Azure has no environment {name!r}",
            remedy=nearest(name, [each.name for each in ENVIRONMENTS], key="--azure-env "),
        )
    return found

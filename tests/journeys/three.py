"""The same ground, seen from three sides: one sandbox, one cluster, all clouds."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.azure.world import SUBSCRIPTION, TENANT
from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import ACCOUNT, two_azure_requests, two_gcp_requests, two_requests
from tests.journeys import ground as aws
from tests.journeys.azure import ground as azure
from tests.journeys.azure.ground import AzureGround
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.ground import GcpGround
from tests.journeys.ground import NAME, Ground

CLOUDS = ("aws", "azure", "gcp")
EACH = (
    "--aws-region",
    "us-east-1",
    "--azure-region",
    "eastus",
    "--subscription-id",
    SUBSCRIPTION,
    "--project",
    PROJECT,
)


def all_requests() -> dict[str, str]:
    """Two of each cloud."""
    others = {"azure": two_azure_requests(), "gcp": two_gcp_requests()}
    return {
        **two_requests(),
        **{
            f"{cloud}-{name}": content
            for cloud, files in others.items()
            for name, content in files.items()
        },
    }


class All(Ground):
    """The same sandbox, seen from three sides."""

    where = (*(word for cloud in CLOUDS for word in ("--cloud", cloud)), "--name", NAME, *EACH)

    @property
    def azure(self) -> AzureGround:
        return AzureGround(self.sandbox, self.folder)

    @property
    def gcp(self) -> GcpGround:
        return GcpGround(self.sandbox, self.folder)

    def clouds(self) -> dict[str, Any]:
        return {
            "aws": super().clouds(),
            "azure": {**self.azure.clouds(), "groups": {}},
            "gcp": self.gcp.clouds(),
        }

    def believed(self, issuer: str, number: int = 0) -> tuple[bool, ...]:
        """Whether a token of the cluster is worth something in each of them."""
        aws_, azure_, gcp_ = (self.token(number, iss=issuer, aud=["openshift"]) for _ in CLOUDS)
        return self._in_aws(aws_), self._in_azure(azure_), by_hand.exchanged(self.gcp, gcp_).ok

    def _in_aws(self, token: str) -> bool:
        with self.aws("sts") as sts:
            try:
                sts.assume_role_with_web_identity(
                    RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{aws.INGRESS}",
                    RoleSessionName="pod",
                    WebIdentityToken=token,
                )
            except sts.exceptions.ClientError:
                return False
            return True

    def _in_azure(self, token: str) -> bool:
        identity = self.azure.arm("GET", self.azure.identity(azure.INGRESS))
        form = {
            "grant_type": "client_credentials",
            "client_id": identity["properties"]["clientId"] if identity else SUBSCRIPTION,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": token,
            "scope": "https://management.azure.com/.default",
        }
        return self.azure.session.post(
            f"https://login.microsoftonline.com/{TENANT}/oauth2/v2.0/token", data=form, timeout=30
        ).ok


@contextmanager
def asked(folder: Path) -> Generator[All]:
    """With its keys and requests: nothing is made yet."""
    with Sandbox(Settings(deploy=0.0)) as sandbox:
        ground = All(sandbox, folder)
        ground.requests(all_requests())
        ground.keys()
        yield ground

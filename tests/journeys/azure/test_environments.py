"""Azure's other worlds: everything is in the one that was named, and nothing is asked of any other."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import yaml

from cwiictl.clouds.azure.environments import ENVIRONMENTS, Environment
from cwiictl.sandbox.azure.world import SUBSCRIPTION, TENANT
from tests.journeys.azure.ground import ACCOUNT, CONTAINER, NAME, AzureGround

REGIONS = {"AzureUSGovernmentCloud": "usgovvirginia", "AzureChinaCloud": "chinanorth3"}
OTHERS = [each for each in ENVIRONMENTS if each.name in REGIONS]
OTHER_AUTHORITY = {
    "AzureChinaCloud": "login.partner.microsoftonline.cn"
}  # the same, as China prefers to call it
SECRET = "out/manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml"
POD = "from azure.identity import WorkloadIdentityCredential as Credential; Credential().get_token('https://{}/.default')"


def there(place: Environment) -> tuple[str, ...]:
    return (
        "--cloud",
        "azure",
        "--name",
        NAME,
        "--region",
        REGIONS[place.name],
        "--subscription-id",
        SUBSCRIPTION,
        "--azure-env",
        place.name,
    )


def client(ground: AzureGround) -> str:
    """Of the identity that the request got."""
    return yaml.safe_load((ground.folder / SECRET).read_text(encoding="utf-8"))["stringData"][
        "azure_client_id"
    ]


def exchanged(ground: AzureGround, place: Environment, identity: str, **claims: Any) -> bool:
    """By a pod that knows who it is to be, and where it runs."""
    told = {
        "AZURE_CLIENT_ID": identity,
        "AZURE_TENANT_ID": TENANT,
        "AZURE_FEDERATED_TOKEN_FILE": str(
            ground.write(
                "token", ground.token(iss=f"https://{place.blobs(ACCOUNT)}/{CONTAINER}", **claims)
            )
        ),
        "AZURE_AUTHORITY_HOST": f"https://{place.authority}/",
    }
    environment = {
        name: value
        for name, value in ground.sandbox.environment().items()
        if not name.startswith("AZURE_")
    }
    code = [sys.executable, "-c", POD.format(place.manager)]
    return (
        subprocess.run(
            code, env={**environment, **told}, capture_output=True, timeout=60, check=False
        ).returncode
        == 0
    )


@pytest.mark.parametrize("place", OTHERS, ids=lambda place: place.name)
def test_a_cluster_is_trusted_there_as_anywhere_and_leaves_nothing(
    ground: AzureGround, place: Environment
) -> None:
    ground.keys()
    first, again = (
        ground.cwiictl("create-all", *there(place), *ground.asking, "-o", "json") for _ in range(2)
    )
    assert (first.code, again.code, again.but("as wanted")) == (0, 0, {}), first.out

    assert exchanged(ground, place, client(ground))
    assert not exchanged(
        ground, place, client(ground), aud=[place.audiences["webhook"]]
    )  # nobody said that the webhook serves it

    done = ground.cwiictl("delete", *there(place), "--yes", "--delete-oidc-resource-group")
    assert done.code == 0, done.out
    hosts = {seen.host for seen in ground.sandbox.record} - {OTHER_AUTHORITY.get(place.name)}
    assert hosts == {place.manager, place.authority, place.blobs(ACCOUNT)}


@pytest.mark.parametrize("place", OTHERS, ids=lambda place: place.name)
def test_what_the_webhook_serves_is_trusted_for_that_worlds_own_audience(
    ground: AzureGround, place: Environment
) -> None:
    ground.keys()
    assert (
        ground.cwiictl("create-identity-provider", *there(place), "--output-dir", "out").code == 0
    )

    done = ground.cwiictl(
        "create-identity",
        *there(place),
        "-n",
        "shop",
        "--service-account",
        "cart",
        "--role",
        "Reader",
        "-o",
        "yaml",
    )

    assert done.code == 0, done.err
    identity = yaml.safe_load(done.out)["metadata"]["annotations"][
        "azure.workload.identity/client-id"
    ]
    subject = "system:serviceaccount:shop:cart"
    assert exchanged(ground, place, identity, sub=subject, aud=[place.audiences["webhook"]])
    assert not exchanged(ground, place, identity, sub=subject, aud=["api://AzureADTokenExchange"])

"""create-all for a dozen requests, compared with what is known to be right: the tree of files, and everything in the subscription.

GOLDEN=renew scripts/test tests/journeys/azure/test_golden.py

writes the golden files anew; read the difference before it is committed. Neither key material nor ids that Azure gives are in them: words stand for these.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import ACCOUNT, CONTAINER, LENT, PERMISSIONS, WHOLE, AzureGround
from tests.journeys.azure.release import a_dozen_azure_requests
from tests.journeys.goldens import compared

GROUPS = ("--dnszone-resource-group-name", "zones", "--network-resource-group-name", "Network")
LEGAL = re.compile(r"[a-zA-Z0-9][-\w]{2,119}")
OURS = {"cwii.dev_cluster_demo": "owned", "openshift.io_cloud-credential-operator_demo": "owned"}


@pytest.fixture
def made(enter: Enter) -> AzureGround:
    ground = enter()
    ground.requests(a_dozen_azure_requests())
    for group in ("zones", "network"):
        ground.arm("PUT", f"{WHOLE}/resourceGroups/{group}", {"location": "westus"})
    done = ground.create_all(*GROUPS, "--user-tags", "costs=ours")
    assert done.code == 0, done.err
    assert done.but("created", "given back") == dict.fromkeys(PERMISSIONS, "as wanted")
    assert done.things[LENT] == "given back"
    return ground


def test_the_tree_is_the_golden_one(made: AzureGround) -> None:
    _, tree = made.everything()
    modes = "".join(f"{mode:04o} {path}\n" for path, (mode, _) in tree.items())

    compared(
        "azure/tree",
        {f"out/{path}": content for path, (_, content) in tree.items()} | {"modes": modes.encode()},
    )


def test_the_subscription_is_the_golden_one(made: AzureGround) -> None:
    clouds, _ = made.everything()
    documents = clouds["accounts"][ACCOUNT]["containers"][CONTAINER]["documents"]
    bodies = {
        f"{CONTAINER}/{path}": thing.pop("body").encode() for path, thing in documents.items()
    }

    compared(
        "azure/account",
        bodies | {"things.json": f"{json.dumps(clouds, indent=2, sort_keys=True)}\n".encode()},
    )


def test_the_subscription_says_what_ccoctls_users_know(made: AzureGround) -> None:
    """What must not change even when the golden files are renewed without reading them."""
    clouds: dict[str, Any] = made.clouds()
    credentials = [
        each
        for identity in clouds["identities"].values()
        for each in identity["credentials"].items()
    ]
    account = clouds["accounts"][ACCOUNT]

    assert len(clouds["identities"]) == 12
    assert len(credentials) == 18
    assert (
        len(clouds["assignments"])
        == len({json.dumps(each) for each in clouds["assignments"]})
        == 22
    )
    assert all(
        each["audiences"] == ["openshift"] and LEGAL.fullmatch(name) for name, each in credentials
    )
    assert all(
        each["type"] == "ServicePrincipal" and each["principal"] in clouds["identities"]
        for each in clouds["assignments"]
    )
    assert account["containers"][CONTAINER]["public"] == "Blob"
    assert sorted(account["containers"][CONTAINER]["documents"]) == [
        ".well-known/openid-configuration",
        "openid/v1/jwks",
    ]
    assert (
        account["minimumTlsVersion"],
        account["allowSharedKeyAccess"],
        account["supportsHttpsTrafficOnly"],
    ) == ("TLS1_2", False, True)
    for thing in (
        *clouds["identities"].values(),
        account,
        clouds["groups"]["demo"],
        clouds["groups"]["demo-oidc"],
    ):
        assert thing["tags"].items() >= {**OURS, "Name": "demo", "costs": "ours"}.items()
    assert clouds["groups"]["zones"]["tags"] == clouds["groups"]["network"]["tags"] == {}

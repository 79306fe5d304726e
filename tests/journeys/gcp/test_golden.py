"""create-all for twenty requests, compared with what is known to be right: the tree of files, and everything in the project.

GOLDEN=renew scripts/test tests/journeys/gcp/test_golden.py

writes the golden files anew; read the difference before it is committed. Key material never is in them: words stand for it.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import yaml

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys.gcp.ground import AUDIENCE, BUCKET, NAME, PERMISSIONS, POOL, PROVIDER, GcpGround
from tests.journeys.gcp.release import twenty_gcp_requests
from tests.journeys.goldens import compared

OURS = {
    "cwii-dev_cluster_demo": "owned",
    "openshift-io_cloud-credential-operator_demo": "owned",
    "name": NAME,
    "costs": "ours",
}
MARK = "cwii.dev/cluster/demo=owned cwii.dev/origin=create-all"

Made = tuple[Any, dict[str, tuple[int, bytes]]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The project and the folder, after one run for all tests."""
    with Sandbox(Settings(deploy=0.2)) as sandbox:
        ground = GcpGround(sandbox, tmp_path_factory.mktemp("made"))
        ground.requests(twenty_gcp_requests())
        done = ground.create_all("--user-tags", "costs=ours")
        assert done.code == 0, done.err
        assert done.but("created") == {PERMISSIONS: "as wanted", f"gcp/policy/{PROJECT}": "updated"}
        return ground.everything()


def test_the_tree_is_the_golden_one(made: Made) -> None:
    _, tree = made
    modes = "".join(f"{mode:04o} {path}\n" for path, (mode, _) in tree.items())

    compared(
        "gcp/tree",
        {f"out/{path}": content for path, (_, content) in tree.items()} | {"modes": modes.encode()},
    )


def test_the_project_is_the_golden_one(made: Made) -> None:
    clouds = json.loads(json.dumps(made[0]))
    bodies = {
        f"{BUCKET}/{path}": thing.pop("body").encode()
        for path, thing in clouds["buckets"][BUCKET]["objects"].items()
    }

    compared(
        "gcp/account",
        bodies | {"things.json": f"{json.dumps(clouds, indent=2, sort_keys=True)}\n".encode()},
    )


def test_the_project_says_what_ccoctls_users_know(made: Made) -> None:
    """What must not change even when the golden files are renewed without reading them."""
    clouds, tree = made
    bucket, pool = clouds["buckets"][BUCKET], clouds["pools"][POOL]
    provider = pool["providers"][PROVIDER]
    secrets: list[Any] = [
        yaml.safe_load(content)
        for path, (_, content) in tree.items()
        if path.endswith("-credentials.yaml")
    ]
    files = [
        json.loads(base64.b64decode(secret["data"]["service_account.json"])) for secret in secrets
    ]

    assert list(clouds["buckets"]) == [BUCKET]
    assert (bucket["uniform"], bucket["prevention"], bucket["labels"]) == (
        True,
        "inherited",
        {**OURS, "cwii-dev_origin": "create-all"},
    )
    assert sorted(bucket["objects"]) == [".well-known/openid-configuration", "keys.json"]
    assert all(
        each["contentType"] == "application/json" and each["cacheControl"] == "public, max-age=60"
        for each in bucket["objects"].values()
    )
    assert provider["oidc"] == {
        "issuerUri": f"https://storage.googleapis.com/{BUCKET}",
        "allowedAudiences": [AUDIENCE, f"https:{AUDIENCE}", "openshift", "sts.googleapis.com"],
    }
    assert provider["attributeMapping"] == {"google.subject": "assertion.sub"}
    assert len(clouds["accounts"]) == len(secrets) == 20
    assert all((file["type"], file["audience"]) == ("external_account", AUDIENCE) for file in files)
    acting = sorted(
        file["service_account_impersonation_url"].rpartition("/")[2].partition(":")[0]
        for file in files
    )
    assert acting == sorted(clouds["accounts"])
    assert all(len(email.partition("@")[0]) <= 30 for email in clouds["accounts"])
    assert all(
        each["displayName"].startswith(f"{NAME}-") and len(each["displayName"]) <= 100
        for each in clouds["accounts"].values()
    )
    for each in clouds["accounts"].values():
        (binding,) = each["bindings"]
        assert binding["role"] == "roles/iam.workloadIdentityUser"
        assert all(
            member.startswith("principal://")
            and f"/{POOL}/subject/system:serviceaccount:" in member
            for member in binding["members"]
        )
    assert all(
        thing["description"].endswith(MARK)
        for thing in (pool, provider, *clouds["accounts"].values())
    )


def test_each_is_granted_what_it_asked_for_and_shares_custom_roles(made: Made) -> None:
    """Of five who ask for permissions two ask for the same."""
    clouds, _ = made
    given = {binding["role"]: binding["members"] for binding in clouds["policies"][PROJECT]}

    assert sum(len(members) for members in given.values()) == 29
    assert sorted(len(given[f"projects/{PROJECT}/roles/{role}"]) for role in clouds["roles"]) == [
        1,
        1,
        1,
        2,
    ]
    assert len(given["roles/dns.admin"]) == len(given["roles/iam.serviceAccountUser"]) - 1 == 3
    assert clouds["policies"]["cwii-second"] == []

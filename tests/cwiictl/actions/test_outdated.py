"""What tells of what is gone is found by the names in it, however they are written there."""

from __future__ import annotations

import json
from pathlib import Path

from cwiictl import files, manifests
from cwiictl.actions.outdated import outdated
from cwiictl.model import Binding, Workload

EMAIL = "demo-shop-71be9df0@example.iam.gserviceaccount.com"
IMPERSONATION = f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken"
FILE = json.dumps(
    {"type": "external_account", "service_account_impersonation_url": IMPERSONATION}, indent=2
).encode()
WORKLOAD = Workload("shop", "billing", ("billing",))


def test_a_file_in_a_secret_and_one_by_itself_tell_of_the_service_account_that_is_in_them(
    tmp_path: Path,
) -> None:
    secret = manifests.secret(
        files.template("openshift/secret.yaml"),
        [Binding(WORKLOAD, "gcp", {"service_account.json": FILE}, {})],
    )
    files.write(
        tmp_path,
        {
            "manifests/billing.yaml": manifests.dump(secret),
            "kubeadm/credentials/billing.json": FILE,
            "manifests/other.yaml": b"a: b\n",
        },
    )

    assert outdated(tmp_path, ["gcp/service-account/demo-shop-71be9df0"]) == (
        str(tmp_path / "manifests/billing.yaml"),
        str(tmp_path / "kubeadm/credentials/billing.json"),
    )
    without = json.dumps(
        {
            "type": "external_account",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/demo/providers/demo",
        }
    )
    files.write(tmp_path, {"kubeadm/credentials/without.json": without.encode()})
    assert outdated(tmp_path, ["gcp/provider/demo/demo"]) == (
        str(tmp_path / "kubeadm/credentials/without.json"),
    )
    assert outdated(tmp_path, ["gcp/principal/shop:without"]) == ()
    files.write(
        tmp_path,
        {
            "kubeadm/credentials/shop-without.json": without.encode(),
            "manifests/shop-without-credentials.yaml": b"a: b\n",
        },
    )
    assert outdated(tmp_path, ["gcp/principal/shop:without"]) == (
        str(tmp_path / "manifests/shop-without-credentials.yaml"),
        str(tmp_path / "kubeadm/credentials/shop-without.json"),
    )
    assert (
        outdated(
            tmp_path,
            [
                "gcp/provider/demo/dem",
                "gcp/service-account/demo-shop-71be9df1",
                "gcp/service-account/shop-71be9df0",
            ],
        )
        == ()
    )


def test_an_identity_with_a_name_of_its_own_is_found_by_what_the_cloud_calls_it(
    tmp_path: Path,
) -> None:
    client = "9e856068-a63a-4955-958d-b972e21a8a0d"
    secret = manifests.secret(
        files.template("openshift/secret.yaml"),
        [Binding(WORKLOAD, "azure", {"azure_client_id": client}, {})],
    )
    files.write(tmp_path, {"manifests/shop-billing-credentials.yaml": manifests.dump(secret)})

    assert outdated(tmp_path, ["azure/identity/demo-oidc/house"], {client}) == (
        str(tmp_path / "manifests/shop-billing-credentials.yaml"),
    )
    assert outdated(tmp_path, ["azure/identity/demo-oidc/house"], {client.replace("9", "8")}) == ()

"""Pods on the map, as a real API server lists them."""

from __future__ import annotations

from pathlib import Path

from cwiictl.actions.order import Reach as Reached
from cwiictl.actions.picture import pods
from tests.cluster.kube.reach import Reach


def a_pod(name: str, account: str) -> dict[str, object]:
    spec = {
        "serviceAccountName": account,
        "containers": [{"name": "main", "image": "none"}],
        "automountServiceAccountToken": False,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def test_pods_are_found_by_their_service_account_and_one_without_any_is_there_too(
    reach: Reach, tmp_path: Path
) -> None:
    admin, place = reach.admin, "/api/v1/namespaces/pictured"
    admin.create(
        "/api/v1/namespaces",
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pictured"}},
    )
    for account in ("billing", "idle"):
        admin.create(
            f"{place}/serviceaccounts",
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}},
        )
    for name in ("billing-2", "billing-1"):
        admin.create(f"{place}/pods", a_pod(name, "billing"))
    pair = reach.authority.client("admin", "system:masters")
    kubeconfig = Path(reach.authority.kubeconfig(tmp_path / "admin.conf", reach.urls[0], pair))

    found = pods(Reached(kubeconfig, ""))

    assert {account: names for account, names in found.items() if account[0] == "pictured"} == {
        ("pictured", "billing"): ("billing-1", "billing-2"),
        ("pictured", "idle"): (),
    }

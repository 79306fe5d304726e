"""`create-identities --preset hypershift-gcp`: what `hypershift create iam gcp` makes, made like everything else."""

from __future__ import annotations

import json

import pytest

from cwiictl.sandbox.gcp.world import NUMBER, PROJECT
from tests.journeys.gcp.ground import NOTHING, GcpGround
from tests.journeys.ground import NAME, Done

POOL, PROVIDER = f"{NAME}-wi-pool", f"{NAME}-k8s-provider"
PLACE = (
    "--workload-identity-pool",
    POOL,
    "--workload-identity-provider",
    PROVIDER,
    "--key-storage-method",
    "pool-jwk-file",
)
COMPONENTS = (
    "nodepool-mgmt",
    "ctrlplane-op",
    "cloud-controller",
    "gcp-pd-csi",
    "image-registry",
    "cloud-network",
)


def run(ground: GcpGround) -> Done:
    return ground.cwiictl(
        "create-identities",
        *ground.where,
        *PLACE,
        "--preset",
        "hypershift-gcp",
        "--output-file",
        "iam.json",
        "-o",
        "json",
    )


@pytest.fixture
def guest(ground: GcpGround) -> GcpGround:
    """With the provider that hypershift makes, whose keys are in itself."""
    ground.keys()
    done = ground.cwiictl(
        "create-identity-provider", *ground.where, *PLACE, "--output-dir", "out", "-o", "json"
    )
    assert done.code == 0, done.out
    return ground


def test_it_makes_the_identities_tells_hypershift_who_they_are_and_all_of_it_goes(
    guest: GcpGround,
) -> None:
    done = run(guest)

    assert done.code == 0, done.err
    assert json.loads((guest.folder / "iam.json").read_text(encoding="utf-8")) == {
        "projectId": PROJECT,
        "projectNumber": NUMBER,
        "infraId": NAME,
        "workloadIdentityPool": {"poolId": POOL, "providerId": PROVIDER, "audience": "openshift"},
        "serviceAccounts": {
            component: f"{NAME}-{component}@{PROJECT}.iam.gserviceaccount.com"
            for component in COMPONENTS
        },
    }
    assert done.data["files"] == ["iam.json"], "and no Secrets: HyperShift writes its own"
    guest.fresh()
    again = run(guest)
    assert (again.code, guest.mutating()) == (0, [])

    where = ("status", *guest.where, *PLACE, "--output-dir", "out", "-o", "json")
    judged, shown = guest.cwiictl(*where, "--preset", "hypershift-gcp"), guest.cwiictl(*where)
    assert (judged.code, judged.but("as wanted")) == (0, {})
    assert (shown.code, set(shown.but("as wanted").values())) == (
        0,
        {"present"},
    )  # who should have an identity was not said
    assert shown.but("as wanted").keys() < judged.things.keys()

    gone = guest.cwiictl("delete", *guest.where, *PLACE[:4], "--yes", "-o", "json")
    assert gone.code == 0, gone.out
    assert {**guest.clouds(), "pools": {}} == NOTHING

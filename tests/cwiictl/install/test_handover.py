"""The ids that create-all leaves for the webhook are values that it can be installed with."""

from __future__ import annotations

import yaml

from cwiictl.install import given, handover
from cwiictl.model import Binding, Workload

PROVIDER = "projects/1/locations/global/workloadIdentityPools/prod/providers/prod"
FACTS = {
    "aws_region": "eu-west-1",
    "azure_tenant_id": "t",
    "azure_environment": "AzurePublicCloud",
    "another": "fact",
}
GOOGLE = Binding(
    Workload("shop", "billing", ("billing",)),
    "gcp",
    {},
    {"cwii.dev/gcp-audience": f"//iam.googleapis.com/{PROVIDER}"},
)


def test_what_came_out_of_each_cloud_is_told() -> None:
    told = handover.told(FACTS, [GOOGLE])

    assert told == {
        "aws": {"region": "eu-west-1"},
        "azure": {"tenantId": "t", "environment": "AzurePublicCloud"},
        "gcp": {"provider": PROVIDER},
    }
    found = given.values(given.read("webhook.yaml", handover.file(b"", told)))
    assert (found.aws.region, found.azure.tenant_id, found.gcp.provider) == (
        "eu-west-1",
        "t",
        PROVIDER,
    )


def test_of_a_cloud_that_was_not_asked_nothing_is_told() -> None:
    assert handover.told({}, []) == {}
    assert (
        handover.told(
            {},
            [
                Binding(
                    GOOGLE.workload, "gcp", {}, {"cwii.dev/gcp-audience": "//iam.another.world/p"}
                )
            ],
        )
        == {}
    )


def test_what_lies_there_of_other_clouds_and_of_people_stays() -> None:
    lying = yaml.safe_dump(
        {
            "aws": {"region": "us-east-1", "audience": "mine"},
            "azure": {"tenantId": "old"},
            "replicas": 3,
        }
    ).encode()

    made = yaml.safe_load(handover.file(lying, {"azure": {"tenantId": "new"}}))

    assert made == {
        "aws": {"region": "us-east-1", "audience": "mine"},
        "azure": {"tenantId": "new"},
        "replicas": 3,
    }

"""For whom an identity was made, as far as its name and its credentials say so."""

from __future__ import annotations

import pytest

from cwiictl import names
from cwiictl.clouds.azure.recognition import recognised
from cwiictl.clouds.azure.resources.identity import Credential, IdentityState
from tests.examples import a_cluster, a_workload


def found(title: str, *subjects: str) -> tuple[str, tuple[str, ...]] | None:
    credentials = frozenset(
        Credential("https://issuer", f"system:serviceaccount:{each}", "aud") for each in subjects
    )
    asked = recognised(
        a_cluster(), f"group/{title}", IdentityState(region="eastus", credentials=credentials)
    )
    return (asked[0].namespace, asked[0].service_accounts) if asked else None


def test_of_those_who_are_let_in_the_ones_of_its_namespace_count() -> None:
    assert found("demo-shop-billing", "shop:billing", "shop:jobs", "other:billing") == (
        "shop",
        ("billing", "jobs"),
    )


@pytest.mark.parametrize("subjects", [(), ("other:billing",), ("shop",)])
def test_nobody_of_its_namespace_is_nobody(subjects: tuple[str, ...]) -> None:
    assert found("demo-shop-billing", *subjects) is None


@pytest.mark.parametrize("namespace", ["windows-shop", "microsoft"])
def test_a_name_that_azure_withholds_hides_its_namespace_and_nobody_is_accused(
    namespace: str,
) -> None:
    title = names.identity(
        a_cluster(), a_workload(namespace=namespace, name="billing", service_accounts=("billing",))
    )

    assert namespace not in title
    assert found(title, f"{namespace}:billing") == (namespace, ("billing",))

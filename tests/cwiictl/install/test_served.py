"""What not every cluster serves: it is left out and said, or refused where it was asked for by name."""

from __future__ import annotations

import pytest

from cwiictl.errors import BadInput
from cwiictl.install.objects import objects
from cwiictl.install.served import EVERYTHING, Served, foregone
from tests.cwiictl.install.installed import of, some

OF_1_28, OF_1_29 = Served(policies=False, flow="v1beta3"), Served(policies=False)


@pytest.mark.parametrize("served", [OF_1_28, OF_1_29, EVERYTHING, Served(flow="")])
def test_what_a_cluster_does_not_serve_is_left_out_and_said(served: Served) -> None:
    values = of("config-maps")
    flows = {
        each["apiVersion"]
        for each in objects(values, served)
        if "flowcontrol" in each["apiVersion"]
    }
    policies = {
        each["metadata"]["name"]
        for each in objects(values, served)
        if each["kind"] == "ValidatingAdmissionPolicy"
    }
    told = list(foregone(values, served))

    assert flows == ({f"flowcontrol.apiserver.k8s.io/{served.flow}"} if served.flow else set())
    assert policies == (
        {"cwii-webhook-renewer", "cwii-webhook-config-maps"} if served.policies else set()
    )
    assert any(
        "nothing but bundles in its configuration and the webhook writes no ConfigMaps but its own"
        in each
        for each in told
    ) is (not served.policies)
    assert any("no priority level of their own" in each for each in told) is (not served.flow)


def test_what_is_not_there_is_not_missed_by_who_would_not_have_it() -> None:
    nowhere = Served(policies=False, flow="")

    assert (
        list(foregone(some(certificates={"by": "cert-manager"}, flowControl=False), nowhere)) == []
    )


def test_what_an_older_kubernetes_cannot_see_to_is_refused() -> None:
    with pytest.raises(
        BadInput, match="require needs ValidatingAdmissionPolicy, which the cluster does not serve"
    ):
        objects(some(require=True), OF_1_29)

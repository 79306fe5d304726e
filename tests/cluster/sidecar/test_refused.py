"""What stands against it is said before anything is written, in either cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.actions import sidecar
from cwiictl.engine.resource import silent
from cwiictl.errors import BadInput, Conflict, Denied
from tests.cluster.hosted import Hosted, conditions
from tests.cluster.sidecar.operators import operator

pytestmark = pytest.mark.timeout(180)
azure = pytest.mark.parametrize("flavour", ["azure"])


@azure
def test_a_container_of_that_name_that_is_another_s_is_left_alone(hosted: Hosted) -> None:
    theirs = {"name": "azure-workload-identity-webhook", "image": "example.org/payload:1"}
    hosted.admin.patch(
        f"{hosted.deployments}/kube-apiserver",
        {"spec": {"template": {"spec": {"containers": [theirs]}}}},
        "strategic",
    )
    before = hosted.deployment()

    with pytest.raises(
        Conflict, match="has a container azure-workload-identity-webhook already, which is not ours"
    ) as refused:
        hosted.install()

    assert "--flavour cwii" in refused.value.remedy
    assert hosted.deployment() == before


@azure
def test_an_api_server_takes_one_flavour_and_another_is_not_put_in_its_place(
    hosted: Hosted,
) -> None:
    """Not even where it is to be adopted: the first would be left with a configuration, and nobody to answer."""
    hosted.install()
    where = f"k8s/Deployment/{hosted.namespace}/kube-apiserver"
    other = replace(hosted.beside(), flavour="cwii")

    with pytest.raises(
        Conflict, match=f"{where} has the sidecar azure.{hosted.namespace} already, and takes one"
    ):
        sidecar.install(
            replace(other, order=replace(other.order, adopt=frozenset({where}))),
            silent,
            lambda _: True,
        )

    assert set(conditions(hosted.install()).values()) == {"as wanted"}


@azure
def test_what_is_not_there_is_said_before_anything_is_written(hosted: Hosted) -> None:
    with pytest.raises(BadInput, match=r"there is no Deployment .*/another"):
        hosted.install(deployment="another")
    hosted.admin.delete(f"/api/v1/namespaces/{hosted.namespace}/secrets/root-ca")
    with pytest.raises(BadInput, match=r"there is no Secret .*/root-ca with a CA"):
        hosted.install()

    assert secrets(hosted) == {"cluster-signer-ca"}


@azure
def test_of_what_is_another_s_nothing_is_changed_and_only_that_is_told(hosted: Hosted) -> None:
    """And not all that would have been written."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    hosted.admin.create(roles, {"metadata": {"name": "azure-workload-identity-webhook"}})

    told = hosted.tried()

    assert (told.code, told.manifest) == (Conflict.code, b"")
    assert conditions(told)["k8s/ClusterRole@guest/azure-workload-identity-webhook"] == "foreign"
    hosted.admin.delete(f"{roles}/azure-workload-identity-webhook")
    assert secrets(hosted) == {"root-ca", "cluster-signer-ca"}


LACKING = {
    "list validatingadmissionpolicies": "hosted cluster",
    "patch clusterroles": "hosted cluster",
    "list secrets": "management cluster",
    "patch deployments": "management cluster",
}


@azure
@pytest.mark.parametrize("lacking", LACKING)
def test_who_lacks_one_right_is_told_which_and_where_and_nothing_is_written(
    hosted: Hosted, lacking: str
) -> None:
    before = hosted.deployment()

    with operator(hosted, lacking) as kubeconfigs, pytest.raises(Denied) as denied:
        hosted.install(**kubeconfigs)

    assert denied.value.problem.startswith(
        f"operator, in the {LACKING[lacking]}, may not {lacking}"
    )
    assert hosted.deployment() == before
    assert secrets(hosted) == {"root-ca", "cluster-signer-ca"}


@azure
@pytest.mark.parametrize(
    "lacking", ["list clusterroles", "delete flowschemas", "delete secrets", "patch deployments"]
)
def test_who_could_not_take_all_of_it_out_takes_nothing_out(hosted: Hosted, lacking: str) -> None:
    hosted.install()

    with (
        operator(hosted, lacking) as kubeconfigs,
        pytest.raises(Denied, match=f"may not {lacking}.*, which uninstall-webhook needs"),
    ):
        hosted.uninstall(**kubeconfigs)

    assert set(conditions(hosted.install()).values()) == {"as wanted"}


def test_who_may_do_nothing_elsewhere_in_the_management_cluster_installs_it_and_takes_it_out(
    hosted: Hosted,
) -> None:
    with operator(hosted) as kubeconfigs:
        assert set(conditions(hosted.install(**kubeconfigs)).values()) == {"created", "updated"}
        assert set(conditions(hosted.uninstall(**kubeconfigs)).values()) == {"dropped", "released"}


def secrets(hosted: Hosted) -> set[str]:
    return {
        each["metadata"]["name"]
        for each in hosted.admin.list(f"/api/v1/namespaces/{hosted.namespace}/secrets")
    }

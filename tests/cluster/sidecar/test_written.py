"""What is written into both clusters, what is left as it was, and how it goes again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cwiictl.actions.authorities import Source
from cwiictl.actions.sidecar_files import written
from cwiictl.actions.uninstall import uninstall
from cwiictl.engine.resource import silent
from cwiictl.errors import Conflict
from cwiictl.install.sidecar.flavours import FLAVOURS
from tests.cluster.hosted import Hosted, conditions
from tests.cluster.kube.client import Object
from tests.cluster.objects import path

pytestmark = pytest.mark.timeout(180)
azure = pytest.mark.parametrize("flavour", ["azure"])


def test_a_second_run_writes_nothing_and_the_last_leaves_nothing(hosted: Hosted) -> None:
    before = hosted.deployment()
    made = hosted.install()
    assert set(conditions(made).values()) == {"created", "updated"}
    versions = {row.thing: version(hosted, row.thing) for row in made.rows}

    again = hosted.install()

    assert set(conditions(again).values()) == {"as wanted"}, [
        (row.thing, row.differences) for row in again.rows if row.condition != "as wanted"
    ]
    assert {thing: version(hosted, thing) for thing in versions} == versions
    gone = hosted.uninstall()
    assert set(conditions(gone).values()) == {"dropped", "released"}
    assert next(iter(conditions(gone))).startswith(
        "k8s/MutatingWebhookConfiguration@guest/"
    )  # nobody is asked who is not there
    after = hosted.deployment()
    assert after["spec"] == before["spec"]
    for word in ("labels", "annotations"):
        assert (after["metadata"].get(word) or {}) == (before["metadata"].get(word) or {})
    assert [
        thing for thing in versions if "Deployment" not in thing and version(hosted, thing)
    ] == []


PATHS: Mapping[str, str] = {
    "Secret": "/api/v1/namespaces/{0}/secrets/{1}",
    "Deployment": "/apis/apps/v1/namespaces/{0}/deployments/{1}",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles/{0}",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{0}",
    "FlowSchema": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/{0}",
    "PriorityLevelConfiguration": "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/{0}",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{0}",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{0}",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/{0}",
}


def version(hosted: Hosted, thing: str) -> str:
    """Of an object, or empty if it is not there."""
    _, kind, *name = thing.split("/")
    path = PATHS[kind.partition("@")[0]].format(*name)
    return (
        hosted.admin.get(path)["metadata"]["resourceVersion"] if hosted.admin.exists(path) else ""
    )


@pytest.mark.parametrize("flavour", ["cwii"])
def test_what_keeps_it_to_its_own_config_maps_goes_with_them(hosted: Hosted) -> None:
    policies = [
        thing
        for thing in conditions(hosted.install("gcp.delivery=config-map"))
        if "ValidatingAdmissionPolicy" in thing
    ]
    assert [bool(version(hosted, thing)) for thing in policies] == [True, True]

    without = conditions(hosted.install())

    assert {thing: without[thing] for thing in policies} == dict.fromkeys(policies, "left over")
    hosted.uninstall()
    assert [thing for thing in policies if version(hosted, thing)] == []


@azure
def test_nothing_else_of_the_deployment_is_touched_and_what_was_given_it_since_stays(
    hosted: Hosted,
) -> None:
    before = hosted.containers()
    hosted.install()
    name = "azure-workload-identity-webhook"
    containers = hosted.containers()
    assert {each: containers[each] for each in before} == before
    assert list(containers) == [*before, name]
    more: Object = {"name": name, "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}}}
    change = {
        "spec": {
            "replicas": 1,
            "template": {
                "spec": {
                    "containers": [more, {"name": "audit-logs", "image": "example.org/openshift:2"}]
                }
            },
        }
    }
    hosted.admin.patch(
        f"{hosted.deployments}/kube-apiserver?fieldManager=kubectl-edit", change, "strategic"
    )

    again = hosted.install("logLevel=info")

    assert set(conditions(again).values()) == {"as wanted"}
    assert hosted.containers()[name]["resources"]["requests"]["cpu"] == "200m"
    hosted.install("azure.tenantId=another")
    assert hosted.deployment()["spec"]["replicas"] == 1
    containers = hosted.containers()
    assert (
        containers["audit-logs"]["image"],
        containers[name]["resources"]["requests"]["cpu"],
    ) == ("example.org/openshift:2", "200m")
    assert "--tenant-id=another" in containers[name]["args"]


@azure
def test_two_hosted_clusters_in_one_management_cluster_do_not_know_each_other(
    hosted: Hosted, tmp_path: Path
) -> None:
    """Their guests are one here, so that the second is refused there: but never over what is in the management cluster."""
    hosted.install()
    other = Hosted(hosted.cluster, hosted.clients, tmp_path, "cwii")
    other.install()

    assert set(conditions(other.uninstall()).values()) == {"dropped", "released"}
    assert set(conditions(hosted.install()).values()) == {"as wanted"}


@pytest.mark.parametrize("flavour", ["azure", "cwii"])
def test_what_is_put_there_from_files_is_taken_out_from_files(hosted: Hosted) -> None:
    """As the README.txt that lies with them says, by which nobody bears a mark."""
    authority = Source(hosted.cluster.reach.authority.files.certificate)
    written(replace(hosted.beside(), root=authority, client=authority), dry=False)
    folder, before, deployment = (
        hosted.folder / "sidecar",
        hosted.deployment(),
        f"{hosted.deployments}/kube-apiserver",
    )
    guest, secrets = (
        list(yaml.safe_load_all((folder / name).read_text()))
        for name in ("guest.yaml", "secrets.yaml")
    )
    for body in (*secrets, *guest):
        hosted.admin.create(path(hosted.admin, body), body)
    hosted.admin.patch(
        deployment, yaml.safe_load((folder / "kube-apiserver-patch.yaml").read_text()), "strategic"
    )
    first, *others = hosted.containers()  # by the first of them its pod is known
    assert (first, len(others)) == ("kube-apiserver", 2)
    (hint,) = hosted.uninstall().hints
    assert hint.startswith(
        f"There is {FLAVOURS[hosted.flavour].configuration}, which bears no mark of ours: "
    )
    assert "as README.txt beside its files says" in hint

    for body in (*guest, *secrets):
        hosted.admin.delete(f"{path(hosted.admin, body)}/{body['metadata']['name']}")
    hosted.admin.patch(
        deployment,
        yaml.safe_load((folder / "kube-apiserver-removal.yaml").read_text()),
        "strategic",
    )

    assert hosted.deployment()["spec"] == before["spec"]


@pytest.mark.parametrize("flavour", ["azure", "cwii"])
def test_who_would_take_it_out_as_a_deployment_is_told_how_a_sidecar_goes(hosted: Hosted) -> None:
    """By any name: its configuration bears its mark, and is a part of it only."""
    hosted.install()
    whose, configuration = (
        f"{hosted.flavour}.{hosted.namespace}",
        FLAVOURS[hosted.flavour].configuration,
    )
    what = f"is of the sidecar {whose}, beside its kube-apiserver"
    way = f"uninstall-webhook --mode sidecar --flavour {hosted.flavour} --namespace {hosted.namespace}, the management cluster's --kubeconfig"

    (hint,) = uninstall(hosted.beside().order, "another", silent, lambda _: True).hints
    with pytest.raises(Conflict) as refused:
        uninstall(hosted.beside().order, configuration, silent, lambda _: True)

    assert hint.startswith(f"There is {configuration}, which {what}: take it out with {way}")
    assert refused.value.problem == f"the webhook {configuration} {what}"
    assert refused.value.remedy.startswith(f"take it out with {way}")
    assert set(conditions(hosted.install()).values()) == {"as wanted"}

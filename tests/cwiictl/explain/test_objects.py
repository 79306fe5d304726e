"""Objects from files, as the webhook would find them in a cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef

from cwiictl.documents import documents
from cwiictl.errors import BadInput
from cwiictl.explain.objects import Objects, Pod, read

SPEC = {"containers": [{"name": "c", "image": "nginx"}]}


def given(*objects: Any, namespace: str = "default") -> tuple[list[Pod], Objects]:
    picture = Objects(namespace)
    return read(
        [d for o in objects for d in documents("a file", json.dumps(o).encode())], picture
    ), picture


def a_workload(kind: str, version: str = "apps/v1", **meta: Any) -> dict[str, Any]:
    template: dict[str, Any] = {"metadata": {"labels": {"app": "web"}}, "spec": SPEC}
    spec = (
        {"jobTemplate": {"spec": {"template": template}}}
        if kind == "CronJob"
        else {"template": template}
    )
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop", **meta},
        "spec": spec,
    }


def test_a_pod_gets_what_the_api_server_fills_in() -> None:
    (pod,), _ = given(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": SPEC},
        namespace="shop",
    )

    assert str(pod) == "Pod shop/p"
    assert pod.body["spec"]["serviceAccountName"] == "default"
    assert pod.body["metadata"]["namespace"] == "shop"


@pytest.mark.parametrize(
    ("kind", "version", "owner"),
    [
        ("StatefulSet", "apps/v1", "StatefulSet"),
        ("DaemonSet", "apps/v1", "DaemonSet"),
        ("ReplicaSet", "apps/v1", "ReplicaSet"),
        ("Job", "batch/v1", "Job"),
        ("ReplicationController", "v1", "ReplicationController"),
        ("Deployment", "apps/v1", "ReplicaSet"),
        ("Rollout", "argoproj.io/v1alpha1", "ReplicaSet"),
        ("CronJob", "batch/v1", "Job"),
    ],
)
def test_a_workloads_pod_belongs_to_whoever_makes_it(kind: str, version: str, owner: str) -> None:
    (pod,), objects = given(a_workload(kind, version, uid="u", annotations={"a": "b"}))

    (reference,) = pod.body["metadata"]["ownerReferences"]
    seen = objects.get(
        ObjectRef(
            reference["apiVersion"].rpartition("/")[0], reference["kind"], "shop", reference["name"]
        )
    )
    above = ObjectRef(version.rpartition("/")[0], kind, "shop", "web")

    assert (reference["kind"], reference["controller"]) == (owner, True)
    assert seen is not None
    assert seen.uid == reference["uid"]
    assert kind == owner or [(o.kind, o.name, o.uid) for o in seen.owners] == [(kind, "web", "u")]
    assert (found := objects.get(above)) is not None
    assert (found.uid, found.annotations) == ("u", {"a": "b"})


@pytest.mark.parametrize(
    ("uid", "followed"),
    [({}, True), ({"uid": "real"}, True), ({"uid": "another"}, False)],
    ids=["none", "the same", "another"],
)
def test_an_owner_that_has_no_uid_in_its_file_is_whom_the_pod_names(
    uid: dict[str, str], followed: bool
) -> None:
    reference = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "web",
        "uid": "real",
        "controller": True,
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "ownerReferences": [reference]},
        "spec": SPEC,
    }

    pods, objects = given(pod, a_workload("StatefulSet", **uid))

    seen = objects.get(ObjectRef("apps", "StatefulSet", "shop", "web"))
    assert seen
    assert (pods[0].body["metadata"]["ownerReferences"][0]["uid"] == seen.uid) == followed


def test_what_is_looked_for_in_vain_is_remembered() -> None:
    _, objects = given(a_workload("Job", "batch/v1"))

    assert objects.get(ObjectRef("", "ServiceAccount", "shop", "default")) is None
    assert [str(ref) for ref in objects.missed] == ["ServiceAccount shop/default"]


def test_lists_are_what_is_in_them() -> None:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "s", "namespace": "shop", "annotations": {"k": "v"}},
    }
    pods, objects = given(
        {"apiVersion": "v1", "kind": "List", "items": [account, a_workload("Job", "batch/v1")]}
    )

    assert len(pods) == 1
    assert (seen := objects.get(ObjectRef("", "ServiceAccount", "shop", "s"))) is not None
    assert seen.annotations == {"k": "v"}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"kind": "Pod", "metadata": {"name": "p"}}, "has no spec of a pod"),
        ({"kind": "Deployment", "metadata": {"name": "p"}, "spec": {}}, "has no spec.template"),
        ({"kind": "CronJob", "spec": {"jobTemplate": []}}, "has no spec.jobTemplate.spec.template"),
        (
            {"kind": "ServiceAccount", "metadata": {"ownerReferences": "x"}},
            "is no Kubernetes object",
        ),
        ({"kind": "ConfigMap", "data": {"a": True}}, "is no Kubernetes object"),
    ],
)
def test_what_is_no_pod_is_said_with_its_place(body: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as error:
        given(body)

    assert error.value.problem.startswith("a file:1")


@pytest.mark.parametrize(
    ("value", "read_as", "remedy"),
    [
        ("true", "true or false", '"true"'),
        ("no", "true or false", '"false"'),
        ("7200", "a number", '"7200"'),
        ("[]", "a list", "in quotes"),
        ("", "nothing", "in quotes"),
    ],
)
@pytest.mark.parametrize("kind", ["annotations", "labels"])
def test_a_text_that_is_not_quoted_is_said_with_its_place(
    kind: str, value: str, read_as: str, remedy: str
) -> None:
    own = (
        f"kind: ServiceAccount\nmetadata:\n  name: s\n  {kind}:\n    cwii.dev/aws-inject: {value}\n"
    )
    template = f"kind: Deployment\nmetadata: {{name: d}}\nspec:\n  template:\n    metadata:\n      {kind}:\n        cwii.dev/aws-inject: {value}\n"

    for text, line in ((own, 5), (template, 7)):
        with pytest.raises(BadInput) as error:
            read(documents("pod.yaml", text.encode()), Objects())
        said = f"pod.yaml:{line} has the {kind[:-1]} cwii.dev/aws-inject, which YAML reads as {read_as}, and Kubernetes takes texts alone"
        assert error.value.problem == said
        assert remedy in error.value.remedy


def test_what_is_given_twice_is_refused_by_name() -> None:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "s", "namespace": "shop"},
    }
    listed = {"apiVersion": "v1", "kind": "List", "items": [a_workload("Job", "batch/v1"), account]}

    with pytest.raises(
        BadInput, match=r"ServiceAccount shop/s is given twice, in a file:1 and in a file:1"
    ):
        given(account, listed)


def test_pods_without_a_name_and_accounts_of_two_namespaces_are_not_the_same() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}, "spec": SPEC}
    accounts = [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "s", "namespace": space},
        }
        for space in ("a", "b")
    ]

    assert len(given(pod, pod, *accounts)[0]) == 2

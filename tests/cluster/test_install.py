"""What is installed, on a real API server: it takes every object as it is said, and its own judges do what is meant."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from cwiictl.install.body import Object
from cwiictl.install.configuration import softened
from cwiictl.install.objects import objects
from cwiictl.install.values import Values
from tests.cluster.kube.client import Client, Refused
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import path
from tests.cluster.space import HOOK, Space, a_name, plain
from tests.cluster.traces import seen_within
from tests.cwiictl.install.installed import FILES, found, some

FOREIGN = ("cert-manager.io/", "monitoring.coreos.com/")  # kinds that are not Kubernetes' own
STRICT = "fieldValidation=Strict"


def in_a_place_of_its_own(said: Mapping[str, Any]) -> Values:
    """Nothing that is made on the shared API servers may have another's name, or be asked about another's pods."""
    return some(**{**said, "name": a_name("webhook"), "namespace": a_name("space")})


@pytest.mark.parametrize("name", FILES)
def test_the_api_server_takes_every_object_to_the_letter(reach: Reach, name: str) -> None:
    """Conditions and policies in CEL are compiled by it, too."""
    values = in_a_place_of_its_own(FILES[name])
    Space(reach, name=values.namespace)
    for body in objects(values):
        if body["kind"] != "Namespace" and not body["apiVersion"].startswith(FOREIGN):
            reach.admin.create(f"{path(reach.admin, body)}?dryRun=All&{STRICT}", body)


def test_it_would_have_refused_a_field_that_it_does_not_know(reach: Reach) -> None:
    values = in_a_place_of_its_own({})
    Space(reach, name=values.namespace)
    deployment = found(objects(values), "Deployment")
    deployment["spec"]["template"]["spec"]["priorityClas"] = "x"

    with pytest.raises(Refused, match="unknown field"):
        reach.admin.create(f"{path(reach.admin, deployment)}?dryRun=All&{STRICT}", deployment)


def test_our_own_pods_may_be_in_our_own_namespace(reach: Reach) -> None:
    values = in_a_place_of_its_own({})
    those = objects(values)
    for body in [
        found(those, "Namespace"),
        *(each for each in those if each["kind"] == "ServiceAccount"),
    ]:
        reach.admin.create(path(reach.admin, body), body)
    deployment, cron = (
        found(those, "Deployment")["spec"],
        found(those, "CronJob")["spec"]["jobTemplate"]["spec"],
    )
    pods = f"/api/v1/namespaces/{values.namespace}/pods?dryRun=All&{STRICT}"

    for template in (deployment["template"], cron["template"]):
        made = reach.admin.create(
            pods, {"metadata": {"name": "p", **template["metadata"]}, "spec": template["spec"]}
        )
        assert made["status"]["qosClass"] == "Burstable"
    with pytest.raises(Refused, match="violates PodSecurity"):
        reach.admin.create(pods, plain(serviceAccountName=values.name))


# --- no pod goes without ---


@pytest.fixture(scope="module")
def required(reach: Reach) -> Iterator[str]:
    """The value of the label of namespaces where the policy counts."""
    values = in_a_place_of_its_own(
        {"require": True, "dialects": ["cwii", "azwi"], "azure": {"tenantId": "t"}}
    )
    name = f"{values.name}-require"
    policy, binding = (
        found(objects(values), kind, name)
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    )
    chosen = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
    chosen.append({"key": HOOK, "operator": "In", "values": [values.name]})
    paths = [path(reach.admin, body) for body in (policy, binding)]
    for place, body in zip(paths, (policy, binding), strict=True):
        reach.admin.create(place, body)
    probe = Space(reach, hook=values.name).account({})
    for server in range(len(reach.urls)):
        assert seen_within(30, lambda: not admitted(probe, asking("aws"), server))  # noqa: B023  # it is asked at once
    yield values.name
    for place in reversed(paths):
        reach.admin.delete(f"{place}/{name}")


def asking(*clouds: str, says: str = "true", **spec: Any) -> Object:
    pod = plain(**spec)
    pod["metadata"]["annotations"] = {f"cwii.dev/{cloud}-inject": says for cloud in clouds}
    return pod


def token(name: str) -> Object:
    return {
        "name": name,
        "projected": {"sources": [{"serviceAccountToken": {"path": "token", "audience": "a"}}]},
    }


def admitted(space: Space, pod: Object, server: int = 0) -> bool:
    try:
        space.tried(pod, server)
    except Refused as refused:
        if "ValidatingAdmissionPolicy" not in refused.message:
            raise
        return False
    return True


def test_a_pod_that_asks_and_was_given_nothing_is_refused_in_a_sentence(
    reach: Reach, required: str
) -> None:
    space = Space(reach, hook=required).account({})

    with pytest.raises(Refused) as refused:
        space.tried(asking("az"))

    assert (
        "cwii.dev/az-inject asks for an identity in Azure, and the pod was given no token: it would act as its node."
        in refused.value.message
    )
    assert 'write cwii.dev/az-inject: "false" on the pod' in refused.value.message


@pytest.mark.parametrize(
    ("pod", "goes"),
    [
        (plain(), True),
        (asking("aws", says="false"), True),
        (asking("aws", says="perhaps"), True),
        (asking("aws", says=" TRUE "), False),
        (asking("aws", volumes=[token("cwii-aws-token")]), True),
        (asking("aws", volumes=[token("cwii-az-token")]), False),
        (asking("aws", volumes=[{"name": "cwii-aws-token", "emptyDir": {}}]), False),
        (asking("aws", "gcp", volumes=[token("cwii-aws-token")]), False),
        (asking("aws", "gcp", volumes=[token("cwii-aws-token"), token("cwii-gcp-token")]), True),
    ],
)
def test_a_pod_that_asks_goes_only_with_its_token(
    reach: Reach,
    required: str,
    pod: Object,
    goes: bool,  # noqa: FBT001  # a column
) -> None:
    assert admitted(Space(reach, hook=required).account({}), pod) is goes


@pytest.mark.parametrize(
    ("pod", "goes"),
    [
        (plain(), False),
        (asking("aws", says="perhaps"), False),
        (asking("aws", says="false"), True),
        (plain(volumes=[token("cwii-aws-token")]), True),
    ],
)
def test_a_namespace_asks_for_all_its_pods_that_do_not_decline(
    reach: Reach,
    required: str,
    pod: Object,
    goes: bool,  # noqa: FBT001  # a column
) -> None:
    space = Space(
        reach, hook=required, annotations={"cwii.dev/aws-inject": "true", "other": "x"}
    ).account({})

    assert admitted(space, pod) is goes


@pytest.mark.parametrize(
    ("volume", "goes"),
    [
        ("azure-identity-token", True),
        ("azure-workload-identity-reserved-1a2b", True),
        ("cwii-az-token", False),
    ],
)
def test_azures_label_asks_too(reach: Reach, required: str, volume: str, goes: bool) -> None:  # noqa: FBT001  # a column
    pod = plain(volumes=[token(volume)])
    pod["metadata"]["labels"] = {"azure.workload.identity/use": "true"}

    assert admitted(Space(reach, hook=required).account({}), pod) is goes


def test_elsewhere_nobody_is_refused(reach: Reach, required: str) -> None:
    assert admitted(Space(reach, hook=f"not-{required}").account({}), asking("aws"))


# --- the renewer ---


@pytest.fixture(scope="module")
def renewer(reach: Reach) -> Iterator[tuple[Client, Client, str, Values]]:
    """It, the admin, and where the configuration is that it may write to: one that asks about nobody's pods."""
    values = in_a_place_of_its_own({})
    those = [
        each
        for each in objects(values)
        if each["kind"] in {"Namespace", "ServiceAccount", "Secret", "ClusterRole", "Role"}
        or "Binding" in each["kind"]
    ]
    those += [each for each in objects(values) if each["kind"] == "ValidatingAdmissionPolicy"]
    configuration = softened(found(objects(values), "MutatingWebhookConfiguration"))
    for entry in configuration["webhooks"]:
        entry["namespaceSelector"]["matchExpressions"].append(
            {"key": HOOK, "operator": "In", "values": ["nobody"]}
        )
    paths: list[str] = []
    for body in (*those, configuration):
        place = path(reach.admin, body)
        reach.admin.create(place, body)
        paths.append(f"{place}/{body['metadata']['name']}")
    client = reach.client(
        f"system:serviceaccount:{values.namespace}:{values.renewer}", "system:serviceaccounts"
    )
    assert seen_within(30, lambda: not allowed(client, paths[-1], CHANGES["how long it waits"]))
    yield client, reach.admin, paths[-1], values
    for each in reversed(paths[1:]):
        reach.admin.delete(each)


def allowed(client: Client, place: str, change: list[Object]) -> bool:
    try:
        client.patch(f"{place}?dryRun=All", change, "json")
    except Refused as refused:
        if "the renewer may change" not in refused.message:
            raise
        return False
    return True


def test_the_renewer_writes_bundles_of_all_entries(
    reach: Reach, renewer: tuple[Client, Client, str, Values]
) -> None:
    client, _, place, _ = renewer
    bundle = base64.b64encode(reach.authority.pem).decode()
    change: list[Object] = [
        {"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": bundle}
        for number in range(3)
    ]

    written = client.patch(place, change, "json")

    assert [entry["clientConfig"]["caBundle"] for entry in written["webhooks"]] == [bundle] * 3
    assert allowed(client, place, [{"op": "remove", "path": "/webhooks/1/clientConfig/caBundle"}])


ENTRY: Object = {
    "name": "more.cwii.dev",
    "admissionReviewVersions": ["v1"],
    "sideEffects": "None",
    "clientConfig": {"url": "https://elsewhere.example.com/"},
}
CHANGES: Mapping[str, list[Object]] = {
    "its name": [{"op": "replace", "path": "/webhooks/0/name", "value": "other.cwii.dev"}],
    "what it fails to": [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}],
    "how long it waits": [{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 30}],
    "which namespaces": [
        {"op": "remove", "path": "/webhooks/0/namespaceSelector/matchExpressions/0"}
    ],
    "which objects": [
        {
            "op": "replace",
            "path": "/webhooks/0/objectSelector",
            "value": {"matchLabels": {"a": "b"}},
        }
    ],
    "which things": [
        {"op": "replace", "path": "/webhooks/0/rules/0/resources", "value": ["secrets"]}
    ],
    "under what conditions": [{"op": "remove", "path": "/webhooks/0/matchConditions/0"}],
    "which versions of things": [
        {"op": "replace", "path": "/webhooks/0/matchPolicy", "value": "Exact"}
    ],
    "how often": [{"op": "replace", "path": "/webhooks/0/reinvocationPolicy", "value": "Never"}],
    "with what effects": [
        {"op": "replace", "path": "/webhooks/0/sideEffects", "value": "NoneOnDryRun"}
    ],
    "in which words": [
        {"op": "replace", "path": "/webhooks/0/admissionReviewVersions", "value": ["v1", "v1beta1"]}
    ],
    "which Service": [
        {"op": "replace", "path": "/webhooks/0/clientConfig/service/name", "value": "other"}
    ],
    "which address": [
        {"op": "remove", "path": "/webhooks/0/clientConfig/service"},
        {
            "op": "add",
            "path": "/webhooks/0/clientConfig/url",
            "value": "https://elsewhere.example.com/",
        },
    ],
    "one more": [{"op": "add", "path": "/webhooks/-", "value": ENTRY}],
    "one less": [{"op": "remove", "path": "/webhooks/0"}],
    "one for another": [{"op": "replace", "path": "/webhooks/0", "value": ENTRY}],
    "none": [{"op": "remove", "path": "/webhooks"}],
    "whose it is": [{"op": "add", "path": "/metadata/labels/a", "value": "b"}],
    "what is noted on it": [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}],
    "who has a say in its end": [
        {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/stays"]}
    ],
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_renewer_changes_nothing_else(
    renewer: tuple[Client, Client, str, Values], what: str
) -> None:
    client, admin, place, _ = renewer

    assert allowed(admin, place, CHANGES[what]), "the admin may: it is a change that can be made"
    assert not allowed(client, place, CHANGES[what])


def test_the_renewer_neither_makes_nor_removes_configurations(
    renewer: tuple[Client, Client, str, Values],
) -> None:
    client, admin, place, _ = renewer
    collection, _, _ = place.rpartition("/")

    with pytest.raises(Refused, match="cannot create"):
        client.create(
            f"{collection}?dryRun=All", {"metadata": {"name": a_name("more")}, "webhooks": []}
        )
    with pytest.raises(Refused, match="cannot delete"):
        client.delete(f"{place}?dryRun=All")
    with pytest.raises(Refused, match="cannot list"):
        client.list(collection)
    assert admin.exists(place)


def test_the_renewer_fills_its_two_secrets_and_sees_no_other(
    renewer: tuple[Client, Client, str, Values],
) -> None:
    client, admin, _, values = renewer
    secrets = f"/api/v1/namespaces/{values.namespace}/secrets"
    admin.create(secrets, {"metadata": {"name": "other"}})

    for name in (f"{values.name}-serving", f"{values.name}-ca"):
        assert client.patch(f"{secrets}/{name}", {"data": {"tls.crt": "YQ=="}})["data"] == {
            "tls.crt": "YQ=="
        }
    for refused in (
        lambda: client.get(f"{secrets}/other"),
        lambda: client.list(secrets),
        lambda: client.create(secrets, {"metadata": {"name": "more"}}),
        lambda: client.get("/api/v1/namespaces/kube-system/secrets/x"),
    ):
        with pytest.raises(Refused, match="cannot"):
            refused()


def test_who_answers_reviews_sees_neither_secrets_nor_configurations(
    reach: Reach, renewer: tuple[Client, Client, str, Values]
) -> None:
    _, _, place, values = renewer
    client = reach.client(
        f"system:serviceaccount:{values.namespace}:{values.name}", "system:serviceaccounts"
    )

    assert client.list("/api/v1/serviceaccounts")
    for refused in (
        lambda: client.get(
            f"/api/v1/namespaces/{values.namespace}/secrets/{values.serving_secret}"
        ),
        lambda: client.get(place),
        lambda: client.create(
            f"/api/v1/namespaces/{values.namespace}/configmaps", {"metadata": {"name": "x"}}
        ),
    ):
        with pytest.raises(Refused, match="cannot"):
            refused()

"""What goes beside a kube-apiserver, in HyperShift's words where HyperShift has words for it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL, split_command_line
from cwii_webhook.settings.serving import ServingSettings

from cwiictl.errors import BadInput
from cwiictl.install.body import Object
from cwiictl.install.command import understood
from cwiictl.install.sidecar.container import container, on_its_node
from cwiictl.install.sidecar.flavours import FLAVOURS, PROFILES
from cwiictl.install.sidecar.guest import guest
from cwiictl.install.sidecar.patch import found, merged, patch
from cwiictl.install.sidecar.secrets import Certified, secrets
from cwiictl.install.sidecar.sidecar import Sidecar, flavour, installation, parted, sidecar
from cwiictl.install.values import Values
from tests.cwiictl.install.installed import found as one_of
from tests.cwiictl.install.installed import some

NAMESPACE = "clusters-shop"
CERTIFIED = Certified(KeyPair(b"crt", b"key"), KeyPair(b"client", b"its key"), b"root")
TOLD: dict[str, dict[str, Any]] = {
    "azure": {"dialects": ["azwi"], "azure": {"tenantId": "t", "environment": "AzurePublicCloud"}},
    "aws": {"dialects": ["eks"], "aws": {"region": "us-east-1"}},
    "gcp": {"dialects": ["gcpwif"]},
    "cwii": {"dialects": ["cwii", "eks"]},
}


def of(name: str, **more: Any) -> Sidecar:
    return sidecar(Sidecar(some(**TOLD[name]), flavour(name), NAMESPACE, **more))


@pytest.mark.parametrize("name", FLAVOURS)
def test_its_command_line_is_one_that_starts_and_stays(name: str) -> None:
    wanted = of(name)
    args = container(wanted)["args"]

    (first, *_) = understood(wanted.values, wanted.flavour.doors, ("--sidecar",))

    assert first.serving.sidecar
    assert first.serving.listen_address == ("127.0.0.1", wanted.flavour.doors.https)
    assert first.serving.plain_addresses[0] == ("", wanted.flavour.doors.plain)
    assert {"--sidecar", "--kubeconfig=/var/run/app/kubeconfig/kubeconfig"} <= set(args)


@pytest.mark.parametrize(
    ("host", "door"),
    [("", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("10.0.0.1", "10.0.0.1")],  # noqa: S104  # what is meant by it
)
def test_a_sidecar_listens_on_the_loopback_unless_it_is_told_an_address(
    host: str, door: str
) -> None:
    assert ServingSettings(address=(host, 1), sidecar=True).listen_address == (door, 1)
    assert ServingSettings(address=(host, 1)).listen_address == (host, 1)


def test_no_two_flavours_share_a_port_or_a_name() -> None:
    kinds = FLAVOURS.values()
    ports = [
        port for kind in kinds for port in {kind.doors.https, kind.doors.plain, kind.doors.metrics}
    ]

    assert len(ports) == len(set(ports))
    assert (
        len({kind.name for kind in kinds})
        == len({kind.configuration for kind in kinds})
        == len({kind.volume for kind in kinds})
        == len(FLAVOURS)
    )


@pytest.mark.parametrize("name", FLAVOURS)
@pytest.mark.parametrize("profile", PROFILES)
def test_each_tls_profile_can_be_served_with(name: str, profile: str) -> None:
    wanted = of(name, profile=profile)

    assert set(PROFILES[profile]) <= set(container(wanted)["args"])


def test_the_api_server_s_pod_does_not_wait_for_it_unless_that_is_asked() -> None:
    assert not {"readinessProbe", "startupProbe"} & container(of("azure")).keys()
    assert container(of("azure", readiness=True))["readinessProbe"]["httpGet"] == {
        "path": "/readyz",
        "port": 9440,
    }


@pytest.mark.parametrize("readiness", [True, False])
def test_whoever_else_has_its_plain_port_has_it_restarted_by_no_probe(readiness: bool) -> None:
    assert (
        not {"livenessProbe", "startupProbe"} & container(of("azure", readiness=readiness)).keys()
    )


@pytest.mark.parametrize(
    ("name", "begin"), [("azure", "azure-wi-webhook"), ("aws", "aws-pod-identity-webhook")]
)
def test_its_mounts_are_hypershift_s_and_it_writes_nothing_and_asks_for_little(
    name: str, begin: str
) -> None:
    one = container(of(name))
    pod = patch(of(name))["spec"]["template"]["spec"]

    assert {mount["name"]: mount["mountPath"] for mount in one["volumeMounts"]} == {
        f"{begin}-serving-certs": "/var/run/app/certs",
        f"{begin}-kubeconfig": "/var/run/app/kubeconfig",
    }
    assert {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"]} == {
        f"{begin}-serving-certs": f"{FLAVOURS[name].name}-serving-cert",
        f"{begin}-kubeconfig": f"{FLAVOURS[name].name}-kubeconfig",
    }
    assert one["resources"] == {"requests": {"cpu": "10m", "memory": "64Mi"}}
    assert one["securityContext"]["readOnlyRootFilesystem"]
    assert (one["imagePullPolicy"], one["terminationMessagePolicy"]) == (
        "IfNotPresent",
        "FallbackToLogsOnError",
    )


def test_an_absent_secret_holds_up_no_pod() -> None:
    for name in FLAVOURS:
        for volume in patch(of(name))["spec"]["template"]["spec"]["volumes"]:
            assert volume["secret"]["optional"]


@pytest.mark.parametrize(
    ("name", "server"),
    [("azure", "https://localhost:7443"), ("aws", "https://kube-apiserver:7443")],
)
def test_secrets_are_hypershift_s(name: str, server: str) -> None:
    container_name = FLAVOURS[name].name
    serving, kubeconfig = secrets(of(name, port=7443), CERTIFIED)

    assert (serving["metadata"]["name"], serving["metadata"]["namespace"]) == (
        f"{container_name}-serving-cert",
        NAMESPACE,
    )
    assert serving["data"].keys() == {"tls.crt", "tls.key", "ca.crt"}
    assert kubeconfig["metadata"]["name"] == f"{container_name}-kubeconfig"
    assert kubeconfig["data"].keys() == {"kubeconfig", "tls.crt", "tls.key", "ca.crt"}
    told = json.loads(base64.b64decode(kubeconfig["data"]["kubeconfig"]))
    assert told["clusters"][0]["cluster"]["server"] == server
    assert told["current-context"] == told["users"][0]["name"] == "admin"


@pytest.mark.parametrize(("said", "port"), [(443, 6443), (6443, 6443), (8443, 8443)])
def test_port_443_of_a_hosted_api_server_is_6443_in_its_pod(said: int, port: int) -> None:
    assert of("azure", port=said).port == port


@pytest.mark.parametrize(
    ("name", "configuration", "entry", "url", "versions"),
    [
        (
            "azure",
            "azure-workload-identity-webhook",
            "pod-identity-webhook.azure.mutate.io",
            "https://127.0.0.1:9443/mutate-v1-pod",
            ["v1", "v1beta1"],
        ),
        (
            "aws",
            "aws-pod-identity",
            "pod-identity-webhook.amazonaws.com",
            "https://127.0.0.1:4443/mutate",
            ["v1beta1"],
        ),
    ],
)
def test_what_the_guest_has_is_hypershift_s(
    name: str, configuration: str, entry: str, url: str, versions: list[str]
) -> None:
    those = guest(of(name), b"root")
    (hook,) = one_of(those, "MutatingWebhookConfiguration", configuration)["webhooks"]

    assert hook["name"] == entry
    assert hook["clientConfig"] == {"url": url, "caBundle": base64.b64encode(b"root").decode()}
    assert (hook["failurePolicy"], hook["sideEffects"], hook["admissionReviewVersions"]) == (
        "Ignore",
        "None",
        versions,
    )
    assert one_of(those, "ClusterRole", FLAVOURS[name].name)["rules"] == [
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["get", "list", "watch"]}
    ]
    account = {
        "kind": "ServiceAccount",
        "name": FLAVOURS[name].name,
        "namespace": "openshift-authentication",
    }
    assert one_of(those, "ClusterRoleBinding", FLAVOURS[name].name)["subjects"] == [account]
    (rule,) = one_of(those, "FlowSchema")["spec"]["rules"]
    assert rule["subjects"][0]["serviceAccount"] == {
        "name": FLAVOURS[name].name,
        "namespace": "openshift-authentication",
    }


def test_where_it_writes_config_maps_the_guest_keeps_it_to_its_own() -> None:
    asked = sidecar(Sidecar(some(gcp={"delivery": "config-map"}), flavour("cwii"), NAMESPACE))

    policy = one_of(guest(asked, b"root"), "ValidatingAdmissionPolicy")

    assert (
        policy["spec"]["matchConditions"][0]["expression"]
        == f"request.userInfo.username == '{asked.user[0]}'"
    )
    assert not [
        body for body in guest(of("cwii"), b"root") if body["kind"] == "ValidatingAdmissionPolicy"
    ]


def test_our_own_asks_for_all_its_dialects_and_refuses_nobody() -> None:
    hooks = one_of(guest(of("cwii"), b"root"), "MutatingWebhookConfiguration")["webhooks"]

    assert {hook["clientConfig"]["url"] for hook in hooks} == {
        "https://127.0.0.1:9463/cwii/mutate",
        "https://127.0.0.1:9463/eks/mutate",
    }
    assert {hook["failurePolicy"] for hook in hooks} == {"Ignore"}
    assert all("service" not in hook["clientConfig"] for hook in hooks)


DEPLOYMENT: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "kube-apiserver", "namespace": NAMESPACE},
    "spec": {
        "replicas": 3,
        "template": {
            "metadata": {"labels": {"app": "kube-apiserver"}},
            "spec": {
                "containers": [
                    {"name": "kube-apiserver", "image": "a"},
                    {"name": "aws-pod-identity-webhook", "image": "old"},
                    {"name": "last", "image": "b"},
                ],
                "volumes": [{"name": "kas", "secret": {"secretName": "s"}}],
                "hostNetwork": False,
            },
        },
    },
}


def test_a_deployment_in_a_file_keeps_all_else_and_each_in_its_place() -> None:
    ours = patch(of("aws"))

    whole = merged(DEPLOYMENT, ours)

    pod = whole["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["containers"]] == [
        "kube-apiserver",
        "aws-pod-identity-webhook",
        "last",
    ]
    assert pod["containers"][1] == found(ours, "aws-pod-identity-webhook")
    assert merged(whole, ours) == whole
    del pod["containers"][1], pod["volumes"][1:]
    without = json.loads(json.dumps(DEPLOYMENT))
    del without["spec"]["template"]["spec"]["containers"][1]
    assert whole == without


@pytest.mark.parametrize("name", FLAVOURS)
def test_in_a_static_pod_which_has_its_node_s_network_nobody_else_can_reach_it(name: str) -> None:
    one, _ = on_its_node(of(name), "/etc/kubernetes/webhook")

    (dialect, *words), *_ = split_command_line(one["args"])
    serving = build_service(ALL[dialect], words, {}).serving

    assert {host for host, _ in (serving.listen_address, *serving.plain_addresses)} == {"127.0.0.1"}


def test_a_static_pod_refers_to_no_secret_and_shows_nothing_to_others() -> None:
    one, volumes = on_its_node(of("azure", readiness=True), "/etc/kubernetes/azure")

    assert volumes == [
        {
            "name": "azure-wi-webhook-serving-certs",
            "hostPath": {"path": "/etc/kubernetes/azure", "type": "DirectoryOrCreate"},
        }
    ]
    assert {"--health-addr=127.0.0.1:9440", "--metrics-addr=127.0.0.1:9441"} <= set(one["args"])
    assert one["readinessProbe"]["httpGet"]["host"] == "127.0.0.1"
    assert {mount["name"] for mount in one["volumeMounts"]} == {"azure-wi-webhook-serving-certs"}


@pytest.mark.parametrize(
    ("said", "name", "why"),
    [
        ({"dialects": ["cwii"]}, "azure", "serves the dialect azwi alone"),
        ({"dialects": ["cwii"], "require": True}, "cwii", "nobody is refused"),
        ({"dialects": ["cwii"], "failurePolicy": "Fail"}, "cwii", "nobody is refused"),
        (
            {"dialects": ["cwii"], "arguments": {"cwii": ["--strange"]}},
            "cwii",
            "there is no flag --strange",
        ),
    ],
)
def test_what_cannot_be_meant_is_said(said: dict[str, Any], name: str, why: str) -> None:
    values: Values = some(**said)
    with pytest.raises(BadInput, match=why):
        patch(sidecar(Sidecar(values, flavour(name), NAMESPACE)))


def test_two_namespaces_that_begin_alike_are_two_installations() -> None:
    names = {installation("azure", f"{'a' * 62}{last}") for last in "bc"}

    assert len(names) == 2
    assert max(map(len, names)) <= 63


@pytest.mark.parametrize("name", FLAVOURS)
def test_its_flavour_and_its_namespace_are_read_from_what_it_is_called(name: str) -> None:
    """But no namespace that may be a part of one."""
    assert parted(installation(name, NAMESPACE)) == (name, NAMESPACE)
    assert parted(installation(name, "a" * 63)) == (name, "")
    assert parted("cwii-webhook") is None
    assert parted(name) is None

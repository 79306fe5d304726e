"""Presets: the workloads of a product with variables, filled by the user; and each that is shipped, against what its product's own tool makes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cwiictl import files
from cwiictl.clouds import aws, gcp
from cwiictl.clouds.aws import policy
from cwiictl.clouds.azure.section import ask_of
from cwiictl.cluster_file.preset import Preset, preset, summary
from cwiictl.cluster_file.variables import filled
from cwiictl.errors import BadInput
from cwiictl.model import Binding
from tests.cwiictl.clouds.azure.told import SUBSCRIPTION
from tests.cwiictl.cluster_schema import WORDS

KNOWN = {"name": "guest", "subscriptionId": SUBSCRIPTION}
ASKED = {"infraID": "x7k2p", "dnsResourceGroup": "dns"}
VAULT = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/keys/providers/Microsoft.KeyVault/vaults/etcd"
)
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
CSI = "openshift-cluster-csi-drivers"

TEXT = """apiVersion: cwii.dev/v1
kind: Preset
asker: request
variables:
  where: {help: the place}
  who: {help: one, default: "one-of-${where}", pattern: "[-a-z]+"}
  more: {help: another one, default: false}
workloads:
  - name: first
    namespace: shop
    serviceAccounts: ["${who}"]
    azure: {identityName: "${name}-${where}", preserveExistingRoles: "${!more}"}
    output: {first: {id: "${azure_client_id}"}}
  - when: ${more}
    name: second
    namespace: shop
    serviceAccounts: [two]
    azure: {identityName: "${name}-second"}
    output: {secondID: "${azure_client_id}"}
"""


def read(text: str = TEXT, **given: str) -> Preset:
    return preset("p", text.encode(), WORDS, given, KNOWN)


def shipped(**given: str) -> Preset:
    return preset(
        "hypershift-azure",
        files.template("presets/hypershift-azure.yaml").encode(),
        WORDS,
        {**ASKED, **given},
        KNOWN,
    )


def asks(of: Preset) -> dict[str, Any]:
    return {(ask := ask_of(each.asks["azure"])).identity: ask for each in of.workloads}


def told(of: Preset, **data: str) -> list[Binding]:
    return [
        Binding(each.workload, "azure", {"azure_client_id": f"id of {each.workload.name}", **data})
        for each in of.workloads
    ]


# --- variables ---


def test_a_variable_is_what_was_set_or_its_default_in_which_others_may_stand() -> None:
    assert [each.workload.service_accounts for each in read(where="here").workloads] == [
        ("one-of-here",)
    ]
    assert [each.workload.service_accounts for each in read(where="here", who="me").workloads] == [
        ("me",)
    ]
    assert list(asks(read(where="here"))) == ["guest-here"]


def test_what_has_a_when_is_there_if_that_is_true() -> None:
    assert list(asks(read(where="here", more="true"))) == ["guest-here", "guest-second"]
    assert list(asks(read(where="here", more="false"))) == ["guest-here"]


@pytest.mark.parametrize(("more", "preserve"), [("true", False), ("false", True)])
def test_a_text_that_is_a_switch_alone_is_true_or_false(more: str, *, preserve: bool) -> None:
    assert asks(read(where="here", more=more))["guest-here"].preserve == preserve


WRONG: list[tuple[dict[str, str], str, str]] = [
    ({}, "the preset p needs where", "give --set where=VALUE: the place"),
    ({"were": "here"}, "the preset p has no variable 'were'", "did you mean --set where?"),
    (
        {"where": "here", "who": "ME"},
        "--set who=ME cannot be meant: it does not match [-a-z]+",
        "give the one",
    ),
    (
        {"where": "here", "more": "yes"},
        "--set more=yes is neither true nor false",
        "give one of the two: another one",
    ),
    (
        {"where": "here", "name": "mine"},
        "the preset p has no variable 'name'",
        "use one of: where, who, more",
    ),
]


@pytest.mark.parametrize(("given", "problem", "remedy"), WRONG)
def test_what_is_set_wrongly_or_not_at_all_is_told_by_its_name(
    given: dict[str, str], problem: str, remedy: str
) -> None:
    with pytest.raises(BadInput) as e:
        read(**given)

    assert (e.value.problem, e.value.remedy) == (problem, remedy)


def test_a_value_is_never_read_as_a_variable_itself() -> None:
    assert filled("${a} and ${b}", {"a": "${b}", "b": "x"}) == "${b} and x"


def test_the_file_may_say_what_was_set_and_a_workload_s_own_words_go_before() -> None:
    text = TEXT.replace("  more:", "  note: {help: a note}\n  more:").replace(
        '{first: {id: "${azure_client_id}"}}', '{note: "${note}", by: "${name}"}'
    )
    of = read(text, where="here", note="${name}")

    assert json.loads(summary(of.parts, told(of, name="its own"))) == {
        "note": "${name}",
        "by": "its own",
    }


def test_what_the_preset_says_of_a_workload_is_checked_as_in_a_cluster_file() -> None:
    with pytest.raises(BadInput, match="identityNmae"):
        read(TEXT.replace("identityName", "identityNmae"), where="here")


# --- the file ---


def test_the_file_says_what_each_workload_says_once_all_are_there() -> None:
    of = read(where="here", more="true")

    assert json.loads(summary(of.parts, told(of))) == {
        "first": {"id": "id of first"},
        "secondID": "id of second",
    }
    assert summary(of.parts, told(of)[:1]) == b"", "half of it would be taken for all of it"
    assert summary((), told(of)) == b""


# --- hypershift-azure ---


def test_hypershift_gets_thirteen_credentials_on_eight_identities_and_one_more_with_kms() -> None:
    for more, identities, credentials in (({}, 8, 13), ({"kms": "true", "keyVault": VAULT}, 9, 14)):
        found = asks(shipped(**more))
        assert len(found) == identities
        assert sum(len(ask.credentials) for ask in found.values()) == credentials


def test_hypershift_gets_its_own_names() -> None:
    of = shipped(kms="true", keyVault=VAULT)
    found = {
        each.workload.title: (each.workload, ask_of(each.asks["azure"])) for each in of.workloads
    }
    named = {
        subject: (ask.identity, ask.credentials[subject.rpartition(":")[2]])
        for workload, ask in found.values()
        for subject in workload.subjects
    }

    expected = {
        f"{CSI}:azure-disk-csi-driver-node-sa": ("disk", "disk-fed-id-node"),
        f"{CSI}:azure-disk-csi-driver-operator": ("disk", "disk-fed-id-operator"),
        f"{CSI}:azure-disk-csi-driver-controller-sa": ("disk", "disk-fed-id-controller"),
        f"{CSI}:azure-file-csi-driver-node-sa": ("file", "file-fed-id-node"),
        f"{CSI}:azure-file-csi-driver-operator": ("file", "file-fed-id-operator"),
        f"{CSI}:azure-file-csi-driver-controller-sa": ("file", "file-fed-id-controller"),
        "openshift-image-registry:registry": ("image-registry", "image-registry-fed-id-registry"),
        "openshift-image-registry:cluster-image-registry-operator": (
            "image-registry",
            "image-registry-fed-id-operator",
        ),
        "openshift-ingress-operator:ingress-operator": ("ingress", "ingress-fed-id"),
        "kube-system:azure-cloud-provider": ("cloud-provider", "cloud-provider-fed-id"),
        "kube-system:capi-provider": ("node-pool-mgmt", "node-pool-mgmt-fed-id"),
        "openshift-cloud-network-config-controller:cloud-network-config-controller": (
            "network",
            "network-fed-id",
        ),
        "kube-system:control-plane-operator": ("control-plane-operator", "cpo-fed-id"),
        "kube-system:kms-provider": ("kms", "kms-fed-id"),
    }
    assert named == {
        f"system:serviceaccount:{who}": (f"guest-{identity}-x7k2p", f"guest-{name}")
        for who, (identity, name) in expected.items()
    }
    assert {workload.asker for workload, _ in found.values()} == {"request"}, (
        "so that its tokens are for openshift"
    )


def test_hypershift_gets_its_roles_where_it_wants_them() -> None:
    given = {
        ask.identity.removeprefix("guest-").removesuffix("-x7k2p"): ask.roles
        for ask in asks(shipped(kms="true", keyVault=VAULT)).values()
    }
    groups = {
        "managed": "guest-x7k2p",
        "vnet": "guest-vnet-x7k2p",
        "nsg": "guest-nsg-x7k2p",
        "dns": "dns",
    }

    expected = {
        "cloud-provider": ("a1f96423-95ce-4224-ab27-4e3dc72facd4", ("managed", "nsg", "vnet")),
        "ingress": ("0336e1d3-7a87-462b-b6db-342b63f7802c", ("managed", "vnet", "dns")),
        "control-plane-operator": (CONTRIBUTOR, ("managed", "nsg", "vnet")),
        "file": ("0d7aedc0-15fd-4a67-a412-efad370c947e", ("managed", "nsg", "vnet")),
        "disk": ("5b7237c5-45e1-49d6-bc18-a1f62f400748", ("managed",)),
        "network": ("be7a6435-15ae-4171-8f30-4a343eff9e8f", ("managed", "vnet")),
        "image-registry": ("8b32b316-c2f5-4ddf-b05b-83dacd2d08b5", ("managed",)),
        "node-pool-mgmt": (CONTRIBUTOR, ("managed", "vnet")),
    }
    for component, (role, where) in expected.items():
        ((title, scopes),) = ((each.title, each.scopes) for each in given.pop(component))
        assert (title, scopes) == (
            role,
            tuple(f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{groups[at]}" for at in where),
        ), component
    assert [(role.title, role.scopes) for role in given.pop("kms")] == [
        ("12338af0-0e69-4776-bea7-57ae8d297424", (VAULT.lower(),))
    ]
    assert given == {}


def test_hypershift_can_have_its_roles_given_by_others_who_then_keep_what_they_gave() -> None:
    found = asks(
        preset(
            "hypershift-azure",
            files.template("presets/hypershift-azure.yaml").encode(),
            WORDS,
            {"infraID": "x", "assignRoles": "false"},
            KNOWN,
        )
    )

    assert {(ask.roles, ask.preserve) for ask in found.values()} == {((), True)}
    assert {ask.preserve for ask in asks(shipped()).values()} == {False}


def test_hypershift_reads_a_client_id_for_each_component() -> None:
    of = shipped(kms="true", keyVault=VAULT)
    data = json.loads(summary(of.parts, told(of)))

    assert data.pop("kmsClientID") == "id of kms-provider"
    assert set(data) == {
        "disk",
        "file",
        "imageRegistry",
        "ingress",
        "cloudProvider",
        "nodePoolManagement",
        "network",
        "controlPlaneOperator",
    }
    assert all(
        set(each) == {"clientID"} and each["clientID"].startswith("id of ")
        for each in data.values()
    )


@pytest.mark.parametrize(
    "value", ["a/b", "", "x'; drop", "..", "a/providers/Microsoft.Compute/disks/d"]
)
def test_a_resource_group_cannot_lead_elsewhere(value: str) -> None:
    with pytest.raises(
        BadInput, match=re.escape(f"--set dnsResourceGroup={value} cannot be meant")
    ):
        shipped(dnsResourceGroup=value)


# --- hypershift-aws ---

ZONES = {"publicZone": "Z1", "privateZone": "Z2", "localZone": "Z3"}
KEY = "arn:aws:kms:us-east-1:123456789012:key/0b1c"


def on_amazon(**given: str) -> Preset:
    text = files.template("presets/hypershift-aws.yaml").encode()
    return preset("hypershift-aws", text, WORDS, {**ZONES, **given}, {"name": "guest-x7k2p"})


def roles(of: Preset) -> dict[str, Any]:
    return {each.workload.title: aws.ask_of(each.asks["aws"]) for each in of.workloads}


def test_hypershift_gets_a_role_for_each_component_of_amazon() -> None:
    of = on_amazon(karpenter="true", kms="true", kmsKey=KEY)
    asked = roles(of)

    assert {
        subject: asked[each.workload.title].role
        for each in of.workloads
        for subject in each.workload.subjects
    } == {
        f"system:serviceaccount:{account}": f"guest-x7k2p-{role}"
        for account, role in {
            "openshift-ingress-operator:ingress-operator": "openshift-ingress",
            "openshift-image-registry:cluster-image-registry-operator": "openshift-image-registry",
            "openshift-image-registry:registry": "openshift-image-registry",
            f"{CSI}:aws-ebs-csi-driver-controller-sa": "aws-ebs-csi-driver-controller",
            "kube-system:kube-controller-manager": "cloud-controller",
            "kube-system:capa-controller-manager": "node-pool",
            "kube-system:control-plane-operator": "control-plane-operator",
            "openshift-cloud-network-config-controller:cloud-network-config-controller": "cloud-network-config-controller",
            "kube-system:karpenter": "karpenter",
            "kube-system:kms-provider": "kms-provider",
        }.items()
    }
    assert {each.workload.asker for each in of.workloads} == {"request"}, (
        "so that its tokens are for openshift"
    )
    assert {
        ask.role.removeprefix("guest-x7k2p-") for ask in roles(on_amazon()).values()
    }.isdisjoint({"karpenter", "kms-provider"})


def test_hypershift_gets_a_profile_for_its_nodes() -> None:
    (machines,) = filter(None, (ask.machines for ask in roles(on_amazon()).values()))

    assert (machines.profile, machines.role) == ("guest-x7k2p-worker", "guest-x7k2p-worker-role")
    assert machines.policy == policy.canonical(
        policy.allow(["ec2:DescribeInstances", "ec2:DescribeRegions"], Resource="*")
    )


def test_hypershift_may_write_in_its_own_zones_and_no_others() -> None:
    statements = [
        (title, each)
        for title, ask in roles(on_amazon()).items()
        for each in ask.policy["Statement"]
    ]
    written = {
        title: each["Resource"]
        for title, each in statements
        if "route53:ChangeResourceRecordSets" in each["Action"]
    }

    zone = "arn:aws:route53:::hostedzone/"
    assert written == {
        "openshift-ingress-operator/ingress": [f"{zone}Z1", f"{zone}Z2"],
        "kube-system/control-plane-operator": f"{zone}Z3",
    }


@pytest.mark.parametrize("value", ["*", "Z1/*", "z1", "", "/hostedzone/Z1"])
def test_a_zone_is_one_zone(value: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"--set localZone={value} cannot be meant")):
        on_amazon(localZone=value)


def test_hypershift_reads_what_its_own_command_would_have_written_of_amazon() -> None:
    of = on_amazon(karpenter="true", kms="true", kmsKey=KEY)
    same = {
        "region": "us-east-1",
        "cluster": "guest-x7k2p",
        "issuer": "https://issuer.example.org",
        "instance_profile": "guest-x7k2p-worker",
    }
    bindings = [
        Binding(each.workload, "aws", {}, ids={**same, "role_arn": f"arn of {each.workload.name}"})
        for each in of.workloads
    ]

    assert json.loads(summary(of.parts, bindings)) == {
        "region": "us-east-1",
        "profileName": "guest-x7k2p-worker",
        "infraID": "guest-x7k2p",
        "issuerURL": "https://issuer.example.org",
        "roles": {
            "ingressARN": "arn of ingress",
            "imageRegistryARN": "arn of image-registry",
            "storageARN": "arn of aws-ebs-csi-driver-controller",
            "networkARN": "arn of cloud-network-config-controller",
            "kubeCloudControllerARN": "arn of cloud-controller",
            "nodePoolManagementARN": "arn of node-pool",
            "controlPlaneOperatorARN": "arn of control-plane-operator",
        },
        "karpenterRoleARN": "arn of karpenter",
        "kmsKeyARN": KEY,
        "kmsProviderRoleARN": "arn of kms-provider",
    }


# --- hypershift-gcp ---

GUEST = {"name": "guest-x7k2p", "project": "my-project"}
COMPONENTS = (
    "nodepool-mgmt",
    "ctrlplane-op",
    "cloud-controller",
    "gcp-pd-csi",
    "image-registry",
    "cloud-network",
)


def on_google() -> Preset:
    return preset(
        "hypershift-gcp", files.template("presets/hypershift-gcp.yaml").encode(), WORDS, {}, GUEST
    )


def test_hypershift_gets_a_service_account_for_each_component_of_google() -> None:
    found = {each.workload.title: gcp.ask_of(each.asks["gcp"]) for each in on_google().workloads}

    assert {ask.account for ask in found.values()} == {
        f"guest-x7k2p-{component}" for component in COMPONENTS
    }
    assert sorted(
        subject for each in on_google().workloads for subject in each.workload.subjects
    ) == [
        "system:serviceaccount:kube-system:capi-gcp-controller-manager",
        "system:serviceaccount:kube-system:cloud-controller-manager",
        "system:serviceaccount:kube-system:control-plane-operator",
        "system:serviceaccount:openshift-cloud-network-config-controller:cloud-network-config-controller",
        "system:serviceaccount:openshift-cluster-csi-drivers:gcp-pd-csi-driver-controller-sa",
        "system:serviceaccount:openshift-image-registry:cluster-image-registry-operator",
        "system:serviceaccount:openshift-image-registry:registry",
    ]
    assert [role.name for role in found["openshift-image-registry/image-registry"].roles] == [
        "roles/storage.admin",
        "roles/resourcemanager.tagUser",
    ]


def test_hypershift_reads_what_its_own_command_would_have_written_of_google() -> None:
    same = {
        "project": "my-project",
        "project_number": "42",
        "pool": "guest-x7k2p-wi-pool",
        "provider": "guest-x7k2p-k8s-provider",
        "cluster": "guest-x7k2p",
    }
    of = on_google()
    bindings = [
        Binding(
            each.workload, "gcp", {}, ids={**same, "service_account": f"{each.workload.name}@there"}
        )
        for each in of.workloads
    ]

    assert json.loads(summary(of.parts, bindings)) == {
        "projectId": "my-project",
        "projectNumber": "42",
        "infraId": "guest-x7k2p",
        "workloadIdentityPool": {
            "poolId": "guest-x7k2p-wi-pool",
            "providerId": "guest-x7k2p-k8s-provider",
            "audience": "openshift",
        },
        "serviceAccounts": {component: f"{component}@there" for component in COMPONENTS},
    }

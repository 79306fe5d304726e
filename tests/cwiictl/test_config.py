"""CredentialsRequests: who asks, who is passed over and why, and a sentence with a place for everything else."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl import files
from cwiictl.config import Requests, credentials_requests
from cwiictl.errors import BadInput
from cwiictl.model import TOKEN_PATH, Workload

DEMO = Path(__file__).parents[2] / "templates" / "demo" / "credentials-requests"


def a_request(
    name: str = "openshift-ingress", *, annotations: Mapping[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    asked: dict[str, object] = {
        "secretRef": {"namespace": "openshift-ingress-operator", "name": "cloud-credentials"},
        "serviceAccountNames": ["ingress-operator"],
        "providerSpec": {
            "apiVersion": "cloudcredential.openshift.io/v1",
            "kind": "AWSProviderSpec",
            "statementEntries": [],
        },
        **spec,
    }
    return {
        "apiVersion": "cloudcredential.openshift.io/v1",
        "kind": "CredentialsRequest",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {field: value for field, value in asked.items() if value is not ...},
    }


def read(*objects: object, tech_preview: bool = False) -> Requests:
    text = "\n---\n".join(json.dumps(value) for value in objects)
    return credentials_requests({"a.yaml": text.encode()}, tech_preview=tech_preview)


def refusal(*objects: object) -> str:
    with pytest.raises(BadInput) as told:
        read(*objects)
    assert told.value.remedy
    return told.value.problem


def wanted(*objects: object, tech_preview: bool = False) -> list[str]:
    return [request.name for request in read(*objects, tech_preview=tech_preview).wanted]


def test_a_request_says_who_gets_what():
    (request,) = read(a_request(cloudTokenPath="/var/run/token")).wanted

    assert request.name == "openshift-ingress"
    assert request.workload == Workload(
        "openshift-ingress-operator", "cloud-credentials", ("ingress-operator",), "/var/run/token"
    )
    assert request.kind == "AWSProviderSpec"
    assert request.spec == {
        "apiVersion": "cloudcredential.openshift.io/v1",
        "kind": "AWSProviderSpec",
        "statementEntries": [],
    }
    assert request.source == request.workload.source == "a.yaml:1"


@pytest.mark.parametrize("path", [..., None, ""])
def test_the_token_is_where_openshift_has_it_if_nothing_is_said(path: object):
    (request,) = read(a_request(cloudTokenPath=path)).wanted

    assert request.workload.token_path == TOKEN_PATH


def test_the_examples_of_the_demo_are_read():
    found = credentials_requests(files.folder(DEMO), tech_preview=False)

    asked = {request.name: request.kind for request in found.wanted}
    assert asked == {
        "aws-ebs-csi-driver-operator": "AWSProviderSpec",
        "openshift-image-registry": "AWSProviderSpec",
        "openshift-ingress": "AWSProviderSpec",
        "openshift-ingress-azure": "AzureProviderSpec",
        "openshift-ingress-gcp": "GCPProviderSpec",
    }
    assert not found.skipped


def test_files_come_by_name_and_documents_in_their_order():
    def text(*names: str) -> bytes:
        return "\n---\n".join(
            json.dumps(a_request(name, secretRef={"namespace": "n", "name": name}))
            for name in names
        ).encode()

    found = credentials_requests(
        {"b.yaml": text("d", "c"), "a.json": text("b"), "B.yaml": text("a")}, tech_preview=False
    )

    assert [request.name for request in found.wanted] == ["a", "b", "d", "c"]


def test_nothing_asks_for_nothing():
    assert credentials_requests({}, tech_preview=False) == Requests((), ())
    assert credentials_requests({"a.yaml": b"# later\n"}, tech_preview=True) == Requests((), ())


def test_lists_are_unrolled():
    other = a_request("other", secretRef={"namespace": "n", "name": "other"})
    nested = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [a_request(), {"apiVersion": "v1", "kind": "List", "items": [other]}],
    }

    assert wanted(nested) == ["openshift-ingress", "other"]


# --- what is passed over ---


@pytest.mark.parametrize(
    ("annotations", "without", "with_preview"),
    [
        ({}, True, True),
        ({"release.openshift.io/delete": "true"}, False, False),
        ({"release.openshift.io/delete": "True"}, True, True),
        ({"release.openshift.io/feature-set": "TechPreviewNoUpgrade"}, False, True),
        ({"release.openshift.io/feature-set": "Default"}, False, False),
        (
            {"release.openshift.io/feature-set": "CustomNoUpgrade,TechPreviewNoUpgrade"},
            False,
            False,
        ),
        (
            {
                "release.openshift.io/feature-set": "TechPreviewNoUpgrade",
                "release.openshift.io/delete": "true",
            },
            False,
            False,
        ),
        (
            {
                "include.release.openshift.io/single-node-developer": "false",
                "capability.openshift.io/name": "Ingress",
            },
            True,
            True,
        ),
    ],
)
def test_requests_are_passed_over_as_ccoctl_does(
    annotations: dict[str, str], without: bool, with_preview: bool
):
    request = a_request(annotations=annotations)

    assert bool(wanted(request)) is without
    assert bool(wanted(request, tech_preview=True)) is with_preview


def test_what_is_passed_over_is_named_with_the_reason():
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    kustomization: object = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [],
    }
    gone = a_request("gone", annotations={"release.openshift.io/delete": "true"}, secretRef=...)

    found = read(config_map, kustomization, gone)

    assert [(skipped.name, skipped.source, skipped.why) for skipped in found.skipped] == [
        ("x", "a.yaml:1", "it is a ConfigMap, no CredentialsRequest"),
        ("", "a.yaml:3", "it is a Kustomization, no CredentialsRequest"),
        ("gone", "a.yaml:5", "it is marked release.openshift.io/delete"),
    ]
    assert not found.wanted


def test_what_is_shown_cannot_move_the_cursor():
    found = read({"apiVersion": "v1", "kind": "A\x1b[2J", "metadata": {"name": "b\n"}})

    assert [(skipped.name, skipped.why) for skipped in found.skipped] == [
        (r"'b\n'", r"it is a 'A\x1b[2J', no CredentialsRequest")
    ]


def test_a_request_may_be_passed_over_beside_its_successor():
    assert wanted(a_request(annotations={"release.openshift.io/delete": "true"}), a_request()) == [
        "openshift-ingress"
    ]


# --- what is refused ---


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"secretRef": ...}, "a.yaml:1 lacks spec.secretRef"),
        ({"secretRef": {"namespace": "n"}}, "a.yaml:1 lacks spec.secretRef.name"),
        ({"secretRef": None}, "spec.secretRef in a.yaml:1 is nothing where an object is needed"),
        (
            {"secretRef": {"namespace": "n", "name": 7}},
            "spec.secretRef.name in a.yaml:1 is a number where a text is needed",
        ),
        (
            {"secretRef": {"namespace": True, "name": "x"}},
            "spec.secretRef.namespace in a.yaml:1 is true or false where a text is needed",
        ),
        (
            {"secretRef": {"namespace": "../x", "name": "x"}},
            "the namespace '../x' in a.yaml:1 is not a Kubernetes name",
        ),
        (
            {"secretRef": {"namespace": "n", "name": "x\n"}},
            r"the name 'x\n' in a.yaml:1 is not a Kubernetes name",
        ),
        ({"serviceAccountNames": ...}, "a.yaml:1 names no ServiceAccount"),
        ({"serviceAccountNames": None}, "a.yaml:1 names no ServiceAccount"),
        ({"serviceAccountNames": []}, "a.yaml:1 names no ServiceAccount"),
        (
            {"serviceAccountNames": "x"},
            "spec.serviceAccountNames in a.yaml:1 is a text where a list is needed",
        ),
        (
            {"serviceAccountNames": ["x", 1]},
            "spec.serviceAccountNames[1] in a.yaml:1 is a number where a text is needed",
        ),
        (
            {"serviceAccountNames": ["*"]},
            "the ServiceAccount '*' in a.yaml:1 is not a Kubernetes name",
        ),
        ({"serviceAccountNames": ["x", "x"]}, "a.yaml:1 names a ServiceAccount twice"),
        ({"providerSpec": ...}, "a.yaml:1 lacks spec.providerSpec"),
        (
            {"providerSpec": None},
            "spec.providerSpec in a.yaml:1 is nothing where an object is needed",
        ),
        ({"providerSpec": []}, "spec.providerSpec in a.yaml:1 is a list where an object is needed"),
        ({"providerSpec": {}}, "a.yaml:1 lacks spec.providerSpec.kind"),
        ({"providerSpec": {"kind": ""}}, "spec.providerSpec.kind in a.yaml:1 is empty"),
        (
            {"providerSpec": {"kind": 1}},
            "spec.providerSpec.kind in a.yaml:1 is a number where a text is needed",
        ),
        (
            {"cloudTokenPath": "relative"},
            "spec.cloudTokenPath 'relative' in a.yaml:1 is no absolute path",
        ),
        ({"cloudTokenPath": "/a\nrole_arn = x"}, "is no absolute path"),
        (
            {"cloudTokenPath": 1},
            "spec.cloudTokenPath in a.yaml:1 is a number where a text is needed",
        ),
    ],
)
def test_what_a_request_gets_wrong_is_told_by_place_and_field(
    change: dict[str, Any], sentence: str
):
    assert sentence in refusal(a_request(**change))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"kind": "ConfigMap"}, "a.yaml:1 lacks apiVersion"),
        ({"apiVersion": "v1"}, "a.yaml:1 lacks kind"),
        ({"apiVersion": "v1", "kind": ""}, "kind in a.yaml:1 is empty"),
        (
            {"apiVersion": 1, "kind": "x"},
            "apiVersion in a.yaml:1 is a number where a text is needed",
        ),
        (
            {**a_request(), "metadata": None},
            "metadata in a.yaml:1 is nothing where an object is needed",
        ),
        (
            {**a_request(), "metadata": {"name": 1}},
            "metadata.name in a.yaml:1 is a number where a text is needed",
        ),
        ({**a_request(), "metadata": {}}, "metadata.name '' in a.yaml:1 is not a Kubernetes name"),
        ({**a_request("../x")}, "metadata.name '../x' in a.yaml:1 is not a Kubernetes name"),
        (
            {
                **a_request(),
                "metadata": {"name": "x", "annotations": {"release.openshift.io/delete": True}},
            },
            "metadata.annotations[...] in a.yaml:1 is true or false",
        ),
        ({**a_request(), "spec": "x"}, "spec in a.yaml:1 is a text where an object is needed"),
        (
            {**a_request(), "kind": "CredentialRequest"},
            "a.yaml:1 is a CredentialRequest of cloudcredential.openshift.io/v1, which does not exist",
        ),
        (
            {**a_request(), "apiVersion": "v1"},
            "a.yaml:1 is a CredentialsRequest of v1, which does not exist",
        ),
        ({"apiVersion": "v1", "kind": "List"}, "the List in a.yaml:1 has no items"),
    ],
)
def test_what_is_no_object_of_kubernetes_is_told_by_its_place(value: object, sentence: str):
    assert sentence in refusal(value)


def test_a_mistake_is_told_with_the_line_of_its_field():
    text = b"""apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata:
  name: x
spec:
  secretRef:
    namespace: n
    name: yes
"""
    with pytest.raises(BadInput) as told:
        credentials_requests({"a.yaml": text}, tech_preview=False)

    assert (
        told.value.problem
        == "spec.secretRef.name in a.yaml:8 is true or false where a text is needed"
    )


def test_two_requests_for_one_secret_are_told_with_both_places():
    problem = refusal(a_request("a"), a_request("b"))

    assert (
        problem
        == "the Secret openshift-ingress-operator/cloud-credentials is asked for twice, in a.yaml:1 and in a.yaml:3"
    )


def test_two_requests_of_one_name_are_told_with_both_places():
    problem = refusal(a_request(), a_request(secretRef={"namespace": "n", "name": "other"}))

    assert problem == "the name openshift-ingress is asked for twice, in a.yaml:1 and in a.yaml:3"


# --- laws ---

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3)
    ),
    max_leaves=5,
)
fields = st.sampled_from(["apiVersion", "kind", "metadata", "spec", "items"])
spec_fields = st.sampled_from(
    ["secretRef", "serviceAccountNames", "providerSpec", "cloudTokenPath"]
)


@given(
    st.dictionaries(fields, values, max_size=3), st.dictionaries(spec_fields, values, max_size=2)
)
def test_no_object_is_too_strange_for_a_sentence(change: dict[str, Any], spec: dict[str, Any]):
    with contextlib.suppress(BadInput):
        read({**a_request(**spec), **change})


@given(
    st.binary(max_size=80)
    | st.text(max_size=80).map(str.encode)
    | st.text("a:-{}[]&*!?|>'\"#%@,\n <1", max_size=60).map(str.encode)
)
def test_no_text_is_too_strange_for_a_sentence(text: bytes):
    with contextlib.suppress(BadInput):
        credentials_requests({"a.yaml": text}, tech_preview=True)

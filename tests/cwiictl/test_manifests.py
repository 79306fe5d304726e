"""Objects for Kubernetes: filled as data, and written so that every parser reads the same."""

from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from cwiictl import manifests
from cwiictl.documents import documents
from cwiictl.model import Binding, Workload

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: '', namespace: '', labels: {a: b}}\ntype: Opaque\nstringData: {}\n"

texts = st.text(max_size=20) | st.text(
    "a:-{}[]&*!?|>'\"#%@, \n\r\t\x85\u2028<1eE.+~_0o=yYnN", max_size=10
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(texts.filter(lambda key: key != "<<"), below, max_size=3)
    ),
    max_leaves=6,
)


def a_binding(**data: str) -> Binding:
    return Binding(Workload("a", "b", ("c",)), "aws", data)


def test_a_secret_is_its_template_with_the_binding_in_it():
    assert manifests.secret(SECRET, [a_binding(credentials="x: {y}\n---\n")]) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "b", "namespace": "a", "labels": {"a": "b"}},
        "type": "Opaque",
        "stringData": {"credentials": "x: {y}\n---\n"},
    }


def test_a_file_in_a_secret_is_coded_and_stands_beside_texts_of_other_clouds():
    google = Binding(Workload("a", "b", ("c",)), "gcp", {"service_account.json": b"{}"})

    alone, both = (
        manifests.secret(SECRET, [google]),
        manifests.secret(SECRET, [google, a_binding(credentials="x")]),
    )

    assert (alone["data"], "stringData" in alone) == ({"service_account.json": "e30="}, False)
    assert (both["data"], both["stringData"]) == (
        {"service_account.json": "e30="},
        {"credentials": "x"},
    )


def test_a_service_account_is_annotated_once_for_all_clouds():
    text = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: '', namespace: '', annotations: {}}\n"
    workload = Workload("a", "b", ("c", "d"))
    bindings = [
        Binding(workload, "aws", {}, {"cwii.dev/aws-role-arn": "x"}),
        Binding(workload, "azure", {}, {"cwii.dev/az-client-id": "y"}),
    ]
    annotations = {"cwii.dev/aws-role-arn": "x", "cwii.dev/az-client-id": "y"}

    assert manifests.service_accounts(text, bindings) == [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": "a", "annotations": annotations},
        }
        for name in ("c", "d")
    ]


def test_a_service_account_has_the_labels_of_all_clouds_and_none_where_none_has_one():
    text = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: '', namespace: '', annotations: {}}\n"
    workload = Workload("a", "b", ("c",))
    bindings = [
        Binding(workload, "aws", {}),
        Binding(workload, "azure", {}, {}, {"azure.workload.identity/use": "true"}),
    ]

    (labelled,), (plain,) = (
        manifests.service_accounts(text, bindings),
        manifests.service_accounts(text, bindings[:1]),
    )

    assert labelled["metadata"] == {
        "name": "c",
        "namespace": "a",
        "labels": {"azure.workload.identity/use": "true"},
        "annotations": {},
    }
    assert plain["metadata"] == {"name": "c", "namespace": "a", "annotations": {}}


def test_several_objects_are_one_file():
    assert manifests.dump_all([{"a": 1}, {"b": 2}]) == b"a: 1\n---\nb: 2\n"


def test_an_issuer_is_data_and_no_text():
    filled = manifests.authentication("spec: {serviceAccountIssuer: ''}", "https://x\nkind: Other")

    assert filled == {"spec": {"serviceAccountIssuer": "https://x\nkind: Other"}}


def test_lines_are_written_as_a_block_in_the_given_order():
    assert manifests.dump(
        {"z": "[default]\na = b", "a": {"long": "long " * 60, "list": ["x"]}}
    ) == (b"z: |-\n  [default]\n  a = b\na:\n  long: '" + b"long " * 60 + b"'\n  list:\n  - x\n")


def test_what_is_there_twice_is_written_twice():
    shared = ["x"]

    assert manifests.dump({"a": shared, "b": shared}) == b"a:\n- x\nb:\n- x\n"


def test_what_another_parser_takes_for_a_number_is_quoted():
    """Kubernetes reads YAML with parsers that see a float in 1e3, and a Secret whose name is no text is refused."""
    for word in (
        "1e3",
        "0o7",
        "1_0",
        "+.5",
        ".inf",
        "-.5e1",
        "0b1",
        "12:30",
        "2012-10-17",
        "y",
        "N",
        "on",
        "null",
        "~",
        "true",
        "",
        "=",
        "<<",
    ):
        assert manifests.dump({"a": word}) in {f"a: '{word}'\n".encode(), f'a: "{word}"\n'.encode()}


@given(st.dictionaries(texts.filter(lambda key: key != "<<"), values, max_size=4))
@example({"a": "a\r\nb"})
@example({"a": "\n a\n"})
@example({"a": "a\n \n\n"})
def test_what_is_dumped_is_read_back_as_it_was(document: dict[str, Any]):
    text = manifests.dump(document)

    assert yaml.safe_load(text) == document
    assert [read.value for read in documents("a.yaml", text)] == [document]

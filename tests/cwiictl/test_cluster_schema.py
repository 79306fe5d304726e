"""The JSON schema that editors complete cluster.yaml with: it is the code's, and agrees with reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from cwiictl import files
from cwiictl.cluster_file import load
from cwiictl.documents import documents
from cwiictl.errors import BadInput
from tests.cwiictl.cluster_schema import SCHEMA, WORDS, rendered

EXAMPLE = files.template("cluster.example.yaml")


def an_example() -> dict[str, Any]:
    (document,) = documents("cluster.example.yaml", EXAMPLE.encode())
    return dict(document.value)


def a_validator() -> Any:
    jsonschema: Any = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


def test_it_is_what_the_code_says():
    assert SCHEMA.read_text() == rendered(), "run scripts/fix"


def test_the_example_names_it_for_editors():
    assert EXAMPLE.startswith(f"# yaml-language-server: $schema={SCHEMA.name}\n")
    assert (
        json.loads(files.template(SCHEMA.name))["$schema"]
        == "https://json-schema.org/draft/2020-12/schema"
    )


def test_it_describes_every_key():
    keys = list(_keys(json.loads(SCHEMA.read_text())))

    assert len(keys) > 30
    assert [key for key, value in keys if not value.get("description")] == []


def _keys(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for shape in (schema, *schema["$defs"].values()):
        yield from shape.get("properties", {}).items()


def test_the_example_is_valid():
    assert list(a_validator().iter_errors(an_example())) == []


A_WORKLOAD: dict[str, Any] = {"name": "a", "namespace": "b", "serviceAccounts": ["c"], "aws": {}}
WRONG: list[dict[str, Any]] = [
    {"kind": "Deployment"},
    {"nmae": "x"},
    {"name": "Prod"},
    {"clouds": {}},
    {"clouds": {"awz": {}}},
    {"clouds": {"aws": {"regoin": "x"}}},
    {"clouds": {"aws": {"account": 1}}},
    {"issuer": {"exists": True}},
    {"issuer": {"in": "aws", "url": "https://x"}},
    {"issuer": {"url": "http://x"}},
    {"installer": ["kubeadmin"]},
    {"workloads": [{word: value for word, value in A_WORKLOAD.items() if word != "aws"}]},
    {"workloads": [A_WORKLOAD | {"serviceAccounts": []}]},
    {"workloads": [A_WORKLOAD | {"serviceAccounts": ["c", "c"]}]},
    {"workloads": [A_WORKLOAD | {"namespace": "B"}]},
    {"workloads": [A_WORKLOAD | {"aws": {"policy": {"Statement": [{"effect": "Allow"}]}}}]},
    {"workloads": [A_WORKLOAD | {"aws": {"maxSessionDuration": 60}}]},
]


@pytest.mark.parametrize("change", WRONG)
def test_it_refuses_what_reading_refuses(change: dict[str, Any]):
    with pytest.raises(BadInput):
        load("cluster.yaml", json.dumps({**an_example(), **change}).encode(), WORDS)

    assert not a_validator().is_valid({**an_example(), **change})

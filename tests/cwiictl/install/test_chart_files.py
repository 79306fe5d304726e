"""What of the chart is made from the code: its values with their comments, and their schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from cwiictl import files
from cwiictl.errors import BadInput
from cwiictl.install.given import read, values
from cwiictl.install.values import Values
from tests.cwiictl.install.chart_files import CHART, rendered
from tests.cwiictl.install.installed import FILES


def a_validator() -> Any:
    jsonschema: Any = pytest.importorskip("jsonschema")
    schema = json.loads((CHART / "values.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def said(**more: Any) -> dict[str, Any]:
    return {**yaml.safe_load((CHART / "values.yaml").read_text()), **more}


def test_they_are_what_the_code_says() -> None:
    for file, text in rendered().items():
        assert file.read_text() == text, f"{file.name}: run scripts/fix"


def test_the_chart_has_our_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = f'version = "{chart["version"]}"'

    assert chart["version"] == chart["appVersion"]
    assert version in (CHART.parents[1] / "pyproject.toml").read_text()


def test_its_values_are_the_defaults_and_each_has_a_comment() -> None:
    text = files.template("chart/values.yaml")
    lines = text.splitlines()

    assert values(read("values.yaml", text.encode())) == Values()
    above = {
        line.split(":")[0]: lines[number - 1]
        for number, line in enumerate(lines)
        if line[:1].isalpha()
    }
    assert [name for name, comment in above.items() if not comment.startswith("# ")] == []


def test_its_values_are_valid() -> None:
    assert list(a_validator().iter_errors(said())) == []


@pytest.mark.parametrize("name", FILES)
def test_the_schema_takes_what_reading_takes(name: str) -> None:
    taken = {
        key: value for key, value in FILES[name].items() if key not in {"nodeSelector", "resources"}
    }  # of which helm takes the empty words away first

    assert list(a_validator().iter_errors(said(**taken))) == []


@pytest.mark.parametrize(
    "change",
    [
        {"replcias": 2},
        {"replicas": 0},
        {"replicas": "2"},
        {"name": "Webhook"},
        {"name": "a" * 47},
        {"dialects": []},
        {"dialects": ["cwi"]},
        {"aws": {"regoin": "x"}},
        {"certificates": {"by": "me"}},
        {"gcp": {"delivery": "post"}},
        {"matchConditions": [{"name": "a"}]},
        {"timeoutSeconds": 31},
        {"autoscaling": {"cpu": 0}},
        {"tolerations": ["all"]},
        {"resources": {"requests": {"cpu": True}}},
    ],
)
def test_the_schema_refuses_what_reading_refuses(change: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        values(read("values.yaml", json.dumps(change).encode()))

    assert not a_validator().is_valid(said(**change))

"""Azure Service Operator's definitions, as the API server would judge by them; but that a field which it would prune is a mistake here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parent / "crds"


def refusals(resource: Mapping[str, Any]) -> list[str]:
    """Why it would not be accepted as it is written."""
    schema = schemas().get((resource["apiVersion"], resource["kind"]))
    if schema is None:
        return [f"there is no {resource['kind']} of {resource['apiVersion']}"]
    jsonschema: Any = pytest.importorskip("jsonschema")
    return [
        f"{'.'.join(map(str, error.path))}: {error.message}"
        for error in jsonschema.Draft202012Validator(schema).iter_errors(resource)
    ]


@cache
def schemas() -> dict[tuple[str, str], Any]:
    return dict(_schemas())


def _schemas() -> Iterator[tuple[tuple[str, str], Any]]:
    for path in sorted(FOLDER.glob("*.yaml")):
        spec: Any = yaml.safe_load(path.read_text())["spec"]
        for version in spec["versions"]:
            schema = _closed(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}
            yield (
                (f"{spec['group']}/{version['name']}", spec["names"]["kind"]),
                {**schema, "required": ["apiVersion", "kind", "metadata", "spec"]},
            )


def _closed(schema: Any) -> Any:
    """Nothing is unknown in it."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]  # pyright: ignore[reportUnknownVariableType] - of data from outside
    if not isinstance(schema, dict):
        return schema
    closed: dict[str, Any] = {key: _closed(value) for key, value in schema.items()}  # pyright: ignore[reportUnknownVariableType] - of data from outside
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":  # pyright: ignore[reportUnknownMemberType] - of data from outside
        closed.setdefault("additionalProperties", False)
    return closed

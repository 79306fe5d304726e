"""The same words for editors: JSON schema, draft 2020-12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from cwiictl.cluster_file.words import Words, shape

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema(words: Words) -> dict[str, Any]:
    """What it refuses is refused by reading too; reading refuses a little more (twins, a cloud that hosts and is not there)."""
    _, shapes = msgspec.json.schema_components([shape(words)], ref_template="#/$defs/{name}")
    shapes = {name: _tidy(each) for name, each in shapes.items()}
    shapes["Clouds"] |= {"minProperties": 1}
    shapes["Issuer"] |= {
        "dependentRequired": {"exists": ["url"]},
        "not": {"required": ["in", "url"]},
    }
    shapes["Issuer"]["properties"]["url"] |= {"pattern": "^https://"}
    shapes["Workload"] |= {"anyOf": [{"required": [cloud]} for cloud in words.clouds]}
    top = shapes.pop("Cluster")
    return {
        "$schema": DRAFT,
        "title": "cluster.yaml of cwiictl",
        **top,
        "$defs": dict(sorted(shapes.items())),
    }


def _tidy(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says nothing: our names for shapes, their descriptions for programmers, and defaults that mean "not given"."""
    kept = {
        word: value
        for word, value in shape.items()
        if word not in {"title", "default"} and value != [] and not _is_ours(word, shape)
    }
    if "properties" in kept:
        kept["properties"] = {
            name: _tidy(each)
            for name, each in cast("Mapping[str, Any]", kept["properties"]).items()
        }
    return kept


def _is_ours(word: str, shape: Mapping[str, Any]) -> bool:
    return word == "description" and "properties" in shape

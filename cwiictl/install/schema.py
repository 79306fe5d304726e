"""What can be said, for people and for helm: the chart's values.yaml with a comment on each, and its JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from cwiictl.install.values import Values, Wishes
from cwiictl.manifests import dump

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """Reading refuses a little more: what cannot be together. The chart's own checks refuse that."""
    _, shapes = msgspec.json.schema_components([Wishes], ref_template="#/$defs/{name}")
    tidied = {name: _tidy(shape) for name, shape in shapes.items()}
    top = tidied.pop("Wishes")
    top["properties"] |= {"global": {"description": "Helm's own, for charts that hold this one."}}
    return {
        "$schema": DRAFT,
        "title": "Values of cwii-webhook",
        **top,
        "$defs": dict(sorted(tidied.items())),
    }


def _tidy(shape: Any) -> Any:
    """Without our names for shapes, and without defaults: values.yaml has them."""
    if isinstance(shape, list):
        return [_tidy(each) for each in cast("list[Any]", shape)]
    if not isinstance(shape, dict):
        return shape
    found = cast("dict[str, Any]", shape)
    if "properties" in found:
        required = {"required": found["required"]} if found.get("required") else {}
        properties = {name: _tidy(each) for name, each in found["properties"].items()}
        return {
            "type": "object",
            "additionalProperties": False,
            **required,
            "properties": properties,
        }
    return {word: _tidy(value) for word, value in found.items() if word not in {"title", "default"}}


def documented() -> str:
    """Each value by default, under a comment."""
    lines = _lines(Wishes, msgspec.to_builtins(Values()), "")
    return (
        "# Values of cwii-webhook: `cwiictl install-webhook --values` takes the same. Written by scripts/fix.\n"
        + "\n".join(lines)
        + "\n"
    )


def _lines(shape: type[msgspec.Struct], defaults: Mapping[str, Any], indent: str) -> Iterator[str]:
    described = {field.encode_name: field.type for field in msgspec.structs.fields(shape)}
    for name, value in defaults.items():
        kind = described[name]
        text = _description(kind)
        yield from [""] if not indent else []
        yield from [f"{indent}# {text}"] if text else []
        if (inner := _struct(kind)) is None:
            yield from (
                indent + line for line in dump({name: _listed(value)}).decode().splitlines()
            )
        else:
            yield f"{indent}{name}:"
            yield from _lines(inner, value, indent + "  ")


def _listed(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _description(kind: Any) -> str:
    return next(
        (
            meta.description or ""
            for meta in getattr(kind, "__metadata__", ())
            if isinstance(meta, msgspec.Meta)
        ),
        "",
    )


def _struct(kind: Any) -> type[msgspec.Struct] | None:
    bare = getattr(kind, "__origin__", kind)
    return bare if isinstance(bare, type) and issubclass(bare, msgspec.Struct) else None

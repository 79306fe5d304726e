"""A preset: the workloads of a product in the words of cluster.yaml, with variables, and the file that its own tool would have written of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from msgspec import Meta

from cwiictl.audiences import Asker
from cwiictl.cluster_file.variables import Variables, VariableShape, filled
from cwiictl.cluster_file.words import Words, asking
from cwiictl.cluster_file.workloads import WorkloadAsk, workloads
from cwiictl.documents import documents
from cwiictl.model import Binding, Workload
from cwiictl.shapes import Strict, told


class PresetShape(Strict):
    """A variable is written ${NAME}. Whatever has a `when` is there if that is true."""

    api_version: Literal["cwii.dev/v1"]
    kind: Literal["Preset"]
    asker: Asker
    variables: dict[str, VariableShape]
    workloads: Annotated[list[dict[str, Any]], Meta(min_length=1)]


@dataclass(frozen=True)
class Preset:
    """`parts` is what each workload says in the file that the product takes."""

    workloads: tuple[WorkloadAsk, ...]
    parts: tuple[tuple[Workload, Mapping[str, Any]], ...]


def preset(name: str, text: bytes, words: Words, given: Mapping[str, str], known: Mapping[str, str]) -> Preset:
    """`given` is what the user sets of its variables; `known` are further ones that are not the user's to set here."""
    title = f"the preset {name}"
    (document,) = documents(title, text)
    shape = told(document, PresetShape)
    variables = Variables(title, shape.variables, given, known)
    wanted: list[dict[str, Any]] = filled([_asked(each) for each in shape.workloads], variables)
    (asked,) = documents(title, json.dumps({"workloads": wanted}, indent=2).encode())
    found = workloads(asked, told(asked, asking(words)).workloads, words, shape.asker)
    outputs = {(each["namespace"], each["name"]): each.get("output", {}) for each in shape.workloads}
    return Preset(found, tuple((each.workload, outputs[each.workload.namespace, each.workload.name]) for each in found))


def clouds(name: str, text: bytes, words: Words) -> tuple[str, ...]:
    """Of which it asks something, whatever its variables are."""
    (document,) = documents(f"the preset {name}", text)
    shape = told(document, PresetShape)
    return tuple(cloud for cloud in words.clouds if any(cloud in each for each in shape.workloads))


def _asked(workload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in workload.items() if key != "output"}


def summary(parts: Iterable[tuple[Workload, Mapping[str, Any]]], bindings: Iterable[Binding]) -> bytes:
    """One object of all workloads, once each is there: its variables are the keys of a workload's Secret, and its further ids. Empty before."""
    data = {binding.workload: {**binding.texts, **binding.ids} for binding in bindings}
    every = tuple(parts)
    if not every or any(workload not in data for workload, _ in every):
        return b""
    merged: dict[str, Any] = {}
    for workload, part in every:
        _merge(merged, filled(part, data[workload]))
    return json.dumps(merged, indent=2).encode() + b"\n"


def _merge(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, dict) and isinstance(whole.get(key), dict):
            _merge(whole[key], cast("dict[str, Any]", value))
        else:
            whole[key] = value

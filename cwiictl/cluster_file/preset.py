"""A preset: the workloads of a product in the words of cluster.yaml, with variables, and the file that its own tool would have written of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from msgspec import Meta

from cwiictl.audiences import Asker
from cwiictl.cluster_file.variables import Meaning, Variables, VariableShape, filled
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
class Part:
    """What a workload says in the file that the product takes: its variables are the keys of its Secret, its further ids, and the preset's own."""

    workload: Workload
    says: Mapping[str, Any]
    variables: Meaning

    def filled(self, told: Mapping[str, str]) -> dict[str, Any]:
        return filled(self.says, _Known(told, self.variables))


@dataclass(frozen=True)
class _Known:
    told: Mapping[str, str]
    variables: Meaning

    def __getitem__(self, name: str, /) -> str | bool:
        return self.told[name] if name in self.told else self.variables[name]


@dataclass(frozen=True)
class Preset:
    workloads: tuple[WorkloadAsk, ...]
    parts: tuple[Part, ...]


def preset(
    name: str, text: bytes, words: Words, given: Mapping[str, str], known: Mapping[str, str]
) -> Preset:
    """`given` is what the user sets of its variables; `known` are further ones that are not the user's to set here."""
    title = f"the preset {name}"
    (document,) = documents(title, text)
    shape = told(document, PresetShape)
    variables = Variables(title, shape.variables, given, known)
    wanted: list[dict[str, Any]] = filled([_asked(each) for each in shape.workloads], variables)
    (asked,) = documents(title, json.dumps({"workloads": wanted}, indent=2).encode())
    found = workloads(asked, told(asked, asking(words)).workloads, words, shape.asker)
    outputs = {
        (each["namespace"], each["name"]): each.get("output", {}) for each in shape.workloads
    }
    return Preset(
        found,
        tuple(
            Part(each.workload, outputs[each.workload.namespace, each.workload.name], variables)
            for each in found
        ),
    )


def clouds(name: str, text: bytes, words: Words) -> tuple[str, ...]:
    """Of which it asks something, whatever its variables are."""
    (document,) = documents(f"the preset {name}", text)
    shape = told(document, PresetShape)
    return tuple(cloud for cloud in words.clouds if any(cloud in each for each in shape.workloads))


def _asked(workload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in workload.items() if key != "output"}


def summary(parts: Iterable[Part], bindings: Iterable[Binding]) -> bytes:
    """One object of all workloads, once each is there. Empty before."""
    data = {binding.workload: {**binding.texts, **binding.ids} for binding in bindings}
    every = tuple(parts)
    if not every or any(part.workload not in data for part in every):
        return b""
    merged: dict[str, Any] = {}
    for part in every:
        _merge(merged, part.filled(data[part.workload]))
    return json.dumps(merged, indent=2).encode() + b"\n"


def _merge(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        if isinstance(value, dict) and isinstance(whole.get(key), dict):
            _merge(whole[key], cast("dict[str, Any]", value))
        else:
            whole[key] = value

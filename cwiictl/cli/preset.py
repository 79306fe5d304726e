"""What --preset asks for: a file that is shipped, with the user's values for its variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cwiictl import files
from cwiictl.actions.order import Order
from cwiictl.cli.order import WORDS
from cwiictl.cluster_file.preset import Preset, clouds, preset
from cwiictl.errors import BadInput
from cwiictl.shapes import nearest

FOLDER = "presets"


def ordered(what: Order, given: Mapping[str, Any]) -> Order:
    """The same for the workloads of the preset, if one is given. What it makes is its own, and left over to no other command."""
    name: str = given.get("preset", "")
    if not name:
        return what
    text = _read(name)
    _judge_clouds(name, clouds(name, text, WORDS), what)
    asked, path = (
        preset(name, text, WORDS, given["variables"], _known(what)),
        given.get("output_file"),
    )
    if "output_file" in given:
        _judge_file(name, asked, path, given)
    return replace(
        what,
        workloads=asked.workloads,
        requests=None,
        installers=given.get("installers", ()),
        origin=f"preset-{name}",
        summary=path,
        parts_of_summary=asked.parts,
    )


def _read(name: str) -> bytes:
    file, known = f"{name}.yaml", files.templates(FOLDER)
    if file not in known:
        raise BadInput(
            f"there is no preset {name!r}",
            remedy=nearest(name, [each.removesuffix(".yaml") for each in known], key="--preset "),
        )
    return files.template(f"{FOLDER}/{file}").encode()


def _known(what: Order) -> dict[str, str]:
    """The cluster's name, and what the clouds are told, by its key in cluster.yaml."""
    told = {
        key: str(what.clouds.get(cloud, {}).get(field, ""))
        for cloud in WORDS.clouds
        for key, field in WORDS.fields(cloud).items()
    }
    return {**told, "name": what.cluster.name}


def judge(given: Mapping[str, Any]) -> None:
    """What belongs to a preset is not passed over without one, and the other way round."""
    name: str = given.get("preset", "")
    for flag, value in (
        ("--set", given.get("variables")),
        ("--output-file", given.get("output_file")),
    ):
        if value and not name:
            raise BadInput(
                f"{flag} is for a preset, and none is given",
                remedy=f"give --preset NAME, or leave {flag} out",
            )
    if name and given["requests"]:
        raise BadInput(
            "--preset and --credentials-requests-dir exclude one another",
            remedy="run the command once for each",
        )


def _judge_clouds(name: str, asked: tuple[str, ...], what: Order) -> None:
    if not set(asked) & what.clouds.keys():
        raise BadInput(
            f"the preset {name} asks nothing of {' and '.join(what.clouds)}",
            remedy=f"give --cloud {' or '.join(asked)}",
        )


def _judge_file(name: str, asked: Preset, path: Path | None, given: Mapping[str, Any]) -> None:
    """Whoever only declares the identities cannot know yet what they will be called."""
    writes = any(part.says for part in asked.parts)
    if writes and path is None and not given["declare"]:
        raise BadInput(
            f"the preset {name} has a file to write", remedy="say where, with --output-file FILE"
        )
    if path and not writes:
        raise BadInput(f"the preset {name} has no file to write", remedy="leave --output-file out")

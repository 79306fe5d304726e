"""A pod, taken apart into what a webhook may give one, each by a name that people know it by; so that two pods can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cwiictl.engine.resource import Difference

Body = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Part:
    name: str  # AWS_ROLE_ARN, or volume cwii-aws-token
    container: str = ""  # that it is in

    def __str__(self) -> str:
        return f"{self.container}: {self.name}" if self.container else self.name


def parts(pod: Body) -> dict[Part, Any]:
    return dict(_parts(pod))


def given(before: Body, after: Body) -> dict[Part, Any]:
    """What a pod has only afterwards, or otherwise than before. A container that is new comes as a whole."""
    had, has = parts(before), parts(after)
    found = {part: value for part, value in has.items() if had.get(part) != value}
    new = {
        part.name.removeprefix("container ")
        for part in found
        if part not in had and part.name.startswith("container ")
    }
    return {part: value for part, value in found.items() if part.container not in new}


def differences(name: str, want: Any, have: Any) -> Iterator[Difference]:
    """What is wanted and is otherwise. What is there besides is what an API server fills in."""
    if isinstance(want, dict) and isinstance(have, dict):
        for key, value in cast("Body", want).items():
            yield from differences(f"{name}.{key}", value, cast("Body", have).get(key))
    elif (
        isinstance(want, list)
        and isinstance(have, list)
        and len(cast("list[Any]", want)) == len(cast("list[Any]", have))
    ):
        for place, (one, other) in enumerate(
            zip(cast("list[Any]", want), cast("list[Any]", have), strict=True)
        ):
            yield from differences(f"{name}[{place}]", one, other)
    elif want != have:
        yield Difference(name, cast("object", have), cast("object", want))


def containers(pod: Body) -> list[Body]:
    return [each for kind in ("initContainers", "containers") for each in listed(pod["spec"], kind)]


def within(body: Body, *keys: str) -> Body:
    """A map in maps. Where it is empty it may be missing, or null."""
    for key in keys:
        body = cast("Body", body.get(key) or {})
    return body


def listed(body: Body, key: str) -> Sequence[Body]:
    return cast("Sequence[Body]", body.get(key) or ())


def _parts(pod: Body) -> Iterator[tuple[Part, Any]]:
    for volume in listed(pod["spec"], "volumes"):
        yield (
            Part(f"volume {volume['name']}"),
            {key: value for key, value in volume.items() if key != "name"},
        )
    for container in containers(pod):
        yield Part(f"container {container['name']}"), {}
        for variable in listed(container, "env"):
            yield (
                Part(variable["name"], container["name"]),
                variable.get("valueFrom") or variable.get("value", ""),
            )
        for mount in listed(container, "volumeMounts"):
            yield Part(f"mount {mount['mountPath']}", container["name"]), mount["name"]
    for kind in ("annotation", "label"):
        for key, text in within(pod, "metadata", f"{kind}s").items():
            yield Part(f"{kind} {key}"), text

"""Whether what we give is there already, as we gave it: for names that are ours, where what is there would else be replaced."""

from __future__ import annotations

from typing import cast

import msgspec

from cwii_webhook.admission import injection, review

DEFAULT_MODE = 0o644  # the API server writes it where nothing is said


def volume(there: review.Volume, ours: injection.Volume) -> bool:
    sources = {
        "projected": there.projected,
        "configMap": there.config_map,
        "emptyDir": there.empty_dir,
        "downwardAPI": there.downward_api,
    }
    return all(
        _source(sources.get(kind, msgspec.UNSET), source) for kind, source in ours.source.items()
    )


def _source(there: msgspec.Raw | msgspec.UnsetType, ours: object) -> bool:
    if there is msgspec.UNSET:
        return False
    found, wanted = msgspec.json.decode(there), msgspec.json.decode(msgspec.json.encode(ours))
    if (
        isinstance(found, dict)
        and "defaultMode" not in wanted
        and cast("dict[str, object]", found).get("defaultMode") == DEFAULT_MODE
    ):
        del found["defaultMode"]
    return found == wanted


def container(there: review.Container, ours: injection.Json) -> bool:
    """Others may have given it variables and mounts besides, and resources where we say nothing of them."""
    wanted = msgspec.convert(msgspec.json.decode(msgspec.json.encode(ours)), review.Container)
    same = (there.image, there.command, there.args, _user(there)) == (
        wanted.image,
        wanted.command,
        wanted.args,
        _user(wanted),
    )
    variables = all(variable in (there.env or ()) for variable in wanted.env or ())
    mounts = all(mount in (there.volume_mounts or ()) for mount in wanted.volume_mounts or ())
    return (
        same
        and variables
        and mounts
        and (wanted.resources is None or wanted.resources == there.resources)
    )


def _user(container: review.Container) -> int | None:
    return container.security_context.run_as_user if container.security_context else None

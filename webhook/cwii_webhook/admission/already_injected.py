"""Compares what a pod has with what would be injected, so that a second pass changes nothing."""

from __future__ import annotations

from typing import cast

import msgspec

from cwii_webhook.admission import injection, review

DEFAULT_MODE = 0o644  # the API server's default for defaultMode


def has_same_source(existing: review.Volume, injected: injection.Volume) -> bool:
    """Reports whether an existing volume has the sources of the injected one."""
    sources = {
        "projected": existing.projected,
        "configMap": existing.config_map,
        "emptyDir": existing.empty_dir,
        "downwardAPI": existing.downward_api,
    }
    return all(
        _same_source(sources.get(kind, msgspec.UNSET), source)
        for kind, source in injected.source.items()
    )


def _same_source(existing: msgspec.Raw | msgspec.UnsetType, injected: object) -> bool:
    if existing is msgspec.UNSET:
        return False
    have = msgspec.json.decode(existing)
    desired = msgspec.json.decode(msgspec.json.encode(injected))
    if isinstance(have, dict) and "defaultMode" not in desired:
        fields = cast("dict[str, object]", have)
        if fields.get("defaultMode") == DEFAULT_MODE:
            del fields["defaultMode"]
    return have == desired


def is_same_container(existing: review.Container, manifest: injection.Json) -> bool:
    """Reports whether an existing container runs what the manifest says.

    Other webhooks may have added variables and mounts, and resources if the manifest has none.
    """
    desired = msgspec.convert(msgspec.json.decode(msgspec.json.encode(manifest)), review.Container)
    same = (existing.image, existing.command, existing.args, _user(existing)) == (
        desired.image,
        desired.command,
        desired.args,
        _user(desired),
    )
    env = all(variable in (existing.env or ()) for variable in desired.env or ())
    mounts = all(mount in (existing.volume_mounts or ()) for mount in desired.volume_mounts or ())
    resources = desired.resources is None or desired.resources == existing.resources
    return same and env and mounts and resources


def _user(container: review.Container) -> int | None:
    return container.security_context.run_as_user if container.security_context else None

"""A webhook that is installed, by the command line of its Deployment: what it decides by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cwii_webhook.dialects.dialect import ServerVersion, Service, build_service
from cwii_webhook.dialects.registry import ALL, split_command_line
from cwii_webhook.settings.flags import BadFlag

from cwiictl.errors import BadInput
from cwiictl.explain.parts import listed

Body = Mapping[str, Any]
CONTAINER = "webhook"


def services(deployment: Body, version: ServerVersion) -> tuple[Service, ...]:
    """As it would start, the first dialect first."""
    name = deployment["metadata"]["name"]
    container = _container(deployment)
    words = split_command_line(container.get("args") or ())
    try:
        return tuple(
            _service(each, _environ(container), version, first=number == 0)
            for number, each in enumerate(words)
        )
    except (BadFlag, KeyError, IndexError) as e:
        why = f": {e.problem}" if isinstance(e, BadFlag) else ""
        raise BadInput(
            f"the command line of Deployment {name} is none of this version of cwiictl's webhooks{why}",
            remedy="use the cwiictl that has installed it",
        ) from e


def _service(
    words: Sequence[str], environ: Mapping[str, str], version: ServerVersion, *, first: bool
) -> Service:
    dialect = ALL[words[0]]
    return build_service(
        dialect,
        words[1:],
        environ,
        path="" if first else f"/{dialect.name}{dialect.path}",
        server_version=version,
    )


def _container(deployment: Body) -> Body:
    containers: Sequence[Body] = deployment["spec"]["template"]["spec"]["containers"]
    return next((each for each in containers if each["name"] == CONTAINER), containers[0])


def _environ(container: Body) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in listed(container, "env")}


def account(deployment: Body) -> str:
    return str(deployment["spec"]["template"]["spec"].get("serviceAccountName") or "default")


def secret(deployment: Body) -> str:
    """That it serves with."""
    volumes = listed(deployment["spec"]["template"]["spec"], "volumes")
    return next(
        (
            str(volume["secret"]["secretName"])
            for volume in volumes
            if volume["name"] == "certificates" and "secret" in volume
        ),
        "",
    )

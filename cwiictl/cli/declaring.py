"""What --output-format asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cwiictl.actions.order import Order
from cwiictl.clouds import Cloud, formats
from cwiictl.errors import BadInput
from cwiictl.model import SUBDOMAIN


def ordered(what: Order, given: Mapping[str, Any]) -> Order:
    """The same, to be declared and not made, if that is asked for."""
    secret: str = given.get("credential_from", "")
    if not given.get("declare"):
        if secret:
            operators, flags = (" or ".join(words) for words in zip(*_offered(), strict=True))
            raise BadInput(
                f"--credential-from is for resources of {operators}",
                remedy=f"give {flags}, or leave it out",
            )
        return what
    name: str = given["declare"]
    _judge(name, formats()[name][0], what, given)
    if secret and not SUBDOMAIN.fullmatch(secret):
        raise BadInput(
            f"--credential-from {secret} is not the name of a Secret",
            remedy="give the name of one in the namespace that the resources are put in",
        )
    return replace(what, declare=name, credential_from=secret, installers=())


def _offered() -> Iterator[tuple[str, str]]:
    return ((form.operator, f"--output-format {name}") for name, (_, form) in formats().items())


def _judge(name: str, cloud: Cloud, what: Order, given: Mapping[str, Any]) -> None:
    if set(what.clouds) != {cloud.name}:
        raise BadInput(
            f"--output-format {name} is for {cloud.title} alone",
            remedy=f"run the command for --cloud {cloud.name} by itself",
        )
    for option, (flag, why) in _without(cloud.title).items():
        if given.get(option):
            raise BadInput(
                f"{flag} does not go with --output-format {name}: {why}", remedy=f"leave {flag} out"
            )


def _without(title: str) -> dict[str, tuple[str, str]]:
    unknown = f"what {title} gives to the identities is not known before the operator has made them"
    return {
        "adopt": ("--adopt", f"nothing is looked at in {title}"),
        "expect": ("--expect", f"nothing is made in {title}"),
        "installers": ("--installer", unknown),
        "output_file": ("--output-file", unknown),
    }

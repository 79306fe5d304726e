"""What --output-format aso asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cwiictl.actions.order import Order
from cwiictl.errors import BadInput
from cwiictl.model import SUBDOMAIN

UNKNOWN = "what Azure gives to the identities is not known before the operator has made them"
WITHOUT = {
    "adopt": ("--adopt", "nothing is looked at in Azure"),
    "expect": ("--expect", "nothing is made in Azure"),
    "installers": ("--installer", UNKNOWN),
    "output_file": ("--output-file", UNKNOWN),
}


def ordered(what: Order, given: Mapping[str, Any]) -> Order:
    """The same, to be declared and not made, if that is asked for."""
    secret: str = given.get("credential_from", "")
    if not given.get("declare"):
        if secret:
            raise BadInput("--credential-from is for resources of Azure Service Operator", remedy="give --output-format aso, or leave it out")
        return what
    _judge(what, given)
    if secret and not SUBDOMAIN.fullmatch(secret):
        raise BadInput(f"--credential-from {secret} is not the name of a Secret", remedy="give the name of one in the namespace that the resources are put in")
    return replace(what, declare="aso", credential_from=secret, installers=())


def _judge(what: Order, given: Mapping[str, Any]) -> None:
    if set(what.clouds) != {"azure"}:
        raise BadInput("--output-format aso is for Azure alone", remedy="run the command for --cloud azure by itself")
    for option, (flag, why) in WITHOUT.items():
        if given.get(option):
            raise BadInput(f"{flag} does not go with --output-format aso: {why}", remedy=f"leave {flag} out")

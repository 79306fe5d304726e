"""Lists all dialects. A new dialect is a package beside this module and a line in `ALL`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cwii_webhook.admission.admit import Route
from cwii_webhook.dialects.azwi.dialect import AZWI
from cwii_webhook.dialects.cwii.dialect import CWII
from cwii_webhook.dialects.dialect import Dialect, Service
from cwii_webhook.dialects.eks.dialect import EKS
from cwii_webhook.dialects.gcpwif.dialect import GCPWIF

SEPARATOR = "+"  # starts the command line of a further dialect, which is served at /DIALECT/PATH

ALL: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        CWII,
        EKS,
        AZWI,
        GCPWIF,
    )
}


def split_command_line(arguments: Iterable[str]) -> list[list[str]]:
    """Splits a command line into one for each dialect."""
    parts: list[list[str]] = [[]]
    for argument in arguments:
        if argument == SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(argument)
    return parts


def routes(services: Iterable[Service]) -> Mapping[bytes, Route]:
    """Maps paths to routes.

    Each dialect answers at /DIALECT/PATH, and the first one at its own path as well. So the path of
    a dialect stays the same when the order of the dialects changes.
    """
    found: dict[bytes, Route] = {}
    for route in (service.route for service in services):
        found[f"/{route.dialect}{ALL[route.dialect].path}".encode()] = route
        found[route.path.encode()] = route
    return found

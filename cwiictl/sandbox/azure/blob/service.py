"""The blob service of an account, as tools ask about it that wait for a new account or look at its settings."""

from __future__ import annotations

from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Request, Response

from .answers import Tree, document, empty
from .blobs import elements

_OFF: Tree = {"Enabled": "false"}
_UNCOUNTED: Tree = {"Version": "1.0", "Enabled": "false", "RetentionPolicy": _OFF}
_DEFAULT: Tree = {
    "Logging": {
        "Version": "1.0",
        "Read": "false",
        "Write": "false",
        "Delete": "false",
        "RetentionPolicy": _OFF,
    },
    "HourMetrics": _UNCOUNTED,
    "MinuteMetrics": _UNCOUNTED,
    "Cors": "",
    "DeleteRetentionPolicy": _OFF,
    "StaticWebsite": _OFF,
}


def properties() -> Response:
    return document("StorageServiceProperties", _DEFAULT)


def set_properties(request: Request) -> Response:
    """Read for its form alone: nothing that can be set here changes what the sandbox does."""
    elements(request.body)
    return empty(202)


def information(account: Account) -> Response:
    kind = (
        ("x-ms-sku-name", account.sku),
        ("x-ms-account-kind", account.kind),
        ("x-ms-is-hns-enabled", "false"),
    )
    return empty(200, kind)

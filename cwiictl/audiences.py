"""For whom a workload's tokens are. The one table: trust is made from it, and so is what the webhook projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Asker = Literal[
    "request", "webhook"
]  # a CredentialsRequest, whose component asks for its own token; or a pod that our webhook serves

ASKERS: tuple[Asker, ...] = ("request", "webhook")

AWS: Mapping[Asker, frozenset[str]] = {
    "request": frozenset({"openshift", "sts.amazonaws.com"}),
    "webhook": frozenset({"sts.amazonaws.com"}),
}

AZURE: Mapping[
    str, Mapping[Asker, str]
] = {  # by environment; Entra takes one for each ServiceAccount
    "AzurePublicCloud": {"request": "openshift", "webhook": "api://AzureADTokenExchange"},
    "AzureUSGovernmentCloud": {
        "request": "openshift",
        "webhook": "api://AzureADTokenExchangeUSGov",
    },
    "AzureChinaCloud": {"request": "openshift", "webhook": "api://AzureADTokenExchangeChina"},
}

GCP: Mapping[
    Asker, frozenset[str]
] = {  # with the provider's own name, which Google takes by itself only where no others are allowed
    "request": frozenset({"openshift"}),
    "webhook": frozenset(
        {
            "//iam.googleapis.com/{provider}",
            "https://iam.googleapis.com/{provider}",
            "sts.googleapis.com",
        }
    ),
}

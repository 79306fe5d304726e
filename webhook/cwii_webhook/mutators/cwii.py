"""cwii's route: the clouds that are switched on, in the order in which they are given."""

from __future__ import annotations

from cwii_webhook.admit import Route
from cwii_webhook.mutators.aws import aws
from cwii_webhook.mutators.azure import azure
from cwii_webhook.mutators.gcp import gcp
from cwii_webhook.settings.cwii import Settings
from cwii_webhook.vocabulary.cwii import INJECTED

PATH = "/mutate"


def route(settings: Settings, path: str = PATH) -> Route:
    clouds = ((settings.gcp_enabled, gcp), (settings.aws_enabled, aws), (settings.az_enabled, azure))
    return Route("cwii", path, tuple([cloud(settings) for enabled, cloud in clouds if enabled]), marker=INJECTED.key)

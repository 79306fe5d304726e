"""cwii's clouds: those that are switched on, in the order in which they are given."""

from __future__ import annotations

from cwii_webhook.admit import Mutator
from cwii_webhook.mutators.aws import aws
from cwii_webhook.mutators.azure import azure
from cwii_webhook.mutators.gcp import gcp
from cwii_webhook.settings.cwii import Settings


def clouds(settings: Settings) -> tuple[Mutator, ...]:
    every = ((settings.gcp_enabled, gcp), (settings.aws_enabled, aws), (settings.az_enabled, azure))
    return tuple([cloud(settings) for enabled, cloud in every if enabled])

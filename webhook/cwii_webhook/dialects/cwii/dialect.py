"""cwii's clouds: those that are switched on, in the order in which they are given."""

from __future__ import annotations

from cwii_webhook.admission.admit import Mutator
from cwii_webhook.dialects.cwii.aws import aws
from cwii_webhook.dialects.cwii.azure import azure
from cwii_webhook.dialects.cwii.gcp import gcp
from cwii_webhook.dialects.cwii.settings import Settings


def clouds(settings: Settings) -> tuple[Mutator, ...]:
    every = ((settings.gcp_enabled, gcp), (settings.aws_enabled, aws), (settings.az_enabled, azure))
    return tuple([cloud(settings) for enabled, cloud in every if enabled])

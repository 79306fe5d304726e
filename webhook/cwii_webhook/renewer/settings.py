"""The flags of `cwii-webhook renew`, and their --help."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.settings.flag_help import format_flags
from cwii_webhook.settings.flags import BadFlag, Flag, ParsedFlags, build_settings
from cwii_webhook.settings.serving import LEVELS, LOG_LEVEL

REQUIRED_FIELDS = ("namespace", "service", "serving_secret", "ca_secret", "configurations")

DESCRIPTION = (
    "Looks after the certificates of a webhook that runs: once, and then it ends. "
    "What is well stays as it is."
)


class Settings(Struct, frozen=True):
    """The values of the flags. Times are in seconds."""

    namespace: str = ""
    service: str = ""
    serving_secret: str = ""
    ca_secret: str = ""
    configurations: tuple[str, ...] = ()
    validity: float = 2160 * 3600.0
    ca_validity: float = 87600 * 3600.0
    every: float = 0.0
    renew_at: float = 0.67
    settle: float = 10.0
    patience: float = 300.0
    kubeconfig: str = ""
    termination_log: str = "/dev/termination-log"
    log_level: str = "info"

    @property
    def renew_before(self) -> float:
        """Seconds before the end of the serving certificate, when the renewer replaces it.

        Long enough for the certificate to last until after the next run, even if that run is slow.
        """
        return max(self.validity * (1 - self.renew_at), 1.5 * self.every)

    @property
    def ca_renew_before(self) -> float:
        """Seconds before the end of the authority, when the renewer replaces it.

        At least the validity of a serving certificate, which must not outlive its authority.
        """
        return max(self.ca_validity * (1 - self.renew_at), self.validity)


FLAGS: tuple[Flag, ...] = (
    Flag("namespace", "text", "Where the Service and both Secrets are.", "namespace"),
    Flag(
        "service",
        "text",
        "Who answers: its replicas are asked what they serve, "
        "and the certificate is for its names.",
        "service",
    ),
    Flag(
        "serving-secret",
        "text",
        "The Secret of the pair that is served. It has to be there.",
        "serving_secret",
    ),
    Flag(
        "ca-secret",
        "text",
        "The Secret of the authority, which nobody else need read. It has to be there.",
        "ca_secret",
    ),
    Flag(
        "configuration",
        "words",
        "MutatingWebhookConfiguration that has to trust it. Can be said more than once.",
        "configurations",
        repeatable=True,
    ),
    Flag("validity", "duration", "How long a certificate lasts.", "validity"),
    Flag("ca-validity", "duration", "How long an authority lasts.", "ca_validity"),
    Flag(
        "every",
        "duration",
        "How long it may be until it is run again: "
        "what would not last until then is made anew now.",
        "every",
    ),
    Flag("renew-at", "share", "After which part of its life each is made anew.", "renew_at"),
    Flag(
        "settle",
        "duration",
        "How long every API server has to hear of a caBundle, before anything depends on it.",
        "settle",
    ),
    Flag(
        "patience",
        "duration",
        "How long nothing may move, before it is given up until the next run.",
        "patience",
    ),
    Flag(
        "kubeconfig",
        "text",
        "How to reach the API server from outside a cluster.",
        "kubeconfig",
        "KUBECONFIG",
    ),
    Flag(
        "termination-log",
        "text",
        "Where what came of it is told in one line of JSON, if the file is there.",
        "termination_log",
    ),
    Flag(LOG_LEVEL.name, LOG_LEVEL.kind, LOG_LEVEL.help, "log_level"),
)


def build_renewer_settings(flags: ParsedFlags) -> Settings:
    """Builds the settings. Raises BadFlag if a required flag is missing, or a value is invalid."""
    settings = build_settings(flags, Settings)
    for field in REQUIRED_FIELDS:
        if not getattr(settings, field):
            flag = next(each for each in FLAGS if each.field == field)
            raise BadFlag(f"--{flag.name} is not said", "give it; --help says what it is")
    if not 0.2 <= settings.renew_at <= 0.95:
        raise BadFlag(
            f"--renew-at is {settings.renew_at:g}", "say a part of its life from 0.2 to 0.95"
        )
    if settings.validity < 60:
        raise BadFlag(f"--validity is {settings.validity:g}s", "say a minute at least")
    if settings.ca_validity < 2 * settings.validity:
        raise BadFlag(
            "--ca-validity is less than twice --validity",
            "let the authority live longer: it signs nothing that would outlive it",
        )
    if settings.validity < 2 * settings.every:
        raise BadFlag(
            "--validity is less than twice --every",
            "run it more often, or let certificates live longer: "
            "they would end before they are made anew",
        )
    if settings.log_level not in LEVELS:
        raise BadFlag(f"--log-level is {settings.log_level!r}", f"use one of {', '.join(LEVELS)}")
    return settings


def help_text() -> str:
    """Returns the text of `cwii-webhook renew --help`."""
    return "\n".join(
        [
            "Usage: cwii-webhook renew [FLAG ...]",
            "",
            DESCRIPTION,
            "",
            *format_flags(FLAGS, Settings()),
        ]
    )

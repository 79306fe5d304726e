"""What a renewer is told: where the certificates are, who is served with them, and how long they last."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.settings.flag_help import format_flags
from cwii_webhook.settings.flags import BadFlag, Flag, ParsedFlags, build_settings
from cwii_webhook.settings.serving import LEVELS, LOG_LEVEL

NEEDED = ("namespace", "service", "serving_secret", "ca_secret", "configurations")

ABOUT = (
    "Looks after the certificates of a webhook that runs: once, and then it ends. "
    "What is well stays as it is."
)


class Settings(Struct, frozen=True):
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
    def early(self) -> float:
        """Seconds before its end, when a pair is made anew: so long that it lasts until the next run, and that may take its time."""
        return max(self.validity * (1 - self.renew_at), 1.5 * self.every)

    @property
    def ca_early(self) -> float:
        """No pair is to outlive its authority."""
        return max(self.ca_validity * (1 - self.renew_at), self.validity)


FLAGS: tuple[Flag, ...] = (
    Flag("namespace", "text", "Where the Service and both Secrets are.", "namespace"),
    Flag(
        "service",
        "text",
        "Who answers: its replicas are asked what they serve, and the certificate is for its names.",
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
        "How long it may be until it is run again: what would not last until then is made anew now.",
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


def settings(told: ParsedFlags) -> Settings:
    said = build_settings(told, Settings)
    for field in NEEDED:
        if not getattr(said, field):
            flag = next(each for each in FLAGS if each.field == field)
            raise BadFlag(f"--{flag.name} is not said", "give it; --help says what it is")
    if not 0.2 <= said.renew_at <= 0.95:
        raise BadFlag(f"--renew-at is {said.renew_at:g}", "say a part of its life from 0.2 to 0.95")
    if said.validity < 60:
        raise BadFlag(f"--validity is {said.validity:g}s", "say a minute at least")
    if said.ca_validity < 2 * said.validity:
        raise BadFlag(
            "--ca-validity is less than twice --validity",
            "let the authority live longer: it signs nothing that would outlive it",
        )
    if said.validity < 2 * said.every:
        raise BadFlag(
            "--validity is less than twice --every",
            "run it more often, or let certificates live longer: they would end before they are made anew",
        )
    if said.log_level not in LEVELS:
        raise BadFlag(f"--log-level is {said.log_level!r}", f"use one of {', '.join(LEVELS)}")
    return said


def help_text() -> str:
    """Returns the text of `cwii-webhook renew --help`."""
    return "\n".join(
        [
            "Usage: cwii-webhook renew [FLAG ...]",
            "",
            ABOUT,
            "",
            *format_flags(FLAGS, Settings()),
        ]
    )

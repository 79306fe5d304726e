"""What a value that a user writes may look like: none of these can leave the URL, the path or the shell's word that it stands in."""

from __future__ import annotations

import re
from collections.abc import Collection

from cwii_webhook.admission.injection import Origin, PodRefused
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.cwii.precedence import where
from cwii_webhook.settings.formats import Format, value_format

ROLE_ARN = value_format(
    r"arn:aws[a-z0-9-]{0,16}:iam::\d{1,12}:role/[\w+=,.@/-]{1,576}",
    "role's ARN",
    "arn:aws:iam::123456789012:role/name",
)
SESSION = value_format(
    r"[\w+=,.@-]{2,64}", "name of a session", "2 to 64 letters, digits or _+=,.@-"
)
ID = value_format(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", "id", "11111111-2222-3333-4444-555555555555")
SERVICE_ACCOUNT = value_format(
    r"[A-Za-z0-9][\w.-]{0,99}(@[A-Za-z0-9.:-]{1,200})?",
    "service account",
    "name@project.iam.gserviceaccount.com",
)
PROVIDER = re.compile(
    r"//iam\.googleapis\.com/(projects/[^/]+/locations/[^/]+/workloadIdentityPools|locations/[^/]+/workforcePools)/[^/]+/providers/[^/]+"
)
HOST = re.compile(r"https://([a-z0-9.-]{1,253}(?::\d{1,5})?)/?", re.ASCII)

AUTHORITIES = frozenset({
    "login.microsoftonline.com",
    "login.microsoftonline.us",
    "login.chinacloudapi.cn",
    "login.partner.microsoftonline.cn",
    "login.microsoftonline.de",
    "login.windows.net",
})  # fmt: skip


def checked(origin: Origin, grammar: Format) -> str:
    if grammar.pattern.fullmatch(origin.value):
        return origin.value
    raise PodRefused(
        f"{where(origin)} is {printable(origin.value)}, which is no {grammar.what}: correct it (such as {grammar.example}), or take it away"
    )


def authority(origin: Origin, others: Collection[str]) -> str:
    """Whoever it names is sent the pod's token."""
    found = HOST.fullmatch(origin.value)
    if found and (found[1] in AUTHORITIES or found[1] in others):
        return origin.value
    raise PodRefused(
        f"{where(origin)} is {printable(origin.value)}, which is no cloud's own authority over https: "
        "name one (such as https://login.microsoftonline.us/), or have --authority-hosts of the webhook list it"
    )

"""Checks values of cwii's annotations before they become part of URLs, paths and scripts."""

from __future__ import annotations

import re
from collections.abc import Collection

from cwii_webhook.admission.injection import Origin, PodRefused
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.cwii.precedence import describe
from cwii_webhook.settings.formats import Format, value_format

ROLE_ARN = value_format(
    r"arn:aws[a-z0-9-]{0,16}:iam::\d{1,12}:role/[\w+=,.@/-]{1,576}",
    "role's ARN",
    "arn:aws:iam::123456789012:role/name",
)
SESSION_NAME = value_format(
    r"[\w+=,.@-]{2,64}", "name of a session", "2 to 64 letters, digits or _+=,.@-"
)
ID = value_format(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", "id", "11111111-2222-3333-4444-555555555555")
SERVICE_ACCOUNT = value_format(
    r"[A-Za-z0-9][\w.-]{0,99}(@[A-Za-z0-9.:-]{1,200})?",
    "service account",
    "name@project.iam.gserviceaccount.com",
)
PROVIDER_AUDIENCE = re.compile(
    r"//iam\.googleapis\.com/"
    r"(projects/[^/]+/locations/[^/]+/workloadIdentityPools|locations/[^/]+/workforcePools)"
    r"/[^/]+/providers/[^/]+"
)
HTTPS_HOST = re.compile(r"https://([a-z0-9.-]{1,253}(?::\d{1,5})?)/?", re.ASCII)

# Hosts of Microsoft Entra ID in all of Azure's clouds.
AUTHORITY_HOSTS = frozenset(
    {
        "login.microsoftonline.com",
        "login.microsoftonline.us",
        "login.chinacloudapi.cn",
        "login.partner.microsoftonline.cn",
        "login.microsoftonline.de",
        "login.windows.net",
    }
)


def checked(origin: Origin, value_format: Format) -> str:
    """Returns the value. Raises PodRefused if it does not have the format."""
    if value_format.pattern.fullmatch(origin.value):
        return origin.value
    raise PodRefused(
        f"{describe(origin)} is {printable(origin.value)}, which is no {value_format.what}: "
        f"correct it (such as {value_format.example}), or take it away"
    )


def checked_authority(origin: Origin, extra_hosts: Collection[str]) -> str:
    """Returns the URL of an authority.

    The pod sends its token there, so only known hosts are accepted.
    """
    match = HTTPS_HOST.fullmatch(origin.value)
    if match and (match[1] in AUTHORITY_HOSTS or match[1] in extra_hosts):
        return origin.value
    raise PodRefused(
        f"{describe(origin)} is {printable(origin.value)}, which is no cloud's own authority over "
        "https: name one (such as https://login.microsoftonline.us/), or have --authority-hosts of "
        "the webhook list it"
    )

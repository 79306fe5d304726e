"""The metadata service of the machine that this runs on, an instance of EC2: which account it is in, and which region."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from cwii_webhook.settings.flags import BadFlag

ENDPOINT = "http://169.254.169.254"
CHOSEN = "AWS_EC2_METADATA_SERVICE_ENDPOINT"  # as AWS's SDKs have it
TOKEN, DOCUMENT = "/latest/api/token", "/latest/dynamic/instance-identity/document"
PATIENCE = 2.0  # seconds for each answer
PAUSES = (0.5, 1.0)  # seconds before it is tried again
WITHOUT = frozenset({403, 404, 405})  # of whoever knows no tokens
MOST = 1 << 16


def document(
    environ: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
    pauses: Sequence[float] = PAUSES,
) -> str:
    """As JSON. A pod that is one hop farther away than the node allows gets no answer, which is the usual reason why there is none."""
    endpoint = environ.get(CHOSEN) or ENDPOINT
    for pause in (*pauses, None):
        try:
            return _document(endpoint)
        except (OSError, ValueError, http.client.HTTPException) as e:
            if pause is None:
                remedy = "run on an EC2 instance whose metadata has a hop limit of 2, or on the host's network; or leave the flag out and write whole ARNs"
                raise BadFlag(
                    f"--compose-role-arn needs the instance's metadata, and {endpoint} does not give it ({e or type(e).__name__})",
                    remedy,
                ) from e
            sleep(pause)
    raise AssertionError("the last try returns or raises")


def _document(endpoint: str) -> str:
    status, token = _asked(endpoint, "PUT", TOKEN, {"X-aws-ec2-metadata-token-ttl-seconds": "60"})
    if status not in {200, *WITHOUT}:
        raise http.client.HTTPException(f"it answers {status} to {TOKEN}")
    status, text = _asked(
        endpoint, "GET", DOCUMENT, {"X-aws-ec2-metadata-token": token} if status == 200 else {}
    )
    if status != 200:
        raise http.client.HTTPException(f"it answers {status} to {DOCUMENT}")
    return text


def _asked(endpoint: str, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
    parts = urlsplit(endpoint)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        connection.request(method, parts.path.rstrip("/") + path, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(MOST).decode("latin-1")
    finally:
        connection.close()

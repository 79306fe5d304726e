"""Reads the identity document of the EC2 instance from its metadata service."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from cwii_webhook.settings.flags import BadFlag

ENDPOINT = "http://169.254.169.254"
ENDPOINT_VARIABLE = "AWS_EC2_METADATA_SERVICE_ENDPOINT"  # as in the AWS SDKs
TOKEN, DOCUMENT = "/latest/api/token", "/latest/dynamic/instance-identity/document"
TIMEOUT = 2.0  # seconds per request
RETRY_DELAYS = (0.5, 1.0)  # seconds
IMDSV1_STATUSES = frozenset({403, 404, 405})  # from services that know no tokens
MAX_BODY = 1 << 16


def read_document(
    environ: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
    retry_delays: Sequence[float] = RETRY_DELAYS,
) -> str:
    """Returns the document as JSON, or raises BadFlag.

    The usual cause of a failure is the hop limit of the metadata service: a pod is one hop farther
    away than its node.
    """
    endpoint = environ.get(ENDPOINT_VARIABLE) or ENDPOINT
    for delay in (*retry_delays, None):
        try:
            return _fetch(endpoint)
        except (OSError, ValueError, http.client.HTTPException) as e:
            if delay is None:
                remedy = (
                    "run on an EC2 instance whose metadata has a hop limit of 2, or on the host's "
                    "network; or leave the flag out and write whole ARNs"
                )
                raise BadFlag(
                    f"--compose-role-arn needs the instance's metadata, and {endpoint} does not "
                    f"give it ({e or type(e).__name__})",
                    remedy,
                ) from e
            sleep(delay)
    raise AssertionError("the last try returns or raises")


def _fetch(endpoint: str) -> str:
    status, token = _request(endpoint, "PUT", TOKEN, {"X-aws-ec2-metadata-token-ttl-seconds": "60"})
    if status not in {200, *IMDSV1_STATUSES}:
        raise http.client.HTTPException(f"it answers {status} to {TOKEN}")
    status, text = _request(
        endpoint, "GET", DOCUMENT, {"X-aws-ec2-metadata-token": token} if status == 200 else {}
    )
    if status != 200:
        raise http.client.HTTPException(f"it answers {status} to {DOCUMENT}")
    return text


def _request(endpoint: str, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str]:
    parts = urlsplit(endpoint)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
    try:
        connection.request(method, parts.path.rstrip("/") + path, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(MAX_BODY).decode("latin-1")
    finally:
        connection.close()

"""The exchange of a token for credentials, as AWS's SDKs do it in a pod. What comes of it is forgotten at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from cwiictl.clouds.aws.stores.errors import BUSY, code, message, status, told
from cwiictl.verify.finding import Refusal

if TYPE_CHECKING:
    from types_boto3_sts import STSClient

SESSION = "cwiictl-verify"
SHORTEST = 900  # seconds
UNREAD = "see that AWS can read the issuer's documents: no network rule, bot filter or missing intermediate certificate may stand between"
REMEDIES = (
    (
        "No OpenIDConnect provider",
        "have AWS believe this issuer with create-all, or with create-identity-provider",
    ),
    ("audience", "have the provider take this audience: create-all mends it"),
    ("ExpiredToken", "set the clocks of the cluster's machines by NTP"),
    ("not valid yet", "set the clocks of the cluster's machines by NTP"),
    ("verification key", UNREAD),
    ("IDPCommunicationError", UNREAD),
    (
        "AccessDenied",
        "see with status whom the role trusts; a policy of the organization can stand against it too",
    ),
)


class Exchanges:
    """With a client that has no credentials, for a pod has none either. Whoever exchanges nothing needs none."""

    def __init__(self, make: Callable[[], STSClient]) -> None:
        self.make, self.lock = make, threading.Lock()

    @cached_property
    def _sts(self) -> STSClient:
        return self.make()

    def close(self) -> None:
        if "_sts" in vars(self):
            self._sts.close()

    @told("sts")
    def exchange(self, role: str, token: str) -> Refusal | None:
        with self.lock:
            sts = self._sts
        try:
            sts.assume_role_with_web_identity(
                RoleArn=role,
                RoleSessionName=SESSION,
                WebIdentityToken=token,
                DurationSeconds=SHORTEST,
            )
        except ClientError as e:
            if code(e) in BUSY or status(e) >= 500:
                raise
            return Refusal(
                f"AWS does not take the token: {message(e)}",
                next((do for word, do in REMEDIES if word in message(e)), "mend what it says"),
            )
        return None

"""Google's separate worlds: each is a domain that the hosts of all services end with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cwiictl.errors import BadInput

PUBLIC = "googleapis.com"
DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")


@dataclass(frozen=True)
class Universe:
    """What names a principal or a provider is the same in all of them: `iam.googleapis.com` is no host there."""

    domain: str

    @property
    def elsewhere(self) -> bool:
        return self.domain != PUBLIC

    def host(self, service: str) -> str:
        """The host of a service, such as iam, sts or storage."""
        return f"{service}.{self.domain}"

    def bucket(self, name: str) -> str:
        """The URL under which everybody reads a bucket."""
        return f"https://{self.host('storage')}/{name}"


def universe(domain: str) -> Universe:
    if domain and not DOMAIN.fullmatch(domain):
        raise BadInput(
            f"--universe-domain {domain!r} is not a domain",
            remedy=f"give one such as {PUBLIC}, or leave --universe-domain out",
        )
    return Universe(domain or PUBLIC)

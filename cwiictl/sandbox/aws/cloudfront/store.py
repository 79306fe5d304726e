"""What CloudFront keeps: distributions, and the two kinds of access to a private bucket."""

from __future__ import annotations

import secrets
import string
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

from cwiictl.sandbox.aws.answers import Refusal

from .elements import value


def unique(prefix: str, alphabet: str = string.ascii_uppercase + string.digits) -> str:
    return prefix + "".join(secrets.choice(alphabet) for _ in range(13))


@dataclass
class Access:
    """An origin access control or an origin access identity."""

    config: ET.Element
    id: str = field(default_factory=lambda: unique("E"))
    etag: str = field(default_factory=lambda: unique("E"))
    canonical: str = field(
        default_factory=lambda: secrets.token_hex(48)
    )  # an identity's name in S3's old words
    arrives: float = 0.0  # when S3 has heard of it


@dataclass
class Distribution:
    arn: str
    id: str
    domain: str
    config: ET.Element
    tags: dict[str, str]
    deployed: float  # when its configuration has reached every edge
    changed: float
    before: ET.Element | None = None  # what the edges have until then
    etag: str = field(default_factory=lambda: unique("E"))

    def at(self, now: float) -> ET.Element | None:
        """What the edges do now; None for a distribution that has not reached them."""
        return self.config if now >= self.deployed else self.before

    def status(self, now: float) -> str:
        return "Deployed" if now >= self.deployed else "InProgress"

    def update(self, config: ET.Element, now: float, lasts: float) -> None:
        self.before, self.config = self.at(now), config
        self.deployed, self.changed, self.etag = now + lasts, now, unique("E")


@dataclass
class Store:
    """CloudFront of one partition."""

    distributions: dict[str, Distribution] = field(default_factory=dict[str, Distribution])
    controls: dict[str, Access] = field(default_factory=dict[str, Access])
    identities: dict[str, Access] = field(default_factory=dict[str, Access])

    def users(self, path: str, text: str) -> list[Distribution]:
        """Distributions with an origin that says this."""
        return [
            one
            for one in self.distributions.values()
            if any(
                value(origin, path) == text
                for origin in one.config.iterfind("Origins/Items/Origin")
            )
        ]


def matched(given: str, etag: str) -> None:
    """If-Match, without which CloudFront changes nothing that exists."""
    if not given:
        raise Refusal(
            400,
            "InvalidIfMatchVersion",
            "The If-Match version is missing or not valid for the resource.",
        )
    if given != etag:
        raise Refusal(
            412,
            "PreconditionFailed",
            "The request failed because it didn't meet the preconditions in one or more request-header fields.",
        )


def identity_arn(partition: str, name: str) -> str:
    return f"arn:{partition}:iam::cloudfront:user/CloudFront Origin Access Identity {name}"

"""AWS's separate worlds: what ARNs and hosts are called in each."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.errors import BadInput


@dataclass(frozen=True)
class Partition:
    name: str
    suffix: str  # of its services' hosts
    regions: tuple[str, ...]  # how its regions' names begin
    cloudfront: bool = False


PARTITIONS = (
    Partition("aws-cn", "amazonaws.com.cn", ("cn-",), cloudfront=True),
    Partition("aws-us-gov", "amazonaws.com", ("us-gov-",)),
    Partition("aws-eusc", "amazonaws.eu", ("eusc-",)),
    Partition("aws-iso", "c2s.ic.gov", ("us-iso-",)),
    Partition("aws-iso-b", "sc2s.sgov.gov", ("us-isob-",)),
    Partition("aws-iso-e", "cloud.adc-e.uk", ("eu-isoe-",)),
    Partition("aws-iso-f", "csp.hci.ic.gov", ("us-isof-",)),
    Partition(
        "aws",
        "amazonaws.com",
        ("af-", "ap-", "ca-", "eu-", "il-", "me-", "mx-", "sa-", "us-"),
        cloudfront=True,
    ),
)


def partition(region: str) -> Partition:
    """The first that fits: the long beginnings stand before `us-` and `eu-`."""
    for candidate in PARTITIONS:
        if region.startswith(candidate.regions):
            return candidate
    raise BadInput(
        f"AWS has no region {region!r}", remedy="give one such as us-east-1 with --region"
    )

"""AWS's partitions: where each has its hosts, and which of them have CloudFront."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Partition:
    name: str
    suffix: str  # of its host names
    home: str  # the region of IAM and of all else that has no region of its own
    regions: str = ""  # how the names of its regions begin, where partitions share a suffix
    cloudfront: str = ""  # CloudFront's own host, and how the names of distributions end
    edge: str = ""


PARTITIONS = (
    Partition("aws-us-gov", ".amazonaws.com", "us-gov-west-1", "us-gov"),
    Partition(
        "aws", ".amazonaws.com", "us-east-1", "", "cloudfront.amazonaws.com", ".cloudfront.net"
    ),
    Partition(
        "aws-cn",
        ".amazonaws.com.cn",
        "cn-north-1",
        "",
        "cloudfront.cn-northwest-1.amazonaws.com.cn",
        ".cloudfront.cn",
    ),
    Partition("aws-eusc", ".amazonaws.eu", "eusc-de-east-1"),
    Partition("aws-iso", ".c2s.ic.gov", "us-iso-east-1"),
    Partition("aws-iso-b", ".sc2s.sgov.gov", "us-isob-east-1"),
    Partition("aws-iso-e", ".cloud.adc-e.uk", "eu-isoe-west-1"),
    Partition("aws-iso-f", ".csp.hci.ic.gov", "us-isof-south-1"),
)
BY_NAME = {one.name: one for one in PARTITIONS}


def of(host: str) -> Partition:
    """The partition of a host. GovCloud's regions share a suffix with those of all the world, so they are looked for in the name."""
    found = [
        one
        for one in PARTITIONS
        if host.endswith(one.suffix) or (one.edge and host.endswith(one.edge))
    ]
    return next(
        (one for one in found if one.regions and _names(host, one)),
        found[-1] if found else BY_NAME["aws"],
    )


def _names(host: str, partition: Partition) -> bool:
    """S3's hosts begin with a bucket, whose name may say anything: only what stands last counts."""
    last = host.removesuffix(partition.suffix).rpartition(".")[2]
    return re.search(rf"(^|s3-|fips-){partition.regions}(-|$)", last) is not None

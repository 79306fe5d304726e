"""Which service, region, bucket and key a request means, from its host name and path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from cwiictl.sandbox.exchange import Request

from . import partitions
from .partitions import Partition

_S3 = re.compile(
    r"^(?:(?P<bucket>.+)\.)?s3(?:[.-](?P<fips>fips))?(?:\.dualstack)?(?:[.-](?P<region>[a-z0-9-]+))?$"
)
_CONTROL = re.compile(r"^(?P<account>\d{12})\.s3-control(?:\.dualstack)?\.(?P<region>[a-z0-9-]+)$")
_OTHER = re.compile(r"^(?P<service>[a-z0-9-]+)(?:\.(?P<region>[a-z0-9-]+))?$")


@dataclass(frozen=True)
class Address:
    service: str
    region: str
    partition: str = "aws"
    bucket: str = ""
    key: str = ""  # as it came, percent-encoded
    account: str = ""

    @property
    def name(self) -> str:
        """The key in clear text."""
        return unquote(self.key)


def read(request: Request) -> Address:
    partition = partitions.of(request.host)
    if partition.edge and request.host.endswith(partition.edge):
        return Address("edge", partition.home, partition.name)
    return _regional(request, partition, request.host.removesuffix(partition.suffix))


def _regional(request: Request, partition: Partition, prefix: str) -> Address:
    if found := _CONTROL.match(prefix):
        return Address("s3control", found["region"], partition.name, account=found["account"])
    if (found := _S3.match(prefix)) and found["region"] not in {"control", "outposts"}:
        return _s3(
            request, found["bucket"] or "", found["region"] or partition.home, partition.name
        )
    found = _OTHER.match(prefix)
    service, region = (found["service"], found["region"] or "") if found else (prefix, "")
    return Address(
        service, region if region and region != "us-gov" else partition.home, partition.name
    )


def _s3(request: Request, bucket: str, region: str, partition: str) -> Address:
    path = request.path.removeprefix("/")
    if not bucket:
        bucket, _, path = path.partition("/")
    return Address("s3", region, partition, unquote(bucket), path)

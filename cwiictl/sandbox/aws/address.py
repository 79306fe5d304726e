"""Which service, region, bucket and key a request means, from its host name and path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from cwiictl.sandbox.exchange import Request

_S3 = re.compile(r"^(?:(?P<bucket>.+)\.)?s3(?:[.-](?P<fips>fips))?(?:\.dualstack)?(?:[.-](?P<region>[a-z0-9-]+))?$")
_CONTROL = re.compile(r"^(?P<account>\d{12})\.s3-control(?:\.dualstack)?\.(?P<region>[a-z0-9-]+)$")
_OTHER = re.compile(r"^(?P<service>[a-z0-9-]+)(?:\.(?P<region>[a-z0-9-]+))?$")
_GLOBAL = {"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}


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
    prefix, chinese, _ = _without_suffix(request.host)
    if found := _CONTROL.match(prefix):
        return Address("s3control", found["region"], _partition(found["region"], chinese), account=found["account"])
    if (found := _S3.match(prefix)) and found["region"] not in {"control", "outposts"}:
        return _s3(request, found["bucket"] or "", found["region"] or "", chinese=chinese)
    found = _OTHER.match(prefix)
    service, region = (found["service"], found["region"] or "") if found else (prefix, "")
    partition = _partition(region, chinese)
    return Address(service, region if region and region != "us-gov" else _GLOBAL[partition], partition)


def _without_suffix(host: str) -> tuple[str, bool, str]:
    for suffix, chinese in ((".amazonaws.com.cn", True), (".amazonaws.com", False)):
        if host.endswith(suffix):
            return host.removesuffix(suffix), chinese, suffix
    return host, False, ""


def _partition(region: str, chinese: bool) -> str:  # noqa: FBT001  # what the suffix says
    if chinese or region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov") else "aws"


def _s3(request: Request, bucket: str, region: str, *, chinese: bool) -> Address:
    partition = _partition(region, chinese)
    path = request.path.removeprefix("/")
    if not bucket:
        bucket, _, path = path.partition("/")
    return Address("s3", region or _GLOBAL[partition], partition, unquote(bucket), path)

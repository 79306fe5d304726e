"""What CloudFront's edges answer: objects of a private bucket, for everybody whom the bucket's policy lets CloudFront show them to."""

from __future__ import annotations

import secrets
import xml.etree.ElementTree as ET
from urllib.parse import quote

from cwiictl.sandbox.aws.address import Address
from cwiictl.sandbox.aws.answers import Refusal, refused
from cwiictl.sandbox.aws.memory import ACCOUNT
from cwiictl.sandbox.aws.moto import Moto
from cwiictl.sandbox.aws.public import ANYBODY, Reader
from cwiictl.sandbox.aws.states import States
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Faults

from . import CloudFront
from .configs import IDENTITY, bucket_of
from .elements import value
from .store import Distribution, identity_arn

_PASSED = {"range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"}


class Edge:
    def __init__(self, cloudfront: CloudFront, moto: Moto, states: States, faults: Faults) -> None:
        self._cloudfront = cloudfront
        self._moto = moto
        self._states = states
        self._faults = faults

    def knows(self, host: str) -> bool:
        return self._cloudfront.distribution(host) is not None

    def handle(self, request: Request, address: Address) -> Response:
        found = self._cloudfront.distribution(request.host)
        config = found and found.at(self._faults.clock())
        if found is None or config is None or value(config, "Enabled") != "true":
            return _unsatisfied(
                "Bad request. We can't connect to the server for this app or website at this time."
            )
        if request.method not in {
            method.text
            for method in config.iterfind("DefaultCacheBehavior/AllowedMethods/Items/Method")
        }:
            return _unsatisfied(
                "This distribution is not configured to allow the HTTP request method that was used for this request."
            )
        try:
            response = self._origin(request, address.partition, found, config)
        except Refusal as refusal:
            response = refused("s3", refusal)
        outcome = "Error" if response.status >= 400 else "Miss"
        via = f"1.1 {secrets.token_hex(16)}.cloudfront.net (CloudFront)"
        return response.but(
            [
                ("Server", "AmazonS3"),
                ("X-Cache", f"{outcome} from cloudfront"),
                ("Via", via),
                *_own(),
            ]
        )

    def _origin(
        self, request: Request, partition: str, distribution: Distribution, config: ET.Element
    ) -> Response:
        origin = _target(config)
        name = bucket_of(value(origin, "DomainName"))
        if not name:
            return _unsatisfied("CloudFront wasn't able to connect to the origin.", 502)
        path = (
            request.path
            if request.path.strip("/")
            else f"/{quote(value(config, 'DefaultRootObject'))}"
        )
        with self._moto.lock:
            bucket = self._moto.buckets(partition).get(name)
            if name in self._states.strangers:
                raise Refusal(403, "AccessDenied", "Access Denied")
            if bucket is None:
                raise Refusal(
                    404, "NoSuchBucket", "The specified bucket does not exist", BucketName=name
                )
            address = Address(
                "s3",
                bucket.region_name,
                partition,
                name,
                f"{value(origin, 'OriginPath')}{path}".removeprefix("/"),
            )
            headers = tuple(header for header in request.headers if header[0].lower() in _PASSED)
            asked = Request(request.method, request.host, f"/{address.key}", "", headers)
            return self._states.read(
                asked, address, bucket, self._reader(origin, partition, distribution)
            )

    def _reader(self, origin: ET.Element, partition: str, distribution: Distribution) -> Reader:
        """Who S3 sees: the service for this distribution, an identity, or nobody in particular."""
        store = self._cloudfront.store(partition)
        control = store.controls.get(value(origin, "OriginAccessControlId"))
        if control and value(control.config, "SigningBehavior") != "never":
            context = {"aws:sourcearn": (distribution.arn,), "aws:sourceaccount": (ACCOUNT,)}
            return Reader((("Service", "cloudfront.amazonaws.com"),), context)
        identity = store.identities.get(
            value(origin, "S3OriginConfig/OriginAccessIdentity").removeprefix(IDENTITY)
        )
        if identity is None:
            return ANYBODY
        return Reader(
            (("AWS", identity_arn(partition, identity.id)), ("CanonicalUser", identity.canonical))
        )


def _target(config: ET.Element) -> ET.Element:
    """The default behaviour's origin; the sandbox knows no other behaviour."""
    name = value(config, "DefaultCacheBehavior/TargetOriginId")
    return next(one for one in config.iterfind("Origins/Items/Origin") if value(one, "Id") == name)


def _unsatisfied(why: str, status: int = 403) -> Response:
    page = f"<HTML><HEAD><TITLE>ERROR: The request could not be satisfied</TITLE></HEAD><BODY><H1>{status} ERROR</H1><P>{why}</P></BODY></HTML>\n"
    return Response(
        status,
        (
            ("Server", "CloudFront"),
            ("Content-Type", "text/html"),
            ("X-Cache", "Error from cloudfront"),
            *_own(),
        ),
        page.encode(),
    )


def _own() -> list[tuple[str, str]]:
    return [("X-Amz-Cf-Pop", "FRA60-P1"), ("X-Amz-Cf-Id", secrets.token_urlsafe(40))]

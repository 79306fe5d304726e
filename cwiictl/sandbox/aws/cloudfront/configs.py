"""Configurations of distributions: what CloudFront fills in, and which ones it does not take."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection

from cwiictl.sandbox.aws.answers import Refusal

from .elements import filled, malformed, value

_METHODS = "<Items><Method>HEAD</Method><Method>GET</Method></Items>"
_NONE = "<Quantity>0</Quantity>"
_BEHAVIOUR = f"""
<TargetOriginId/><TrustedSigners><Enabled>false</Enabled>{_NONE}</TrustedSigners><TrustedKeyGroups><Enabled>false</Enabled>{_NONE}</TrustedKeyGroups>
<ViewerProtocolPolicy/><AllowedMethods><Quantity>2</Quantity>{_METHODS}<CachedMethods><Quantity>2</Quantity>{_METHODS}</CachedMethods></AllowedMethods>
<SmoothStreaming>false</SmoothStreaming><Compress>false</Compress><LambdaFunctionAssociations>{_NONE}</LambdaFunctionAssociations>
<FunctionAssociations>{_NONE}</FunctionAssociations><FieldLevelEncryptionId/><GrpcConfig><Enabled>false</Enabled></GrpcConfig>"""
_USUAL = f"""<DistributionConfig>
<CallerReference/><Aliases>{_NONE}</Aliases><DefaultRootObject/><Origins/><OriginGroups>{_NONE}</OriginGroups>
<DefaultCacheBehavior>{_BEHAVIOUR}</DefaultCacheBehavior><CacheBehaviors>{_NONE}</CacheBehaviors>
<CustomErrorResponses>{_NONE}</CustomErrorResponses><Comment/>
<Logging><Enabled>false</Enabled><IncludeCookies>false</IncludeCookies><Bucket/><Prefix/></Logging><PriceClass>PriceClass_All</PriceClass><Enabled/>
<ViewerCertificate><CloudFrontDefaultCertificate>true</CloudFrontDefaultCertificate><SSLSupportMethod>vip</SSLSupportMethod>
<MinimumProtocolVersion>TLSv1</MinimumProtocolVersion><CertificateSource>cloudfront</CertificateSource></ViewerCertificate>
<Restrictions><GeoRestriction><RestrictionType>none</RestrictionType>{_NONE}</GeoRestriction></Restrictions>
<WebACLId/><HttpVersion>http2</HttpVersion><IsIPV6Enabled>false</IsIPV6Enabled><ContinuousDeploymentPolicyId/><Staging>false</Staging></DistributionConfig>"""
_ORIGIN = f"""<Origin><Id/><DomainName/><OriginPath/><CustomHeaders>{_NONE}</CustomHeaders><ConnectionAttempts>3</ConnectionAttempts>
<ConnectionTimeout>10</ConnectionTimeout><OriginShield><Enabled>false</Enabled></OriginShield><OriginAccessControlId/></Origin>"""
_NEEDED = ("CallerReference", "Origins", "DefaultCacheBehavior", "Comment", "Enabled")
_BUCKET = re.compile(
    r"(?P<bucket>.+?)\.s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(\.cn)?"
)
IDENTITY = "origin-access-identity/cloudfront/"
# Managed by AWS: CachingDisabled, CachingOptimized, the same for uncompressed objects, MediaPackage, Amplify, and the two that ask the origin.
_POLICIES = {
    "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "658327ea-f89d-4fab-a63d-7e88639e58f6", "b2884449-e4de-46a7-ac36-70bc7f1ddd6d",
    "08627262-05a9-4f76-9ded-b50ca2e3a84f", "2e54312d-136d-493c-8eb9-b001f22f67d2", "83da9c7e-98b4-4e11-a168-04f0df8e2c65",
    "4cc15a8a-d715-48a4-82b8-cc0b614638fe",
}  # fmt: skip


def whole(config: ET.Element) -> ET.Element:
    """As CloudFront gives it back: with everything it has decided for itself."""
    done = filled(config, ET.fromstring(_USUAL))  # noqa: S314 - our own
    origins = done.find("Origins/Items")
    if origins is not None:
        origins[:] = [filled(origin, ET.fromstring(_ORIGIN)) for origin in origins]  # noqa: S314 - our own
    return done


def bucket_of(domain: str) -> str:
    """The bucket behind an origin; empty for an origin that is none."""
    found = _BUCKET.fullmatch(domain)
    return found["bucket"] if found else ""


def check(config: ET.Element, controls: Collection[str], identities: Collection[str]) -> None:
    for field in _NEEDED:
        if config.find(field) is None:
            raise malformed(
                f"Value null at '{field[0].lower() + field[1:]}' failed to satisfy constraint: Member must not be null"
            )
    for holder in (one for one in config.iter() if one.find("Quantity") is not None):
        if int(value(holder, "Quantity") or 0) != len(list(holder.iterfind("Items/*"))):
            raise Refusal(
                400,
                "InconsistentQuantities",
                "The value of Quantity and the size of Items don't match.",
            )
    origins = list(config.iterfind("Origins/Items/Origin"))
    for origin in origins:
        _check_origin(origin, controls, identities)
    behaviours = [
        one for one in config.iter() if one.tag in {"DefaultCacheBehavior", "CacheBehavior"}
    ]
    for behaviour in behaviours:
        _check_behaviour(behaviour, {value(origin, "Id") for origin in origins})


def _check_origin(
    origin: ET.Element, controls: Collection[str], identities: Collection[str]
) -> None:
    control, identity = (
        value(origin, "OriginAccessControlId"),
        value(origin, "S3OriginConfig/OriginAccessIdentity"),
    )
    if (origin.find("S3OriginConfig") is None) == (origin.find("CustomOriginConfig") is None):
        raise Refusal(
            400,
            "InvalidOrigin",
            "Exactly one of CustomOriginConfig, VpcOriginConfig and S3OriginConfig must be specified",
        )
    if origin.find("S3OriginConfig") is not None and not bucket_of(value(origin, "DomainName")):
        raise Refusal(
            400,
            "InvalidArgument",
            "The parameter Origin DomainName does not refer to a valid S3 bucket.",
        )
    if control and identity:
        raise Refusal(
            400,
            "IllegalOriginAccessConfiguration",
            "Cannot use both Origin Access Control and Origin Access Identity on an origin",
        )
    if control and control not in controls:
        raise Refusal(
            400,
            "InvalidOriginAccessControl",
            "The specified origin access control does not exist or is not valid.",
        )
    if identity and (
        not identity.startswith(IDENTITY) or identity.removeprefix(IDENTITY) not in identities
    ):
        raise Refusal(
            400,
            "InvalidOriginAccessIdentity",
            "The specified origin access identity does not exist or is not valid.",
        )


def _check_behaviour(behaviour: ET.Element, origins: Collection[str]) -> None:
    if value(behaviour, "TargetOriginId") not in origins:
        raise Refusal(
            404, "NoSuchOrigin", "One or more of your origins or origin groups do not exist."
        )
    if value(behaviour, "ViewerProtocolPolicy") not in {
        "allow-all",
        "https-only",
        "redirect-to-https",
    }:
        raise Refusal(400, "InvalidArgument", "The parameter ViewerProtocolPolicy is invalid.")
    policy = value(behaviour, "CachePolicyId")
    if policy and policy not in _POLICIES:
        raise Refusal(404, "NoSuchCachePolicy", "The specified cache policy does not exist.")
    if not policy and behaviour.find("ForwardedValues") is None:
        raise Refusal(400, "InvalidArgument", "The parameter ForwardedValues is required.")

"""What kube-apiserver is told of the tokens that it signs, whoever starts it."""

from __future__ import annotations

from collections.abc import Mapping

from cwiictl.model import Handover

ISSUER = "service-account-issuer"
JWKS_URI = "service-account-jwks-uri"
AUDIENCES = "api-audiences"
IN_CLUSTER = "https://kubernetes.default.svc.cluster.local"  # where a cluster of the DNS domain cluster.local has its API server


def flags(handover: Handover, known: Mapping[str, str]) -> dict[str, str]:
    """`known` are those that the installer needs. Where the keys are is not known of every issuer: then the API server says so itself, to whoever asks it."""
    told = {**known, ISSUER: handover.issuer, JWKS_URI: handover.jwks_uri}
    if handover.audiences:
        told[AUDIENCES] = ",".join(handover.audiences)
    return {flag: value for flag, value in told.items() if value}


def former(handover: Handover, default: str = "") -> str:
    """The issuer that a cluster which runs has had so far: behind the new one, so that the new one signs, and its tokens stay valid."""
    issuer = handover.former or default
    return issuer if handover.runs and issuer != handover.issuer else ""

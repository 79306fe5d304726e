"""AWS's errors in our words, translated once, where they enter."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's name for it
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    MetadataRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    SSLError,
    SSOError,
    TokenRetrievalError,
)

from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled

BUSY = frozenset(
    {
        "BandwidthLimitExceeded",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
EARLY = frozenset(
    {
        "CloudFrontOriginAccessIdentityInUse",  # until the distribution that used it is deployed without it
        "ConcurrentModification",
        "ConcurrentModificationException",
        "ConditionalRequestConflict",
        "DeleteConflict",  # what was detached a moment ago may hold on for another
        "DistributionAlreadyExists",
        "EntityAlreadyExists",
        "EntityTemporarilyUnmodifiable",
        "InternalError",
        "InternalFailure",
        "NoSuchBucket",
        "NoSuchEntity",
        "NoSuchKey",
        "OpenIdIdpCommunicationError",
        "OriginAccessControlAlreadyExists",
        "OriginAccessControlInUse",
        "OperationAborted",
        "PreconditionFailed",
        "RequestTimeout",
        "ServiceFailure",
        "ServiceUnavailable",
    }
)
STRANGER = frozenset(
    {
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidToken",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "TokenRefreshRequired",
        "UnrecognizedClientException",
    }
)
DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AllAccessDisabled",
        "Forbidden",
        "UnauthorizedOperation",
    }
)
ACTIONS = {  # where a call is not called like the permission for it, or needs more than one
    "AddRoleToInstanceProfile": "AddRoleToInstanceProfile and iam:PassRole",
    "CreateBucket": "CreateBucket and s3:TagResource",
    "CreateInstanceProfile": "CreateInstanceProfile and iam:TagInstanceProfile",
    "CreateOpenIDConnectProvider": "CreateOpenIDConnectProvider and iam:TagOpenIDConnectProvider",
    "CreatePolicy": "CreatePolicy and iam:TagPolicy",
    "CreateRole": "CreateRole and iam:TagRole",
    "PutObject": "PutObject and s3:PutObjectTagging",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "HeadBucket": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
}


def code(e: ClientError) -> str:
    return e.response.get("Error", {}).get("Code", "")


def status(e: ClientError) -> int:
    return e.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)


def absent(e: ClientError) -> bool:
    """There is no such thing. To a HEAD, S3 answers a bare 404."""
    return code(e) in {"NoSuchEntity", "NoSuchBucket", "NoSuchKey", "NotFound", "404"}


def denied(e: ClientError) -> bool:
    return code(e) in DENIED


@contextmanager
def gone() -> Generator[None]:
    """What is to go and is not there has gone."""
    try:
        yield
    except ClientError as e:
        if not absent(e):
            raise


@contextmanager
def told(service: str) -> Generator[None]:
    """What is raised within is in our words. It decorates what a store does."""
    try:
        yield
    except ClientError as e:
        raise answered(service, e) from e
    except (MetadataRetrievalError, IncompleteReadError) as e:
        raise NotYet(
            f"AWS's answer did not arrive whole: {_sentence(e)}", remedy="run again"
        ) from e
    except (
        NoCredentialsError,
        PartialCredentialsError,
        CredentialRetrievalError,
        SSOError,
        TokenRetrievalError,
    ) as e:
        raise BadInput(
            f"there are no AWS credentials to act with: {_sentence(e)}",
            remedy="log in (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID",
        ) from e
    except SSLError as e:
        raise Failed(
            f"the certificate of AWS's host is not believed: {_sentence(e)}",
            remedy="name the right authorities with AWS_CA_BUNDLE",
        ) from e
    except (ConnectionError, HTTPClientError) as e:
        raise NotYet(
            f"AWS cannot be reached: {_sentence(e)}",
            remedy="see that the network, the proxy and --region are right",
        ) from e
    except BotoCoreError as e:
        raise BadInput(
            f"the AWS SDK cannot work with its settings: {_sentence(e)}",
            remedy="mend the AWS configuration file or variable that it names",
        ) from e


def answered(service: str, e: ClientError) -> Problem:
    said = f"{service}:{e.operation_name}: {message(e)}"
    if code(e) in STRANGER | {"RequestTimeTooSkewed"}:
        remedy = (
            "set this machine's clock"
            if code(e) == "RequestTimeTooSkewed"
            else "log in again, or set other ones"
        )
        return BadInput(
            f"AWS does not accept the credentials, or no longer ({code(e)})", remedy=remedy
        )
    if code(e) in BUSY or status(e) in {429, 503}:
        return Throttled(
            f"AWS asks for patience ({said})",
            remedy="run again later, or with a lower --concurrency",
            after=_retry_after(e),
        )
    if _early(e) or status(e) >= 500:
        return NotYet(f"AWS is not ready for {said}", remedy="run again later")
    if code(e) in DENIED or status(e) == 403:
        action = ACTIONS.get(e.operation_name, e.operation_name)
        return Denied(
            f"AWS does not allow {said}", remedy=f"have {service}:{action} granted to who runs this"
        )
    return Failed(f"AWS refuses {said}", remedy="mend what it says and run again")


def _early(e: ClientError) -> bool:
    """What a role refers to and is not of our making will not come by waiting: its boundary, a policy of AWS's own."""
    never = e.operation_name == "CreateRole" or (
        e.operation_name == "AttachRolePolicy" and ":aws:policy/" in message(e)
    )
    return code(e) in EARLY and not (code(e) == "NoSuchEntity" and never)


def message(e: ClientError) -> str:
    text = " ".join(e.response.get("Error", {}).get("Message", "").split())
    return f"{text or 'no reason given'} ({code(e)})"


def _sentence(e: Exception) -> str:
    return " ".join(str(e).split()).rstrip(".")


def _retry_after(e: ClientError) -> float | None:
    headers: dict[str, Any] = e.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    value = str(headers.get("retry-after", ""))
    return float(value) if value.isdigit() else None

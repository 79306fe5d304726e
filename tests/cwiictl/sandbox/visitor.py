"""Somebody who comes through the door: real boto3 clients, a plain https reader, and an issuer that signs tokens."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
import jwt
from botocore.config import Config
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.aws.keyring import KEY, SECRET

if TYPE_CHECKING:
    from types_boto3_cloudfront import CloudFrontClient
    from types_boto3_iam import IAMClient
    from types_boto3_s3 import S3Client
    from types_boto3_sts import STSClient

REGION = "eu-west-1"
ACCOUNT = "123456789012"
BUCKET = "cwii-oidc"
HOST = f"{BUCKET}.s3.{REGION}.amazonaws.com"
ISSUER = f"https://{HOST}"
PROVIDER = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{HOST}"
SUBJECT = "system:serviceaccount:kube-system:csi"
ALL_BLOCKED = {
    "BlockPublicAcls": True,
    "IgnorePublicAcls": True,
    "BlockPublicPolicy": True,
    "RestrictPublicBuckets": True,
}


@cache
def signing_key(number: int = 0) -> rsa.RSAPrivateKey:
    del number  # each its own key
    return rsa.generate_private_key(65537, 2048)


def token(key: int = 0, kid: str = "k1", **claims: Any) -> str:
    body = {
        "iss": ISSUER,
        "sub": SUBJECT,
        "aud": "sts.amazonaws.com",
        "iat": int(time.time()) - 5,
        "exp": int(time.time()) + 600,
        **claims,
    }
    return jwt.encode(
        {name: value for name, value in body.items() if value is not None},
        signing_key(key),
        algorithm="RS256",
        headers={"kid": kid},
    )


def key_set(**keys: int) -> bytes:
    members: list[dict[str, Any]] = [
        {
            **RSAAlgorithm.to_jwk(signing_key(key).public_key(), as_dict=True),
            "kid": kid,
            "use": "sig",
        }
        for kid, key in keys.items()
    ]
    return json.dumps({"keys": members}).encode()


def discovery(issuer: str = ISSUER) -> bytes:
    return json.dumps({"issuer": issuer, "jwks_uri": f"{issuer}/keys.json"}).encode()


def read_policy(bucket: str = BUCKET) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:GetObject",
        "Resource": f"arn:aws:s3:::{bucket}/*",
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def trust(**changes: Any) -> str:
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": {"Federated": PROVIDER},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{HOST}:sub": SUBJECT}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [{**statement, **changes}]})


def inline(padding: int = 0) -> str:
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "s3:*",
                    "Resource": ["*", "arn:aws:s3:::" + "x" * padding],
                }
            ],
        }
    )


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Visitor:
    sandbox: Sandbox
    key: str = KEY
    secret: str = SECRET
    session_token: str | None = None
    region: str = REGION

    def client(self, service: str, **more: Any) -> Any:
        config = Config(
            proxies={"https": self.sandbox.proxy},
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "virtual"},
            **more,
        )
        return _session().client(
            service,
            region_name=self.region,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            aws_session_token=self.session_token,
            verify=str(self.sandbox.ca_file),
            config=config,
        )

    @cached_property
    def s3(self) -> S3Client:
        return self.client("s3")

    @cached_property
    def iam(self) -> IAMClient:
        return self.client("iam")

    @cached_property
    def sts(self) -> STSClient:
        return self.client("sts")

    @cached_property
    def cloudfront(self) -> CloudFrontClient:
        return self.client("cloudfront")

    @cached_property
    def control(self) -> Any:
        return self.client("s3control")

    def connection(self, host: str) -> http.client.HTTPSConnection:
        door = urlsplit(self.sandbox.proxy)
        context = ssl.create_default_context(cafile=str(self.sandbox.ca_file))
        connection = http.client.HTTPSConnection(
            door.hostname or "", door.port or 0, timeout=10, context=context
        )
        connection.set_tunnel(host, 443)
        return connection

    def get(self, url: str, method: str = "GET") -> Answer:
        """Without any credentials, as a cloud reads an issuer's documents."""
        parts = urlsplit(url)
        connection = self.connection(parts.netloc)
        try:
            connection.request(method, parts.path or "/")
            answer = connection.getresponse()
            return Answer(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()

    def open_bucket(self, bucket: str = BUCKET) -> None:
        """A bucket that the public may read, with nothing in it."""
        self.s3.create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        self.s3.put_public_access_block(
            Bucket=bucket,
            PublicAccessBlockConfiguration={
                "BlockPublicPolicy": False,
                "RestrictPublicBuckets": False,
            },
        )
        self.s3.put_bucket_policy(Bucket=bucket, Policy=read_policy(bucket))

    def publish(self, **keys: int) -> None:
        self.s3.put_object(
            Bucket=BUCKET,
            Key=".well-known/openid-configuration",
            Body=discovery(),
            ContentType="application/json",
        )
        self.s3.put_object(
            Bucket=BUCKET,
            Key="keys.json",
            Body=key_set(**(keys or {"k1": 0})),
            ContentType="application/json",
        )

    def federate(self) -> None:
        """An issuer, a provider for it, and a role `r` that trusts one subject."""
        self.open_bucket()
        self.publish()
        self.iam.create_open_id_connect_provider(Url=ISSUER, ClientIDList=["sts.amazonaws.com"])
        self.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())

    def assume(self, web_token: str, role: str = "r") -> Any:
        return self.sts.assume_role_with_web_identity(
            RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{role}",
            RoleSessionName="someone",
            WebIdentityToken=web_token,
        )


@cache
def _session() -> Any:
    """Its overloads have no place for a service whose name is a variable."""
    return boto3.Session()


def refusal(error: ClientError) -> tuple[str, int]:
    found: Any = error.response
    return found["Error"]["Code"], found["ResponseMetadata"]["HTTPStatusCode"]

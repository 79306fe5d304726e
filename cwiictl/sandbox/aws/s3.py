"""S3 before moto: who may read without an account, what public access blocks stop, and the edges of making buckets."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.places import Ground

from . import actions
from .address import Address
from .answers import Refusal
from .creation import taken, wanted
from .keyring import KEY, Keyring, key_of
from .moto import Moto
from .past import Past, instead
from .public import Openness, check_policy
from .rewrite import rewritten
from .things import Block, Bucket

_PERMISSION = {"HeadObject": "GetObject", "HeadBucket": "ListBucket", "ListObjects": "ListBucket", "ListObjectsV2": "ListBucket"}
State = tuple[bytes | None, Block | None]


class S3:
    def __init__(self, moto: Moto, keyring: Keyring, ground: Ground) -> None:
        self._moto = moto
        self._keyring = keyring
        self._strangers = ground.strangers
        self._buckets = Past[State](ground.faults)
        self._account = Past[State](ground.faults)

    def reset(self) -> None:
        self._buckets.forget()
        self._account.forget()

    def handle(self, request: Request, address: Address) -> Response:
        action = actions.name(request, address).partition(":")[2]
        signed = key_of(request) != ""
        if signed:
            self._keyring.caller(request, "s3")
        with self._moto.lock:
            response = self._bucket(action, request, address, signed=signed) if address.bucket else self._list(request, address, signed=signed)
        return response.but([("x-amz-request-id", secrets.token_hex(8).upper()), ("Server", "AmazonS3")])

    def control(self, request: Request, address: Address) -> Response:
        """The account's own public access block."""
        self._keyring.caller(request, "s3control")
        with self._moto.lock:
            account = self._moto.account(address.partition)
            before: State = (None, account.public_access_block)
            if request.method in {"PUT", "DELETE"}:
                response = self._moto.call(request, address)
                self._account.keep(address.partition, before)
                return response
            with instead(account, public_access_block=self._account_block(address.partition)):
                return self._moto.call(request, address)

    def _list(self, request: Request, address: Address, *, signed: bool) -> Response:
        if not signed:
            raise Refusal(403, "AccessDenied", "Access Denied")
        return self._moto.call(request, address)

    def _bucket(self, action: str, request: Request, address: Address, *, signed: bool) -> Response:
        if address.bucket in self._strangers:
            raise taken() if action == "CreateBucket" and signed else Refusal(403, "AccessDenied", "Access Denied")
        bucket = self._moto.buckets(address.partition).get(address.bucket)
        if action == "CreateBucket" and signed:
            return self._create(request, address, bucket)
        if bucket is None:
            raise Refusal(404, "NoSuchBucket", "The specified bucket does not exist", BucketName=address.bucket)
        _check_region(request, address, bucket)
        if not signed:
            self._check_anonymous(action, address, bucket)
            request = _as_ours(request, address)
        return self._known(action, request, address, bucket)

    def _known(self, action: str, request: Request, address: Address, bucket: Bucket) -> Response:
        if action == "PutBucketPolicy":
            check_policy(bucket.name, address.partition, request.body, (bucket.public_access_block, self._moto.account(address.partition).public_access_block))
        if action in {"PutBucketPolicy", "DeleteBucketPolicy", "PutPublicAccessBlock", "DeletePublicAccessBlock"}:
            return self._change(request, address, bucket)
        with self._as_seen(bucket, address.partition):
            if action == "GetBucketPolicy" and bucket.policy is not None:
                return Response(200, (("Content-Type", "application/json"),), rewritten(bucket.policy))
            return self._moto.call(request, address)

    def _change(self, request: Request, address: Address, bucket: Bucket) -> Response:
        before: State = (bucket.policy, bucket.public_access_block)
        response = self._moto.call(request, address)
        if response.status < 400:
            self._buckets.keep(f"{address.partition}:{bucket.name}", before)
        if request.method == "PUT" and "policy" in request.asked:
            return Response(204)
        return response

    def _state(self, bucket: Bucket, partition: str) -> State:
        now: State = (bucket.policy, bucket.public_access_block)
        return self._buckets.seen(f"{partition}:{bucket.name}", now) or now

    def _account_block(self, partition: str) -> Block | None:
        now: State = (None, self._moto.account(partition).public_access_block)
        return (self._account.seen(partition, now) or now)[1]

    @contextmanager
    def _as_seen(self, bucket: Bucket, partition: str) -> Generator[None]:
        policy, block = self._state(bucket, partition)
        with instead(bucket, policy=policy, public_access_block=block):
            yield

    def _check_anonymous(self, action: str, address: Address, bucket: Bucket) -> None:
        policy, block = self._state(bucket, address.partition)
        openness = Openness(policy, (block, self._account_block(address.partition)))
        own = f"arn:{address.partition}:s3:::{bucket.name}"
        may_list = openness.allows("s3:ListBucket", own)
        permission = _PERMISSION.get(action, action)
        if not openness.allows(f"s3:{permission}", f"{own}/{address.name}" if address.key else own):
            raise Refusal(403, "AccessDenied", "Access Denied")
        if permission == "GetObject" and address.name not in bucket.keys and not may_list:
            raise Refusal(403, "AccessDenied", "Access Denied")  # S3 does not tell strangers what is missing

    def _create(self, request: Request, address: Address, bucket: Bucket | None) -> Response:
        wish = wanted(address.bucket, request.body)
        if wish.location and wish.location not in self._moto.regions(address.partition):
            raise Refusal(400, "InvalidLocationConstraint", "The specified location-constraint is not valid", LocationConstraint=wish.location)
        response = self._moto.call(request, address)
        if response.status < 400 and bucket is None:
            self._moto.buckets(address.partition)[address.bucket].public_access_block = self._moto.block()
            if wish.tagging:
                self._tag(request, address, wish.tagging)
        return response

    def _tag(self, request: Request, address: Address, tags: bytes) -> None:
        headers = tuple(header for header in request.headers if header[0].lower() in {"authorization", "host"})
        asked = Request("PUT", request.host, request.path, "tagging", headers, tags)
        response = self._moto.call(asked, address)
        if response.status >= 400:
            del self._moto.buckets(address.partition)[address.bucket]
            raise Refusal(400, "InvalidTag", "The tags of the new bucket are not valid.")


def _check_region(request: Request, address: Address, bucket: Bucket) -> None:
    """A host that names another region sends its clients on; a host that names none knows them all."""
    if address.region != bucket.region_name and f".{address.region}." in f".{request.host}":
        sentence = "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint."
        endpoint = f"{bucket.name}.s3.{bucket.region_name}.amazonaws.com"
        raise Refusal(301, "PermanentRedirect", sentence, Endpoint=endpoint, Bucket=bucket.name, Region=bucket.region_name)


def _as_ours(request: Request, address: Address) -> Request:
    """moto has rules of its own for anonymous readers; by now it is decided that this one may."""
    credential = f"AWS4-HMAC-SHA256 Credential={KEY}/20000101/{address.region}/s3/aws4_request, SignedHeaders=host, Signature=0"
    return Request(request.method, request.host, request.path, request.query, (*request.headers, ("Authorization", credential)), request.body)

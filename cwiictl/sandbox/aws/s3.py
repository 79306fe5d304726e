"""S3 before moto: who may read without an account, what public access blocks stop, and the edges of making buckets."""

from __future__ import annotations

import secrets

from cwiictl.sandbox.exchange import Request, Response

from . import actions
from .address import Address
from .answers import Refusal
from .creation import taken, wanted
from .keyring import Keyring, key_of
from .moto import Moto
from .partitions import BY_NAME
from .past import instead
from .principals import Identities, check_principals
from .public import check_policy
from .rewrite import rewritten
from .states import State, States, as_ours
from .things import Bucket


class S3:
    def __init__(
        self, moto: Moto, keyring: Keyring, states: States, identities: Identities
    ) -> None:
        self._moto = moto
        self._keyring = keyring
        self._states = states
        self._identities = identities

    def handle(self, request: Request, address: Address) -> Response:
        action = actions.name(request, address).partition(":")[2]
        signed = key_of(request) != ""
        if signed:
            self._keyring.caller(request, "s3")
        with self._moto.lock:
            response = (
                self._bucket(action, request, address, signed=signed)
                if address.bucket
                else self._list(request, address, signed=signed)
            )
        return response.but(
            [("x-amz-request-id", secrets.token_hex(8).upper()), ("Server", "AmazonS3")]
        )

    def control(self, request: Request, address: Address) -> Response:
        """The account's own public access block."""
        self._keyring.caller(request, "s3control")
        with self._moto.lock:
            account = self._moto.account(address.partition)
            before: State = (None, account.public_access_block)
            if request.method in {"PUT", "DELETE"}:
                response = self._moto.call(request, address)
                self._states.keep_account(address.partition, before)
                return response
            with instead(
                account, public_access_block=self._states.account_block(address.partition)
            ):
                return self._moto.call(request, address)

    def _list(self, request: Request, address: Address, *, signed: bool) -> Response:
        if not signed:
            raise Refusal(403, "AccessDenied", "Access Denied")
        return self._moto.call(request, address)

    def _bucket(self, action: str, request: Request, address: Address, *, signed: bool) -> Response:
        if address.bucket in self._states.strangers:
            raise (
                taken()
                if action == "CreateBucket" and signed
                else Refusal(403, "AccessDenied", "Access Denied")
            )
        bucket = self._moto.buckets(address.partition).get(address.bucket)
        if action == "CreateBucket" and signed:
            return self._create(request, address, bucket)
        if bucket is None:
            raise Refusal(
                404,
                "NoSuchBucket",
                "The specified bucket does not exist",
                BucketName=address.bucket,
            )
        _check_region(request, address, bucket)
        if not signed:
            self._states.check(action, address, bucket)
            request = as_ours(request, address)
        return self._known(action, request, address, bucket)

    def _known(self, action: str, request: Request, address: Address, bucket: Bucket) -> Response:
        if action == "PutBucketPolicy":
            with self._states.as_seen(
                bucket, address.partition
            ):  # a block that was just lifted still blocks for a while
                blocks = (bucket.public_access_block, self._states.account_block(address.partition))
            check_policy(bucket.name, address.partition, request.body, blocks)
            check_principals(request.body, self._identities(address.partition))
        if action in {
            "PutBucketPolicy",
            "DeleteBucketPolicy",
            "PutPublicAccessBlock",
            "DeletePublicAccessBlock",
        }:
            return self._change(request, address, bucket)
        with self._states.as_seen(bucket, address.partition):
            if action == "GetBucketPolicy" and bucket.policy is not None:
                return Response(
                    200, (("Content-Type", "application/json"),), rewritten(bucket.policy)
                )
            return self._moto.call(request, address)

    def _change(self, request: Request, address: Address, bucket: Bucket) -> Response:
        before: State = (bucket.policy, bucket.public_access_block)
        response = self._moto.call(request, address)
        if response.status < 400:
            self._states.keep(bucket, address.partition, before)
        if request.method == "PUT" and "policy" in request.asked:
            return Response(204)
        return response

    def _create(self, request: Request, address: Address, bucket: Bucket | None) -> Response:
        wish = wanted(address.bucket, request.body)
        if wish.location and wish.location not in self._moto.regions(address.partition):
            raise Refusal(
                400,
                "InvalidLocationConstraint",
                "The specified location-constraint is not valid",
                LocationConstraint=wish.location,
            )
        response = self._moto.call(request, address)
        if response.status < 400 and bucket is None:
            self._moto.buckets(address.partition)[
                address.bucket
            ].public_access_block = self._moto.block()
            if wish.tagging:
                self._tag(request, address, wish.tagging)
        return response

    def _tag(self, request: Request, address: Address, tags: bytes) -> None:
        headers = tuple(
            header for header in request.headers if header[0].lower() in {"authorization", "host"}
        )
        asked = Request("PUT", request.host, request.path, "tagging", headers, tags)
        response = self._moto.call(asked, address)
        if response.status >= 400:
            del self._moto.buckets(address.partition)[address.bucket]
            raise Refusal(400, "InvalidTag", "The tags of the new bucket are not valid.")


def _check_region(request: Request, address: Address, bucket: Bucket) -> None:
    """A host that names another region sends its clients on; a host that names none knows them all."""
    if address.region != bucket.region_name and f".{address.region}." in f".{request.host}":
        sentence = "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint."
        endpoint = f"{bucket.name}.s3.{bucket.region_name}{BY_NAME[address.partition].suffix}"
        raise Refusal(
            301,
            "PermanentRedirect",
            sentence,
            Endpoint=endpoint,
            Bucket=bucket.name,
            Region=bucket.region_name,
        )

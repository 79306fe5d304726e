"""Who may read a bucket, as its readers see it now: its policy and its block, and the block of the account."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Faults

from .address import Address
from .answers import Refusal
from .keyring import KEY
from .moto import Moto
from .past import Past, instead
from .public import ANYBODY, Openness, Reader
from .things import Block, Bucket

State = tuple[bytes | None, Block | None]
_PERMISSION = {
    "HeadObject": "GetObject",
    "HeadBucket": "ListBucket",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
}


class States:
    def __init__(self, moto: Moto, faults: Faults, strangers: frozenset[str]) -> None:
        self.strangers = strangers  # names of buckets that somebody else has
        self._moto = moto
        self._buckets = Past[State](faults)
        self._account = Past[State](faults)

    def forget(self) -> None:
        self._buckets.forget()
        self._account.forget()

    def keep(self, bucket: Bucket, partition: str, before: State) -> None:
        self._buckets.keep(f"{partition}:{bucket.name}", before)

    def keep_account(self, partition: str, before: State) -> None:
        self._account.keep(partition, before)

    def account_block(self, partition: str) -> Block | None:
        now: State = (None, self._moto.account(partition).public_access_block)
        return (self._account.seen(partition, now) or now)[1]

    @contextmanager
    def as_seen(self, bucket: Bucket, partition: str) -> Generator[None]:
        policy, block = self._of(bucket, partition)
        with instead(bucket, policy=policy, public_access_block=block):
            yield

    def check(
        self, action: str, address: Address, bucket: Bucket, reader: Reader = ANYBODY
    ) -> None:
        """S3's refusal for a reader whom the policy does not let in. It does not tell strangers what is missing either."""
        policy, block = self._of(bucket, address.partition)
        openness = Openness(policy, (block, self.account_block(address.partition)))
        own = f"arn:{address.partition}:s3:::{bucket.name}"
        permission = _PERMISSION.get(action, action)
        if not openness.allows(
            f"s3:{permission}", f"{own}/{address.name}" if address.key else own, reader
        ):
            raise Refusal(403, "AccessDenied", "Access Denied")
        if (
            permission == "GetObject"
            and address.name not in bucket.keys
            and not openness.allows("s3:ListBucket", own, reader)
        ):
            raise Refusal(403, "AccessDenied", "Access Denied")

    def _of(self, bucket: Bucket, partition: str) -> State:
        now: State = (bucket.policy, bucket.public_access_block)
        return self._buckets.seen(f"{partition}:{bucket.name}", now) or now

    def read(self, request: Request, address: Address, bucket: Bucket, reader: Reader) -> Response:
        """An object, as CloudFront gets it from S3."""
        self.check("GetObject", address, bucket, reader)
        return self._moto.call(as_ours(request, address), address)


def as_ours(request: Request, address: Address) -> Request:
    """moto has rules of its own for anonymous readers; by now it is decided that this one may."""
    credential = f"AWS4-HMAC-SHA256 Credential={KEY}/20000101/{address.region}/s3/aws4_request, SignedHeaders=host, Signature=0"
    return Request(
        request.method,
        request.host,
        request.path,
        request.query,
        (*request.headers, ("Authorization", credential)),
        request.body,
    )

"""S3 objects: the issuer's documents, always written under a precondition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from botocore.exceptions import ClientError

from cwiictl import names, oidc
from cwiictl.clouds.aws.resources.document import JWKS
from cwiictl.clouds.aws.stores.errors import absent, told
from cwiictl.clouds.aws.stores.tags import read
from cwiictl.engine.resource import Mark
from cwiictl.issuer.documents import DocumentState, KeySetState
from cwiictl.issuer.rotation import STAGES
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


ROTATION = names.ROTATION.replace(
    "_", "-"
)  # it travels as a header, in which some proxies take no underscore


class Seen(NamedTuple):
    """An object as it was read: what replaces it says so by its ETag."""

    body: bytes
    headers: tuple[str, str, str]  # content type, cache control, ETag
    word: str = ""  # of a rotation


class _Objects:
    """What both kinds of document have in common. In a bucket of ours they are the bucket's; in one of the user's own they bear marks."""

    bulk, patience = False, 120.0
    key = ""

    def __init__(self, s3: S3Client, cluster: str, places: Callable[[str], Iterable[str]]) -> None:
        self.s3, self.cluster, self.places = s3, cluster, places

    @told("s3")
    def drop(self, name: str, /) -> None:
        bucket, _, key = name.partition("/")
        self.s3.delete_object(Bucket=bucket, Key=key)

    @told("s3")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {name: self._mark(name, cluster) for name in self._lent(cluster)}
        return {name: mark for name, mark in marks.items() if mark and mark.cluster == cluster}

    def _lent(self, cluster: str) -> list[str]:
        return [f"{place}{self.key}" for place in self.places(cluster)]

    def _mark(self, name: str, cluster: str) -> Mark | None:
        return names.mark(self._tags(name), cluster)

    def _tags(self, name: str) -> dict[str, str]:
        bucket, _, key = name.partition("/")
        try:
            return read(self.s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"])
        except ClientError as e:
            if absent(e):
                return {}
            raise

    def _owner(self, name: str) -> Mark | None:
        return self._mark(name, self.cluster) if name in self._lent(self.cluster) else None

    def _fetch(self, name: str) -> Seen | None:
        bucket, _, key = name.partition("/")
        try:
            found: Any = self.s3.get_object(Bucket=bucket, Key=key)
        except ClientError as e:
            if absent(e):
                return None
            raise
        said: dict[str, str] = found.get("Metadata") or {}
        return Seen(
            found["Body"].read(),
            (found.get("ContentType", ""), found.get("CacheControl", ""), found["ETag"]),
            said.get(ROTATION, ""),
        )

    def _store(
        self,
        name: str,
        body: bytes,
        want: DocumentState | KeySetState,
        have: DocumentState | KeySetState | None,
        word: str = "",
    ) -> None:
        """Over exactly what was seen: who came in between is not overwritten, and all is decided anew."""
        bucket, _, key = name.partition("/")
        if have and have.owner and want.owner is None:
            rest: list[Any] = [
                {"Key": key, "Value": value}
                for key, value in names.apart(self._tags(name), have.owner).items()
            ]
            self.s3.put_object_tagging(Bucket=bucket, Key=key, Tagging={"TagSet": rest})
            return
        condition: Any = {"IfMatch": have.version} if have else {"IfNoneMatch": "*"}
        told: Any = {
            "Tagging": urlencode(self._signs(name, have)),
            "Metadata": {ROTATION: word} if word else {},
        }
        self.s3.put_object(
            Bucket=bucket,
            Key=key,
            Body=body,
            ContentType=want.content_type,
            CacheControl=want.cache_control,
            **told,
            **condition,
        )

    def _signs(self, name: str, have: DocumentState | KeySetState | None) -> dict[str, str]:
        """ccoctl finds by its tags what is ours. What was there unmarked in a place of the user's own stays when we go, with its tags."""
        if (
            have is None
            or (have.owner and have.owner.hold == "owned")
            or name not in self._lent(self.cluster)
        ):
            return {**names.tags(Cluster(self.cluster)), **names.marked(Mark(self.cluster))}
        return {**self._tags(name), **names.marked(Mark(self.cluster, "brought"))}


class Documents(_Objects):
    kind, key = "aws/document", names.DISCOVERY

    @told("s3")
    def get(self, names_: Collection[str], /) -> Mapping[str, DocumentState]:
        found = {name: self._fetch(name) for name in names_}
        return {
            name: replace(DocumentState.read(seen.body, *seen.headers), owner=self._owner(name))
            for name, seen in found.items()
            if seen
        }

    @told("s3")
    def put(self, name: str, want: DocumentState, have: DocumentState | None, /) -> DocumentState:
        self._store(name, oidc.dump(want.body), want, have)
        return replace(want, owner=None)


class KeySets(_Objects):
    kind, key = "aws/key-set", JWKS

    @told("s3")
    def get(self, names_: Collection[str], /) -> Mapping[str, KeySetState]:
        found = {name: self._fetch(name) for name in names_}
        return {
            name: replace(self._read(name, seen), owner=self._owner(name))
            for name, seen in found.items()
            if seen
        }

    def _read(self, name: str, seen: Seen) -> KeySetState:
        return KeySetState.read(seen.body, f"{self.kind}/{name}", *seen.headers).saying(
            seen.word, f"{self.kind}/{name}"
        )

    @told("s3")
    def put(self, name: str, want: KeySetState, have: KeySetState | None, /) -> KeySetState:
        word = want.word(have)
        self._store(name, want.merged(have) + _told_apart(word), want, have, word)
        return replace(want, owner=None)


def _told_apart(word: str) -> bytes:
    """An ETag is of the body alone: who has seen another stage of a rotation must have seen another body, so it ends in as many empty lines."""
    stage = word.partition(".")[0]
    return b"\n" * (STAGES.index(stage) + 1 if stage in STAGES else 0)

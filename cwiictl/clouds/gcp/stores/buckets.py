"""Cloud Storage: the bucket of the issuer, with the policy that lets everybody read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from google.api_core.exceptions import GoogleAPICallError
from google.cloud.storage import Client

from cwiictl import names
from cwiictl.clouds.gcp.resources.bucket import HIDDEN, Access, BucketState
from cwiictl.clouds.gcp.resources.document import PATHS
from cwiictl.clouds.gcp.stores import labels
from cwiictl.clouds.gcp.stores.errors import absent, gone, message, status, told
from cwiictl.clouds.gcp.stores.ledger import VERSION
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, Denied, Failed, NotYet
from cwiictl.model import Cluster

READER = "roles/storage.legacyObjectReader"  # lets one read objects, and not list them
READERS = frozenset({READER, "roles/storage.objectViewer"})
EVERYBODY = frozenset({"allUsers", "allAuthenticatedUsers"})
FORBIDDEN = re.compile(
    r"public access prevention|permitted customer|org(anization)? policy|not allowed", re.IGNORECASE
)
WAY_ON = (
    "have that lifted for the project, or publish nothing: --key-storage-method pool-jwk-file gives Google the keys themselves,"
    " and --issuer-url names a host of your own"
)


class Buckets:
    """The documents in it are its children: they go with it, and whatever else lies in it keeps it from going."""

    kind, bulk, patience = "gcp/bucket", False, 120.0

    def __init__(
        self, storage: Client, number: str, cluster: str, ccoctls: Callable[[str], Mark | None]
    ) -> None:
        self.storage: Any = storage  # its types have no word for no second try
        self.number, self.cluster = number, cluster
        self.ccoctls = ccoctls  # the mark of the pool of the cluster, if that is ccoctl's, or was: it marks no bucket
        self.marks: dict[str, Mark | None] = {}  # as they were last seen or written

    @told("storage")
    def get(self, buckets: Collection[str], /) -> Mapping[str, BucketState]:
        found = {bucket: self._read(bucket) for bucket in buckets}
        return {bucket: state for bucket, state in found.items() if state}

    @told("storage")
    def put(self, bucket: str, want: BucketState, have: BucketState | None, /) -> BucketState:
        made = self._create(bucket, want) if have is None else self._change(bucket, want, have)
        self.marks[bucket] = want.owner
        if (
            want.access
            and not labels.lent(want.owner)
            and (have is None or want.access.public != (have.access and have.access.public))
        ):
            lifted = (
                have is not None
                and have.access is not None
                and have.access.prevention != want.access.prevention
            )
            self._open(bucket, public=bool(want.access.public), lifted=lifted)
            made = replace(made, access=want.access)
        return made

    @told("storage")
    def drop(self, bucket: str, /) -> None:
        with gone():
            within = self._vacated(bucket)
            place = self.storage.bucket(bucket)
            for name in within:
                with gone():
                    place.blob(name).delete(retry=None)
            try:
                place.delete(retry=None)
            except GoogleAPICallError as e:
                if status(e) != 409:
                    raise
                remedy = "empty it with the console or gcloud storage, and run again"
                raise Failed(
                    f"{self.kind}/{bucket} holds versions of objects that are not listed, or has got new ones",
                    remedy=remedy,
                ) from e

    @told("storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """Google lists labels too. A bucket of ccoctl's has none: its name, its contents and whose the pool is tell."""
        marks = {
            str(seen.name): labels.owner(seen.labels, cluster)
            for seen in self.storage.list_buckets(retry=None)
        }
        own = names.bucket(Cluster(names.own(cluster)))
        if own in marks and marks[own] is None:
            marks[own] = self._ccoctls(own, cluster)
        return {bucket: mark for bucket, mark in marks.items() if mark and mark.cluster == cluster}

    @told("storage")
    def inspect(self, bucket: str, /) -> None:
        with gone():
            self._vacated(bucket)

    def _vacated(self, bucket: str) -> list[str]:
        """What lies in it, if that is all ours."""
        within = [str(blob.name) for blob in self._listed(bucket)]
        if strange := [name for name in within if name not in PATHS]:
            raise Conflict(
                f"{self.kind}/{bucket} holds what is not ours, such as {strange[0]}",
                remedy="move it elsewhere and run again",
            )
        return within

    def ours(self, bucket: str) -> bool:
        """Whether what lies in it goes with it: then it needs no marks, and has none to say."""
        if bucket not in self.marks:
            self._read(bucket)
        mark = self.marks.get(bucket)
        return mark is not None and mark.hold == "owned" and names.own(mark.cluster) == self.cluster

    def _create(self, bucket: str, want: BucketState) -> BucketState:
        """With its mark. Its name may be taken in the world: the next reading decides."""
        place = self.storage.bucket(bucket)
        access = want.access or Access(public=False)
        place.labels = labels.written(want, None)
        place.iam_configuration.uniform_bucket_level_access_enabled = access.uniform
        place.iam_configuration.public_access_prevention = access.prevention
        seen = self.storage.create_bucket(place, location=want.location, retry=None)
        return replace(
            want,
            project=str(seen.project_number or self.number),
            access=replace(access, public=False),
        )

    def _change(self, bucket: str, want: BucketState, have: BucketState) -> BucketState:
        """Of one of the user's own only the labels that are ours. Over what is there by now: labels are all written at once."""
        place = self.storage.get_bucket(bucket, retry=None)
        have = replace(have, labels=names.apart(labels.read(place.labels), have.owner))
        access = have.access if labels.lent(want.owner) or want.access is None else want.access
        if labels.relabelled(want, have):
            place.labels = labels.written(want, have)
        if access and have.access and access.uniform != have.access.uniform:
            place.iam_configuration.uniform_bucket_level_access_enabled = access.uniform
        if access and have.access and access.prevention != have.access.prevention:
            place.iam_configuration.public_access_prevention = access.prevention
        place.patch(retry=None, if_metageneration_match=place.metageneration)
        told = {
            key: text
            for key, text in {**have.labels, **want.labels}.items()
            if want.owner or not key.startswith(labels.TOLD)
        }
        public = have.access.public if have.access else False
        return replace(
            want,
            location=have.location,
            project=have.project,
            access=access and replace(access, public=public),
            labels=told,
        )

    def _open(self, bucket: str, *, public: bool, lifted: bool) -> None:
        """Everybody has one role in a bucket of ours, or none. What is granted to others is not ours to judge."""
        place = self.storage.bucket(bucket)
        policy: Any = place.get_iam_policy(requested_policy_version=VERSION, retry=None)
        kept = [
            {**binding, "members": sorted(set(binding["members"]) - EVERYBODY)}
            for binding in policy.bindings
        ]
        policy.version = VERSION
        policy.bindings = [binding for binding in kept if binding["members"]]
        if public:
            policy.bindings.append({"role": READER, "members": {"allUsers"}})
        try:
            place.set_iam_policy(policy, retry=None)
        except GoogleAPICallError as e:
            if not (public and status(e) in {400, 412} and FORBIDDEN.search(e.message)):
                raise
            why = f"Google does not let {self.kind}/{bucket} be read by everybody: {message(e)}"
            if lifted:  # a moment ago, by us
                raise NotYet(why, remedy=WAY_ON) from e
            raise Denied(why, remedy=WAY_ON) from e

    def _read(self, bucket: str) -> BucketState | None:
        try:
            seen = self.storage.get_bucket(bucket, retry=None)
        except GoogleAPICallError as e:
            if absent(e):
                return None
            if status(e) == 403 and not self._in_project(bucket, e):
                return BucketState(location="", project="", access=None)
            raise
        found = labels.read(seen.labels)
        owner = names.mark(found, self.cluster)
        stranger = "" if owner and owner.cluster == self.cluster else self._stranger(bucket)
        owner = owner or (
            self._ccoctls(bucket, self.cluster, stranger)
            if bucket == names.bucket(Cluster(self.cluster))
            else None
        )
        self.marks[bucket] = owner
        return BucketState(
            location=str(seen.location or "").lower(),
            project=str(seen.project_number),
            access=self._access(seen, ours=owner is not None and owner.hold != "brought"),
            labels=names.apart(found, owner),
            stranger=stranger,
            owner=owner,
        )

    def _access(self, seen: Any, *, ours: bool) -> Access:
        """In one of ours whatever everybody may do beside reading is not as it should be, whichever that is."""
        settings = seen.iam_configuration
        policy = seen.get_iam_policy(requested_policy_version=VERSION, retry=None)
        theirs = {
            (str(each["role"]), member, bool(each.get("condition")))
            for each in policy.bindings
            for member in each["members"]
            if member in EVERYBODY
        }
        public: bool | None = bool(theirs)
        if theirs and theirs != {(READER, "allUsers", False)}:
            public = (
                None
                if ours
                else any(
                    role in READERS and member == "allUsers" and not when
                    for role, member, when in theirs
                )
            )
        prevention = "enforced" if settings.public_access_prevention == "enforced" else "inherited"
        return Access(
            uniform=bool(settings.uniform_bucket_level_access_enabled),
            public=public,
            prevention=prevention,
        )

    def _in_project(self, bucket: str, why: GoogleAPICallError) -> bool:
        """Told apart from a stranger's of that name, which we may not look at either. An API that is off tells nothing of anybody."""
        if "storage.buckets.get" not in why.message and "does not have" not in why.message:
            return True
        try:
            return any(
                seen.name == bucket for seen in self.storage.list_buckets(prefix=bucket, retry=None)
            )
        except GoogleAPICallError as e:
            if status(e) == 403:
                return False
            raise

    def _stranger(self, bucket: str) -> str:
        try:
            return next(
                (str(blob.name) for blob in self._listed(bucket) if blob.name not in PATHS), ""
            )
        except GoogleAPICallError as e:
            if status(e) == 403:
                return HIDDEN
            raise

    def _listed(self, bucket: str) -> Any:
        return self.storage.list_blobs(bucket, max_results=len(PATHS) + 1, retry=None)

    def _ccoctls(self, bucket: str, cluster: str, stranger: str | None = None) -> Mark | None:
        """With the pool a takeover may have begun that did not come to the bucket: then the documents tell it from one that somebody else has made."""
        if stranger is None:
            stranger = self._stranger(bucket)
        pool = None if stranger else self.ccoctls(cluster)
        if pool is None or pool.tool == names.CCOCTL:
            return pool
        return (
            names.mark({f"{names.CCOCTL_KEY}{names.own(cluster)}": "owned"}, cluster)
            if any(True for _ in self._listed(bucket))
            else None
        )

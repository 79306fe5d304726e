"""Buckets: made, listed, changed and deleted, and their policies."""

from __future__ import annotations

from urllib.parse import parse_qsl

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.gcp import answers as google
from cwiictl.sandbox.gcp import bindings, policies
from cwiictl.sandbox.gcp.tokens import Caller
from cwiictl.sandbox.gcp.world import Binding, Bucket, Policy, Project, World

from . import documents, wishes
from .answers import PRECONDITION, Refusal, invalid, json_response, no_bucket, not_met
from .conditions import check_bucket
from .guard import Guard

_OWNER = "Your previous request to create the named bucket succeeded and you already own it."
_TAKEN = "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again."
_AT_ONCE = -1e9  # what a bucket is born with nobody has to wait for


class Buckets:
    def __init__(self, world: World, guard: Guard, strangers: frozenset[str]) -> None:
        self._world = world
        self._guard = guard
        self._strangers = strangers

    def find(self, name: str) -> Bucket:
        """A stranger's is there, and lets nobody in."""
        if name in self._strangers:
            return Bucket(name, "")
        if name not in self._world.buckets:
            raise no_bucket()
        return self._world.buckets[name]

    def create(self, request: Request, caller: Caller) -> Response:
        asked = wishes.body(request)
        project = self._project(request.asked.get("project", ""))
        self._guard.check(
            caller, "storage.buckets.create", f"projects/{project.id}", "Google Cloud project"
        )
        name = str(asked.get("name") or "")
        wishes.check_name(name)
        known = self._world.buckets.get(name)
        if known or name in self._strangers:
            raise Refusal(
                409, "conflict", _OWNER if known and known.project == project.id else _TAKEN
            )
        bucket = Bucket(
            name,
            project.id,
            str(asked.get("location") or "US").upper(),
            created=self._world.clock(),
        )
        wishes.shape(bucket, asked, patch=False)
        bucket.policy = Policy(
            _first(project, uniform=bucket.uniform), etag=documents.etag(1), written=_AT_ONCE
        )
        self._world.buckets[name] = bucket
        return json_response(documents.bucket(self._world, bucket))

    def all(self, request: Request, caller: Caller) -> Response:
        project = self._project(request.asked.get("project", ""))
        self._guard.check(
            caller, "storage.buckets.list", f"projects/{project.id}", "Google Cloud project"
        )
        prefix = request.asked.get("prefix", "")
        own = [
            one
            for name, one in sorted(self._world.buckets.items())
            if one.project == project.id and name.startswith(prefix)
        ]
        return json_response(
            {
                "kind": "storage#buckets",
                **({"items": [documents.bucket(self._world, one) for one in own]} if own else {}),
            }
        )

    def get(self, request: Request, bucket: Bucket) -> Response:
        check_bucket(request, bucket, reading=True)
        return json_response(documents.bucket(self._world, bucket))

    def change(self, request: Request, bucket: Bucket) -> Response:
        check_bucket(request, bucket)
        wishes.shape(bucket, wishes.body(request), patch=request.method == "PATCH")
        bucket.metageneration += 1
        return json_response(documents.bucket(self._world, bucket))

    def delete(self, request: Request, bucket: Bucket) -> Response:
        check_bucket(request, bucket)
        if bucket.objects:
            raise Refusal(409, "conflict", "The bucket you tried to delete is not empty.")
        del self._world.buckets[bucket.name]
        return Response(204)

    def policy(self, request: Request, bucket: Bucket) -> Response:
        version = request.asked.get("optionsRequestedPolicyVersion", "1")
        if version not in {"1", "3"}:
            raise invalid(f"Requested policy version ({version}) is not supported.")
        return self._shown(bucket, int(version))

    def set_policy(self, request: Request, bucket: Bucket) -> Response:
        asked = wishes.body(request)
        project = self._world.project(bucket.project)
        if project is None:
            raise no_bucket()
        if asked.get("etag") and asked["etag"] != bucket.policy.etag:
            raise not_met()
        try:
            new = bindings.read(asked.get("bindings", []))
            self._guard.check_members(
                bucket, project, frozenset(member for one in new for member in one.members)
            )
            _check_conditions(new, bucket)
            policies.replace(self._world, bucket.policy, asked, project)
        except google.Refusal as refusal:
            raise _translated(refusal) from refusal
        bucket.metageneration += 1
        return self._shown(bucket, int(asked.get("version") or 1))

    def permissions(self, request: Request, caller: Caller, bucket: Bucket) -> Response:
        asked = [value for key, value in parse_qsl(request.query) if key == "permissions"]
        allowed = [
            one
            for one in asked
            if bucket.project and self._guard.may(caller, one, f"projects/_/buckets/{bucket.name}")
        ]
        return json_response(
            {
                "kind": "storage#testIamPermissionsResponse",
                **({"permissions": allowed} if allowed else {}),
            }
        )

    def _shown(self, bucket: Bucket, version: int) -> Response:
        own = {
            "kind": "storage#policy",
            "resourceId": f"projects/_/buckets/{bucket.name}",
            "version": 1,
        }
        return json_response({**own, **policies.shown(bucket.policy, version)})

    def _project(self, name: str) -> Project:
        if not name:
            raise Refusal(400, "required", "Required parameter: project", ("parameter", "project"))
        project = self._world.project(name)
        if project is None:
            raise invalid(f"Unknown project id: {name}")
        return project


def _first(project: Project, *, uniform: bool) -> tuple[Binding, ...]:
    """What every new bucket's policy says: those who own, edit and view the project may use it."""
    owners = frozenset({f"projectEditor:{project.id}", f"projectOwner:{project.id}"})
    viewers = frozenset({f"projectViewer:{project.id}"})
    pairs = (("legacyBucketOwner", owners), ("legacyBucketReader", viewers))
    objects = (("legacyObjectOwner", owners), ("legacyObjectReader", viewers)) if uniform else ()
    return tuple(Binding(f"roles/storage.{role}", members) for role, members in (*pairs, *objects))


def _check_conditions(new: tuple[Binding, ...], bucket: Bucket) -> None:
    if any(one.condition for one in new) and not bucket.uniform:
        raise Refusal(
            412,
            "conditionNotMet",
            "IAM policies with conditions need uniform bucket-level access to be enabled.",
            ("header", "If-Match"),
        )


def _translated(refusal: google.Refusal) -> Refusal:
    if refusal.code == "ABORTED":
        return Refusal(412, "conditionNotMet", PRECONDITION, ("header", "If-Match"))
    return Refusal(refusal.status, "invalid", refusal.message)

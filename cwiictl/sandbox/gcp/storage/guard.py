"""Who may do it; and that nobody makes public what must not be."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request
from cwiictl.sandbox.faults import Faults
from cwiictl.sandbox.gcp import answers as google
from cwiictl.sandbox.gcp import apis, rights
from cwiictl.sandbox.gcp.bindings import EVERYBODY
from cwiictl.sandbox.gcp.tokens import NOBODY, Caller, Tokens, bearer
from cwiictl.sandbox.gcp.world import Bucket, Project, World

from .address import HOST, Address
from .answers import Refusal

_HEADER = ("header", "Authorization")


class Guard:
    def __init__(self, world: World, tokens: Tokens, faults: Faults) -> None:
        self._world = world
        self._tokens = tokens
        self._faults = faults

    def caller(self, request: Request) -> Caller:
        """Nobody is somebody here: objects may be public."""
        if not bearer(request):
            return NOBODY
        try:
            caller = self._tokens.read(request)
        except google.Refusal as refusal:
            raise unbelieved() from refusal
        self._check_api(caller)
        return caller

    def may(self, caller: Caller, permission: str, resource: str) -> bool:
        return rights.may(self._world, caller, permission, resource, self._faults.deny)

    def check(self, caller: Caller, permission: str, resource: str, what: str) -> None:
        if not self.may(caller, permission, resource):
            raise _denied(caller, permission, what)

    def check_bucket(self, caller: Caller, permission: str, bucket: Bucket, name: str = "") -> None:
        """Of a bucket or of an object in it. What policies say to everybody, prevention of public access takes back."""
        where = Address("object" if name else "bucket", bucket.name, name).resource
        what = "Google Cloud Storage object" if name else "Google Cloud Storage bucket"
        if not bucket.project or (caller is NOBODY and self.prevented(bucket)):
            raise _denied(caller, permission, what)
        self.check(caller, permission, where, what)

    def public(self, bucket: Bucket, name: str) -> bool:
        resource = Address("object", bucket.name, name).resource
        return not self.prevented(bucket) and rights.may(
            self._world, NOBODY, "storage.objects.get", resource
        )

    def prevented(self, bucket: Bucket) -> bool:
        project = self._world.project(bucket.project)
        return bucket.prevention == "enforced" or (project is not None and project.forbids_public)

    def check_members(self, bucket: Bucket, project: Project, members: frozenset[str]) -> None:
        if not members & EVERYBODY:
            return
        if project.domains_only:
            raise _precondition(
                "One or more users named in the policy do not belong to a permitted customer."
            )
        if self.prevented(bucket):
            raise _precondition(
                "The member bindings allUsers and allAuthenticatedUsers are not allowed since public access prevention is enforced."
            )

    def _check_api(self, caller: Caller) -> None:
        try:
            apis.check(self._world, HOST, apis.home(self._world, caller))
        except google.Refusal as refusal:
            raise Refusal(
                403,
                "accessNotConfigured",
                refusal.message,
                extra={"status": refusal.code, "details": list(refusal.details)},
            ) from refusal


def unbelieved() -> Refusal:
    return Refusal(401, "authError", "Invalid Credentials", _HEADER)


def _precondition(sentence: str) -> Refusal:
    return Refusal(412, "conditionNotMet", sentence, ("header", "If-Match"))


def _denied(caller: Caller, permission: str, what: str) -> Refusal:
    rest = f"does not have {permission} access to the {what}. Permission '{permission}' denied on resource (or it may not exist)."
    if caller is NOBODY:
        return Refusal(401, "required", f"Anonymous caller {rest}", _HEADER)
    return Refusal(403, "forbidden", f"{caller.email or caller.member} {rest}")

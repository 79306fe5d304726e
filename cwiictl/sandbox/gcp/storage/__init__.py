"""Cloud Storage: buckets and objects over its JSON API, and what is public for everybody who simply asks."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.gcp.tokens import Caller, Tokens, bearer
from cwiictl.sandbox.gcp.world import Bucket, World
from cwiictl.sandbox.places import Ground

from . import address, operations
from .address import HOST, Address
from .answers import Refusal, faulty, refused, refused_in_xml
from .buckets import Buckets
from .guard import Guard, unbelieved
from .objects import Objects
from .uploads import Uploads


class Storage:
    def __init__(self, ground: Ground, world: World, tokens: Tokens) -> None:
        self._world = world
        self._guard = Guard(world, tokens, ground.faults)
        self._buckets = Buckets(world, self._guard, ground.strangers)
        self._objects = Objects(self._guard)
        self._uploads = Uploads(self._guard, ground.faults.clock)

    def knows(self, host: str) -> bool:
        return host == HOST or host.endswith(f".{HOST}")

    def action(self, request: Request) -> tuple[str, bool]:
        operation = operations.find(request, address.read(request))
        return operation.name, operation.mutating

    def permissions(self, request: Request) -> tuple[str, ...]:
        permission = operations.find(request, address.read(request)).permission
        return (permission,) if permission else ()

    def handle(self, request: Request) -> Response:
        where = address.read(request)
        try:
            with self._world.lock:
                return self._served(request, where)
        except Refusal as refusal:
            return self._refused(where, refusal)

    def fault(self, request: Request, fault: Fault) -> Response:
        return self._refused(address.read(request), faulty(fault))

    def expired(self, request: Request) -> Response | None:
        return self._refused(address.read(request), unbelieved()) if bearer(request) else None

    def reset(self) -> None:
        self._uploads.clear()

    def _refused(self, where: Address, refusal: Refusal) -> Response:
        return (
            refused_in_xml(refusal, bucket=where.bucket in self._world.buckets)
            if where.way == "xml"
            else refused(refusal)
        )

    def _served(self, request: Request, where: Address) -> Response:
        caller = self._guard.caller(request)
        operation = operations.known(request, where)
        match where.level, operation.name:
            case "buckets", "storage.buckets.create":
                return self._buckets.create(request, caller)
            case "buckets", _:
                return self._buckets.all(request, caller)
            case "object" | "objects", _:
                return self._of_objects(request, caller, where, operation.permission)
            case _:
                bucket = self._buckets.find(where.bucket)
                if operation.permission:
                    self._guard.check_bucket(caller, operation.permission, bucket)
                return self._of_bucket(request, caller, bucket, operation.name)

    def _of_bucket(self, request: Request, caller: Caller, bucket: Bucket, name: str) -> Response:
        match name:
            case "storage.buckets.update":
                return self._buckets.change(request, bucket)
            case "storage.buckets.delete":
                return self._buckets.delete(request, bucket)
            case "storage.buckets.getIamPolicy":
                return self._buckets.policy(request, bucket)
            case "storage.buckets.setIamPolicy":
                return self._buckets.set_policy(request, bucket)
            case "storage.buckets.testIamPermissions":
                return self._buckets.permissions(request, caller, bucket)
            case _:
                return self._buckets.get(request, bucket)

    def _of_objects(
        self, request: Request, caller: Caller, where: Address, permission: str
    ) -> Response:
        bucket = self._buckets.find(where.bucket)
        if permission == "storage.objects.create":
            return self._uploads.take(request, caller, bucket)
        if permission == "storage.objects.get":
            return self._objects.get(request, caller, bucket, where)
        self._guard.check_bucket(caller, permission, bucket, where.object)
        match permission:
            case "storage.objects.list":
                return self._objects.all(request, bucket)
            case "storage.objects.update":
                return self._objects.change(request, bucket, where.object)
            case _:
                return self._objects.delete(request, bucket, where.object)

"""Blob storage, the hosts of its accounts: what an issuer publishes, who may write it, and who may read it."""

from __future__ import annotations

from cwiictl.sandbox.azure.entra.tokens import Fault as Disbelief
from cwiictl.sandbox.azure.entra.tokens import Tokens
from cwiictl.sandbox.azure.world import Account, World
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault, Faults

from . import listings, operations, service
from .address import Address, of_host, read
from .answers import NOWHERE, Refusal, refused, stamped
from .blobs import Blobs
from .blocks import Blocks
from .containers import Containers
from .guard import Guard, disbelief
from .operations import Operation

_FAULTS = {
    Fault.THROTTLED: Refusal(503, "ServerBusy", "Operations per second is over the account limit."),
    Fault.UNAVAILABLE: Refusal(
        503,
        "ServerBusy",
        "The server is currently unable to receive requests. Please retry your request.",
    ),
    Fault.BROKEN: Refusal(
        500, "InternalError", "The server encountered an internal error. Please retry the request."
    ),
}


class BlobStorage:
    def __init__(self, world: World, tokens: Tokens, faults: Faults) -> None:
        self._world = world
        self._faults = faults
        self._guard = Guard(world, tokens, faults)
        self._blocks = Blocks()

    def knows(self, host: str) -> bool:
        """An account that is not there, or is still being made, has no host."""
        name, suffix = of_host(host)
        account = self._world.accounts.get(name)
        return (
            account is not None
            and account.suffix == suffix
            and account.ready <= self._faults.clock()
        )

    def action(self, request: Request) -> tuple[str, bool]:
        mutating = request.method not in {"GET", "HEAD", "OPTIONS"}
        try:
            return operations.find(request, read(request)).action, mutating
        except Refusal:
            return "Microsoft.Storage/unknown", mutating

    def permissions(self, request: Request) -> tuple[str, ...]:
        """Whoever has the key, or reads what is public, needs none."""
        if not request.header("Authorization").lower().startswith("bearer "):
            return ()
        try:
            return operations.needed(request, operations.find(request, read(request)))
        except Refusal:
            return ()

    def handle(self, request: Request) -> Response:
        now = self._faults.clock()
        try:
            with self._world.lock:
                response = self._served(request, read(request))
        except Refusal as refusal:
            response = refused(request, refusal, now)
        return stamped(request, response, now)

    def fault(self, request: Request, fault: Fault) -> Response:
        now = self._faults.clock()
        return stamped(request, refused(request, _FAULTS[fault], now), now)

    def expired(self, request: Request) -> Response | None:
        if not request.header("Authorization").lower().startswith("bearer "):
            return None
        now, account = self._faults.clock(), self._world.accounts.get(read(request).account)
        return stamped(
            request,
            refused(
                request, disbelief(request, account, Disbelief.EXPIRED) if account else NOWHERE, now
            ),
            now,
        )

    def reset(self) -> None:
        self._blocks.forget()

    def _served(self, request: Request, address: Address) -> Response:
        account = self._world.accounts.get(address.account)
        if account is None:  # deleted since the door has looked
            raise NOWHERE
        operation = operations.find(request, address)
        self._guard.check(request, address, operation, account)
        if address.level == "account" or operation.name == "GetAccountInformation":
            return _of_account(request, operation, account)
        containers = Containers(account, self._faults.clock())
        if address.level == "container":
            return _of_container(request, address, operation, account, containers)
        blobs = Blobs(containers.known(address.container), self._faults.clock)
        return self._of_blob(request, address, operation, blobs)

    def _of_blob(
        self, request: Request, address: Address, operation: Operation, blobs: Blobs
    ) -> Response:
        if operation.name == "PutBlock":
            return self._blocks.put(request, address)
        if operation.name == "PutBlockList":
            return self._blocks.commit(request, address, blobs)
        served = {
            "PutBlob": blobs.put, "GetBlob": blobs.get, "GetBlobMetadata": blobs.describe, "DeleteBlob": blobs.delete,
            "SetBlobProperties": blobs.set_properties, "SetBlobMetadata": blobs.set_metadata, "GetBlobTags": blobs.get_tags, "SetBlobTags": blobs.set_tags,
        }  # fmt: skip
        return served[operation.name](request, address.blob)


def _of_account(request: Request, operation: Operation, account: Account) -> Response:
    match operation.name:
        case "ListContainers":
            return listings.containers(request, account)
        case "GetServiceProperties":
            return service.properties()
        case "SetServiceProperties":
            return service.set_properties(request)
        case _:
            return service.information(account)


def _of_container(
    request: Request,
    address: Address,
    operation: Operation,
    account: Account,
    containers: Containers,
) -> Response:
    if operation.name == "ListBlobs":
        return listings.blobs(request, account, containers.known(address.container))
    served = {
        "CreateContainer": containers.create, "GetContainer": containers.get, "DeleteContainer": containers.delete,
        "SetContainerMetadata": containers.set_metadata, "GetContainerAcl": containers.get_acl, "SetContainerAcl": containers.set_acl,
    }  # fmt: skip
    return served[operation.name](request, address.container)

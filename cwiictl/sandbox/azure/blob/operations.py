"""What can be asked of blob storage, what one must be allowed for it, and what of it is open to everybody."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.sandbox.azure.world import Public
from cwiictl.sandbox.exchange import Request

from .address import Address
from .answers import Refusal, wrong_query

_SERVICE = "Microsoft.Storage/storageAccounts/blobServices"
_CONTAINERS = f"{_SERVICE}/containers"
_BLOBS = f"{_CONTAINERS}/blobs"
ADD = f"{_BLOBS}/add/action"  # enough for a blob that is not there yet
TAG = f"{_BLOBS}/tags/write"  # needed besides, for a blob that comes with its tags


@dataclass(frozen=True)
class Operation:
    name: str
    action: str
    open_to: tuple[Public, ...] = ()  # how public its container must be for everybody to do it

    @property
    def on_data(self) -> bool:
        """Roles give blobs' own actions as dataActions; those of containers and of the service are actions like ARM's."""
        return self.action.startswith(_BLOBS)


_BOTH: tuple[Public, ...] = ("Blob", "Container")
_TABLE = {
    ("account", "GET", "list"): Operation("ListContainers", f"{_CONTAINERS}/read"),
    ("account", "GET", "properties"): Operation("GetServiceProperties", f"{_SERVICE}/read"),
    ("account", "PUT", "properties"): Operation("SetServiceProperties", f"{_SERVICE}/write"),
    ("container", "PUT", ""): Operation("CreateContainer", f"{_CONTAINERS}/write"),
    ("container", "GET", ""): Operation("GetContainer", f"{_CONTAINERS}/read", ("Container",)),
    ("container", "GET", "metadata"): Operation(
        "GetContainer", f"{_CONTAINERS}/read", ("Container",)
    ),
    ("container", "PUT", "metadata"): Operation("SetContainerMetadata", f"{_CONTAINERS}/write"),
    ("container", "GET", "acl"): Operation("GetContainerAcl", f"{_CONTAINERS}/getAcl/action"),
    ("container", "PUT", "acl"): Operation("SetContainerAcl", f"{_CONTAINERS}/setAcl/action"),
    ("container", "GET", "list"): Operation("ListBlobs", f"{_BLOBS}/read", ("Container",)),
    ("container", "DELETE", ""): Operation("DeleteContainer", f"{_CONTAINERS}/delete"),
    ("blob", "PUT", ""): Operation("PutBlob", f"{_BLOBS}/write"),
    ("blob", "PUT", "block"): Operation("PutBlock", f"{_BLOBS}/write"),
    ("blob", "PUT", "blocklist"): Operation("PutBlockList", f"{_BLOBS}/write"),
    ("blob", "PUT", "properties"): Operation("SetBlobProperties", f"{_BLOBS}/write"),
    ("blob", "PUT", "metadata"): Operation("SetBlobMetadata", f"{_BLOBS}/write"),
    ("blob", "PUT", "tags"): Operation("SetBlobTags", TAG),
    ("blob", "GET", "tags"): Operation("GetBlobTags", f"{_BLOBS}/tags/read"),
    ("blob", "GET", ""): Operation("GetBlob", f"{_BLOBS}/read", _BOTH),
    ("blob", "GET", "metadata"): Operation("GetBlobMetadata", f"{_BLOBS}/read", _BOTH),
    ("blob", "DELETE", ""): Operation("DeleteBlob", f"{_BLOBS}/delete"),
}
_ACCOUNT_INFORMATION = Operation("GetAccountInformation", f"{_SERVICE}/getInfo/action")


def find(request: Request, address: Address) -> Operation:
    comp, kind = request.asked.get("comp", "").lower(), request.asked.get("restype", "").lower()
    if kind == "account" and comp == "properties":
        return _ACCOUNT_INFORMATION
    method = "GET" if request.method == "HEAD" else request.method
    found = _TABLE.get((address.level, method, comp))
    if found is not None:
        return found
    if (address.level, "GET", comp) in _TABLE or (address.level, "PUT", comp) in _TABLE:
        raise Refusal(
            405, "UnsupportedHttpVerb", "The resource doesn't support specified Http Verb."
        )
    raise wrong_query("comp", comp)


def needed(request: Request, operation: Operation) -> tuple[str, ...]:
    more = (TAG,) if request.header("x-ms-tags") and operation.action != TAG else ()
    return (operation.action, *more)

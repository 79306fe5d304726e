"""Containers, as ARM has them: it may make one and open it to the world, but not write what is in it."""

from __future__ import annotations

import re
import secrets
from typing import Any

from cwiictl.sandbox.azure.answers import Refusal, empty, json_response
from cwiictl.sandbox.azure.world import Account, Container, Public
from cwiictl.sandbox.exchange import Response

from . import filters
from .account_names import KIND as ACCOUNTS
from .call import Call, Routes
from .pages import listed
from .state import State
from .times import stamp

KIND = f"{ACCOUNTS}/blobServices/containers"
_NAME = re.compile(r"\$root|\$web|\$logs|[a-z0-9](?:-?[a-z0-9])*")
_PUBLIC: dict[str, Public] = {"none": "None", "blob": "Blob", "container": "Container"}


class Containers:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        every = f"{ACCOUNTS.lower()}/{{}}/blobservices/{{}}/containers"
        item = f"{every}/{{}}"
        return {
            ("PUT", item): self.put, ("GET", item): self.get, ("PATCH", item): self.patch, ("DELETE", item): self.delete, ("GET", every): self.list,
        }  # fmt: skip

    def put(self, call: Call) -> Response:
        account = self._state.account(call.address)
        self._state.writable(call.address)
        _check_name(call.address.name)
        there = account.containers.get(call.address.name)
        if there is None and account.going.get(call.address.name, 0.0) > self._state.now():
            raise Refusal(
                409,
                "ContainerBeingDeleted",
                "The specified container is being deleted. Try operation later.",
            )
        found = there or Container(call.address.name)
        self._change(account, found, call)
        account.containers[found.name] = found
        return json_response(200 if there else 201, _shown(account, found))

    def patch(self, call: Call) -> Response:
        account = self._state.account(call.address)
        found = _found(account, call)
        self._change(account, found, call)
        return json_response(200, _shown(account, found))

    def get(self, call: Call) -> Response:
        account = self._state.account(call.address)
        found = _found(account, call)
        return json_response(200, _shown(account, found), (("ETag", found.etag),))

    def delete(self, call: Call) -> Response:
        account = self._state.account(call.address)
        self._state.writable(call.address)
        if account.containers.pop(call.address.name, None) is None:
            return empty(204)
        account.going[call.address.name] = self._state.operations.due()
        self._state.unassign(f"{account.id}/blobServices/default/containers/{call.address.name}")
        return empty(200)

    def list(self, call: Call) -> Response:
        account = self._state.account(call.address)
        filters.asked(call, ())
        rows = [_shown(account, one) for _, one in sorted(account.containers.items())]
        return listed(call, rows)

    def _change(self, account: Account, found: Container, call: Call) -> None:
        public = _PUBLIC.get(str(call.properties.get("publicAccess") or found.public).lower())
        if public is None:
            raise Refusal(
                400,
                "InvalidValuesForRequestParameters",
                "Values for request parameters are invalid: publicAccess.",
            )
        if public != "None" and not account.properties.get("allowBlobPublicAccess"):
            raise Refusal(
                409,
                "PublicAccessNotPermitted",
                "Public access is not permitted on this storage account.",
            )
        found.public = public
        found.metadata = {**(call.properties.get("metadata") or found.metadata)}
        found.etag, found.modified = f'"0x8D{secrets.token_hex(6).upper()}"', self._state.now()


def _found(account: Account, call: Call) -> Container:
    found = account.containers.get(call.address.name)
    if found is None:
        raise Refusal(404, "ContainerNotFound", "The specified container does not exist.")
    return found


def _check_name(name: str) -> None:
    if not 3 <= len(name) <= 63:
        raise Refusal(
            400,
            "ContainerOperationFailure",
            "The specified resource name length is not within the permissible limits.",
        )
    if not _NAME.fullmatch(name):
        raise Refusal(
            400,
            "ContainerOperationFailure",
            "The specifed resource name contains invalid characters.",
        )


def _shown(account: Account, one: Container) -> dict[str, Any]:
    properties = {
        "deleted": False, "remainingRetentionDays": 0, "defaultEncryptionScope": "$account-encryption-key", "denyEncryptionScopeOverride": False,
        "publicAccess": one.public, "leaseStatus": "Unlocked", "leaseState": "Available", "lastModifiedTime": stamp(one.modified),
        "hasImmutabilityPolicy": False, "hasLegalHold": False, "immutableStorageWithVersioning": {"enabled": False},
        **({"metadata": one.metadata} if one.metadata else {}),
    }  # fmt: skip
    return {
        "id": f"{account.id}/blobServices/default/containers/{one.name}",
        "name": one.name,
        "type": KIND,
        "etag": one.etag,
        "properties": properties,
    }

"""Who may do this here: somebody with a token and a data role, somebody with the account's key, or anybody where a container is open to all."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from cwiictl.sandbox.azure.clouds import BY_SUFFIX, STORAGE
from cwiictl.sandbox.azure.entra.tokens import Disbelieved, Fault, Tokens, bearer
from cwiictl.sandbox.azure.rights import may, may_manage
from cwiictl.sandbox.azure.world import TENANT, Account, Public, World
from cwiictl.sandbox.exchange import Headers, Request
from cwiictl.sandbox.faults import Faults

from . import sharedkey
from .address import Address
from .answers import NOT_PUBLIC, NOWHERE, Refusal, wrong_header
from .operations import ADD, Operation, needed

_CHALLENGING = "2019-12-12"  # the first version that tells strangers where to get a token
_BEARING = "2017-11-09"  # the first that takes tokens at all
_MAKING = {"PutBlob", "PutBlock", "PutBlockList"}
_DETAILS = {
    Fault.INVALID: "Signature validation failed. Signature key not found.",
    Fault.EXPIRED: "Lifetime validation failed. The token is expired.",
    Fault.AUDIENCE: "Audience validation failed. Audience did not match.",
}


class Guard:
    def __init__(self, world: World, tokens: Tokens, faults: Faults) -> None:
        self._world = world
        self._tokens = tokens
        self._faults = faults

    def check(
        self, request: Request, address: Address, operation: Operation, account: Account
    ) -> None:
        """Raises Refusal. What is not there is told only to those who may know."""
        _check_version(request)
        _check_network(account)
        scheme = request.header("Authorization").partition(" ")[0].lower()
        if not scheme and "sig" in request.asked:
            _check_signed(account)
        elif not scheme:
            self._check_anybody(request, address, operation, account)
        elif scheme == "bearer":
            self._check_bearer(request, address, operation, account)
        elif scheme == "sharedkey":
            _check_key(request, account, self._faults.clock())
        else:
            sentence = "Authentication information is not given in the correct format. Check the value of Authorization header."
            raise Refusal(400, "InvalidAuthenticationInfo", sentence)

    def _check_anybody(
        self, request: Request, address: Address, operation: Operation, account: Account
    ) -> None:
        allowed = account.properties.get("allowBlobPublicAccess") is True
        container = account.containers.get(address.container)
        public: Public = container.public if container else "None"
        if allowed and public in operation.open_to:
            return
        if request.header("x-ms-version") >= _CHALLENGING:
            sentence = "Server failed to authenticate the request. Please refer to the information in the www-authenticate header."
            raise Refusal(401, "NoAuthenticationInformation", sentence, headers=challenge(account))
        raise NOWHERE if allowed else NOT_PUBLIC

    def _check_bearer(
        self, request: Request, address: Address, operation: Operation, account: Account
    ) -> None:
        if request.header("x-ms-version") < _BEARING:
            raise sharedkey.failed("Authentication scheme Bearer is not supported in this version.")
        try:
            caller = self._tokens.believe(bearer(request), audiences(account))
        except Disbelieved as disbelieved:
            raise disbelief(request, account, disbelieved.fault) from disbelieved
        scope = (
            f"{account.id}/blobServices/default/containers/{address.container}"
            if address.container
            else f"{account.id}/blobServices/default"
        )
        allowed = may if operation.on_data else may_manage
        for action in needed(request, operation):
            if allowed(self._world, caller.principal, action, scope, self._faults.deny):
                continue
            if (
                action == operation.action
                and operation.name in _MAKING
                and _is_new(account, address)
                and may(self._world, caller.principal, ADD, scope, self._faults.deny)
            ):
                continue
            raise Refusal(
                403,
                "AuthorizationPermissionMismatch",
                "This request is not authorized to perform this operation using this permission.",
            )


def audiences(account: Account) -> Collection[str]:
    return (STORAGE, f"https://{account.name}.blob.{account.suffix}")


def challenge(account: Account) -> Headers:
    authority = f"https://{BY_SUFFIX[account.suffix].authority}/{TENANT}/oauth2/authorize"
    return (("WWW-Authenticate", f"Bearer authorization_uri={authority} resource_id={STORAGE}"),)


def disbelief(request: Request, account: Account, fault: Fault) -> Refusal:
    """Newer versions tell where a better token is to be had."""
    detail = _DETAILS.get(fault, "Authentication scheme Bearer has no token.")
    if request.header("x-ms-version") < _CHALLENGING:
        return sharedkey.failed(detail)
    sentence = "Server failed to authenticate the request. Please refer to the information in the www-authenticate header."
    return Refusal(
        401,
        "InvalidAuthenticationInfo",
        sentence,
        {"AuthenticationErrorDetail": detail},
        challenge(account),
    )


def _is_new(account: Account, address: Address) -> bool:
    container = account.containers.get(address.container)
    return container is not None and address.blob not in container.blobs


def _check_signed(account: Account) -> None:
    """A shared access signature. None is ever made here that would be good."""
    _check_keys_are_on(account)
    raise sharedkey.failed("Signature did not match.")


def _check_keys_are_on(account: Account) -> None:
    if account.properties.get("allowSharedKeyAccess") is False:
        raise Refusal(
            403,
            "KeyBasedAuthenticationNotPermitted",
            "Key based authentication is not permitted on this storage account.",
        )


def _check_key(request: Request, account: Account, now: float) -> None:
    _check_keys_are_on(account)
    sharedkey.check(request, account, now)


def _check_version(request: Request) -> None:
    version = request.header("x-ms-version")
    if version and not re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", version):
        raise wrong_header("x-ms-version", version)


def _check_network(account: Account) -> None:
    """Who comes from the internet does not get in; and the sandbox has nothing but an internet."""
    rules: Mapping[str, object] = account.properties.get("networkAcls") or {}
    if (
        account.properties.get("publicNetworkAccess") in {"Disabled", "SecuredByPerimeter"}
        or rules.get("defaultAction") == "Deny"
    ):
        raise Refusal(
            403, "AuthorizationFailure", "This request is not authorized to perform this operation."
        )

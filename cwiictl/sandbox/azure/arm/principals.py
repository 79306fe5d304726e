"""Whom a role is given to, as far as the directory has heard of them."""

from __future__ import annotations

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.world import TENANT, World

_KINDS = {"User", "Group", "ServicePrincipal", "ForeignGroup", "Device"}


def kind(world: World, principal: str, asked: object) -> str:
    """Who says what the principal is, is believed until the directory knows it."""
    if asked is not None and asked not in _KINDS:
        raise Refusal(400, "InvalidPrincipalType", f"The principal type '{asked}' is not valid.")
    found = world.principals.get(principal)
    known = found if found and world.old(found.born) else None
    if known is None and asked is None:
        raise _unknown(principal)
    if known is not None and asked is not None and asked != known.kind:
        words = f"The PrincipalId '{principal}' has type '{known.kind}' , which is different from specified PrinciaplType '{asked}'."
        raise Refusal(400, "UnmatchedPrincipalType", words)
    return known.kind if known else str(asked)


def _unknown(principal: str) -> Refusal:
    words = (
        f"Principal {principal.replace('-', '')} does not exist in the directory {TENANT}. Check that you have the correct principal ID. If you are creating"
        " this principal and then immediately assigning a role, this error might be related to a replication delay. In this case, set the role assignment"
        " principalType property to a value, such as ServicePrincipal, User, or Group.  See https://aka.ms/docs-principaltype"
    )
    return Refusal(400, "PrincipalNotFound", words)

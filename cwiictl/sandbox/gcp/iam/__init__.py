"""IAM: service accounts and their policies, custom roles, and the pools of identities from elsewhere."""

from __future__ import annotations

from cwiictl.sandbox.gcp import answers
from cwiictl.sandbox.gcp.answers import Refusal
from cwiictl.sandbox.gcp.call import Call
from cwiictl.sandbox.gcp.service import Service
from cwiictl.sandbox.gcp.tokens import Tokens
from cwiictl.sandbox.gcp.world import World
from cwiictl.sandbox.places import Ground

from .account_policies import AccountPolicies
from .accounts import Accounts
from .custom_roles import CustomRoles
from .permissions import Permissions
from .pools import Pools
from .predefined_roles import PredefinedRoles
from .providers import Providers
from .state import State

HOST = "iam.googleapis.com"
_KINDS = (Accounts, AccountPolicies, CustomRoles, PredefinedRoles, Permissions, Pools, Providers)


def iam(ground: Ground, world: World, tokens: Tokens) -> Service:
    state = State(world, ground.faults)
    routes = {key: route for kind in _KINDS for key, route in kind(state).routes.items()}
    return Service(HOST, world, tokens, ground.faults, routes, _denied)


def _denied(call: Call, permission: str) -> Refusal:
    """Of service accounts it does not even tell which."""
    if permission.startswith("iam.serviceAccounts."):
        words = f"Permission '{permission}' denied on resource (or it may not exist)."
        return Refusal(
            403,
            "PERMISSION_DENIED",
            words,
            reason="IAM_PERMISSION_DENIED",
            domain=HOST,
            metadata={"permission": permission},
        )
    return answers.denied(permission, call.address.resource)

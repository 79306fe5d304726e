"""Which of these permissions does the caller have?"""

from __future__ import annotations

from collections.abc import Collection

from cwiictl.sandbox.exchange import Response

from . import catalogue
from .answers import invalid, json_response
from .call import Call, texts
from .rights import may
from .world import World

_MOST = 100


def tested(call: Call, world: World, resource: str, deny: Collection[str]) -> Response:
    names = texts(call.body.get("permissions"), "permissions")
    if len(names) > _MOST:
        raise invalid(f"Up to {_MOST} permissions can be tested at once.")
    for name in names:
        if "*" in name or not catalogue.exists(name):
            raise invalid(f"Permission {name} is not valid for this resource.")
    has = [name for name in names if may(world, call.caller, name, resource, deny)]
    return json_response({"permissions": has} if has else {})

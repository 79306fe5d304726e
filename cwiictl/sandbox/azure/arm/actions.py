"""What a request is called in the words of Azure's permissions, which of them it needs, and where."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request

from . import kinds
from .address import Address

_VERBS = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete"}
_READING = {"listkeys", "checknameavailability", "register"}
_ODD = {"microsoft.storage/checknameavailability": "Microsoft.Storage/checknameavailability/read"}


def name(request: Request, address: Address) -> str:
    if address.shape in kinds.CORE:
        return _core(request, address)
    kind = kinds.KINDS.get(address.kind)
    if request.method != "POST":
        return f"{kind.name if kind else address.kind}/{_VERBS.get(request.method, request.method.lower())}"
    if address.kind in _ODD:
        return _ODD[address.kind]
    above = kinds.find(request, address)
    return f"{above.name if above else address.kind.rpartition('/')[0]}/{address.types[-1].lower() if address.types else ''}/action"


def mutating(request: Request, address: Address) -> bool:
    """A POST mostly asks for something to be done; but not all do."""
    if request.method == "POST":
        return not address.types or address.types[-1].lower() not in _READING
    return request.method not in {"GET", "HEAD", "OPTIONS"}


def needed(request: Request, address: Address) -> tuple[str, ...]:
    """None for what everybody may ask who has a token at all."""
    if kinds.CORE.get(address.shape) == "" and not address.bare:
        return ()
    return (name(request, address),)


def _core(request: Request, address: Address) -> str:
    if address.bare and address.types:
        return f"{address.namespace}/{address.types[-1].lower()}/action"
    kind = kinds.CORE[address.shape] or f"Microsoft.Resources/{address.shape}"
    return f"{kind}/{_VERBS.get(request.method, request.method.lower())}"

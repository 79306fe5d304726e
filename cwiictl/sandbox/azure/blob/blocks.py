"""Large blobs come in blocks, which are nothing until a list of them makes them a blob."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Request, Response

from . import bodies
from .address import Address
from .answers import Refusal, empty, wrong_query
from .blobs import Blobs, elements

_Place = tuple[str, str, str]


class Blocks:
    def __init__(self) -> None:
        self._waiting: dict[_Place, dict[str, bytes]] = {}
        self._committed: dict[_Place, Mapping[str, bytes]] = {}

    def put(self, request: Request, address: Address) -> Response:
        name = request.asked.get("blockid", "")
        try:
            base64.b64decode(name, validate=True)
        except (binascii.Error, ValueError) as error:
            raise wrong_query("blockid", name) from error
        if not name:
            raise wrong_query("blockid", name)
        bodies.check_digest(request)
        self._waiting.setdefault(_place(address), {})[name] = request.body
        told = (
            [("Content-MD5", request.header("Content-MD5"))]
            if request.header("Content-MD5")
            else []
        )
        return empty(201, [*told, ("x-ms-request-server-encrypted", "true")])

    def commit(self, request: Request, address: Address, blobs: Blobs) -> Response:
        place = _place(address)
        listed = [(one.tag, one.text or "") for one in elements(request.body)]
        found = {name: self._find(place, kind, name) for kind, name in listed}
        headers = bodies.kept(request, whole=False)
        response = blobs.keep(
            request, address.blob, b"".join(found[name] for _, name in listed), headers
        )
        self._committed[place] = found
        self._waiting.pop(place, None)
        return response

    def forget(self, account: Account | None = None) -> None:
        for kept in (self._waiting, self._committed):
            for place in [place for place in kept if account is None or place[0] == account.name]:
                del kept[place]

    def _find(self, place: _Place, kind: str, name: str) -> bytes:
        waiting, committed = self._waiting.get(place, {}), self._committed.get(place, {})
        sources = {
            "Uncommitted": [waiting],
            "Committed": [committed],
            "Latest": [waiting, committed],
        }.get(kind, [])
        for source in sources:
            if name in source:
                return source[name]
        raise Refusal(400, "InvalidBlockList", "The specified block list is invalid.")


def _place(address: Address) -> _Place:
    return address.account, address.container, address.blob

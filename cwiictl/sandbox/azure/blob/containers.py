"""Containers: made, described, opened to everybody, and deleted with all that is in them."""

from __future__ import annotations

import re

from cwiictl.sandbox.azure.world import Account, Container, Public
from cwiictl.sandbox.exchange import Headers, Request, Response

from . import bodies
from .address import ROOT
from .answers import NOT_PUBLIC, Refusal, date, document, empty, not_found, wrong_header
from .blobs import elements

_PUBLIC: dict[str, Public] = {"": "None", "blob": "Blob", "container": "Container"}
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*")
_SPECIAL = {ROOT, "$web", "$logs"}


class Containers:
    """Those of one account."""

    def __init__(self, account: Account, now: float) -> None:
        self._account = account
        self._now = now

    def known(self, name: str) -> Container:
        if name not in self._account.containers:
            raise not_found("container")
        return self._account.containers[name]

    def create(self, request: Request, name: str) -> Response:
        _check_name(name)
        public = self._public(request)
        if name in self._account.containers:
            raise Refusal(409, "ContainerAlreadyExists", "The specified container already exists.")
        new = Container(name, public, bodies.metadata(request), bodies.new_etag(), self._now)
        self._account.containers[name] = new
        return empty(201, _state(new))

    def get(self, request: Request, name: str) -> Response:
        del request
        one = self.known(name)
        own = tuple((f"x-ms-meta-{key}", value) for key, value in one.metadata.items())
        constant = (
            ("x-ms-lease-status", "unlocked"), ("x-ms-lease-state", "available"), ("x-ms-has-immutability-policy", "false"), ("x-ms-has-legal-hold", "false"),
        )  # fmt: skip
        return empty(200, (*_state(one), *_openness(one), *constant, *own))

    def set_metadata(self, request: Request, name: str) -> Response:
        one = self.known(name)
        one.metadata = bodies.metadata(request)
        return self._touched(one)

    def get_acl(self, request: Request, name: str) -> Response:
        del request
        one = self.known(name)
        return document("SignedIdentifiers", {}).but((*_state(one), *_openness(one)))

    def set_acl(self, request: Request, name: str) -> Response:
        """Stored access policies are read for their form and forgotten: there are no shared access signatures here."""
        if request.body:
            elements(request.body)
        public, one = self._public(request), self.known(name)
        one.public = public
        return self._touched(one)

    def delete(self, request: Request, name: str) -> Response:
        del request
        self.known(name)
        del self._account.containers[name]
        return empty(202)

    def _touched(self, one: Container) -> Response:
        one.etag, one.modified = bodies.new_etag(), self._now
        return empty(200, _state(one))

    def _public(self, request: Request) -> Public:
        asked = request.header("x-ms-blob-public-access").lower()
        if asked not in _PUBLIC:
            raise wrong_header("x-ms-blob-public-access", asked)
        if asked and self._account.properties.get("allowBlobPublicAccess") is not True:
            raise NOT_PUBLIC
        return _PUBLIC[asked]


def etag(one: Container) -> str:
    """With its quotes, which ARM may have left away."""
    return f'"{one.etag.strip(chr(34))}"'


def _state(one: Container) -> Headers:
    return (("ETag", etag(one)), ("Last-Modified", date(one.modified)))


def _openness(one: Container) -> Headers:
    return () if one.public == "None" else (("x-ms-blob-public-access", one.public.lower()),)


def _check_name(name: str) -> None:
    if name in _SPECIAL:
        return
    if not 3 <= len(name) <= 63:
        raise Refusal(
            400,
            "OutOfRangeInput",
            "The specified resource name length is not within the permissible limits.",
        )
    if not _NAME.fullmatch(name):
        raise Refusal(
            400, "InvalidResourceName", "The specified resource name contains invalid characters."
        )

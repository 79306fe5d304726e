"""Origin access controls, and the origin access identities that came before them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from cwiictl.sandbox.aws.answers import Refusal
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Faults

from .configs import IDENTITY
from .elements import answer, named, new, page, parsed, value
from .routes import identifier
from .store import Access, Store, matched

_ALLOWED = {
    "SigningProtocol": {"sigv4"},
    "SigningBehavior": {"always", "never", "no-override"},
    "OriginAccessControlOriginType": {"s3", "mediastore", "mediapackagev2", "lambda"},
}
_CONTROL, _IDENTITY = "OriginAccessControl", "CloudFrontOriginAccessIdentity"


class Controls:
    def __init__(self, store: Store) -> None:
        self._kept = store.controls
        self._store = store

    def create(self, request: Request) -> Response:
        access = Access(self._config(request))
        self._kept[access.id] = access
        return _shown(_CONTROL, access, 201)

    def update(self, request: Request) -> Response:
        access = _found(_CONTROL, self._kept, request)
        matched(request.header("If-Match"), access.etag)
        changed = Access(self._config(request, access.id), access.id)
        self._kept[access.id] = changed
        return _shown(_CONTROL, changed)

    def get(self, request: Request) -> Response:
        return _shown(_CONTROL, _found(_CONTROL, self._kept, request))

    def get_config(self, request: Request) -> Response:
        access = _found(_CONTROL, self._kept, request)
        return answer(access.config, headers=(("ETag", access.etag),))

    def list(self, request: Request) -> Response:
        summaries = (
            (one.id, new("OriginAccessControlSummary", ("Id", one.id), *one.config))
            for one in self._kept.values()
        )
        return page("OriginAccessControlList", summaries, request.asked)

    def delete(self, request: Request) -> Response:
        access = _found(_CONTROL, self._kept, request)
        matched(request.header("If-Match"), access.etag)
        if self._store.users("OriginAccessControlId", access.id):
            raise Refusal(
                409,
                "OriginAccessControlInUse",
                "The CloudFront origin access control is still being used.",
            )
        del self._kept[access.id]
        return Response(204)

    def _config(self, request: Request, own: str = "") -> ET.Element:
        """A control's name is one's own in the account."""
        config = parsed(request.body, "OriginAccessControlConfig")
        name = value(config, "Name")
        wrong = [field for field, words in _ALLOWED.items() if value(config, field) not in words]
        if wrong or not 1 <= len(name) <= 64:
            raise Refusal(
                400, "InvalidArgument", f"The parameter {(wrong or ['Name'])[0]} is invalid."
            )
        if any(value(one.config, "Name") == name for one in self._kept.values() if one.id != own):
            raise Refusal(
                409,
                "OriginAccessControlAlreadyExists",
                "An origin access control with the same name already exists.",
            )
        fields = ("Name", "Description", *_ALLOWED)
        return new(
            "OriginAccessControlConfig", *((field, value(config, field)) for field in fields)
        )


class Identities:
    def __init__(self, store: Store, faults: Faults) -> None:
        self._kept = store.identities
        self._store = store
        self._faults = faults

    def create(self, request: Request) -> Response:
        """The same request is the same identity."""
        config = parsed(request.body, f"{_IDENTITY}Config")
        reference = value(config, "CallerReference")
        known = next(
            (
                one
                for one in self._kept.values()
                if value(one.config, "CallerReference") == reference
            ),
            None,
        )
        if known and value(known.config, "Comment") != value(config, "Comment"):
            told = "The caller reference you are using to create the CloudFront origin access identity is associated with another identity."
            raise Refusal(409, f"{_IDENTITY}AlreadyExists", f"{told} Already exists: {known.id}")
        access = known or Access(config, arrives=self._faults.clock() + self._faults.lag)
        self._kept[access.id] = access
        return _shown(_IDENTITY, access, 201)

    def get(self, request: Request) -> Response:
        return _shown(_IDENTITY, _found(_IDENTITY, self._kept, request))

    def get_config(self, request: Request) -> Response:
        access = _found(_IDENTITY, self._kept, request)
        return answer(access.config, headers=(("ETag", access.etag),))

    def update(self, request: Request) -> Response:
        """Only the comment can change."""
        access = _found(_IDENTITY, self._kept, request)
        matched(request.header("If-Match"), access.etag)
        config = parsed(request.body, f"{_IDENTITY}Config")
        if value(config, "CallerReference") != value(access.config, "CallerReference"):
            raise Refusal(
                400, "IllegalUpdate", "The update contains modifications that are not allowed."
            )
        changed = Access(config, access.id, canonical=access.canonical, arrives=access.arrives)
        self._kept[access.id] = changed
        return _shown(_IDENTITY, changed)

    def list(self, request: Request) -> Response:
        summaries = (
            (
                one.id,
                new(
                    f"{_IDENTITY}Summary",
                    ("Id", one.id),
                    ("S3CanonicalUserId", one.canonical),
                    ("Comment", value(one.config, "Comment")),
                ),
            )
            for one in self._kept.values()
        )
        return page(f"{_IDENTITY}List", summaries, request.asked)

    def delete(self, request: Request) -> Response:
        access = _found(_IDENTITY, self._kept, request)
        matched(request.header("If-Match"), access.etag)
        if self._store.users("S3OriginConfig/OriginAccessIdentity", IDENTITY + access.id):
            raise Refusal(
                409,
                f"{_IDENTITY}InUse",
                "The CloudFront origin access identity is still being used.",
            )
        del self._kept[access.id]
        return Response(204)


def _found(kind: str, kept: dict[str, Access], request: Request) -> Access:
    found = kept.get(identifier(request))
    if found is None:
        told = "origin access control" if kind == _CONTROL else "origin access identity"
        raise Refusal(404, f"NoSuch{kind}", f"The specified {told} does not exist.")
    return found


def _shown(kind: str, access: Access, status: int = 200) -> Response:
    canonical = [("S3CanonicalUserId", access.canonical)] if kind == _IDENTITY else []
    path = "origin-access-control" if kind == _CONTROL else "origin-access-identity/cloudfront"
    location = (
        [("Location", f"https://cloudfront.amazonaws.com/2020-05-31/{path}/{access.id}")]
        if status == 201
        else []
    )
    root = new(kind, ("Id", access.id), *canonical, named(f"{kind}Config", access.config))
    return answer(root, status, (("ETag", access.etag), *location))

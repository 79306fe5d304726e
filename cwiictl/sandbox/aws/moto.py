"""moto, called in this process: its handlers.

moto is untyped and not made for threads. Only this file and `memory` import it, and `lock` is held around every call.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any, cast

from cwiictl.sandbox.exchange import Headers, Request, Response

from .address import Address
from .memory import ACCOUNT, SERVICES, Memory

# moto gives back the headers of an upload with the object, as if they were metadata
_ECHOED = {
    "x-amz-content-sha256",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-decoded-content-length",
    "x-amz-trailer",
    "x-amz-date",
    "x-amz-security-token",
}


class Moto(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self._used = set(SERVICES)

    def call(self, request: Request, address: Address) -> Response:
        """What moto answers. S3 is always asked path-style at a regional host: moto takes some names of buckets and keys for other services."""
        from moto.core.request import Request as MotoRequest  # noqa: PLC0415 - slow to load: only where it is needed

        host, path = _asked(request, address)
        headers = {key: value for key, value in request.headers if key.lower() != "host"} | {
            "Host": host
        }
        url = f"https://{host}{path}"
        asked = cast("Any", MotoRequest).from_primitives(
            request.method,
            f"{url}{'?' + request.query if request.query else ''}",
            headers,
            request.body,
        )
        try:
            return _answer(self._handler(address, url)(asked, asked.raw_url, asked.headers))
        finally:
            asked.close()

    def _handler(self, address: Address, url: str) -> Any:
        if address.service == "s3":
            from moto.s3.responses import S3Response  # noqa: PLC0415 - slow to load: only where it is needed

            return cast(
                "Any", S3Response.key_dispatch if address.key else S3Response.bucket_dispatch
            )
        backend = self._service(url)
        if isinstance(backend, Mapping):
            found = cast("Mapping[str, Any]", backend)[ACCOUNT]
            backend = found["us-east-1" if "us-east-1" in found else "aws"]
        handlers = cast("dict[str, Any]", backend.urls) if backend else {}
        return next(
            (handler for pattern, handler in handlers.items() if re.match(pattern, url)), _nobody
        )

    def _service(self, url: str) -> Any:
        """moto's service at this address, if its dependencies are installed here."""
        from moto.backend_index import backend_url_patterns  # noqa: PLC0415 - slow to load: only where it is needed

        name = next((name for name, pattern in backend_url_patterns if pattern.match(url)), "")
        try:
            backend = self._backend(name)
        except (ImportError, AttributeError):
            return None
        self._used.add(name)
        return backend

    def reset(self) -> None:
        with self.lock:
            for service in self._used:
                self._backend(service).reset()


def _asked(request: Request, address: Address) -> tuple[str, str]:
    """moto knows partitions by their regions, and not all of their hosts."""
    suffix = "amazonaws.com"
    if address.service == "s3":
        slash = "/" if address.key or not address.bucket else ""
        return f"s3.{address.region}.{suffix}", f"/{address.bucket}{slash}{address.key}"
    if address.service == "s3control":
        return f"{address.account}.s3-control.{address.region}.{suffix}", request.path
    return f"{address.service}.{address.region}.{suffix}", request.path


def _nobody(*_: object) -> tuple[int, dict[str, str], str]:
    return (
        501,
        {"Content-Type": "application/xml"},
        "<Error><Code>NotImplemented</Code><Message>The sandbox does not have this service.</Message></Error>",
    )


def _answer(raw: Any) -> Response:
    status, headers, body = raw
    flat: Headers = tuple(
        (str(key), str(value))
        for key, value in dict(headers).items()
        if value is not None and str(key).lower() not in _ECHOED
    )
    return Response(
        int(status), flat, body.encode() if isinstance(body, str) else bytes(body or b"")
    )

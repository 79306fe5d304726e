"""AWS behind the door: moto, and before it what moto does not do or does wrongly."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground

from . import actions, keyring
from .address import Address, read
from .answers import Refusal, refused
from .iam import Iam
from .keyring import Keyring, key_of
from .moto import Moto
from .s3 import S3
from .sts import Sts

_QUERY_FAULTS = {
    Fault.THROTTLED: Refusal(400, "Throttling", "Rate exceeded"),
    Fault.UNAVAILABLE: Refusal(503, "ServiceUnavailable", "The request has failed due to a temporary failure of the server."),
    Fault.BROKEN: Refusal(500, "InternalFailure", "The request processing has failed because of an unknown error, exception or failure."),
}
_REST_FAULTS = {
    Fault.THROTTLED: Refusal(503, "SlowDown", "Please reduce your request rate."),
    Fault.UNAVAILABLE: Refusal(503, "ServiceUnavailable", "Service is unable to handle request."),
    Fault.BROKEN: Refusal(500, "InternalError", "We encountered an internal error. Please try again."),
}


class Aws:
    def __init__(self, ground: Ground) -> None:
        self._moto = Moto()
        self._keyring = Keyring(ground.faults.clock)
        self._checker = ground.checker()
        self._iam = Iam(self._moto, ground)
        self._s3 = S3(self._moto, self._keyring, ground)
        self._sts = Sts(self._iam, self._keyring, self._checker)
        self.reset()

    def knows(self, host: str) -> bool:
        """A region that AWS does not have has no host names either."""
        address = read(Request("", host, "/"))
        return address.region in self._moto.regions(address.partition)

    def action(self, request: Request) -> tuple[str, bool]:
        name = actions.name(request, read(request))
        return name, actions.mutating(name)

    def handle(self, request: Request) -> Response:
        address = read(request)
        try:
            return _bodiless(request, self._served(request, address))
        except Refusal as refusal:
            return _bodiless(request, refused(address.service, refusal))

    def fault(self, request: Request, fault: Fault) -> Response:
        service = read(request).service
        return _bodiless(request, refused(service, (_QUERY_FAULTS if service in {"iam", "sts"} else _REST_FAULTS)[fault]))

    def expired(self, request: Request) -> Response | None:
        service = read(request).service
        return _bodiless(request, refused(service, keyring.expired(service))) if key_of(request) else None

    def reset(self) -> None:
        self._moto.reset()
        for part in (self._iam, self._s3, self._keyring):
            part.reset()
        self._checker.forget()

    def _served(self, request: Request, address: Address) -> Response:
        if address.service == "s3":
            return self._s3.handle(request, address)
        if address.service == "s3control":
            return self._s3.control(request, address)
        if address.service == "sts":
            return self._sts.handle(request, address) or self._plain(request, address)
        self._signed(request, address)
        if address.service == "iam":
            return self._iam.handle(request, address)
        return self._plain(request, address)

    def _signed(self, request: Request, address: Address) -> None:
        if not key_of(request):
            raise Refusal(403, "MissingAuthenticationToken", "Request is missing Authentication Token")
        self._keyring.caller(request, address.service)

    def _plain(self, request: Request, address: Address) -> Response:
        with self._moto.lock:
            return self._moto.call(request, address)


def _bodiless(request: Request, response: Response) -> Response:
    """HEAD hears no reasons: clients have the status alone."""
    if request.method != "HEAD" or response.status < 400:
        return response
    return Response(response.status, tuple(header for header in response.headers if header[0].lower() != "content-length"))

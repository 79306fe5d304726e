"""AWS behind the door: moto, and before it what moto does not do or does wrongly."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground

from . import actions, keyring
from .address import Address, read
from .answers import Refusal, refused
from .cloudfront import CloudFront
from .cloudfront.edge import Edge
from .denial import denied, refusal
from .iam import Iam
from .keyring import Keyring, key_of, scope_of, unknown
from .moto import Moto
from .partitions import BY_NAME
from .permissions import needed
from .s3 import S3
from .states import States
from .sts import Sts

_QUERY_FAULTS = {
    Fault.THROTTLED: Refusal(400, "Throttling", "Rate exceeded"),
    Fault.UNAVAILABLE: Refusal(
        503,
        "ServiceUnavailable",
        "The request has failed due to a temporary failure of the server.",
    ),
    Fault.BROKEN: Refusal(
        500,
        "InternalFailure",
        "The request processing has failed because of an unknown error, exception or failure.",
    ),
}
_REST_FAULTS = {
    Fault.THROTTLED: Refusal(503, "SlowDown", "Please reduce your request rate."),
    Fault.UNAVAILABLE: Refusal(503, "ServiceUnavailable", "Service is unable to handle request."),
    Fault.BROKEN: Refusal(
        500, "InternalError", "We encountered an internal error. Please try again."
    ),
}
_STRANGE = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}'


class Aws:
    def __init__(self, ground: Ground) -> None:
        self._faults = ground.faults
        self._moto = Moto()
        self._keyring = Keyring(ground.faults.clock)
        self._checker = ground.checker()
        self._iam = Iam(self._moto, ground)
        self._states = States(self._moto, ground.faults, ground.strangers)
        self._cloudfront = CloudFront(ground.faults)
        self._edge = Edge(self._cloudfront, self._moto, self._states, ground.faults)
        self._s3 = S3(self._moto, self._keyring, self._states, self._cloudfront.identities)
        self._sts = Sts(self._iam, self._keyring, self._checker)
        self._services = {
            "s3": self._s3.handle, "s3control": self._s3.control, "edge": self._edge.handle,
            "sts": self._of_sts, "iam": self._of_iam, "cloudfront": self._of_cloudfront,
        }  # fmt: skip
        self.reset()

    def knows(self, host: str) -> bool:
        """A region that AWS does not have has no host names either, and CloudFront's viewers have one for as long as there is a distribution."""
        address = read(Request("", host, "/"))
        if address.service == "edge":
            return self._edge.knows(host)
        if address.service == "cloudfront":
            return host == BY_NAME[address.partition].cloudfront
        return address.region in self._moto.regions(address.partition)

    def action(self, request: Request) -> tuple[str, bool]:
        name = actions.name(request, read(request))
        return name, actions.mutating(name)

    def permissions(self, request: Request) -> tuple[str, ...]:
        return needed(request, read(request))

    def crowd(self, count: int, partition: str) -> None:
        if partition not in BY_NAME:
            return
        with self._moto.lock:
            first = len(self._moto.roles(partition))
            self._moto.add_roles(
                [f"stranger-{number:05}" for number in range(first, first + count)],
                partition,
                _STRANGE,
            )

    def handle(self, request: Request) -> Response:
        address = read(request)
        try:
            return _bodiless(request, self._served(request, address))
        except Refusal as refusal:
            return _bodiless(request, refused(address.service, refusal))

    def fault(self, request: Request, fault: Fault) -> Response:
        service = read(request).service
        return _bodiless(
            request,
            refused(
                service,
                (_REST_FAULTS if service in {"s3", "s3control", "edge"} else _QUERY_FAULTS)[fault],
            ),
        )

    def expired(self, request: Request) -> Response | None:
        service = read(request).service
        return (
            _bodiless(request, refused(service, keyring.expired(service)))
            if key_of(request)
            else None
        )

    def reset(self) -> None:
        self._moto.reset()
        for part in (self._iam, self._cloudfront, self._keyring):
            part.reset()
        self._states.forget()
        self._checker.forget()

    def _served(self, request: Request, address: Address) -> Response:
        self._authorize(request, address)
        return self._services.get(address.service, self._other)(request, address)

    def _authorize(self, request: Request, address: Address) -> None:
        for permission in needed(request, address):
            if denied(permission, self._faults.deny):
                caller = self._keyring.caller(request, address.service, address.partition)
                raise refusal(permission, request, address, caller.arn)

    def _of_sts(self, request: Request, address: Address) -> Response:
        return self._sts.handle(request, address) or self._plain(request, address)

    def _of_iam(self, request: Request, address: Address) -> Response:
        self._signed(request, address)
        return self._iam.handle(request, address)

    def _of_cloudfront(self, request: Request, address: Address) -> Response:
        self._signed(request, address)
        if (
            scope_of(request) != address.region
        ):  # GovCloud's clients come to the world's host, where nobody knows their keys
            raise unknown("cloudfront", token=False)
        with self._moto.lock:
            return self._cloudfront.handle(request, address)

    def _other(self, request: Request, address: Address) -> Response:
        self._signed(request, address)
        return self._plain(request, address)

    def _signed(self, request: Request, address: Address) -> None:
        if not key_of(request):
            raise Refusal(
                403, "MissingAuthenticationToken", "Request is missing Authentication Token"
            )
        self._keyring.caller(request, address.service)

    def _plain(self, request: Request, address: Address) -> Response:
        with self._moto.lock:
            return self._moto.call(request, address)


def _bodiless(request: Request, response: Response) -> Response:
    """HEAD hears no reasons: clients have the status alone."""
    if request.method != "HEAD" or response.status < 400:
        return response
    return Response(
        response.status,
        tuple(header for header in response.headers if header[0].lower() != "content-length"),
    )

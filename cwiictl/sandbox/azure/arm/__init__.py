"""Azure Resource Manager: the one door to all that is not data, which asks of everybody who they are and what they may do."""

from __future__ import annotations

from cwiictl.sandbox.azure.answers import Refusal, arm_error, empty
from cwiictl.sandbox.azure.clouds import Cloud
from cwiictl.sandbox.azure.entra import Caller, Tokens
from cwiictl.sandbox.azure.entra.tokens import challenge, expired
from cwiictl.sandbox.azure.rights import denied, may_manage
from cwiictl.sandbox.azure.standing import SUBSCRIPTIONS
from cwiictl.sandbox.azure.world import World
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.places import Ground

from . import actions, address, kinds, locations
from .accounts import Accounts
from .address import Address
from .assignments import Assignments
from .call import Call, Routes
from .containers import Containers
from .credentials import Credentials
from .definitions import Definitions
from .groups import Groups
from .identities import Identities
from .inventory import Inventory
from .keys import Keys
from .locks import Locks
from .operations import Operations
from .others import Others
from .permissions import Permissions
from .providers import Providers
from .services import Services
from .shelves import Shelves
from .state import State
from .subscriptions import Subscriptions
from .tags import Tags
from .writers import Writers

_FAULTS = {
    Fault.THROTTLED: Refusal(
        429,
        "TooManyRequests",
        "The request is being throttled as the limit has been reached for operation type.",
        (("Retry-After", "1"),),
    ),
    Fault.UNAVAILABLE: Refusal(
        503,
        "ServiceUnavailable",
        "The service is temporarily unavailable. Please retry after some time.",
    ),
    Fault.BROKEN: Refusal(500, "InternalServerError", "Encountered internal server error."),
}
_SERVICES = (
    Subscriptions, Providers, Groups, Inventory, Identities, Credentials, Accounts, Keys, Services, Shelves, Containers, Definitions, Assignments, Permissions,
    Others, Locks, Tags,
)  # fmt: skip


class Arm:
    def __init__(self, ground: Ground, world: World, tokens: Tokens, cloud: Cloud) -> None:
        self._world = world
        self._tokens = tokens
        self._cloud = cloud
        self._faults = ground.faults
        self._operations = Operations(ground.faults)
        self._state = State(world, ground.faults, cloud, ground.strangers, self._operations)
        self._subscriptions = Subscriptions(self._state)
        self._writers = Writers(ground.faults)
        self._routes: Routes = dict(self._operations.routes)
        for service in _SERVICES:
            self._routes = {**self._routes, **service(self._state).routes}

    def action(self, request: Request) -> tuple[str, bool]:
        where = address.read(request.path)
        return actions.name(request, where), actions.mutating(request, where)

    def permissions(self, request: Request) -> tuple[str, ...]:
        return actions.needed(request, address.read(request.path))

    def handle(self, request: Request) -> Response:
        try:
            return self._served(request, address.read(request.path))
        except Refusal as refusal:
            return _bodiless(request, arm_error(refusal))

    def fault(self, request: Request, fault: Fault) -> Response:
        return _bodiless(request, arm_error(_FAULTS[fault]))

    def expired(self, request: Request) -> Response | None:
        if not request.header("Authorization").lower().startswith("bearer "):
            return None
        now = self._faults.clock()
        code, words = expired(now - 1, now)
        return _bodiless(request, arm_error(Refusal(401, code, words, challenge(code, words))))

    def reset(self) -> None:
        self._operations.forget()

    def _served(self, request: Request, where: Address) -> Response:
        kinds.check(request, where, locations.known(self._cloud))
        call = Call(request, where, self._tokens.read(request, self._cloud.audiences))
        with self._world.lock:
            self._check_subscription(call)
            self._authorize(call)
        route = self._routes.get((request.method, where.shape))
        if route is None:
            raise Refusal(
                405,
                "MethodNotAllowed",
                f"The requested resource does not support http method '{request.method}'.",
            )
        with self._writers.turn(call), self._world.lock:
            return route(call)

    def _check_subscription(self, call: Call) -> None:
        """One that the caller may do nothing in is not there for them."""
        asked = call.address.subscription
        if not asked:
            return
        if asked not in SUBSCRIPTIONS or not self._subscriptions.reaches(
            call.caller.principal, asked
        ):
            raise Refusal(
                404, "SubscriptionNotFound", f"The subscription '{asked}' could not be found."
            )

    def _authorize(self, call: Call) -> None:
        for action in actions.needed(call.request, call.address):
            if _for_all(call) and not denied(action, self._faults.deny):
                continue
            if not may_manage(
                self._world, call.caller.principal, action, call.address.thing, self._faults.deny
            ):
                raise unauthorized(call.caller, action, call.address.thing)


def _for_all(call: Call) -> bool:
    """Who may do anything in a subscription, may see it; and what Azure's own roles are is no secret."""
    shape = call.address.shape
    return call.request.method == "GET" and (
        shape == "subscriptions/{}"
        or (shape.startswith("microsoft.authorization/roledefinitions") and not call.address.parent)
    )


def unauthorized(caller: Caller, action: str, scope: str) -> Refusal:
    words = (
        f"The client '{caller.client}' with object id '{caller.principal}' does not have authorization to perform action '{action}' over scope '{scope}' or the"
        " scope is invalid. If access was recently granted, please refresh your credentials."
    )
    return Refusal(403, "AuthorizationFailed", words)


def _bodiless(request: Request, response: Response) -> Response:
    """HEAD hears no reasons: clients have the status alone."""
    return response if request.method != "HEAD" else empty(response.status)

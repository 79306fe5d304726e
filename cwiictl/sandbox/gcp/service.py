"""An API of Google: it asks of everybody who they are and what they may do, and then does it."""

from __future__ import annotations

from collections.abc import Callable

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Fault, Faults

from . import address, answers, apis
from .address import Address
from .answers import Refusal
from .call import Call, Route, Routes, unknown
from .rights import may
from .tokens import Tokens, bearer, expired
from .world import Project, World

Denied = Callable[[Call, str], Refusal]  # the call, and the permission that is missing


class Service:
    def __init__(  # noqa: PLR0913, PLR0917 - all that an API stands on
        self,
        name: str,
        world: World,
        tokens: Tokens,
        faults: Faults,
        routes: Routes,
        denied: Denied,
    ) -> None:
        self._name = name
        self._world = world
        self._tokens = tokens
        self._faults = faults
        self._routes = routes
        self._denied = denied

    def action(self, request: Request) -> tuple[str, bool]:
        where = address.read(request.path)
        route = self._route(request, where)
        return (
            (route.permission, route.writes)
            if route
            else (f"{self._name}/{where.shape}", request.method not in {"GET", "HEAD"})
        )

    def permissions(self, request: Request) -> tuple[str, ...]:
        route = self._route(request, address.read(request.path))
        return (route.permission,) if route and not route.everybody else ()

    def handle(self, request: Request) -> Response:
        try:
            return self._served(request, address.read(request.path))
        except Refusal as refusal:
            return answers.error(refusal)

    def fault(self, request: Request, fault: Fault) -> Response:
        del request
        return answers.error(answers.faulty(fault, self._name))

    def expired(self, request: Request) -> Response | None:
        return answers.error(expired()) if bearer(request) else None

    def reset(self) -> None:
        """All that it knows is the world's."""

    def _route(self, request: Request, where: Address) -> Route | None:
        return self._routes.get((request.method, where.shape))

    def _served(self, request: Request, where: Address) -> Response:
        route = self._route(request, where)
        if route is None:
            raise unknown()
        call = Call(request, where, self._tokens.read(request))
        with self._world.lock:
            apis.check(self._world, self._name, self._consumer(call))
            self._check_use(call)
            if not route.everybody and not may(
                self._world, call.caller, route.permission, call.address.resource, self._faults.deny
            ):
                raise self._denied(call, route.permission)
            return route.handler(call)

    def _check_use(self, call: Call) -> None:
        named = call.request.header("X-Goog-User-Project")
        if named and not may(
            self._world,
            call.caller,
            "serviceusage.services.use",
            f"projects/{named}",
            self._faults.deny,
        ):
            words = (
                f"Caller does not have required permission to use project {named}. Grant the caller the roles/serviceusage.serviceUsageConsumer role, or a"
                " custom role with the serviceusage.services.use permission."
            )
            told = {"consumer": f"projects/{named}", "service": self._name}
            raise Refusal(
                403, "PERMISSION_DENIED", words, reason="USER_PROJECT_DENIED", metadata=told
            )

    def _consumer(self, call: Call) -> Project | None:
        """IAM asks whose the thing is, the others who asks."""
        named = call.request.header("X-Goog-User-Project") or (
            call.address.project if self._name.startswith("iam.") else ""
        )
        return self._world.project(named) or apis.home(self._world, call.caller)

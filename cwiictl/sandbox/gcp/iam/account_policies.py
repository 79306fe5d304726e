"""The policies of service accounts: who may be them."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp import policies
from cwiictl.sandbox.gcp.answers import json_response
from cwiictl.sandbox.gcp.call import Call, Route, Routes
from cwiictl.sandbox.gcp.tested import tested
from cwiictl.sandbox.gcp.world import ServiceAccount

from .state import State


class AccountPolicies:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        item, verb = "projects/{}/serviceAccounts/{}", "iam.serviceAccounts."
        return {
            ("POST", f"{item}:getIamPolicy"): Route(f"{verb}getIamPolicy", self.get, writes=False),
            ("POST", f"{item}:setIamPolicy"): Route(f"{verb}setIamPolicy", self.set),
            ("POST", f"{item}:testIamPermissions"): Route(
                f"{verb}testIamPermissions", self.test, writes=False, everybody=True
            ),
        }

    def get(self, call: Call) -> Response:
        version = call.asked.get("options.requestedPolicyVersion") or call.part("options").get(
            "requestedPolicyVersion"
        )
        return json_response(
            policies.shown(self._account(call).policy, policies.requested(version))
        )

    def set(self, call: Call) -> Response:
        found = self._account(call)
        where = self._state.world.projects[found.project]
        policies.replace(self._state.world, found.policy, call.policy(), where)
        return json_response(policies.shown(found.policy, 3))

    def test(self, call: Call) -> Response:
        found = self._account(call)
        return tested(
            call,
            self._state.world,
            f"projects/{found.project}/serviceAccounts/{found.email}",
            self._state.faults.deny,
        )

    def _account(self, call: Call) -> ServiceAccount:
        return self._state.account(call, f"Service account {call.address.resource} does not exist.")

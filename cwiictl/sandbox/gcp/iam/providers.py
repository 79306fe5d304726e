"""Providers of pools: whose tokens are believed, and what of them."""

from __future__ import annotations

from typing import Any

from cwiictl.sandbox.exchange import Response
from cwiictl.sandbox.gcp import operations
from cwiictl.sandbox.gcp.answers import exists, failed, json_response, not_found
from cwiictl.sandbox.gcp.call import Call, Route, Routes
from cwiictl.sandbox.gcp.pages import listed
from cwiictl.sandbox.gcp.world import Pool, Project, Provider

from . import kept, pools, trust
from .masks import fields
from .pools import full, standing
from .state import State

_KIND = "google.iam.v1.WorkloadIdentityPoolProvider"
_FIELDS = frozenset(("displayName", "description", "disabled", *trust.FIELDS))


class Providers:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        every, verb = (
            "projects/{}/locations/{}/workloadIdentityPools/{}/providers",
            "iam.workloadIdentityPoolProviders.",
        )
        return {
            **kept.routes(every, verb, self),
            ("GET", f"{every}/{{}}/operations/{{}}"): Route(f"{verb}get", self.poll, writes=False),
        }

    def create(self, call: Call) -> Response:
        """A pool takes none before the operation that makes it is done."""
        pool, name, now = (
            self._state.pool(call),
            call.asked.get("workloadIdentityPoolProviderId", ""),
            self._state.now(),
        )
        pools.check_name(name, "workload_identity_pool_provider_id")
        if pool.ready > now:
            raise not_found()
        _check_alive(pool.deleted)
        found = pool.providers.get(name)
        if found is not None and not self._state.gone(found.deleted):
            raise exists()
        made = trust.read(
            Provider(name, born=now, ready=now + self._state.faults.deploy),
            call.body,
            frozenset(trust.FIELDS),
        )
        pools.write(made, call.body, _FIELDS)
        pool.providers[name] = made
        return self._begun(call, pool, made)

    def get(self, call: Call) -> Response:
        pool, found = self._found(call)
        return json_response(shown(self._state.project(call), pool, found))

    def list(self, call: Call) -> Response:
        where, pool, deleted = (
            self._state.project(call),
            self._state.pool(call),
            call.asked.get("showDeleted", "").lower() == "true",
        )
        found = [
            one
            for _, one in sorted(pool.providers.items())
            if not self._state.gone(one.deleted) and (deleted or one.deleted is None)
        ]
        return listed(
            call,
            "workloadIdentityPoolProviders",
            [shown(where, pool, one) for one in found],
            50,
            100,
        )

    def patch(self, call: Call) -> Response:
        pool, found = self._found(call)
        _check_alive(pool.deleted, found.deleted)
        named = fields(call.asked.get("updateMask"), _FIELDS)
        changed = trust.read(found, call.body, named)
        pools.write(changed, call.body, named)
        changed.born = self._state.now()
        pool.providers[changed.id] = changed
        return self._begun(call, pool, changed)

    def delete(self, call: Call) -> Response:
        pool, found = self._found(call)
        _check_alive(pool.deleted, found.deleted)
        found.deleted = self._state.now()
        return self._begun(call, pool, found)

    def undelete(self, call: Call) -> Response:
        pool, found = self._found(call)
        _check_alive(pool.deleted)
        if found.deleted is None:
            raise failed("Precondition check failed.")
        found.deleted, found.born = None, self._state.now()
        return self._begun(call, pool, found)

    def poll(self, call: Call) -> Response:
        names = call.address.names
        return operations.polled(
            self._state.world,
            f"{full(self._state.project(call), names[2])}/providers/{names[3]}/operations/{names[4]}",
        )

    def _found(self, call: Call) -> tuple[Pool, Provider]:
        pool = self._state.pool(call)
        found = pool.providers.get(call.address.names[3])
        if found is None or self._state.gone(found.deleted):
            raise not_found()
        return pool, found

    def _begun(self, call: Call, pool: Pool, one: Provider) -> Response:
        where, done = self._state.project(call), self._state.now() + self._state.faults.deploy
        prefix = f"{full(where, pool.id)}/providers/{one.id}/operations/"
        return operations.begun(
            self._state.world, prefix, _KIND, lambda: shown(where, pool, one), done
        )


def shown(where: Project, pool: Pool, one: Provider) -> dict[str, Any]:
    said = {
        "displayName": one.display_name,
        "description": one.description,
        "disabled": one.disabled,
        "attributeCondition": one.condition,
    }
    oidc = {"issuerUri": one.issuer, "allowedAudiences": list(one.audiences), "jwksJson": one.jwks}
    return {
        "name": f"{full(where, pool.id)}/providers/{one.id}", **{key: value for key, value in said.items() if value}, **standing(one.deleted),
        "attributeMapping": one.mapping, "oidc": {key: value for key, value in oidc.items() if value},
    }  # fmt: skip


def _check_alive(*deleted: float | None) -> None:
    if any(one is not None for one in deleted):
        raise failed("Precondition check failed.")

"""IAM as its readers see it: for as long as the sandbox lags, as it was before the last writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from cwiictl.sandbox.faults import Faults

from .limits import Form
from .memory import ACCOUNT, Memory
from .past import Past, snapshot
from .providers import provider_arn
from .things import Policy, Provider, Role

T = TypeVar("T")


@dataclass(frozen=True)
class Before:
    """The things that a request is about, as they were when it came."""

    role: Role | None
    provider: Provider | None
    policy: Policy | None


class Worlds:
    def __init__(self, memory: Memory, faults: Faults) -> None:
        self._memory = memory
        self._roles = Past[Role](faults)
        self._providers = Past[Provider](faults)
        self._policies = Past[Policy](faults)

    def forget(self) -> None:
        for past in (self._roles, self._providers, self._policies):
            past.forget()

    def roles(self, partition: str) -> dict[str, Role]:
        return _within(
            partition,
            self._roles.world({role.arn: role for role in self._memory.roles(partition).values()}),
        )

    def providers(self, partition: str) -> dict[str, Provider]:
        return _within(partition, self._providers.world(self._memory.providers(partition)))

    def policies(self, partition: str) -> dict[str, Policy]:
        return _within(partition, self._policies.world(self._memory.policies(partition)))

    def provider(self, arn: str, partition: str) -> Provider | None:
        return self._providers.seen(arn, self._memory.providers(partition).get(arn))

    def before(self, form: Form, partition: str) -> Before:
        role, provider = (
            self.role(form.get("RoleName"), partition),
            self._memory.providers(partition).get(provider_arn(form, partition)),
        )
        policy = self._memory.policies(partition).get(policy_arn(form, partition))
        return Before(
            role and snapshot(role), provider and snapshot(provider), policy and snapshot(policy)
        )

    def keep(self, before: Before, form: Form, partition: str) -> None:
        role = self.role(form.get("RoleName"), partition) or before.role
        if role is not None:
            self._roles.keep(role.arn, before.role)
        if arn := provider_arn(form, partition):
            self._providers.keep(arn, before.provider)
        if arn := policy_arn(form, partition):
            self._policies.keep(arn, before.policy)

    def role(self, name: str | None, partition: str) -> Role | None:
        """As it is, whatever readers see."""
        return next(
            (role for role in self._memory.roles(partition).values() if role.name == name), None
        )


def policy_arn(form: Form, partition: str) -> str:
    if form.get("Action") == "CreatePolicy":
        return f"arn:{partition}:iam::{ACCOUNT}:policy{form.get('Path') or '/'}{form.get('PolicyName', '')}"
    return form.get("PolicyArn", "")


def _within(partition: str, world: dict[str, T]) -> dict[str, T]:
    return {arn: thing for arn, thing in world.items() if arn.startswith(f"arn:{partition}:")}

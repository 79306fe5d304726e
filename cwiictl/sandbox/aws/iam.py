"""IAM before moto: limits, grammar, what moto lacks, and readers that see yesterday for as long as the sandbox lags."""

from __future__ import annotations

from typing import Any, TypeVar

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.places import Ground

from .address import Address
from .answers import Refusal
from .documents import INLINE_LIMIT, check_inline, check_trust, size
from .limits import Form, check_lengths, check_new_role
from .moto import Moto
from .past import Past, instead, snapshot
from .providers import Providers, provider_arn
from .things import Provider, Role

T = TypeVar("T")


class Iam:
    def __init__(self, moto: Moto, ground: Ground) -> None:
        self._moto = moto
        self._ground = ground
        self._roles = Past[Role](ground.faults)
        self._providers = Past[Provider](ground.faults)
        self._own_providers = Providers(moto, ground)

    def reset(self) -> None:
        self._roles.forget()
        self._providers.forget()

    def handle(self, request: Request, address: Address) -> Response:
        form = request.form
        action = form.get("Action", "")
        check_lengths(form)
        if action == "CreateOpenIDConnectProvider":
            request = self._own_providers.with_thumbprint(request)
        with self._moto.lock:
            if action.startswith(("Get", "List", "Simulate", "Generate")):
                return self._read(request, form, address)
            return self._write(action, request, address)

    def role_by_arn(self, arn: str, partition: str) -> Role | None:
        """As STS sees it now."""
        with self._moto.lock:
            return next((role for role in self._seen_roles(partition).values() if role.arn == arn), None)

    def provider(self, arn: str, partition: str) -> Provider | None:
        with self._moto.lock:
            return self._providers.seen(arn, self._moto.providers(partition).get(arn))

    def _seen_roles(self, partition: str) -> dict[str, Role]:
        return _within(partition, self._roles.world({role.arn: role for role in self._moto.roles(partition).values()}))

    def _read(self, request: Request, form: Form, address: Address) -> Response:
        roles = {role.id: role for role in self._seen_roles(address.partition).values()}
        providers = _within(address.partition, self._providers.world(self._moto.providers(address.partition)))
        self._known(form, {role.name for role in roles.values()})
        with instead(self._moto.memory("iam", address.partition), roles=roles, open_id_providers=providers):
            return self._moto.call(request, address)

    def _known(self, form: Form, names: set[str]) -> None:
        name = form.get("RoleName")
        if name is not None and name not in names:
            raise Refusal(404, "NoSuchEntity", f"The role with name {name} cannot be found.")

    def _write(self, action: str, request: Request, address: Address) -> Response:
        form = request.form
        if action == "CreateRole":
            check_new_role(form, {role.name for role in self._moto.roles(address.partition).values()})
        else:
            self._known(form, {role.name for role in self._seen_roles(address.partition).values()})
        if action == "CreateOpenIDConnectProvider" and provider_arn(form, address.partition) in self._moto.providers(address.partition):
            raise Refusal(409, "EntityAlreadyExists", f"Provider with url {form['Url']} already exists.")
        self._check_documents(action, form, address.partition)
        before = self._before(form, address.partition)
        response = self._own_providers.answer(action, form, address.partition) or self._moto.call(request, address)
        if response.status < 400:
            self._keep(before, form, address.partition)
        return response

    def _check_documents(self, action: str, form: Form, partition: str) -> None:
        if action in {"CreateRole", "UpdateAssumeRolePolicy"}:
            check_trust(form.get("AssumeRolePolicyDocument") or form.get("PolicyDocument", ""))
        if action == "PutRolePolicy":
            document, name = form.get("PolicyDocument", ""), form.get("RoleName", "")
            check_inline(document)
            others = {key: text for role in self._moto.roles(partition).values() if role.name == name for key, text in role.policies.items()}
            if sum(map(size, (others | {form.get("PolicyName", ""): document}).values())) > INLINE_LIMIT:
                raise Refusal(409, "LimitExceeded", f"Maximum policy size of {INLINE_LIMIT} bytes exceeded for role {name}")

    def _before(self, form: Form, partition: str) -> tuple[Any, Any]:
        """What the role and the provider of this request were, for readers that come too early."""
        name, arn = form.get("RoleName"), provider_arn(form, partition)
        role = next((role for role in self._moto.roles(partition).values() if role.name == name), None)
        provider = self._moto.providers(partition).get(arn)
        return role and snapshot(role), provider and snapshot(provider)

    def _keep(self, before: tuple[Any, Any], form: Form, partition: str) -> None:
        role, provider = before
        if "RoleName" in form:
            now = next((one for one in self._moto.roles(partition).values() if one.name == form["RoleName"]), role)
            if now is not None:
                self._roles.keep(now.arn, role)
        if arn := provider_arn(form, partition):
            self._providers.keep(arn, provider)


def _within(partition: str, world: dict[str, T]) -> dict[str, T]:
    return {arn: thing for arn, thing in world.items() if arn.startswith(f"arn:{partition}:")}

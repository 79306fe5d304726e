"""IAM before moto: limits, grammar, what moto lacks, and readers that see yesterday for as long as the sandbox lags."""

from __future__ import annotations

from urllib.parse import urlencode

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.places import Ground

from . import listings
from .address import Address
from .answers import Refusal, Tree, done
from .documents import INLINE_LIMIT, check_inline, check_trust, size
from .keyring import user_arn
from .limits import Form, check_duration, check_lengths, check_new_role
from .managed import Managed
from .moto import Moto
from .past import instead
from .providers import Providers, provider_arn
from .simulate import simulated
from .things import Provider, Role
from .worlds import Worlds

_READS = ("Get", "List", "Simulate", "Generate")


class Iam:
    def __init__(self, moto: Moto, ground: Ground) -> None:
        self._moto = moto
        self._faults = ground.faults
        self._worlds = Worlds(moto, ground.faults)
        self._providers = Providers(moto, ground)
        self._managed = Managed(moto)

    def reset(self) -> None:
        self._worlds.forget()

    def handle(self, request: Request, address: Address) -> Response:
        form = request.form
        action = form.get("Action", "")
        check_lengths(form)
        if action == "CreateOpenIDConnectProvider":
            request = self._providers.with_thumbprint(request)
        with self._moto.lock:
            self._managed.make_known(action, form, address.partition)
            return (self._read if action.startswith(_READS) else self._write)(
                action, request, address
            )

    def role_by_arn(self, arn: str, partition: str) -> Role | None:
        """As STS sees it now."""
        with self._moto.lock:
            return self._worlds.roles(partition).get(arn)

    def provider(self, arn: str, partition: str) -> Provider | None:
        with self._moto.lock:
            return self._worlds.provider(arn, partition)

    def _read(self, action: str, request: Request, address: Address) -> Response:
        form, partition = request.form, address.partition
        roles = self._worlds.roles(partition)
        self._known(form, roles)
        own = self._listed(action, form, partition, roles)
        if own is not None:
            return done("iam", action, own)
        now = {
            "open_id_providers": self._worlds.providers(partition),
            "managed_policies": self._worlds.policies(partition),
        }
        with instead(
            self._moto.memory("iam", partition),
            roles={role.id: role for role in roles.values()},
            **now,
        ):
            return self._moto.call(request, address)

    def _listed(
        self, action: str, form: Form, partition: str, roles: dict[str, Role]
    ) -> Tree | None:
        if action == "ListRoles":
            return listings.roles(form, roles.values())
        if action == "GetAccountAuthorizationDetails":
            return listings.authorization(form, roles.values(), self._worlds.policies(partition))
        if action == "SimulatePrincipalPolicy":
            return simulated(form, {user_arn(partition), *roles}, self._faults.deny)
        return None

    def _known(self, form: Form, roles: dict[str, Role]) -> None:
        name = form.get("RoleName")
        if name is not None and not any(role.name == name for role in roles.values()):
            raise Refusal(404, "NoSuchEntity", f"The role with name {name} cannot be found.")

    def _write(self, action: str, request: Request, address: Address) -> Response:
        form, partition = request.form, address.partition
        self._check(action, form, partition)
        before = self._worlds.before(form, partition)
        role = self._worlds.role(form.get("RoleName"), partition)
        if self._managed.attached(action, form, role):
            return done("iam", action)
        response = self._providers.answer(action, form, partition) or self._moto.call(
            _whole(action, request, role), address
        )
        if response.status < 400:
            self._worlds.keep(before, form, partition)
        return response

    def _check(self, action: str, form: Form, partition: str) -> None:
        if action == "CreateRole":
            check_new_role(form, {role.name for role in self._moto.roles(partition).values()})
        else:
            self._known(form, self._worlds.roles(partition))
        if action == "UpdateRole":
            check_duration(form)
        if action == "CreateOpenIDConnectProvider" and provider_arn(
            form, partition
        ) in self._moto.providers(partition):
            raise Refusal(
                409, "EntityAlreadyExists", f"Provider with url {form['Url']} already exists."
            )
        self._managed.check(
            action,
            form,
            self._worlds.policies(partition),
            self._worlds.role(form.get("RoleName"), partition),
            self._moto.roles(partition),
        )
        self._check_documents(action, form, partition)

    def _check_documents(self, action: str, form: Form, partition: str) -> None:
        if action in {"CreateRole", "UpdateAssumeRolePolicy"}:
            check_trust(form.get("AssumeRolePolicyDocument") or form.get("PolicyDocument", ""))
        if action == "PutRolePolicy":
            document, name = form.get("PolicyDocument", ""), form.get("RoleName", "")
            check_inline(document)
            role = self._worlds.role(name, partition)
            others = {} if role is None else role.policies
            if (
                sum(map(size, (others | {form.get("PolicyName", ""): document}).values()))
                > INLINE_LIMIT
            ):
                raise Refusal(
                    409,
                    "LimitExceeded",
                    f"Maximum policy size of {INLINE_LIMIT} bytes exceeded for role {name}",
                )


def _whole(action: str, request: Request, role: Role | None) -> Request:
    """What an UpdateRole does not name stays as it is; moto would set it back."""
    if action != "UpdateRole" or role is None:
        return request
    now = {
        "Description": role.description or "",
        "MaxSessionDuration": str(role.max_session_duration or 3600),
    }
    missing = {name: text for name, text in now.items() if name not in request.form}
    body = request.body + (f"&{urlencode(missing)}".encode() if missing else b"")
    return Request(request.method, request.host, request.path, request.query, request.headers, body)

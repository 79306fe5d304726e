"""Identities, and what they may do, in the words of Azure Service Operator: for who keeps such things in Git. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from cwiictl import manifests, names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.environments import environment
from cwiictl.clouds.azure.plan import judged
from cwiictl.clouds.azure.resources.custom_role import CustomRole
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup
from cwiictl.clouds.azure.resources.role_assignments import Grant, RoleAssignments
from cwiictl.clouds.azure.spec import GUID, Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Known, Plan, Store
from cwiictl.manifests import Template
from cwiictl.model import Cluster

CREDENTIAL_FROM = "serviceoperator.azure.com/credential-from"
AUTHORIZATION = "authorization.azure.com"
LEARNED = (
    "clientId",
    "principalId",
    "tenantId",
)  # of an identity, kept in a ConfigMap of its own once it is there

Object = dict[str, Any]


@dataclass(frozen=True)
class Manner:
    """`secret` is the one that the operator acts with; empty for its own."""

    secret: str
    template: Template

    def object(self, kind: str, name: str, spec: Object) -> Object:
        filled = manifests.template(self.template(f"aso/{kind}.yaml"))
        annotations = {"annotations": {CREDENTIAL_FROM: self.secret}} if self.secret else {}
        filled["metadata"] = {"name": names.kubernetes(name), **annotations}
        filled["spec"] = {**spec, **filled["spec"]}
        return filled


@dataclass(frozen=True)
class Nowhere:
    """The place of what is not made by us: it has a kind, and nobody comes to it."""

    kind: str


def unconnected(spec: Spec, cluster: Cluster, connected: Callable[[], Stores]) -> Stores:
    """For a plan that nobody acts on. Azure is asked only for the roles that are not said by their GUID or id."""
    judged(spec, cluster)

    def known(title: str) -> str:
        guid = ids.guid(title).lower()
        return (
            ids.role(ids.subscription(spec.subscription), guid)
            if GUID.fullmatch(guid)
            else connected().role(title)
        )

    own = {
        "account",
        "caller",
        "tenant",
        "environment",
        "doomed",
        "role",
        "role_titles",
        "close",
        "permissions",
    }
    places: Any = {f.name: Nowhere(f"azure/{f.name}") for f in fields(Stores) if f.name not in own}
    return Stores(
        spec.subscription,
        "",
        "",
        environment(spec.environment),
        "",
        known,
        {},
        lambda: None,
        _asked,
        **places,
    )


def _asked(_grants: object) -> Store[Any]:
    raise NotImplementedError  # who declares needs no permission


def objects(plan: Plan, secret: str, template: Template) -> dict[str, list[Object]]:
    """By the names of files: one for the resource group, if it is not the user's own, and one for each identity."""
    things, manner = tuple(plan.values()), Manner(secret, template)
    identities = [thing for thing in things if isinstance(thing, Identity)]
    groups = {each.group.name: each.group for each in identities if not each.group.named}
    found = {
        f"resource-group-{group.name}.yaml": [_group(group, manner)] for group in groups.values()
    }
    given = {thing.identity.name: thing for thing in things if isinstance(thing, RoleAssignments)}
    for identity in identities:
        found[f"{names.kubernetes(identity.title)}.yaml"] = [
            *_identity(identity, manner),
            *_roles(given[identity.name], manner),
        ]
    return found


def _group(group: ResourceGroup, manner: Manner) -> Object:
    return manner.object(
        "resource-group",
        group.name,
        {"azureName": group.name, "location": group.region, "tags": names.tags(group.cluster)},
    )


def _identity(identity: Identity, manner: Manner) -> Iterator[Object]:
    title, group = identity.title, identity.group
    owner = (
        {"armId": ids.group(identity.subscription.id, group.name)}
        if group.named
        else {"name": names.kubernetes(group.name)}
    )
    spec: Object = {
        "azureName": title,
        "location": identity.subscription.region,
        "owner": owner,
        "tags": names.tags(identity.cluster),
    }
    learned = {key: {"name": _config_map(identity), "key": key} for key in LEARNED}
    yield manner.object(
        "user-assigned-identity", title, {**spec, "operatorSpec": {"configMaps": learned}}
    )
    for subject, name in identity.entitled.items():
        trust = {"issuer": identity.home.text, "subject": subject, "audiences": [identity.audience]}
        named = {"azureName": name, "owner": {"name": names.kubernetes(title)}}
        yield manner.object("federated-identity-credential", f"{title}-{name}", {**named, **trust})


def _roles(given: RoleAssignments, manner: Manner) -> Iterator[Object]:
    if given.own:
        yield _role(given.own, given.identity, manner)
    for grant in sorted(given.grants, key=lambda each: (each.scope, each.role)):
        yield _assignment(
            given.identity, grant, {"armId": ids.role(grant.scope, grant.role)}, manner
        )
    for scope in sorted(given.own_scopes if given.own else ()):
        reference = {
            "group": AUTHORIZATION,
            "kind": "RoleDefinition",
            "name": names.kubernetes(given.identity.title),
        }
        yield _assignment(given.identity, Grant(scope, _guid(given.identity)), reference, manner)


def _role(role: CustomRole, identity: Identity, manner: Manner) -> Object:
    want = role.want(Known())
    powers = {
        "actions": want.actions,
        "notActions": want.not_actions,
        "dataActions": want.data_actions,
        "notDataActions": want.not_data_actions,
    }
    spec: Object = {
        "azureName": _guid(identity),
        "owner": {"armId": ids.subscription(identity.subscription.id)},
        "roleName": role.name,
        "description": want.description,
        "assignableScopesReferences": [{"armId": scope} for scope in sorted(want.scopes)],
        "permissions": [{key: sorted(actions) for key, actions in powers.items() if actions}],
    }
    return manner.object("role-definition", role.name, spec)


def _assignment(identity: Identity, grant: Grant, role: Object, manner: Manner) -> Object:
    name = names.assignment(grant.scope, grant.role, identity.name)
    spec: Object = {
        "azureName": name,
        "owner": {"armId": grant.scope},
        "principalIdFromConfig": {"name": _config_map(identity), "key": "principalId"},
        "roleDefinitionReference": role,
    }
    return manner.object("role-assignment", f"{identity.title}-{name}", spec)


def _config_map(identity: Identity) -> str:
    return names.kubernetes(f"identity-map-{identity.title}")


def _guid(identity: Identity) -> str:
    return names.custom_role(identity.subscription.id, identity.title)

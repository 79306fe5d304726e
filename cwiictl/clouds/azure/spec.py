"""What Azure must be told for a cluster, and what a workload may ask of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.environments import PUBLIC, environment
from cwiictl.clouds.azure.resources.custom_role import NOTHING, Powers
from cwiictl.clouds.spec import asked, spared, switched
from cwiictl.config import Request
from cwiictl.errors import BadInput
from cwiictl.model import Cluster
from cwiictl.shapes import keys, refuse_misspelt

KIND = "AzureProviderSpec"
TENANT = "azure_tenant_id"  # what a Secret calls it
GUID = re.compile(ids.UUID)
REGION = re.compile(r"[a-z][a-z0-9]+")
AWS_REGION = re.compile(r"[a-z]+(-[a-z]+)+-[0-9]")
GROUP = re.compile(r"[-\w.()]{0,89}[-\w()]")
ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
CONTAINER = re.compile(r"(?=.{3,63}\Z)[a-z0-9]+(-[a-z0-9]+)*")
ACTION = re.compile(r"\*|[\w.*-]+(/[\w.*-]+)+", re.ASCII)

PLACING = (
    "create-identity-provider",
    "create-identities",
    "create-identity",
    "create-all",
    "status",
    "verify",
    "rotate-keys",
    "delete",
    "permissions",
)
ISSUING = ("create-identity-provider", "create-all", "status", "verify", "rotate-keys")
IDENTITIES = (
    "create-identities",
    "create-identity",
    "create-all",
    "status",
    "verify",
    "rotate-keys",
    "permissions",
)
REQUESTS = ("create-identities", "create-all", "status", "verify", "rotate-keys")

DNS, NETWORK = "dns_group", "network_group"
EXTRA: Mapping[
    str, tuple[str, ...]
] = {  # requests by name, whose roles hold in these groups too, where the user has them
    "openshift-ingress-azure": (DNS, NETWORK),
    "openshift-image-registry-azure": (NETWORK,),
    "openshift-machine-api-azure": (NETWORK,),
    "azure-file-csi-driver-operator": (NETWORK,),
    "openshift-cloud-network-config-controller-azure": (NETWORK,),
    "openshift-azure-cloud-controller-manager": (NETWORK,),
}


@dataclass(frozen=True)
class Spec:
    """Azure compares names without case, and so they are lower case here."""

    region: str = spared(
        asked(
            "--region",
            "Azure region of all that is made, such as eastus.",
            metavar="REGION",
            required=True,
        ),
        "delete",
        "permissions",
    )
    subscription: str = asked(
        "--subscription-id", "Azure subscription to act in.", metavar="ID", required=True
    )
    tenant: str = asked("--tenant-id", "Refuse to act in any other Entra tenant.", metavar="ID")
    environment: str = asked(
        "--azure-env",
        f"AzureUSGovernmentCloud or AzureChinaCloud.  [default: {PUBLIC}]",
        metavar="NAME",
    )
    group: str = asked(
        "--oidc-resource-group-name",
        "Resource group of the issuer and the identities.  [default: NAME-oidc]",
        metavar="GROUP",
    )
    account: str = asked(
        "--storage-account-name",
        "Storage account for the documents.  [default: made of --name]",
        metavar="NAME",
        of=PLACING,
    )
    container: str = asked(
        "--blob-container-name",
        "Blob container for the documents.  [default: made of --name]",
        metavar="NAME",
        of=PLACING,
    )
    private: bool = switched(
        "--create-private-storage-account",
        "Let nobody read the documents anonymously: a host of your own, --issuer-url, serves them.",
        of=ISSUING,
    )
    installation: str = asked(
        "--installation-resource-group-name",
        "Resource group that the cluster is installed in.  [default: NAME]",
        metavar="GROUP",
        of=IDENTITIES,
    )
    dns_group: str = asked(
        "--dnszone-resource-group-name",
        "Resource group of the DNS zone, for ingress.",
        metavar="GROUP",
        of=REQUESTS,
    )
    network_group: str = asked(
        "--network-resource-group-name",
        "Resource group of an existing network.",
        metavar="GROUP",
        of=REQUESTS,
    )
    preserve: bool = switched(
        "--preserve-existing-roles",
        "Leave the identities the roles that others have given them.",
        of=IDENTITIES,
    )
    delete_group: bool = switched(
        "--delete-oidc-resource-group",
        "Drop the resource group too, if it is ours and all that is in it; and the installation's, if it is ours and empty.",
        of=("delete",),
    )
    also: str = asked(
        "--also",
        "Where else to look for role assignments of the cluster: ids of scopes.",
        metavar="SCOPE,...",
        of=("delete",),
    )

    def __post_init__(self) -> None:
        for name in (
            "subscription",
            "tenant",
            "group",
            "account",
            "container",
            "installation",
            DNS,
            NETWORK,
        ):
            object.__setattr__(self, name, getattr(self, name).lower())
        object.__setattr__(self, "region", ids.region(self.region))
        object.__setattr__(self, "environment", environment(self.environment).name)
        _check_region(self.region)
        _check(
            "--subscription-id", self.subscription, GUID, "the id of a subscription", required=True
        )
        _check("--tenant-id", self.tenant, GUID, "the id of a tenant")
        _check(
            "--storage-account-name", self.account, ACCOUNT, "a name of 3 to 24 letters and digits"
        )
        if names.withheld(self.account):
            raise BadInput(
                f"--storage-account-name {self.account!r} holds a word that Azure keeps for itself",
                remedy="give another name",
            )
        _check(
            "--blob-container-name",
            self.container,
            CONTAINER,
            "a name of 3 to 63 letters, digits and single '-'",
        )
        for flag, group in (
            ("--oidc-resource-group-name", self.group),
            ("--installation-resource-group-name", self.installation),
            ("--dnszone-resource-group-name", self.dns_group),
            ("--network-resource-group-name", self.network_group),
        ):
            _check(flag, group, GROUP, "the name of a resource group")
        for scope in self.elsewhere:
            if not ids.is_scope(scope):
                raise BadInput(
                    f"--also {scope} is not the id of a scope",
                    remedy="write it like /subscriptions/ID/resourceGroups/NAME",
                )

    def home(self, cluster: Cluster) -> str:
        """The resource group of the issuer and the identities."""
        return self.group or names.group(cluster)

    def site(self, cluster: Cluster) -> str:
        """The resource group that the cluster is installed in."""
        return self.installation or names.installation(cluster)

    def doomed(self, cluster: Cluster) -> str:
        """The resource group that goes too, if that was asked for."""
        return self.home(cluster) if self.delete_group else ""

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Where the cluster's role assignments are to be looked for beside its subscription."""
        return tuple(ids.folded(scope.strip()) for scope in self.also.split(",") if scope.strip())


def _check_region(region: str) -> None:
    if AWS_REGION.fullmatch(region):
        raise BadInput(
            f"--region {region!r} is written as AWS writes its regions",
            remedy="give one of Azure with --region, such as eastus",
        )
    _check("--region", region, REGION, "the name of a region", required=True)


def _check(
    flag: str, value: str, pattern: re.Pattern[str], what: str, *, required: bool = False
) -> None:
    if value and not pattern.fullmatch(value):
        raise BadInput(
            f"{flag} {value!r} is not {what}",
            remedy=f"give {what}" if required else f"give {what}, or leave {flag} out",
        )


@dataclass(frozen=True)
class Role:
    """One that a workload is to be given. Without scopes it holds where the workload's other ones do."""

    title: str
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ask:
    """What a workload may do in Azure, and where. Without scopes it is the installation's resource group."""

    roles: tuple[Role, ...] = ()
    powers: Powers = NOTHING
    scopes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # fields of the Spec: where else, if they are given
    identity: str = ""  # what it is called, if that is not left to us
    credentials: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # what those of its ServiceAccounts are called, for which the same holds
    preserve: bool = False  # what others gave it stays


class _Binding(msgspec.Struct):
    role: str


class _ProviderSpec(msgspec.Struct, rename="camel"):
    role_bindings: list[_Binding] = []
    permissions: list[str] = []
    data_permissions: list[str] = []


def ask(request: Request) -> Ask:
    """The roleBindings and permissions of a CredentialsRequest."""
    refuse_misspelt(
        f"{request.source}: spec.providerSpec of {request.name}", request.spec, keys(_ProviderSpec)
    )
    try:
        spec = msgspec.convert(request.spec, _ProviderSpec)
    except msgspec.ValidationError as e:
        raise BadInput(
            f"{request.source}: spec.providerSpec of {request.name}: {e}",
            remedy="write roleBindings with role, or permissions",
        ) from e
    roles, told = (
        tuple(Role(binding.role.strip()) for binding in spec.role_bindings),
        powers(request.source, spec.permissions, (), spec.data_permissions, ()),
    )
    if not (roles or told) or not all(role.title for role in roles):
        raise BadInput(
            f"{request.source}: {request.name} asks Azure for nothing",
            remedy="give it roleBindings with a role each, or permissions",
        )
    return Ask(tuple(dict.fromkeys(roles)), told, groups=EXTRA.get(request.name, ()))


def powers(
    source: str,
    actions: Iterable[str],
    not_actions: Iterable[str],
    data: Iterable[str],
    not_data: Iterable[str],
) -> Powers:
    found = Powers(*(frozenset(some) for some in (actions, not_actions, data, not_data)))
    for action in sorted(
        found.actions | found.not_actions | found.data_actions | found.not_data_actions
    ):
        if not ACTION.fullmatch(action):
            raise BadInput(
                f"{source}: {action!r} is not an action of Azure",
                remedy="write it like Microsoft.Storage/storageAccounts/read",
            )
    if not found and (found.not_actions or found.not_data_actions):
        raise BadInput(
            f"{source}: it forbids actions of a role that allows none",
            remedy="give permissions or dataPermissions",
        )
    return found

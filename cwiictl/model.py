"""What the user asks for, and what comes of it for Kubernetes: frozen, and valid from birth."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cwiictl.audiences import Asker
from cwiictl.errors import BadInput

TOKEN_PATH = "/var/run/secrets/openshift/serviceaccount/token"  # noqa: S105 - a path, no secret

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
)
RESERVED = ("cwii.dev/", "openshift.io/cloud-credential-operator/")
CLUSTER = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?")


def _check(kind: str, name: str, pattern: re.Pattern[str], source: str) -> None:
    if not pattern.fullmatch(name):
        where = f" in {source}" if source else ""
        raise BadInput(
            f"{kind} {name!r}{where} is not a Kubernetes name",
            remedy="use lower-case letters, digits and '-', beginning and ending with a letter or digit",
        )


@dataclass(frozen=True)
class Cluster:
    """The cluster that is to be trusted. Its name is the beginning of every name that we give; its tags are on all that bears tags."""

    name: str
    tags: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if not CLUSTER.fullmatch(self.name):
            raise BadInput(
                f"the cluster name {self.name!r} cannot be part of every name that is made from it",
                remedy="use at most 50 lower-case letters, digits and '-', beginning and ending with a letter or digit",
            )
        for key in self.tags:
            if key == "Name" or key.startswith(RESERVED):
                raise BadInput(
                    f"the tag {key} is not the user's to set", remedy="choose another key"
                )


@dataclass(frozen=True)
class Workload:
    """Who is to be trusted as one identity: the ServiceAccounts of a namespace, and the Secret that tells them."""

    namespace: str
    name: str
    service_accounts: tuple[str, ...]
    token_path: str = TOKEN_PATH
    asker: Asker = "request"  # who asks for its tokens, and so for whom they are
    source: str = field(
        default="", compare=False
    )  # the file and line it was read from, for messages

    def __post_init__(self) -> None:
        _check("the namespace", self.namespace, LABEL, self.source)
        _check("the name", self.name, SUBDOMAIN, self.source)
        for account in self.service_accounts:
            _check("the ServiceAccount", account, SUBDOMAIN, self.source)
        if not self.service_accounts:
            raise BadInput(
                f"{self.source or self.title} names no ServiceAccount, so nobody would be trusted",
                remedy="list the ServiceAccounts that use it (in a CredentialsRequest under spec.serviceAccountNames)",
            )
        if len(set(self.service_accounts)) < len(self.service_accounts):
            raise BadInput(
                f"{self.source or self.title} names a ServiceAccount twice",
                remedy="list each ServiceAccount once",
            )

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def subjects(self) -> tuple[str, ...]:
        """What the `sub` of a token says, one for each ServiceAccount, in the order they were asked for."""
        return tuple(
            f"system:serviceaccount:{self.namespace}:{account}" for account in self.service_accounts
        )


@dataclass(frozen=True)
class Binding:
    """What a workload must be told in Kubernetes: the finished data of its Secret, and the words that webhooks read on its ServiceAccounts."""

    workload: Workload
    cloud: str
    data: Mapping[str, str | bytes]  # bytes are a file: who has no Secret gets it as one
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    ids: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # that only a preset's own file tells

    @property
    def texts(self) -> dict[str, str]:
        return {key: value for key, value in self.data.items() if isinstance(value, str)}

    @property
    def files(self) -> dict[str, bytes]:
        return {key: value for key, value in self.data.items() if isinstance(value, bytes)}


@dataclass(frozen=True)
class Handover:
    """All that an installer may need. Without an issuer there is only what tells the workloads; without a private key the cluster has its own."""

    issuer: str = ""
    jwks_uri: str = ""
    bindings: tuple[Binding, ...] = ()
    public_key: bytes | None = None
    private_key: bytes | None = field(default=None, repr=False)
    facts: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # of the accounts that the cluster is in, in the words of a Secret
    cluster: str = ""  # its name
    former: str = ""  # the issuer that the cluster has had so far, if that is known
    audiences: tuple[str, ...] = ()  # for whom its API server takes tokens, if that is known

    @property
    def runs(self) -> bool:
        """With a key of its own."""
        return self.private_key is None


@dataclass(frozen=True)
class Succession:
    """What API servers are to be given in a stage of a rotation: the keys that they accept, as one PEM file, and to sign with, the new pair."""

    stage: str
    accepted: bytes
    old: bytes = b""  # the public half of the key that goes
    kid: str = ""  # the beginning of the new one's id
    public_key: bytes = b""
    pair: bytes = field(default=b"", repr=False)  # with its private half

    @property
    def private_key(self) -> bytes:
        """No server is given it before the clouds take what it signs."""
        return self.pair if self.stage == "sign" else b""

"""EKS pod identity's dialect: a role by the ServiceAccount's annotation, or credentials of the agent on the node."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import cast

import msgspec
from msgspec import Struct

from cwii_webhook.injection import Injection, Mount, Nothing, Origin, Touch, Variable, Volume, containers, variable
from cwii_webhook.mutators import cautions, peers
from cwii_webhook.picture import Ref
from cwii_webhook.review import Container, Pod
from cwii_webhook.settings.eks import DAY, LEAST, Settings
from cwii_webhook.shape import on_windows
from cwii_webhook.vocabulary.eks import ENABLED, POD_IDENTITY, words
from cwii_webhook.voices import Subject, Voice

ROLE = re.compile(r"arn:aws[a-z0-9-]*:iam::\d{12}:role/[\w\-/.@+=,]+", re.ASCII)
REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGIONAL = "AWS_STS_REGIONAL_ENDPOINTS"
CONFIG_MAP = "pod-identity-webhook"
JITTER = 7200

_CSV = re.compile(r'"((?:[^"]|"")*)"(?=,|\r?\n|\Z)|([^",\r\n]*)(?=,|\r?\n|\Z)')
_BOOL = {"1": True, "t": True, "T": True, "TRUE": True, "true": True, "True": True} | dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)


class Way(Struct, frozen=True):
    """One of the two ways to credentials: what is mounted where, and the two variables that lead there."""

    volume: str
    mount_path: str
    file: str
    pointer: str  # the variable that names the token's file
    other: str  # the variable that goes with it


class Wish(Struct, frozen=True):
    """What is asked for a pod."""

    way: Way
    value: str
    audience: str
    expiration: int
    regional: bool
    voice: Voice | None
    key: str = ""


class Identities:
    """Who goes to the agent: replaced as a whole when the file changes."""

    def __init__(self, pairs: Collection[tuple[str, str]] = ()) -> None:
        self.pairs = frozenset(pairs)


class Entry(Struct, frozen=True):
    """A ServiceAccount in the ConfigMap."""

    role: str = msgspec.field(default="", name="RoleARN")
    audience: str = msgspec.field(default="", name="Audience")
    regional: bool = msgspec.field(default=False, name="UseRegionalSTS")
    expiration: int = msgspec.field(default=0, name="TokenExpiration")


class Eks:
    gives = "aws"

    def __init__(self, settings: Settings, identities: Identities | None = None) -> None:
        own = settings.container
        self.settings = settings
        self.words = words(settings.domain)
        self.identities = identities or Identities()
        self.sts = Way("aws-iam-token", settings.mount_path, "token", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN")
        self.agent = Way(own.volume_name, own.mount_path, own.token_path, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        self.region = tuple(variable(name, settings.region) for name in ("AWS_DEFAULT_REGION", "AWS_REGION")) if settings.region else ()
        self.volumes = frozenset({self.sts.volume, self.agent.volume})
        self.variables = frozenset({*REGION, REGIONAL, self.sts.pointer, self.sts.other, self.agent.pointer, self.agent.other})
        self._parsed: tuple[str, Mapping[str, Entry]] = ("", {})

    def skipped(self, pod: Pod) -> frozenset[str]:
        return skipping((pod.metadata.annotations or {}).get(self.words.skip.key, ""))

    def __call__(self, subject: Subject) -> Injection | Nothing:
        name = subject.pod.spec.service_account_name
        if not name:
            return Nothing("aws", "no-account", "the pod names no ServiceAccount")
        if self.words.switched_off.key in (subject.pod.metadata.labels or ()):
            return Nothing("aws", "switched-off", f"the pod has the label {self.words.switched_off.key}")
        account = subject.account(name)
        wish = self._wish(subject, name, account)
        if wish is None:
            missing = account is None and not self.settings.config_map
            return Nothing("aws", "no-account" if missing else "not-asked", f"{name} has no {self.words.role_arn.key}")
        return self._injection(subject, wish)

    def _wish(self, subject: Subject, name: str, account: Voice | None) -> Wish | None:
        if (subject.namespace, name) in self.identities.pairs:
            return self._of_agent(subject, name, account)
        if account and account.annotations.get(self.words.role_arn.key):
            return self._of_account(subject, account)
        entry, voice = self._entry(subject, name)
        if entry is None or not entry.role:
            return None
        least = max(LEAST, entry.expiration or self.settings.expiration)
        return Wish(self.sts, self._composed(entry.role), entry.audience, self._expiration(subject, least), entry.regional, voice, name)

    def _of_account(self, subject: Subject, account: Voice) -> Wish:
        said = account.annotations
        role, audience = said[self.words.role_arn.key], said.get(self.words.audience.key, self.settings.audience)
        lasts = self._expiration(subject, self._lasting(said, max(LEAST, self.settings.expiration)))
        return Wish(self.sts, self._composed(role), audience, lasts, self._regional(said), account, self.words.role_arn.key)

    def _of_agent(self, subject: Subject, name: str, account: Voice | None) -> Wish:
        """As much as the ServiceAccount or the ConfigMap says of it. A day is a little less for most, so that not all come at once."""
        own = self.settings.container
        entry = None if account else self._entry(subject, name)[0]
        if account:
            lasts, regional = self._lasting(account.annotations, max(LEAST, self.settings.expiration)), self._regional(account.annotations)
        else:
            lasts, regional = (max(LEAST, entry.expiration or self.settings.expiration), entry.regional) if entry else (DAY, False)
        lasts = self._expiration(subject, lasts)
        lasts -= zlib.crc32(subject.uid.encode()) % (JITTER + 1) if lasts == DAY else 0
        return Wish(self.agent, own.full_uri, own.audience, lasts, regional, None)

    def _regional(self, said: Mapping[str, str]) -> bool:
        return _BOOL.get(said.get(self.words.regional.key, ""), self.settings.regional)

    def _expiration(self, subject: Subject, otherwise: int) -> int:
        """The pod's own word goes before its ServiceAccount's."""
        return self._lasting(subject.pod.metadata.annotations or {}, otherwise)

    def _lasting(self, said: Mapping[str, str], otherwise: int) -> int:
        try:
            return max(LEAST, peers.whole(said.get(self.words.expiration.key, "")))
        except peers.NotANumber:
            return otherwise

    def _composed(self, role: str) -> str:
        if not self.settings.compose or "arn:" in role:
            return role
        return f"arn:{self.settings.partition}:iam::{self.settings.account}:role/{role}"

    def _entry(self, subject: Subject, name: str) -> tuple[Entry | None, Voice | None]:
        if not self.settings.config_map:
            return None, None
        ref = Ref("", "ConfigMap", self.settings.namespace, CONFIG_MAP)
        seen = subject.picture.seen(ref)
        entries = self._entries(seen.annotations.get("config", "") if seen else "")
        entry = entries.get(f"{subject.namespace}/{name}") or entries.get(f"*/{name}")
        return entry, Voice("account", ref, {})

    def _entries(self, text: str) -> Mapping[str, Entry]:
        """Parsed once for each text that is there; what cannot be read leaves what was read before."""
        if self._parsed[0] != text:
            try:
                self._parsed = (text, msgspec.json.decode(text, type=dict[str, Entry]) if text else {})
            except msgspec.MsgspecError:
                self._parsed = (text, self._parsed[1])
        return self._parsed[1]

    def _injection(self, subject: Subject, wish: Wish) -> Injection:
        pod, way = subject.pod, wish.way
        path = f"{way.mount_path}/{way.file}"
        file = "C:" + path.replace("/", "\\") if on_windows(pod) else path
        values = (variable(way.other, wish.value), variable(way.pointer, file))
        token = {"audience": wish.audience, "expirationSeconds": wish.expiration, "path": way.file}
        skipped = self.skipped(pod)
        return Injection(
            gives="aws",
            volumes=(Volume(way.volume, {"projected": {"sources": [{"serviceAccountToken": token}]}}),),
            touches=tuple(self._touches(pod, wish, values, skipped)),
            labels={POD_IDENTITY: ENABLED} if way is self.agent else {},
            warnings=tuple(self._warnings(pod, wish, values, skipped)),
            origins=(Origin(way.other, wish.value, wish.key, wish.voice), Origin(way.pointer, file)),
        )

    def _touches(self, pod: Pod, wish: Wish, values: tuple[Variable, Variable], skipped: Collection[str]) -> Iterator[Touch]:
        mounts = (Mount(wish.way.volume, wish.way.mount_path, read_only=True),)
        for place, index, container in containers(pod):
            if container.name not in skipped:
                variables = self._variables(container, wish.regional, values)
                if variables is not None:
                    yield Touch(place, index, variables, mounts)

    def _variables(self, container: Container, regional: bool, values: tuple[Variable, Variable]) -> tuple[Variable, ...] | None:  # noqa: FBT001 - one of three groups
        """Of each group all or none: what a container has of it stays. None where it has something of each: it needs nothing of us."""
        there = {v.name for v in container.env or ()}
        identity = not there.isdisjoint(v.name for v in values)
        region = not there.isdisjoint(REGION)
        if identity and region and REGIONAL in there:
            return None
        sts = (Variable(REGIONAL, "regional"),) if regional and REGIONAL not in there else ()
        return (*sts, *(() if region else self.region), *(() if identity else values))

    def _warnings(self, pod: Pod, wish: Wish, values: tuple[Variable, ...], skipped: Collection[str]) -> Iterator[str]:
        if wish.way is self.sts and not ROLE.fullmatch(wish.value):
            yield f"{wish.key} of {wish.voice} is {wish.value!r}, which is no role's ARN: AWS will refuse it"
        yield from cautions.expiration(wish.expiration, self.words.expiration.key)
        yield from cautions.own_values(pod, (*self.region, *values), skipped)


def skipping(text: str) -> frozenset[str]:
    """One record of CSV, as strictly as Go reads it: nothing is trimmed, and what is no record skips nobody."""
    names: list[str] = []
    at, text = 0, text.lstrip("\r\n")
    while text:
        field = _CSV.match(text, at)
        if field is None:
            return frozenset()
        quoted = cast("str | None", field[1])
        names.append(field[2] if quoted is None else quoted.replace('""', '"'))
        at = field.end() + 1
        if not text.startswith(",", field.end()):
            break
    return frozenset(names)

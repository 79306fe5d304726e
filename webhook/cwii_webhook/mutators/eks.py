"""EKS pod identity's dialect: a role by the ServiceAccount's annotation, or credentials of the agent on the node."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from typing import cast

from msgspec import Struct

from cwii_webhook.injection import Injection, Mount, Nothing, Origin, Touch, Variable, Volume, more, variable, weight
from cwii_webhook.memo import Memo
from cwii_webhook.mutators import cautions, peers
from cwii_webhook.mutators.eks_sources import Entry, Home, Identities, Roles
from cwii_webhook.picture import Ref
from cwii_webhook.resolve import shown
from cwii_webhook.review import Places, Pod, names
from cwii_webhook.settings import LEAST
from cwii_webhook.settings.eks import DAY, Settings
from cwii_webhook.shape import on_windows
from cwii_webhook.source import Source
from cwii_webhook.vocabulary.eks import ENABLED, POD_IDENTITY, words
from cwii_webhook.voices import Subject, Voice

ROLE = re.compile(r"arn:aws[a-z0-9-]*:iam::\d{12}:role/[\w\-/.@+=,]+", re.ASCII)
REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGIONAL = "AWS_STS_REGIONAL_ENDPOINTS"
JITTER = 7200

_CSV = re.compile(r'"((?:[^"]|"")*)"(?=,|\r?\n|\Z)|([^",\r\n]*)(?=,|\r?\n|\Z)')
_BOOL = {"1": True, "t": True, "T": True, "TRUE": True, "true": True, "True": True} | dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)


There = tuple[frozenset[str], ...]  # of each container, what it has already of what is given; nothing where none has any


class Way(Struct, frozen=True, cache_hash=True):
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
    bearer: Ref | None
    key: str = ""


class Usual(Struct, frozen=True):
    """What comes of a wish for a pod in which nothing is in the way. The same is asked for many pods: it is worked out once."""

    injection: Injection
    variables: tuple[Variable, ...]


class Eks:
    gives = "aws"

    def __init__(self, settings: Settings) -> None:
        own = settings.container
        self.settings = settings
        self.words = words(settings.domain)
        self.roles = Roles(settings.namespace) if settings.config_map else None
        self.identities = Identities(settings.identities) if settings.identities else None
        self.home = Home() if settings.compose else None
        self.sts = Way("aws-iam-token", settings.mount_path, "token", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN")
        self.agent = Way(own.volume_name, own.mount_path, own.token_path, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        self.region = tuple(variable(name, settings.region) for name in ("AWS_DEFAULT_REGION", "AWS_REGION")) if settings.region else ()
        self.volumes = frozenset({self.sts.volume, self.agent.volume})
        self.variables = frozenset({*REGION, REGIONAL, self.sts.pointer, self.sts.other, self.agent.pointer, self.agent.other})
        self._known: Memo[tuple[Wish, bool, Places, There], Usual] = Memo()

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple([source for source in (self.roles, self.identities, self.home) if source])

    def skipped(self, pod: Pod) -> frozenset[str]:
        listed = (pod.metadata.annotations or {}).get(self.words.skip.key)
        return skipping(listed) if listed else frozenset()

    def __call__(self, subject: Subject) -> Injection | Nothing:
        name = subject.pod.spec.service_account_name
        if not name:
            return Nothing("aws", "no-account", "the pod names no ServiceAccount")
        if self.words.switched_off.key in (subject.pod.metadata.labels or ()):
            return Nothing("aws", "switched-off", f"the pod has the label {self.words.switched_off.key}")
        account = subject.account(name)
        wish = self._wish(subject, name, account)
        if wish is None:
            missing = account is None and not self.roles
            return Nothing("aws", "no-account" if missing else "not-asked", f"{name} has no {self.words.role_arn.key}")
        skipped = self.skipped(subject.pod)
        usual = self._usual(wish, on_windows(subject.pod), subject.places(skipped), self._there(subject, skipped))
        return more(usual.injection, (), tuple(cautions.own_values(subject, usual.variables, skipped)))

    def _wish(self, subject: Subject, name: str, account: Voice | None) -> Wish | None:
        if self.identities and (subject.namespace, name) in self.identities.pairs:
            return self._of_agent(subject, name, account)
        if account and account.annotations.get(self.words.role_arn.key):
            return self._of_account(subject, account)
        entry = self._entry(subject, name)
        if not self.roles or entry is None or not entry.rolearn:
            return None
        lasts = self._expiration(subject, self._entered(entry))
        return Wish(self.sts, self._composed(entry.rolearn), entry.audience, lasts, entry.useregionalsts, self.roles.ref, f"{subject.namespace}/{name}")

    def _of_account(self, subject: Subject, account: Voice) -> Wish:
        said = account.annotations
        role, audience = said[self.words.role_arn.key], said.get(self.words.audience.key, self.settings.audience)
        lasts = self._expiration(subject, self._lasting(said, max(LEAST, self.settings.expiration)))
        return Wish(self.sts, self._composed(role), audience, lasts, self._regional(said), account.ref, self.words.role_arn.key)

    def _of_agent(self, subject: Subject, name: str, account: Voice | None) -> Wish:
        """As much as the ServiceAccount or the ConfigMap says of it. A day is a little less for most, so that not all come at once."""
        own = self.settings.container
        entry = None if account else self._entry(subject, name)
        if account:
            lasts, regional = self._lasting(account.annotations, max(LEAST, self.settings.expiration)), self._regional(account.annotations)
        else:
            lasts, regional = (self._entered(entry), entry.useregionalsts) if entry else (DAY, False)
        lasts = self._expiration(subject, lasts)
        lasts -= zlib.crc32(subject.uid.encode()) % (JITTER + 1) if lasts == DAY else 0
        return Wish(self.agent, own.full_uri, own.audience, lasts, regional, None)

    def _regional(self, said: Mapping[str, str]) -> bool:
        return _BOOL.get(said.get(self.words.regional.key, ""), self.settings.regional)

    def _expiration(self, subject: Subject, otherwise: int) -> int:
        """The pod's own word goes before its ServiceAccount's."""
        return self._lasting(subject.pod.metadata.annotations or {}, otherwise)

    def _lasting(self, said: Mapping[str, str], otherwise: int) -> int:
        text = said.get(self.words.expiration.key)
        if text is None:
            return otherwise
        try:
            return max(LEAST, peers.whole(text))
        except peers.NotANumber:
            return otherwise

    def _composed(self, role: str) -> str:
        return self.home.composed(role) if self.home else role

    def _entry(self, subject: Subject, name: str) -> Entry | None:
        return self.roles.of(subject.namespace, name) if self.roles else None

    def _entered(self, entry: Entry) -> int:
        return max(LEAST, entry.tokenexpiration or self.settings.expiration)

    def _there(self, subject: Subject, skipped: frozenset[str]) -> There:
        if self.variables.isdisjoint(subject.variables):
            return ()
        return tuple([self.variables & names((container,)) for container in subject.containers if container.name not in skipped])

    def _usual(self, wish: Wish, windows: bool, places: Places, there: There) -> Usual:  # noqa: FBT001 - part of a key
        key = wish, windows, places, there
        known = self._known.get(key)
        if known is None:
            known = self._worked_out(*key)
            self._known.keep(key, known, weight(known.injection, places))
        return known

    def _worked_out(self, wish: Wish, windows: bool, places: Places, there: There) -> Usual:  # noqa: FBT001
        way, path = wish.way, f"{wish.way.mount_path}/{wish.way.file}"
        file = "C:" + path.replace("/", "\\") if windows else path
        values = (variable(way.other, wish.value), variable(way.pointer, file))
        token = {"audience": wish.audience, "expirationSeconds": wish.expiration, "path": way.file}
        voice = Voice("account", wish.bearer, {}) if wish.bearer else None
        injection = Injection(
            gives="aws",
            volumes=(Volume(way.volume, {"projected": {"sources": [{"serviceAccountToken": token}]}}),),
            touches=tuple(self._touches(wish, values, places, there or (frozenset[str](),) * len(places))),
            labels={POD_IDENTITY: ENABLED} if way is self.agent else {},
            warnings=tuple(self._warnings(wish)),
            origins=(Origin(way.other, wish.value, wish.key, voice), Origin(way.pointer, file)),
        )
        return Usual(injection, (*self.region, *values))

    def _touches(self, wish: Wish, values: tuple[Variable, Variable], places: Places, there: There) -> Iterator[Touch]:
        mounts = (Mount(wish.way.volume, wish.way.mount_path, read_only=True),)
        for place, own in zip(places, there, strict=True):
            variables = self._variables(own, wish.regional, values)
            if variables is not None:
                yield Touch(*place, variables, mounts)

    def _variables(self, there: frozenset[str], regional: bool, values: tuple[Variable, Variable]) -> tuple[Variable, ...] | None:  # noqa: FBT001 - one of three groups
        """Of each group all or none: what a container has of it stays. None where it has something of each: it needs nothing of us."""
        identity = not there.isdisjoint([v.name for v in values])
        region = not there.isdisjoint(REGION)
        if identity and region and REGIONAL in there:
            return None
        sts = (Variable(REGIONAL, "regional"),) if regional and REGIONAL not in there else ()
        return (*sts, *(() if region else self.region), *(() if identity else values))

    def _warnings(self, wish: Wish) -> Iterator[str]:
        if wish.way is self.sts and not ROLE.fullmatch(wish.value):
            nowhere = self.home and not self.home.account
            why = "in which the account is missing: the webhook asks the instance that it runs on" if nowhere else "which is no role's ARN: AWS will refuse it"
            yield f"{wish.key} of {wish.bearer} is {shown(wish.value)}, {why}"
        yield from cautions.expiration(wish.expiration, self.words.expiration.key)


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

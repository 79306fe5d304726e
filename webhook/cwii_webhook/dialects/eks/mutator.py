"""EKS pod identity's dialect: a role by the ServiceAccount's annotation, or credentials of the agent on the node."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.admission.injection import (
    ContainerInjection,
    Injection,
    Mount,
    Origin,
    Skip,
    Variable,
    Volume,
    more,
    variable,
    weight,
)
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import ContainerRefs, Pod, variable_names
from cwii_webhook.dialects.common import warnings as cautions
from cwii_webhook.dialects.common.external_config import ExternalConfig
from cwii_webhook.dialects.common.pod_traits import runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints, printable
from cwii_webhook.dialects.eks.annotations import (
    AGENT,
    ENABLED,
    POD_IDENTITY,
    EksAnnotations,
    eks_annotations,
)
from cwii_webhook.dialects.eks.request import RoleRequest, RoleRequests, Setting
from cwii_webhook.dialects.eks.settings import Settings

ROLE = re.compile(r"arn:aws[a-z0-9-]*:iam::\d{12}:role/[\w\-/.@+=,]+", re.ASCII)
REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGIONAL = "AWS_STS_REGIONAL_ENDPOINTS"

_CSV = re.compile(r'"((?:[^"]|"")*)"(?=,|\r?\n|\Z)|([^",\r\n]*)(?=,|\r?\n|\Z)')

There = tuple[
    frozenset[str], ...
]  # of each container, what it has already of what is given; nothing where none has any


class Usual(Struct, frozen=True):
    """What comes of a wish for a pod in which nothing is in the way. The same is asked for many pods: it is worked out once."""

    injection: Injection
    variables: tuple[Variable, ...]


class EksMutator:
    provider = "aws"

    def __init__(self, settings: Settings) -> None:
        self.words = eks_annotations(settings.domain)
        self.spelling = TypoHints(
            "eks",
            settings.domain,
            (*(getattr(self.words, name) for name in EksAnnotations.__struct_fields__), AGENT),
        )
        self.wishes = RoleRequests(settings, self.words)
        self.sts, self.agent = self.wishes.sts, self.wishes.agent
        self.region = (
            tuple(variable(name, settings.region) for name in ("AWS_DEFAULT_REGION", "AWS_REGION"))
            if settings.region
            else ()
        )
        self.volumes = frozenset({self.sts.volume, self.agent.volume})
        self.variables = frozenset(
            {
                *REGION,
                REGIONAL,
                self.sts.pointer,
                self.sts.other,
                self.agent.pointer,
                self.agent.other,
            }
        )
        self._known: Memo[tuple[RoleRequest, bool, ContainerRefs, There], Usual] = Memo()

    @property
    def external_config(self) -> tuple[ExternalConfig, ...]:
        return self.wishes.external_config

    def skipped(self, pod: Pod) -> frozenset[str]:
        listed = (pod.metadata.annotations or {}).get(self.words.skip.key)
        return skipping(listed) if listed else frozenset()

    def __call__(self, subject: PodContext) -> Injection | Skip:
        name = subject.pod.spec.service_account_name
        if not name:
            return Skip("aws", "no-account", "the pod names no ServiceAccount")
        if self.words.switched_off.key in (subject.pod.metadata.labels or ()):
            return Skip(
                "aws", "switched-off", f"the pod has the label {self.words.switched_off.key}"
            )
        account = subject.service_account(name)
        subject.annotation_warnings = self.spelling.of(subject, account)
        wish = self.wishes(subject, name, account)
        if wish is None:
            return self._unasked(ObjectRef("", "ServiceAccount", subject.namespace, name), account)
        skipped = self.skipped(subject.pod)
        usual = self._usual(
            wish,
            runs_on_windows(subject.pod),
            subject.container_refs(skipped),
            self._there(subject, skipped),
        )
        return more(
            usual.injection,
            (),
            (
                *self._of_skipped(subject, skipped),
                *cautions.own_values(subject, usual.variables, skipped),
            ),
        )

    def _unasked(self, ref: ObjectRef, account: AnnotationSource | None) -> Skip:
        if account is None and not self.wishes.roles:
            return Skip("aws", "no-account", f"there is no {ref}")
        return Skip("aws", "not-asked", f"{ref} has no {self.words.role_arn.key}")

    def _of_skipped(self, subject: PodContext, skipped: frozenset[str]) -> Iterator[str]:
        key = self.words.skip.key
        if skipped:
            yield from cautions.skipped(subject, key, skipped)
        elif listed := (subject.pod.metadata.annotations or {}).get(key):
            yield f"{key} of {subject.ref} is {printable(listed)}, which is no line of CSV: nobody is skipped"

    def _there(self, subject: PodContext, skipped: frozenset[str]) -> There:
        if self.variables.isdisjoint(subject.variables):
            return ()
        return tuple(
            [
                self.variables & variable_names((container,))
                for container in subject.containers
                if container.name not in skipped
            ]
        )

    def _usual(
        self,
        wish: RoleRequest,
        windows: bool,  # noqa: FBT001
        places: ContainerRefs,
        there: There,
    ) -> Usual:
        key = wish, windows, places, there
        known = self._known.get(key)
        if known is None:
            known = self._worked_out(*key)
            self._known.keep(key, known, weight(known.injection, places))
        return known

    def _worked_out(
        self,
        wish: RoleRequest,
        windows: bool,  # noqa: FBT001
        places: ContainerRefs,
        there: There,
    ) -> Usual:
        way, path = wish.way, f"{wish.way.mount_path}/{wish.way.file}"
        file = "C:" + path.replace("/", "\\") if windows else path
        values = (variable(way.other, wish.value.value), variable(way.pointer, file))
        token = {
            "audience": wish.audience.value,
            "expirationSeconds": int(wish.expiration.value),
            "path": way.file,
        }
        injection = Injection(
            provider="aws",
            volumes=(
                Volume(way.volume, {"projected": {"sources": [{"serviceAccountToken": token}]}}),
            ),
            containers=tuple(
                self._touches(wish, values, places, there or (frozenset[str](),) * len(places))
            ),
            labels={POD_IDENTITY: ENABLED} if way is self.agent else {},
            warnings=tuple(self._warnings(wish)),
            origins=tuple(self._origins(wish, file)),
        )
        return Usual(injection, (*self.region, *values))

    def _touches(
        self,
        wish: RoleRequest,
        values: tuple[Variable, Variable],
        places: ContainerRefs,
        there: There,
    ) -> Iterator[ContainerInjection]:
        mounts = (Mount(wish.way.volume, wish.way.mount_path, read_only=True),)
        for place, own in zip(places, there, strict=True):
            variables = self._variables(own, wish.regional.value == "true", values)
            if variables is not None:
                yield ContainerInjection(*place, variables, mounts)

    def _variables(
        self,
        there: frozenset[str],
        regional: bool,  # noqa: FBT001
        values: tuple[Variable, Variable],
    ) -> tuple[Variable, ...] | None:
        """Of each group all or none: what a container has of it stays. None where it has something of each: it needs nothing of us."""
        identity = not there.isdisjoint([v.name for v in values])
        region = not there.isdisjoint(REGION)
        if identity and region and REGIONAL in there:
            return None
        sts = (Variable(REGIONAL, "regional"),) if regional and REGIONAL not in there else ()
        return (*sts, *(() if region else self.region), *(() if identity else values))

    def _origins(self, wish: RoleRequest, file: str) -> Iterator[Origin]:
        yield _origin(wish.way.other, wish.value)
        yield Origin(wish.way.pointer, file)
        yield _origin("audience", wish.audience)
        yield _origin("expiration", wish.expiration)
        if wish.regional.value == "true":
            yield _origin(REGIONAL, replace(wish.regional, value="regional"))
        yield from (Origin(variable.name, variable.value) for variable in self.region)

    def _warnings(self, wish: RoleRequest) -> Iterator[str]:
        yield from (*wish.expiration.odd, *wish.regional.odd)
        role = wish.value
        if wish.way is self.sts and not ROLE.fullmatch(role.value):
            home = self.wishes.home
            nowhere = home and not home.account
            why = (
                "in which the account is missing: the webhook asks the instance that it runs on"
                if nowhere
                else "which is no role's ARN: AWS will refuse it"
            )
            yield f"{role.key} of {role.bearer} is {printable(role.value)}, {why}"
        yield from cautions.expiration(int(wish.expiration.value), self.words.expiration.key)


def _origin(what: str, heard: Setting) -> Origin:
    bearer = heard.bearer
    return Origin(
        what,
        heard.value,
        heard.key,
        AnnotationSource("pod" if bearer.kind == "Pod" else "account", bearer, {})
        if bearer
        else None,
    )


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

"""What the voices ask of one cloud, and a pod that is given it. The same is asked for many pods: it is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from cwii_webhook.admission import already_injected as present
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import (
    NO_TOKEN,
    ConfigMap,
    ContainerInjection,
    Injection,
    Mount,
    Origin,
    Skip,
    Variable,
    Volume,
    describe_origins,
    more,
)
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.common.helper_container import HelperSpec, build_helper
from cwii_webhook.dialects.cwii.annotations import CloudAnnotations
from cwii_webhook.dialects.cwii.precedence import Hearing, ResolvedAnnotations, Said, hearing, where

TOUCH = 256  # weight of what one container is given


class Plan(Struct, frozen=True, kw_only=True):
    """For any pod of which the same is said."""

    volumes: tuple[Volume, ...]
    variables: tuple[Variable, ...]
    mounts: tuple[Mount, ...]
    guests: tuple[HelperSpec, ...] = ()
    annotations: Mapping[str, str] = {}
    before: tuple[ConfigMap, ...] = ()
    warnings: tuple[str, ...]
    origins: tuple[Origin, ...]
    told: str
    names: frozenset[str]  # of variables
    bodies: Mapping[str, Volume]


class Usual(Struct, frozen=True):
    """A plan, and what comes of it for a pod in which nothing is in the way."""

    plan: Plan
    injection: Injection


class CloudMutator:
    """A mutator whose plan follows from what is said, and from nothing else of the pod."""

    def __init__(
        self,
        gives: str,
        volumes: frozenset[str],
        variables: frozenset[str],
        planned: Callable[[ResolvedAnnotations], Plan | Skip],
    ) -> None:
        self.provider = gives
        self.volumes = volumes
        self.variables = variables
        self._planned = planned
        self._known: Memo[Said, Usual | Skip] = Memo()

    def skipped(self, pod: Pod) -> frozenset[str]:  # noqa: ARG002 - no word of cwii's skips a container
        return frozenset()

    def __call__(self, subject: PodContext) -> Injection | Skip:
        heard = hearing(subject)
        usual = self._known.get(heard.said) or self._known.keep(
            heard.said, self._worked_out(heard), heard.said.weight + TOUCH * len(heard.said.places)
        )
        if isinstance(usual, Skip):
            return usual
        plan, injection = usual.plan, usual.injection
        if not plan.guests and not _in_the_way(plan, heard):
            return injection
        guests = tuple([build_helper(guest, subject.pod) for guest in plan.guests])
        return more(injection, guests, tuple(_warnings(plan, heard)))

    def _worked_out(self, heard: Hearing) -> Usual | Skip:
        plan = self._planned(ResolvedAnnotations(heard))
        if isinstance(plan, Skip):
            return plan
        injection = Injection(
            provider=self.provider,
            volumes=plan.volumes,
            containers=tuple(
                [
                    ContainerInjection(*where, plan.variables, plan.mounts)
                    for where in heard.said.places
                ]
            ),
            annotations=plan.annotations,
            prerequisites=plan.before,
            warnings=plan.warnings,
            origins=plan.origins,
            summary=plan.told,
        )
        return Usual(plan, injection)


def _in_the_way(plan: Plan, heard: Hearing) -> bool:
    """Whether there may be anything to warn of: mostly there is not."""
    return bool(heard.from_elsewhere) or not (
        plan.names.isdisjoint(heard.env) and plan.bodies.keys().isdisjoint(heard.volumes)
    )


def _warnings(plan: Plan, heard: Hearing) -> Iterator[str]:
    """What of the pod's own stands in the way."""
    names = [variable.name for variable in plan.variables]
    if not plan.names.isdisjoint(heard.env):
        values = {variable.name: variable.value for variable in plan.variables}
        for container in heard.containers:
            for own in container.env or ():
                if own.name in values and own.value != values[own.name]:
                    yield f"container {container.name} sets {own.name} itself: that is used, not what is injected"
    for name in heard.from_elsewhere:
        yield f"container {name} takes variables from elsewhere (envFrom): should {', '.join(names)} be among them, ours are used"
    for volume in plan.volumes:
        own = heard.volumes.get(volume.name)
        if own and not present.volume(own, volume):
            yield f"volume {volume.name} is the pod's own and is left as it is: rename it, for what is injected belongs there"


def plan(  # noqa: PLR0913 - what a plan is made of
    wishes: ResolvedAnnotations,
    *,
    volumes: tuple[Volume, ...],
    variables: tuple[Variable, ...],
    mounts: tuple[Mount, ...],
    guests: tuple[HelperSpec, ...] = (),
    annotations: Mapping[str, str] | None = None,
    before: tuple[ConfigMap, ...] = (),
) -> Plan:
    """With all that was learned on the way to it."""
    volumes = (*volumes, NO_TOKEN) if guests else volumes
    return Plan(
        volumes=volumes,
        variables=variables,
        mounts=mounts,
        guests=guests,
        annotations=annotations or {},
        before=before,
        warnings=tuple(wishes.warnings),
        origins=tuple(wishes.origins),
        told=describe_origins(wishes.origins),
        names=frozenset([variable.name for variable in variables]),
        bodies={volume.name: volume for volume in volumes},
    )


class NativeAnnotation(Struct, frozen=True):
    """A word of another webhook, by which a cloud is asked for where it is honoured; and the dialect that it is of, if that is one of ours."""

    word: Annotation
    dialect: str = ""
    honoured: bool | None = None  # None where no flag has it honoured

    def unheeded(self, said: Origin) -> str:
        flag = "with --native-annotations=true" if self.honoured is not None else ""
        dialect = f"in the dialect {self.dialect}" if self.dialect else ""
        return f"{where(said)} is not heeded by this webhook: it would be {' or '.join(filter(None, (flag, dialect)))}"


def declined(
    gives: str,
    common: CloudAnnotations,
    wishes: ResolvedAnnotations,
    telling: Sequence[Annotation],
    *natives: NativeAnnotation,
) -> Skip | None:
    """Why there is nothing to give; None where there is: it was asked for in so many words, or by the word of another webhook.

    `telling` are words that nobody says in vain, but on a namespace, where they are for whoever asks.
    """
    asked = wishes.flag(common.inject)
    if asked:
        if asked.value == "true":
            return None
        return Skip(gives, "switched-off", f"{where(asked)} is false", tuple(wishes.warnings))
    asking = [(native, said) for native in natives if (said := wishes.heard(native.word, "inject"))]
    if any(native.honoured for native, _ in asking):
        return None
    vain = [
        said
        for word in telling
        if (said := wishes.heard(word, "inject"))
        and said.source
        and said.source.scope != "namespace"
    ]
    if vain:
        text = f'{where(vain[0])} alone gives nothing: set {common.inject.key} to "true" beside it'
        return Skip(
            gives, "not-asked", f"nobody says {common.inject.key}", (*wishes.warnings, text)
        )
    unheeded = [native.unheeded(said) for native, said in asking]
    return Skip(
        gives, "not-asked", f"nobody says {common.inject.key}", (*wishes.warnings, *unheeded)
    )


def incomplete(gives: str, wishes: ResolvedAnnotations, *missing: str) -> Skip:
    """Asked for, and yet not to be had: that is what its user wants to know."""
    asked = where(wishes.origins[0]) if wishes.origins else "an annotation of another webhook"
    text = f"{asked} asks for an identity, but nobody says {' and '.join(missing)}: set it on the pod, its owner, its ServiceAccount or its namespace"
    return Skip(gives, "incomplete", text, (*wishes.warnings, text))

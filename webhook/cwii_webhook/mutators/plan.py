"""What the voices ask of one cloud, and a pod that is given it. The same is asked for many pods: it is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from cwii_webhook import present
from cwii_webhook.injection import NO_TOKEN, ConfigMap, Injection, Mount, Nothing, Origin, Refused, Touch, Variable, Volume, told
from cwii_webhook.mutators.guest import Guest, joining
from cwii_webhook.resolve import Hearing, Wishes, hearing, where
from cwii_webhook.vocabulary import Word
from cwii_webhook.vocabulary.cwii import GCP_DELIVERY, Common
from cwii_webhook.voices import Subject

LIMIT = 4096  # plans that are remembered
ROOM = 256 * 1024  # bytes: as much as an object's annotations may have together


class Plan(Struct, frozen=True, kw_only=True):
    """For any pod of which the same is said."""

    volumes: tuple[Volume, ...]
    variables: tuple[Variable, ...]
    mounts: tuple[Mount, ...]
    guests: tuple[Guest, ...] = ()
    annotations: Mapping[str, str] = {}
    before: tuple[ConfigMap, ...] = ()
    warnings: tuple[str, ...]
    origins: tuple[Origin, ...]
    told: str


class Cloud:
    """A mutator whose plan follows from what is said, and from nothing else of the pod."""

    def __init__(self, gives: str, volumes: frozenset[str], variables: frozenset[str], planned: Callable[[Wishes], Plan | Nothing]) -> None:
        self.gives = gives
        self.volumes = volumes
        self.variables = variables
        self._planned = planned
        self._remembered: dict[tuple[object, ...], Plan | Nothing] = {}

    def __call__(self, subject: Subject) -> Injection | Nothing:
        heard = hearing(subject)
        plan = self._remembered.get(heard.key)
        if plan is None:
            if len(self._remembered) >= LIMIT:
                self._remembered.clear()
            plan = self._remembered[heard.key] = self._planned(Wishes(heard))
        return plan if isinstance(plan, Nothing) else self._given(plan, subject, heard)

    def _given(self, plan: Plan, subject: Subject, heard: Hearing) -> Injection:
        variables, mounts = plan.variables, plan.mounts
        if plan.annotations:
            _fitting(plan.annotations, subject)
        warnings = tuple(_warnings(plan, heard))
        return Injection(
            gives=self.gives,
            volumes=plan.volumes,
            touches=tuple([Touch(place, index, variables, mounts) for place, index, _ in heard.containers]),
            joining=tuple([joining(guest, subject.pod) for guest in plan.guests]) if plan.guests else (),
            annotations=plan.annotations,
            before=plan.before,
            warnings=plan.warnings + warnings if warnings else plan.warnings,
            origins=plan.origins,
            told=plan.told,
        )


def _fitting(ours: Mapping[str, str], subject: Subject) -> None:
    """No letter has more than four bytes: most pods need no nearer look."""
    together = {**(subject.pod.metadata.annotations or {}), **ours}
    if 4 * (sum(map(len, together)) + sum(map(len, together.values()))) <= ROOM:
        return
    size = sum([len(key.encode()) + len(text.encode()) for key, text in together.items()])
    if size > ROOM:
        raise Refused(
            f"{subject.ref} has no room for {' and '.join(ours)}: its annotations would have {size} bytes, and {ROOM} is all that they may have; "
            f"shorten them, or set {GCP_DELIVERY.key} to config-map"
        )


def _warnings(plan: Plan, heard: Hearing) -> Iterator[str]:
    """What of the pod's own stands in the way."""
    names = [variable.name for variable in plan.variables]
    if not heard.env.isdisjoint(names):
        values = {variable.name: variable.value for variable in plan.variables}
        for _, _, container in heard.containers:
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
    wishes: Wishes,
    *,
    volumes: tuple[Volume, ...],
    variables: tuple[Variable, ...],
    mounts: tuple[Mount, ...],
    guests: tuple[Guest, ...] = (),
    annotations: Mapping[str, str] | None = None,
    before: tuple[ConfigMap, ...] = (),
) -> Plan:
    """With all that was learned on the way to it."""
    return Plan(
        volumes=(*volumes, NO_TOKEN) if guests else volumes,
        variables=variables,
        mounts=mounts,
        guests=guests,
        annotations=annotations or {},
        before=before,
        warnings=tuple(wishes.warnings),
        origins=tuple(wishes.origins),
        told=told(wishes.origins),
    )


def declined(gives: str, common: Common, wishes: Wishes, *natives: Word) -> Nothing | None:
    """Why there is nothing to give; None where there is: it was asked for in so many words, or by the word of another webhook."""
    asked = wishes.flag(common.inject)
    if asked:
        if asked.value == "true":
            return None
        return Nothing(gives, "switched-off", f"{where(asked)} is false", tuple(wishes.warnings))
    if any(wishes.heard(native, "inject") for native in natives):
        return None
    return Nothing(gives, "not-asked", f"nobody says {common.inject.key}", tuple(wishes.warnings))


def incomplete(gives: str, wishes: Wishes, *missing: str) -> Nothing:
    """Asked for, and yet not to be had: that is what its user wants to know."""
    asked = where(wishes.origins[0]) if wishes.origins else "an annotation of another webhook"
    text = f"{asked} asks for an identity, but nobody says {' and '.join(missing)}: set it on the pod, its owner, its ServiceAccount or its namespace"
    return Nothing(gives, "incomplete", text, (*wishes.warnings, text))

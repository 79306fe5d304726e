"""explain: what pods would be given by the webhook, and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from cwii_webhook.admission.cluster_view import namespace_ref
from cwii_webhook.dialects.common.external_config import (
    ConfigMapKey,
    ExternalConfig,
    InstanceMetadata,
    LocalFile,
)
from cwii_webhook.dialects.dialect import ServerVersion, build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.settings.flags import BadFlag

from cwiictl import files
from cwiictl.actions.cluster import version
from cwiictl.actions.live import Live, got
from cwiictl.actions.meant import Found, Way, found
from cwiictl.documents import documents
from cwiictl.errors import BadInput
from cwiictl.explain import Explanation, explained, passed_over
from cwiictl.explain.objects import Objects, Pod, read
from cwiictl.kubernetes import connect

DIALECT = "cwii"  # where nothing else is said


@dataclass(frozen=True)
class Question:
    """Which pods, and which webhook: its dialect, and its own flags and variables."""

    texts: Mapping[str, bytes]  # by the names of their files
    things: Sequence[str]  # in the cluster, such as pod/web
    namespace: str
    dialect: str = ""  # cwii's, or that of the webhook that the cluster has
    flags: Sequence[str] = ()
    environ: Mapping[str, str] | None = None
    kubeconfig: Path | None = None
    context: str = ""


@dataclass(frozen=True)
class Answer:
    explanations: tuple[Explanation, ...]
    unseen: Mapping[
        str, str
    ]  # what was looked for, and is not there; and what is, and may be meant
    warnings: tuple[
        str, ...
    ] = ()  # what the webhook would not heed, of what it heeds besides annotations
    by: tuple[str, ...] = ()  # whose flags it is explained by, where a cluster was asked


def explain(question: Question) -> Answer:
    """Nobody is connected to for what stands in files."""
    if not question.things:
        return _answer(Found((_way(question, ()),)), question.texts, Objects(question.namespace))
    if question.flags:
        _way(question, ())  # what they lack is said before anybody is connected to
    with closing(connect(question.kubeconfig, question.context)) as place:
        texts = {
            **question.texts,
            **{thing: got(place, thing, question.namespace) for thing in question.things},
        }
        those = Found() if question.flags else found(place, question.dialect)
        those = those if those.ways else replace(those, ways=(_way(question, version(place)),))
        return _answer(those, texts, Live(question.namespace, place=place))


def _way(question: Question, known: ServerVersion) -> Way:
    dialect = ALL[question.dialect or DIALECT]
    try:
        return Way(
            build_service(
                dialect,
                [*dialect.selector_flags, *question.flags],
                question.environ or {},
                server_version=known,
            )
        )
    except BadFlag as e:
        where = (
            ""
            if question.flags
            else "; flags of the webhook stand behind --, as in: -- --tenant-id=TENANT"
        )
        raise BadInput(e.problem, remedy=e.remedy + where) from e


def _answer(those: Found, texts: Mapping[str, bytes], objects: Objects) -> Answer:
    pods = read(
        (document for name, text in texts.items() for document in documents(name, text)), objects
    )
    if not pods:
        told = (
            f"there is no pod in {', '.join(texts)}"
            if texts
            else "nothing is given that could be explained"
        )
        raise BadInput(
            told, remedy="give a pod, or a workload that makes pods: pod/NAME, or a file with -f"
        )
    problems = tuple(
        filter(None, [heed(source, objects) for way in those.ways for source in way.sources])
    )
    explanations = tuple(each for pod in pods for each in _explained(pod, those.ways, objects))
    return Answer(
        explanations, {str(ref): objects.near(ref) for ref in objects.missed}, problems, those.by
    )


def _explained(pod: Pod, ways: Iterable[Way], objects: Objects) -> Iterator[Explanation]:
    """One after another, as API servers ask: what one has given, the next one sees."""
    around = objects.body(namespace_ref(pod.namespace)) if isinstance(objects, Live) else None
    for way in ways:
        why = way.unasked(around, pod.body)
        told = (
            passed_over(pod, way.service.route.dialect, why)
            if why
            else explained(pod, way.service.route, objects)
        )
        pod = Pod(pod.namespace, told.after)
        yield told


def heed(source: ExternalConfig, objects: Objects) -> str:
    """What a dialect heeds besides annotations, from where it is at hand. What the webhook's own machine is told of itself is not.

    Gives why something is passed over: as in the webhook, pods are decided on all the same.
    """
    match source.location:
        case ConfigMapKey(ref, key):
            return source.update(seen.annotations.get(key)) if (seen := objects.get(ref)) else ""
        case LocalFile(path):
            return source.update(_text(Path(path)))
        case InstanceMetadata():
            return ""


def _text(path: Path) -> str | None:
    return (
        files.read(path, "the file").decode(errors="replace") if os.access(path, os.F_OK) else None
    )

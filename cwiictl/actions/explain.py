"""explain: what pods would be given by the webhook, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cwii_webhook.dialects import ALL, Service, Version, service
from cwii_webhook.settings.flags import BadFlag
from cwii_webhook.source import File, Key, Machine, Source

from cwiictl import files
from cwiictl.actions.cluster import version
from cwiictl.actions.live import Live, got
from cwiictl.documents import documents
from cwiictl.errors import BadInput
from cwiictl.explain import Explanation, explained
from cwiictl.explain.objects import Objects, read
from cwiictl.kubernetes import connect


@dataclass(frozen=True)
class Question:
    """Which pods, and which webhook: its dialect, and its own flags and variables."""

    texts: Mapping[str, bytes]  # by the names of their files
    things: Sequence[str]  # in the cluster, such as pod/web
    namespace: str
    dialect: str
    flags: Sequence[str] = ()
    environ: Mapping[str, str] | None = None
    kubeconfig: Path | None = None
    context: str = ""


@dataclass(frozen=True)
class Answer:
    explanations: tuple[Explanation, ...]
    unseen: Mapping[str, str]  # what was looked for, and is not there; and what is, and may be meant
    warnings: tuple[str, ...] = ()  # what the webhook would not heed, of what it heeds besides annotations


def explain(question: Question) -> Answer:
    """Nobody is connected to for what stands in files."""
    way = _service(question, ())
    if not question.things:
        return _answer(way, question.texts, Objects(question.namespace))
    with closing(connect(question.kubeconfig, question.context)) as place:
        found = {thing: got(place, thing, question.namespace) for thing in question.things}
        way = _service(question, version(place)) if way.version else way
        return _answer(way, {**question.texts, **found}, Live(question.namespace, place=place))


def _service(question: Question, known: Version) -> Service:
    dialect = ALL[question.dialect]
    try:
        return service(dialect, [*dialect.selecting, *question.flags], question.environ or {}, version=known)
    except BadFlag as e:
        where = "" if question.flags else "; flags of the webhook stand behind --, as in: -- --tenant-id=TENANT"
        raise BadInput(e.problem, remedy=e.remedy + where) from e


def _answer(way: Service, texts: Mapping[str, bytes], objects: Objects) -> Answer:
    pods = read((document for name, text in texts.items() for document in documents(name, text)), objects)
    if not pods:
        raise BadInput(f"there is no pod in {', '.join(texts) or 'nothing'}", remedy="give a pod, or a workload that makes pods: pod/NAME, or a file with -f")
    problems = tuple(filter(None, [heed(source, objects) for source in way.sources]))
    explanations = tuple(explained(pod, way.route, objects) for pod in pods)
    return Answer(explanations, {str(ref): objects.near(ref) for ref in objects.missed}, problems)


def heed(source: Source, objects: Objects) -> str:
    """What a dialect heeds besides annotations, from where it is at hand. What the webhook's own machine is told of itself is not.

    Gives why something is passed over: as in the webhook, pods are decided on all the same.
    """
    match source.place:
        case Key(ref, key):
            return source.take(seen.annotations.get(key)) if (seen := objects.seen(ref)) else ""
        case File(path):
            return source.take(_text(Path(path)))
        case Machine():
            return ""


def _text(path: Path) -> str | None:
    return files.read(path, "the file").decode(errors="replace") if os.access(path, os.F_OK) else None

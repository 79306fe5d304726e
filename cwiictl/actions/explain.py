"""explain: what pods would be given by the webhook, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cwii_webhook.dialects import ALL, service
from cwii_webhook.settings.flags import BadFlag
from cwii_webhook.source import File, Key, Machine, Source

from cwiictl import files
from cwiictl.actions.kubectl import Live, got
from cwiictl.documents import documents
from cwiictl.errors import BadInput
from cwiictl.explain import Explanation, explained
from cwiictl.explain.objects import Objects, read


@dataclass(frozen=True)
class Question:
    """Which pods, and which webhook: its dialect, and its own flags and variables."""

    texts: Mapping[str, bytes]  # by the names of their files
    things: Sequence[str]  # in the cluster that kubectl is set to, such as pod/web
    namespace: str
    dialect: str
    flags: Sequence[str] = ()
    environ: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Answer:
    explanations: tuple[Explanation, ...]
    unseen: Mapping[str, str]  # what was looked for, and is not there; and what is, and may be meant
    warnings: tuple[str, ...] = ()  # what the webhook would not heed, of what it heeds besides annotations


def explain(question: Question) -> Answer:
    try:
        dialect = ALL[question.dialect]
        way = service(dialect, [*dialect.selecting, *question.flags], question.environ or {})
    except BadFlag as e:
        raise BadInput(e.problem, remedy=e.remedy) from e
    texts = {**question.texts, **{thing: got(thing, question.namespace) for thing in question.things}}
    objects = (Live if question.things else Objects)(question.namespace)
    pods = read((document for name, text in texts.items() for document in documents(name, text)), objects)
    if not pods:
        raise BadInput(f"there is no pod in {', '.join(texts) or 'nothing'}", remedy="give a pod, or a workload that makes pods: pod/NAME, or a file with -f")
    problems = [_heed(source, objects) for source in way.sources]
    explanations = tuple(explained(pod, way.route, objects) for pod in pods)
    return Answer(explanations, {str(ref): objects.near(ref) for ref in objects.missed}, tuple(filter(None, problems)))


def _heed(source: Source, objects: Objects) -> str:
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

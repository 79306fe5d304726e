"""explain: what pods would be given by the webhook, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cwii_webhook.dialects import ALL, service
from cwii_webhook.settings.flags import BadFlag

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
    unseen: tuple[str, ...]  # what was looked for, and is not there


def explain(question: Question) -> Answer:
    try:
        dialect = ALL[question.dialect]
        way = service(dialect, [*dialect.selecting, *question.flags], question.environ or {}).route
    except BadFlag as e:
        raise BadInput(e.problem, remedy=e.remedy) from e
    texts = {**question.texts, **{thing: got(thing, question.namespace) for thing in question.things}}
    objects = (Live if question.things else Objects)(question.namespace)
    pods = read((document for name, text in texts.items() for document in documents(name, text)), objects)
    if not pods:
        raise BadInput(f"there is no pod in {', '.join(texts) or 'nothing'}", remedy="give a pod, or a workload that makes pods: pod/NAME, or a file with -f")
    explanations = tuple(explained(pod, way, objects) for pod in pods)
    return Answer(explanations, tuple(str(ref) for ref in objects.missed))

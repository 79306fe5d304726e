"""explain: what pods would be given by the webhook, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cwii_webhook.dialects import ALL, service
from cwii_webhook.settings.flags import BadFlag

from cwiictl.documents import documents
from cwiictl.errors import BadInput
from cwiictl.explain import Explanation, explained
from cwiictl.explain.objects import read


@dataclass(frozen=True)
class Question:
    """Which pods, and which webhook: its dialect, and its own flags and variables."""

    texts: Mapping[str, bytes]  # by the names of their files
    namespace: str
    dialect: str
    flags: Sequence[str] = ()
    environ: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Answer:
    explanations: tuple[Explanation, ...]
    unseen: tuple[str, ...]  # what would have been asked, and is in no file


def explain(question: Question) -> Answer:
    try:
        way = service(ALL[question.dialect], question.flags, question.environ or {}).route
    except BadFlag as e:
        raise BadInput(e.problem, remedy=e.remedy) from e
    pods, objects = read((document for name, text in question.texts.items() for document in documents(name, text)), question.namespace)
    if not pods:
        raise BadInput(f"there is no pod in {', '.join(question.texts)}", remedy="give a pod, or a workload that makes pods, with -f")
    explanations = tuple(explained(pod, way, objects) for pod in pods)
    return Answer(explanations, tuple(str(ref) for ref in objects.missed))

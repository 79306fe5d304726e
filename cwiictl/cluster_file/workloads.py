"""Who asks for identities, in the words of cluster.yaml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cwiictl.audiences import Asker
from cwiictl.cluster_file.words import Words, WorkloadShape
from cwiictl.documents import Document
from cwiictl.errors import BadInput
from cwiictl.model import Workload
from cwiictl.shapes import refuse_twins


@dataclass(frozen=True)
class WorkloadAsk:
    """A workload, and for each cloud its section as it was read: `value` for the cloud's own `ask`, `where` for what that has to say."""

    workload: Workload
    asks: Mapping[str, Document]


def workloads(
    document: Document, shapes: Iterable[WorkloadShape], words: Words, asker: Asker = "webhook"
) -> tuple[WorkloadAsk, ...]:
    """Those under `workloads`. A ServiceAccount can bear the annotation of one identity only, in each cloud."""
    found = tuple(_workloads(document, shapes, words, asker))
    refuse_twins([(f"the workload {each.workload.title}", each.workload.source) for each in found])
    pairs = [(each.workload, cloud) for each in found for cloud in each.asks]
    refuse_twins(
        [
            (f"an identity in {cloud} for the ServiceAccount {it.namespace}/{account}", it.source)
            for it, cloud in pairs
            for account in it.service_accounts
        ]
    )
    return found


def _workloads(
    document: Document, shapes: Iterable[WorkloadShape], words: Words, asker: Asker
) -> Iterator[WorkloadAsk]:
    for index, asked in enumerate(shapes):
        section = document.below("workloads", index)
        workload = Workload(
            asked.namespace,
            asked.name,
            tuple(asked.service_accounts),
            asker=asker,
            source=section.source,
        )
        asks = {cloud: section.below(cloud) for cloud in words.clouds if cloud in section.value}
        if not asks:
            raise BadInput(
                f"{section.source}: {workload.title} asks no cloud for anything",
                remedy=f"say what it may do, under one of: {', '.join(words.clouds)}",
            )
        yield WorkloadAsk(workload, asks)

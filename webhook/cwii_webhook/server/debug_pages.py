"""What an operator may ask on the loopback alone: what every task waits for, what is held in memory, and how the picture is."""

from __future__ import annotations

import asyncio
import gc
import resource
import traceback
from collections.abc import Callable, Mapping

from cwii_webhook.server.messages import Handler, HttpRequest, HttpResponse, text_response

DEEPEST = 12  # frames of a task

Pages = Mapping[bytes, Callable[[], str]]


def handler(pages: Pages) -> Handler:
    known = {b"/debug/tasks": tasks, b"/debug/memory": memory, **pages}

    def handle(asked: HttpRequest) -> HttpResponse:
        if asked.method != b"GET":
            return text_response(405, "only GET is answered here")
        page = known.get(asked.path)
        return (
            text_response(200, page())
            if page
            else text_response(404, "there is " + ", ".join(path.decode() for path in known))
        )

    return handle


def tasks() -> str:
    told: list[str] = []
    for task in sorted(asyncio.all_tasks(), key=str):
        told.append(f"{task.get_name()}:")
        told += [
            line
            for frame in task.get_stack(limit=DEEPEST)
            for line in traceback.format_stack(frame, 1)
        ]
    return "\n".join(told)


def memory() -> str:
    """No object is shown, only how many there are of which type: what they hold may be somebody's secret."""
    counts: dict[str, int] = {}
    for one in gc.get_objects():
        name = f"{type(one).__module__}.{type(one).__qualname__}"
        counts[name] = counts.get(name, 0) + 1
    most = sorted(counts.items(), key=lambda pair: -pair[1])[:40]
    return "\n".join(
        [
            f"most memory so far: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} KiB",
            *(f"{count:9} {name}" for name, count in most),
        ]
    )

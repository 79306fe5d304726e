"""Debug pages for operators, served on the loopback address only."""

from __future__ import annotations

import asyncio
import gc
import resource
import traceback
from collections.abc import Callable, Mapping

from cwii_webhook.server.messages import Handler, HttpRequest, HttpResponse, text_response

MAX_FRAMES = 12  # per task

Pages = Mapping[bytes, Callable[[], str]]


def make_handler(extra_pages: Pages) -> Handler:
    pages = {b"/debug/tasks": describe_tasks, b"/debug/memory": describe_memory, **extra_pages}

    def handle(request: HttpRequest) -> HttpResponse:
        if request.method != b"GET":
            return text_response(405, "only GET is answered here")
        page = pages.get(request.path)
        return (
            text_response(200, page())
            if page
            else text_response(404, "there is " + ", ".join(path.decode() for path in pages))
        )

    return handle


def describe_tasks() -> str:
    """List all tasks of the loop with their stacks."""
    lines: list[str] = []
    for task in sorted(asyncio.all_tasks(), key=str):
        lines.append(f"{task.get_name()}:")
        lines += [
            line
            for frame in task.get_stack(limit=MAX_FRAMES)
            for line in traceback.format_stack(frame, 1)
        ]
    return "\n".join(lines)


def describe_memory() -> str:
    """Count the objects of each type. Their contents may be secrets, so no object is printed."""
    counts: dict[str, int] = {}
    for instance in gc.get_objects():
        name = f"{type(instance).__module__}.{type(instance).__qualname__}"
        counts[name] = counts.get(name, 0) + 1
    most_frequent = sorted(counts.items(), key=lambda pair: -pair[1])[:40]
    return "\n".join(
        [
            f"most memory so far: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} KiB",
            *(f"{count:9} {name}" for name, count in most_frequent),
        ]
    )

"""Who else holds what we would say of an object: a person whose change is drift, or somebody with whom nobody should fight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cwiictl.errors import Conflict
from cwiictl.kubernetes import fields

# A person's clients: what they have set by hand is drift. Whatever else sets fields does so again.
PEOPLE = re.compile(
    r"(kubectl|oc|k9s|lens|headlamp|curl|wget|mozilla|postman(runtime)?|dashboard|node-fetch|python-(requests|urllib3?)|openapi-generator)([-_./ ].*)?",
    re.IGNORECASE,
)
NOBODY = frozenset(
    {"before-first-apply", "unknown", ""}
)  # as the API server says of what was made when it took no notes, or by who has no name


def standing(
    made: fields.Object, live: fields.Object, *, taking: bool
) -> Iterator[tuple[str, fields.Path]]:
    """Who would lose what, and would not put up with it. Whoever takes a thing over takes it from all that have only set it, not applied."""
    would = [
        path
        for path in fields.leaves(fields.ours(made))
        if fields.value(made, path) != fields.value(live, path)
    ]
    for entry in fields.entries(live):
        if not _yields(entry, taking=taking):
            yield from (
                (_named(entry), path)
                for path in would
                if fields.holds(entry.get("fieldsV1", fields.NOTHING), path)
            )


def conflict(
    address: str, made: fields.Object, live: fields.Object, *, taking: bool
) -> Conflict | None:
    found = sorted(standing(made, live, taking=taking))
    if not found:
        return None
    holder, path = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return Conflict(
        f"{address} has {fields.told(path)}{more} held by {holder}, which would be set to something else",
        remedy=f"have {holder.partition(' ')[0]} leave that field, or ask for the value that it has",
    )


def _yields(entry: Mapping[str, Any], *, taking: bool) -> bool:
    manager = str(entry.get("manager", ""))
    if manager == fields.MANAGER:
        return True
    return entry.get("operation") == "Update" and (
        taking or manager in NOBODY or PEOPLE.fullmatch(manager) is not None
    )


def _named(entry: Mapping[str, Any]) -> str:
    """With the part of the API that it came by, which tells an autoscaler."""
    by = f" (by {entry['subresource']})" if entry.get("subresource") else ""
    return f"{entry.get('manager') or 'nobody in particular'}{by}"

"""Decides for one pod outside of a cluster, for `cwiictl explain` and the smoke test.

The pod and the patch pass through their wire forms, as in a cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from cwii_webhook.admission.admit import Decision, Route, admit
from cwii_webhook.admission.cluster_view import ClusterView
from cwii_webhook.admission.patch import Op
from cwii_webhook.admission.review import decode_review, encode


class DryRun(Struct, frozen=True):
    """A decision, and the pod with the patch applied."""

    decision: Decision
    pod: Mapping[str, Any]


def dry_run(route: Route, pod: Mapping[str, Any], namespace: str, view: ClusterView) -> DryRun:
    """Decides for a new pod. Raises InvalidReview if the object is not a pod."""
    request = {
        "uid": "explain",
        "operation": "CREATE",
        "namespace": namespace,
        "dryRun": True,
        "object": pod,
    }
    decision = admit(route, decode_review(encode({"request": request})).request, view)
    ops = msgspec.json.decode(encode(decision.ops), type=list[Op])
    return DryRun(decision, apply_patch(copy.deepcopy(pod), ops))


def apply_patch(pod: Any, ops: Iterable[Op]) -> Any:
    """Changes the pod in place and returns it.

    Raises ValueError if the API server would refuse the patch.
    """
    for op in ops:
        *parents, last = [
            token.replace("~1", "/").replace("~0", "~") for token in op.path.split("/")[1:]
        ]
        target = pod
        for token in parents:
            target = _child(target, token, op.path)
        _set(target, last, op)
    return pod


def _child(parent: Any, token: str, path: str) -> Any:
    try:
        if isinstance(parent, list):
            return cast("list[Any]", parent)[int(token)]
        return parent[token]
    except (KeyError, IndexError, TypeError, ValueError) as e:
        raise ValueError(f"there is nothing at {path}") from e


def _set(parent: Any, last: str, op: Op) -> None:
    if isinstance(parent, dict):
        if op.op == "replace" and last not in parent:
            raise ValueError(f"there is nothing to replace at {op.path}")
        parent[last] = op.value
        return
    if not isinstance(parent, list):
        raise ValueError(f"there is nothing that could hold {op.path}")  # noqa: TRY004 - one error for all invalid patches
    items = cast("list[Any]", parent)
    index = len(items) if last == "-" else int(last)
    if index > len(items) or (op.op == "replace" and index == len(items)):
        raise ValueError(f"{op.path} is beyond its list")
    items[index : index + (op.op == "replace")] = [op.value]

"""Laws of the webhook: whatever the pod and whatever is said, its patch applies, takes nothing away, and is made once."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import cast

import msgspec
import pytest
from cwii_webhook.admission.admit import Decision, Route, admit
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.registry import ALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.pod_laws import containers, doubled, lost, some
from tests.properties.pods import Json, plain, pods, pool
from tests.webhook.harness import LINES, ROUTES, SENSIBLE, Counter, review, well_formed
from tests.webhook.recorded_answers import Objects, request

few = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
each_shape = pytest.mark.parametrize("shape", ROUTES)

PROXIED = {
    "azure.workload.identity/inject-proxy-sidecar": "true",
    "azure.workload.identity/use-x": "true",
}
HOSTILE = (
    "$(MINE)",
    "$$(MINE)",
    "$MINE",
    "'x'",
    '"x"',
    "`x`",
    "a\nb",
    "a;b",
    "a|b",
    "a&b",
    "a>b",
    "a<b",
    "a\\b",
    "a b",
    "(x)",
    "\x00",
    "\x1b[0m",
)


def objects(
    account: Mapping[str, str],
    owner: Mapping[str, str] | None = None,
    space: Mapping[str, str] | None = None,
) -> Objects:
    return Objects({
        ObjectRef("apps", "StatefulSet", "shop", "web"): ObjectMetadata(owner or {}, (), "u"),
        ObjectRef("", "ServiceAccount", "shop", "worker"): ObjectMetadata(account),
        ObjectRef("", "Namespace", "", "shop"): ObjectMetadata(space or {}),
    })  # fmt: skip


def words(shape: str) -> st.SearchStrategy[dict[str, str]]:
    """What a pod says of itself, most of it sensible."""
    dialect = LINES[shape][0]
    keys = [word.key for word in ALL[dialect].annotations]
    texts = st.sampled_from(
        ["true", "false", "", "7200", "x", "c", "debug;c", "init-container", "direct", *HOSTILE[:4]]
    )
    return st.dictionaries(st.sampled_from([*keys, *PROXIED, "mine"]), texts, max_size=3)


def any_pod(shape: str) -> st.SearchStrategy[Json]:
    dialect = LINES[shape][0]
    return pods(pool(ROUTES[shape], objects(SENSIBLE[dialect])), words(shape))


def passed(route: Route, pod: Json, seen: Objects, **more: object) -> tuple[Decision, Json]:
    decision = admit(route, request(pod, **more), seen)
    ops = [Op(op["op"], op["path"], op["value"]) for op in msgspec.to_builtins(list(decision.ops))]
    return decision, apply_patch(copy.deepcopy(pod), copy.deepcopy(ops))


@each_shape
@few
@given(data=st.data())
def test_a_patch_takes_nothing_away_and_a_second_pass_is_silent(shape: str, data: st.DataObject):
    route, seen = ROUTES[shape], objects(SENSIBLE[LINES[shape][0]])
    pod = data.draw(any_pod(shape))

    decision, made = passed(route, pod, seen)

    assert list(lost(pod, made, decision)) == []
    assert list(doubled(pod, made)) == []
    assert not passed(route, made, seen)[0].ops


@each_shape
@few
@given(data=st.data())
def test_containers_that_join_later_are_all_that_is_changed_then(shape: str, data: st.DataObject):
    route, seen = ROUTES[shape], objects(SENSIBLE[LINES[shape][0]])
    old = (
        passed(route, data.draw(any_pod(shape)), seen)[1]
        if data.draw(st.booleans())
        else data.draw(any_pod(shape))
    )
    pod = copy.deepcopy(old)
    new = {"name": "new", "env": [{"name": "MINE", "value": "x"}]}
    pod["spec"]["ephemeralContainers"] = [*some(old["spec"], "ephemeralContainers"), new]
    late: Json = {"operation": "UPDATE", "subResource": "ephemeralcontainers", "oldObject": old}

    decision, made = passed(route, pod, objects({}), **late)

    joined = made["spec"]["ephemeralContainers"].pop()
    assert made["spec"]["ephemeralContainers"] == some(old["spec"], "ephemeralContainers")
    assert {**made["spec"], "ephemeralContainers": []} == {**old["spec"], "ephemeralContainers": []}
    assert made["metadata"] == old["metadata"]
    assert joined["env"][0] == new["env"][0]
    volumes = {volume["name"] for volume in some(old["spec"], "volumes")}
    assert {mount["name"] for mount in joined.get("volumeMounts", [])} <= volumes
    made["spec"]["ephemeralContainers"].append(joined)
    assert not passed(route, made, objects({}), **late)[0].ops, decision


@each_shape
@few
@given(data=st.data())
def test_a_mirror_pod_is_never_changed(shape: str, data: st.DataObject):
    pod = data.draw(any_pod(shape))
    pod["metadata"]["annotations"] = {
        **(pod["metadata"].get("annotations") or {}),
        "kubernetes.io/config.mirror": "",
    }

    decision = admit(ROUTES[shape], request(pod), objects(SENSIBLE[LINES[shape][0]]))

    assert (decision.outcome, list(decision.ops)) == ("nothing", [])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda below: (
        st.lists(below, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "env", "spec", "containers", "metadata"]), below, max_size=3
        )
    ),
    max_leaves=6,
)


COUNTERS = {
    shape: Counter(route, objects(SENSIBLE[LINES[shape][0]])) for shape, route in ROUTES.items()
}


@each_shape
@few
@given(data=st.data())
def test_any_body_gets_a_well_formed_answer(shape: str, data: st.DataObject):
    """A pod with one member of it, wherever it is, that is something else."""
    pod = data.draw(any_pod(shape))
    holder = data.draw(st.sampled_from(list(holders(pod))))
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(values)
    bodies = (
        review(pod),
        review(pod, subResource="ephemeralcontainers"),
        review(data.draw(values)),
    )

    for body in bodies:
        well_formed(body, COUNTERS[shape](body))


def holders(value: object) -> Iterator[Json]:
    """Everything that has members."""
    below: list[object] = []
    if isinstance(value, dict):
        one = cast("Json", value)
        below = list(one.values())
        if one:
            yield one
    elif isinstance(value, list):
        below = cast("list[object]", value)
    for each in below:
        yield from holders(each)


@each_shape
def test_a_hostile_value_reaches_no_shell_and_expands_to_nothing(shape: str):
    dialect = LINES[shape][0]
    every = [
        (word, scope, text)
        for word in ALL[dialect].annotations
        for scope in word.sources
        for text in HOSTILE
    ]
    outcomes = set[str]()

    for word, scope, text in every:
        decision, pod = said(shape, word, scope, text)
        outcomes.add(decision.outcome)
        assert [run for run in shell(pod) if text in run or references(run)] == [], (
            word.key,
            scope,
            text,
        )
        assert [value for value in written(pod) if references(value)] == [], (word.key, scope, text)

    assert "injected" in outcomes


def said(shape: str, word: Annotation, scope: str, text: str) -> tuple[Decision, Json]:
    """One thing is said by one voice, and all else is sensible."""
    by: dict[str, dict[str, str]] = {
        "pod": dict(PROXIED),
        "account": dict(SENSIBLE[LINES[shape][0]]),
        "owner": {},
        "namespace": {},
    }
    key = word.key.replace("<suffix>", "x")
    labels = {key: text} if word.place == "label" else {}
    if not labels:
        by[scope][key] = text
    pod = plain(annotations=by["pod"], labels=labels)
    return passed(ROUTES[shape], pod, objects(by["account"], by["owner"], by["namespace"]))


def shell(pod: Json) -> Iterator[str]:
    """All that is run in containers of ours."""
    for container in containers(pod):
        hook = (
            container.get("lifecycle", {}).get("postStart", {}).get("exec", {}).get("command", [])
        )
        yield from [*container.get("command", []), *container.get("args", []), *hook]


def written(pod: Json) -> Iterator[str]:
    yield from (
        variable["value"] for container in containers(pod) for variable in container.get("env", [])
    )


def references(text: str) -> list[str]:
    """What the kubelet would put another variable's value for: it reads from the left, and two dollars are one."""
    found: list[str] = []
    rest = text
    while "$" in rest:
        rest = rest[rest.index("$") + 1 :]
        if rest.startswith("$"):
            rest = rest[1:]
        elif rest.startswith("(") and ")" in rest:
            found.append(rest[1 : rest.index(")")])
    return found

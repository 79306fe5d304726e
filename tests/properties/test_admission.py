"""Tests properties of patches: they apply, remove nothing, and change nothing when repeated."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import cast

import msgspec
import pytest
from cwii_webhook.admission.admit import Decision, Route, admit
from cwii_webhook.admission.cluster_view import (
    ObjectMetadata,
    ObjectRef,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.registry import ALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.pod_laws import all_containers, find_duplicates, find_lost, get_list
from tests.properties.pods import Json, injected_names, make_pod, pods
from tests.webhook.harness import (
    ACCOUNT_ANNOTATIONS,
    COMMAND_LINES,
    ROUTES,
    InProcessWebhook,
    check_response,
    make_review,
)
from tests.webhook.recorded_answers import FakeClusterView, make_request

few_examples = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
each_variant = pytest.mark.parametrize("variant", ROUTES)

PROXY_ANNOTATIONS = {
    "azure.workload.identity/inject-proxy-sidecar": "true",
    "azure.workload.identity/use-x": "true",
}
HOSTILE_VALUES = (
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


def make_view(
    account: Mapping[str, str],
    owner: Mapping[str, str] | None = None,
    namespace: Mapping[str, str] | None = None,
) -> FakeClusterView:
    """Returns a view of the pod's ServiceAccount, owner and namespace with these annotations."""
    return FakeClusterView({
        ObjectRef("apps", "StatefulSet", "shop", "web"): ObjectMetadata(owner or {}, (), "u"),
        service_account_ref("shop", "worker"): ObjectMetadata(account),
        namespace_ref("shop"): ObjectMetadata(namespace or {}),
    })  # fmt: skip


def make_account_view(variant: str) -> FakeClusterView:
    return make_view(ACCOUNT_ANNOTATIONS[COMMAND_LINES[variant][0]])


def pod_annotations(variant: str) -> st.SearchStrategy[dict[str, str]]:
    """Generates annotations of a pod, most of them with valid values."""
    dialect = COMMAND_LINES[variant][0]
    keys = [annotation.key for annotation in ALL[dialect].annotations]
    values = st.sampled_from(
        [
            "true",
            "false",
            "",
            "7200",
            "x",
            "c",
            "debug;c",
            "init-container",
            "direct",
            *HOSTILE_VALUES[:4],
        ]
    )
    return st.dictionaries(st.sampled_from([*keys, *PROXY_ANNOTATIONS, "mine"]), values, max_size=3)


def any_pod(variant: str) -> st.SearchStrategy[Json]:
    names = injected_names(ROUTES[variant], make_account_view(variant))
    return pods(names, pod_annotations(variant))


def apply_decision(
    route: Route, pod: Json, view: FakeClusterView, **fields: object
) -> tuple[Decision, Json]:
    """Returns the decision, and the pod with its patch applied. `fields` are of the request."""
    decision = admit(route, make_request(pod, **fields), view)
    ops = [Op(op["op"], op["path"], op["value"]) for op in msgspec.to_builtins(list(decision.ops))]
    return decision, apply_patch(copy.deepcopy(pod), copy.deepcopy(ops))


@each_variant
@few_examples
@given(data=st.data())
def test_patch_removes_nothing_and_a_second_pass_changes_nothing(variant: str, data: st.DataObject):
    route, view = ROUTES[variant], make_account_view(variant)
    pod = data.draw(any_pod(variant))

    decision, patched = apply_decision(route, pod, view)

    assert list(find_lost(pod, patched, decision)) == []
    assert list(find_duplicates(pod, patched)) == []
    assert not apply_decision(route, patched, view)[0].ops


@each_variant
@few_examples
@given(data=st.data())
def test_update_changes_only_new_ephemeral_containers(variant: str, data: st.DataObject):
    route, view = ROUTES[variant], make_account_view(variant)
    old = (
        apply_decision(route, data.draw(any_pod(variant)), view)[1]
        if data.draw(st.booleans())
        else data.draw(any_pod(variant))
    )
    pod = copy.deepcopy(old)
    new = {"name": "new", "env": [{"name": "MINE", "value": "x"}]}
    pod["spec"]["ephemeralContainers"] = [*get_list(old["spec"], "ephemeralContainers"), new]
    update: Json = {"operation": "UPDATE", "subResource": "ephemeralcontainers", "oldObject": old}

    decision, patched = apply_decision(route, pod, make_view({}), **update)

    container = patched["spec"]["ephemeralContainers"].pop()
    assert patched["spec"]["ephemeralContainers"] == get_list(old["spec"], "ephemeralContainers")
    assert {**patched["spec"], "ephemeralContainers": []} == {
        **old["spec"],
        "ephemeralContainers": [],
    }
    assert patched["metadata"] == old["metadata"]
    assert container["env"][0] == new["env"][0]
    volumes = {volume["name"] for volume in get_list(old["spec"], "volumes")}
    assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes
    patched["spec"]["ephemeralContainers"].append(container)
    assert not apply_decision(route, patched, make_view({}), **update)[0].ops, decision


@each_variant
@few_examples
@given(data=st.data())
def test_mirror_pod_is_never_changed(variant: str, data: st.DataObject):
    pod = data.draw(any_pod(variant))
    pod["metadata"]["annotations"] = {
        **(pod["metadata"].get("annotations") or {}),
        "kubernetes.io/config.mirror": "",
    }

    decision = admit(ROUTES[variant], make_request(pod), make_account_view(variant))

    assert (decision.outcome, list(decision.ops)) == ("nothing", [])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda children: (
        st.lists(children, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "env", "spec", "containers", "metadata"]),
            children,
            max_size=3,
        )
    ),
    max_leaves=6,
)


WEBHOOKS = {
    variant: InProcessWebhook(route, make_account_view(variant))
    for variant, route in ROUTES.items()
}


@each_variant
@few_examples
@given(data=st.data())
def test_any_body_gets_a_valid_response(variant: str, data: st.DataObject):
    """Sends pods in which one member, at any depth, has another type."""
    pod = data.draw(any_pod(variant))
    parent = data.draw(st.sampled_from(list(non_empty_objects(pod))))
    parent[data.draw(st.sampled_from(sorted(parent)))] = data.draw(json_values)
    bodies = (
        make_review(pod),
        make_review(pod, subResource="ephemeralcontainers"),
        make_review(data.draw(json_values)),
    )

    for body in bodies:
        check_response(body, WEBHOOKS[variant](body))


def non_empty_objects(value: object) -> Iterator[Json]:
    """Yields all JSON objects in a value that have members."""
    children: list[object] = []
    if isinstance(value, dict):
        members = cast("Json", value)
        children = list(members.values())
        if members:
            yield members
    elif isinstance(value, list):
        children = cast("list[object]", value)
    for child in children:
        yield from non_empty_objects(child)


@each_variant
def test_hostile_value_reaches_no_shell_and_is_not_expanded(variant: str):
    dialect = COMMAND_LINES[variant][0]
    cases = [
        (annotation, scope, text)
        for annotation in ALL[dialect].annotations
        for scope in annotation.sources
        for text in HOSTILE_VALUES
    ]
    outcomes = set[str]()

    for annotation, scope, text in cases:
        decision, pod = apply_annotation(variant, annotation, scope, text)
        outcomes.add(decision.outcome)
        assert [
            argument
            for argument in command_arguments(pod)
            if text in argument or variable_references(argument)
        ] == [], (annotation.key, scope, text)
        assert [value for value in env_values(pod) if variable_references(value)] == [], (
            annotation.key,
            scope,
            text,
        )

    assert "injected" in outcomes


def apply_annotation(
    variant: str, annotation: Annotation, scope: str, text: str
) -> tuple[Decision, Json]:
    """Decides on a pod with this value in one source. All other values are valid."""
    annotations: dict[str, dict[str, str]] = {
        "pod": dict(PROXY_ANNOTATIONS),
        "account": dict(ACCOUNT_ANNOTATIONS[COMMAND_LINES[variant][0]]),
        "owner": {},
        "namespace": {},
    }
    key = annotation.key.replace("<suffix>", "x")
    labels = {key: text} if annotation.place == "label" else {}
    if not labels:
        annotations[scope][key] = text
    pod = make_pod(annotations=annotations["pod"], labels=labels)
    view = make_view(annotations["account"], annotations["owner"], annotations["namespace"])
    return apply_decision(ROUTES[variant], pod, view)


def command_arguments(pod: Json) -> Iterator[str]:
    """Yields the arguments of all commands, args and postStart hooks."""
    for container in all_containers(pod):
        hook = (
            container.get("lifecycle", {}).get("postStart", {}).get("exec", {}).get("command", [])
        )
        yield from [*container.get("command", []), *container.get("args", []), *hook]


def env_values(pod: Json) -> Iterator[str]:
    yield from (
        variable["value"]
        for container in all_containers(pod)
        for variable in container.get("env", [])
    )


def variable_references(text: str) -> list[str]:
    """Returns the names of variables whose values the kubelet would insert.

    The kubelet reads from the left, and turns `$$` into `$`.
    """
    names: list[str] = []
    rest = text
    while "$" in rest:
        rest = rest[rest.index("$") + 1 :]
        if rest.startswith("$"):
            rest = rest[1:]
        elif rest.startswith("(") and ")" in rest:
            names.append(rest[1 : rest.index(")")])
    return names

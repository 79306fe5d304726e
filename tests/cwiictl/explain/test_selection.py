"""About which pods an API server asks, by selectors."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.explain.selection import matches, paths


@pytest.mark.parametrize(
    ("operator", "values", "there", "absent"),
    [
        ("In", ["a"], True, False),
        ("In", ["b"], False, False),
        ("NotIn", ["a"], False, True),
        ("Exists", None, True, False),
        ("DoesNotExist", None, False, True),
    ],
)
def test_an_expression_is_met_as_kubernetes_has_it(
    operator: str, values: list[str] | None, *, there: bool, absent: bool
) -> None:
    selector = {
        "matchExpressions": [
            {"key": "k", "operator": operator, **({"values": values} if values else {})}
        ]
    }

    assert matches(selector, {"k": "a"}) is there
    assert matches(selector, {}) is absent


def test_all_of_a_selector_has_to_be_met_and_an_empty_one_is_by_all() -> None:
    selector = {
        "matchLabels": {"a": "1", "b": "2"},
        "matchExpressions": [{"key": "c", "operator": "DoesNotExist"}],
    }

    assert matches({}, {})
    assert matches(selector, {"a": "1", "b": "2"})
    assert not matches(selector, {"a": "1"})
    assert not matches(selector, {"a": "1", "b": "2", "c": ""})


def an_entry(path: str, **more: Any) -> dict[str, Any]:
    return {
        "clientConfig": {"service": {"path": path}},
        "rules": [{"operations": ["CREATE"], "resources": ["pods"]}],
        **more,
    }


def test_each_path_is_asked_once_by_entries_for_new_pods_that_choose_both() -> None:
    configuration = {
        "webhooks": [
            an_entry(
                "/eks",
                objectSelector={"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]},
            ),
            an_entry("/cwii", namespaceSelector={"matchLabels": {"require": "true"}}),
            an_entry("/cwii"),
            an_entry(
                "/late",
                rules=[{"operations": ["UPDATE"], "resources": ["pods/ephemeralcontainers"]}],
            ),
            {**an_entry("/"), "clientConfig": {"url": "https://elsewhere.example.com"}},
        ]
    }

    assert paths(configuration, {"require": "true"}, {}) == ("/eks", "/cwii", "")
    assert paths(configuration, {}, {"skip": "x"}) == ("/cwii", "")

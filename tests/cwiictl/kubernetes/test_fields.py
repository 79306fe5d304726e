"""Managed fields, as Kubernetes writes them."""

from __future__ import annotations

from typing import Any

from cwiictl.kubernetes import fields

PORTS: dict[str, Any] = {'k:{"port":443,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}}}
HELD: dict[str, Any] = {
    "f:metadata": {
        "f:labels": {".": {}, "f:app.kubernetes.io/name": {}},
        "f:finalizers": {".": {}, 'v:"a/b"': {}},
    },
    "f:spec": {"f:args": {}, "f:ports": PORTS, "f:empty": {".": {}}, "f:list": {"i:1": {}}},
}
LIVE: dict[str, Any] = {
    "metadata": {
        "labels": {"app.kubernetes.io/name": "x", "theirs": "y"},
        "finalizers": ["c", "a/b"],
        "uid": "1",
    },
    "spec": {
        "args": ["b", "a"],
        "ports": [
            {"port": 80, "protocol": "TCP"},
            {"port": 443, "protocol": "UDP"},
            {"name": "https", "port": 443, "protocol": "TCP", "nodePort": 1},
        ],
        "empty": {"their": "own"},
        "list": ["zero", "one"],
        "theirs": True,
    },
    "status": {},
}


def test_only_what_is_held_is_cut_out_in_its_order() -> None:
    assert fields.cut(LIVE, HELD) == {
        "metadata": {"labels": {"app.kubernetes.io/name": "x"}, "finalizers": ["a/b"]},
        "spec": {
            "args": ["b", "a"],
            "ports": [{"name": "https", "port": 443}],
            "empty": {"their": "own"},
            "list": ["one"],
        },
    }


def test_what_is_no_longer_there_is_not_in_the_cut() -> None:
    assert fields.cut({"spec": {"ports": [], "list": ["zero"], "empty": None}}, HELD) == {
        "spec": {"ports": [], "list": []}
    }


def test_each_leaf_is_told_as_people_would_say_it() -> None:
    told = {fields.told(path): fields.value(LIVE, path) for path in fields.leaves(HELD)}

    assert told == {
        "metadata.labels[app.kubernetes.io/name]": "x",
        "metadata.finalizers[a/b]": "a/b",
        "spec.args": ["b", "a"],
        "spec.ports[port=443, protocol=TCP].name": "https",
        "spec.ports[port=443, protocol=TCP].port": 443,
        "spec.empty": {"their": "own"},
        "spec.list[1]": "one",
    }


def test_who_holds_a_whole_holds_its_parts_and_not_the_other_way_round() -> None:
    assert fields.holds({"f:spec": {"f:args": {}}}, ("f:spec", "f:args"))
    assert fields.holds({"f:spec": {}}, ("f:spec", "f:args"))
    assert fields.holds({"f:spec": {".": {}}}, ("f:spec", "f:args"))
    assert not fields.holds({"f:spec": {"f:args": {}}}, ("f:spec",))
    assert not fields.holds({"f:spec": {"f:args": {}}}, ("f:spec", "f:ports"))


def test_ours_is_what_we_applied_whatever_else_we_have_set() -> None:
    def entry(manager: str, operation: str) -> dict[str, Any]:
        return {
            "manager": manager,
            "operation": operation,
            "fieldsV1": {f"f:{manager}-{operation}": {}},
        }

    live = {
        "metadata": {
            "managedFields": [
                entry("kubectl", "Apply"),
                entry("cwiictl", "Update"),
                entry("cwiictl", "Apply"),
            ]
        }
    }

    assert fields.ours(live) == {"f:cwiictl-Apply": {}}
    assert fields.ours({"metadata": {}}) == {}
    assert fields.known(live)
    assert not fields.known({"metadata": {"managedFields": [entry("kubectl", "Apply")]}})

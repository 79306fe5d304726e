"""Several kubeconfigs, as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.kubernetes.kubeconfig import access

A, B = Path("/a/config"), Path("/b/config")


def config(current: str = "", **said: dict[str, Any]) -> bytes:
    """`contexts` and the like by their names."""
    lists = {
        f"{what}s": [{"name": name, what: each} for name, each in named.items()]
        for what, named in said.items()
    }
    return json.dumps(
        {"apiVersion": "v1", "kind": "Config", "current-context": current, **lists}
    ).encode()


def test_what_is_said_first_is_believed_and_files_are_beside_who_names_them() -> None:
    first = config(cluster={"c": {"server": "https://first"}})
    second = config(
        "x",
        context={"x": {"cluster": "c", "user": "u"}},
        cluster={"c": {"server": "https://second"}},
        user={"u": {"client-key": "a.key", "client-certificate": "/etc/a.crt"}},
    )

    found = access({A: first, B: second})

    assert (found.context, found.cluster["server"]) == ("x", "https://first")
    assert found.user == {"client-key": "/b/a.key", "client-certificate": "/etc/a.crt"}


@pytest.mark.parametrize(
    ("command", "meant"),
    [("./login", "/a/login"), ("login", "login"), ("/usr/bin/login", "/usr/bin/login")],
)
def test_a_plugin_with_a_path_is_beside_its_kubeconfig(command: str, meant: str) -> None:
    said = config(
        "x",
        context={"x": {"cluster": "c", "user": "u"}},
        cluster={"c": {"server": "s"}},
        user={"u": {"exec": {"command": command}}},
    )

    assert Path(access({A: said}).user["exec"]["command"]) == Path(meant)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "is no kubeconfig"),
        (b"[]", "is no object but a list"),
        (b"contexts: {a: b}", "is no kubeconfig"),
        (b"clusters: 1", "is no kubeconfig"),
        (b"a: [", "is not valid YAML"),
        (config(), "names no current context"),
        (config("x"), "there is no context 'x' in /a/config"),
        (config("x", context={"x": {"cluster": "c"}}), "there is no cluster 'c'"),
        (
            config(
                "x", context={"x": {"cluster": "c", "user": "u"}}, cluster={"c": {"server": "s"}}
            ),
            "there is no user 'u'",
        ),
        (config("x", context={"x": {"cluster": "c"}}, cluster={"c": {}}), "has no server"),
    ],
)
def test_what_is_none_is_told(text: bytes, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        access({A: text})

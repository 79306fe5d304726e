"""The programs that the commands of a README.txt call, as far as they move keys: each does to a folder what the real one does to a machine or a cluster.

Run under the name of each of them; whoever only starts something again has nothing to do here. talosctl's own code patches; the others do as their
sources have it (November 2026).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from cwiictl import oidc
from tests.cluster.installers import talosctl

NAMES = (
    "sudo",
    "install",
    "crictl",
    "systemctl",
    "docker",
    "k0s",
    "oc",
    "kubectl",
    "clusterctl",
    "talosctl",
    "kops",
)
ROOT = Path(os.environ.get("ROOT", "/nowhere"))


def _sudo(words: list[str]) -> None:
    subprocess.run(words, check=True)


def _install(words: list[str]) -> None:
    """Whose it is to be is nothing here."""
    owner = words.index("-o") if "-o" in words else len(words)
    kept = [*words[:owner], *words[owner + 2 :]]
    subprocess.run(
        ["/usr/bin/install", *(f"{ROOT}{word}" if word.startswith("/") else word for word in kept)],
        check=True,
    )


def _kubectl(words: list[str]) -> None:
    """Objects, a file each. `oc` is the same."""
    if words[0] == "-n":
        words = words[2:]
    match words[0], words[1:]:
        case "patch", ["-n", _, *rest]:
            _kubectl(["patch", *rest])
        case "patch", [kind, name, "--type", "merge", "--patch-file", patch]:
            have: dict[str, Any] = json.loads(thing(kind, name).read_text())
            have["data"] |= json.loads(Path(patch).read_text())["data"]
            thing(kind, name).write_text(json.dumps(have))
        case "get", [kind, name, "-o", "json"]:
            sys.stdout.write(thing(kind, name).read_text())
        case "replace", ["-f", file]:
            _replace(yaml.safe_load(sys.stdin.read() if file == "-" else Path(file).read_text()))
        case _:
            assert words[0] == "adm", words


def _replace(body: dict[str, Any]) -> None:
    written = {
        key: base64.b64encode(text.encode()).decode()
        for key, text in body.pop("stringData", {}).items()
    }
    thing(body["kind"].lower(), body["metadata"]["name"]).write_text(
        json.dumps({**body, "data": {**body.get("data", {}), **written}})
    )


def thing(kind: str, name: str, root: Path = ROOT) -> Path:
    return root / f"{kind}-{name}.json"


def _talosctl(words: list[str]) -> None:
    """Its own code follows patches in turn. An editor's part is its user's, who does as README.txt says."""
    machine = ROOT / "talos.yaml"
    have = _edited(machine.read_text()) if words[0] == "edit" else machine.read_text()
    machine.write_text(talosctl.patched(have, *(word for word in words if word.startswith("@"))))


def _edited(have: str) -> str:
    documents: list[dict[str, Any]] = [*yaml.safe_load_all(have)]
    old = Path("talos/rotation/forget/old.pub").read_text()
    (accepted,) = (
        document["accepted"]
        for document in documents
        if document.get("kind") == "KubeServiceAccountConfig"
    )
    accepted["publicKeys"] = [key for key in accepted["publicKeys"] if key != old]
    return yaml.safe_dump_all(documents)


def _kops(words: list[str]) -> None:
    """The youngest is promoted; who is older than the one that signs is distrusted. To update is to start anew."""
    store: dict[str, Any] = json.loads((ROOT / "kops.json").read_text())
    pairs, primary = store["pairs"], store["primary"]
    if words[0] == "create":
        pairs.append(Path(words[words.index("--key") + 1]).read_text())
    elif words[0] == "promote":
        primary = len(pairs) - 1
    elif words[0] == "distrust":
        pairs, primary = pairs[primary:], 0
    (ROOT / "kops.json").write_text(json.dumps({"pairs": pairs, "primary": primary}))


def public(private: str) -> str:
    return oidc.private_key(private.encode(), "a key").pem


DOES: dict[str, Callable[[list[str]], None]] = {
    "sudo": _sudo,
    "install": _install,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "talosctl": _talosctl,
    "kops": _kops,
}

if __name__ == "__main__":
    DOES.get(Path(sys.argv[1]).name, lambda _words: None)(sys.argv[2:])

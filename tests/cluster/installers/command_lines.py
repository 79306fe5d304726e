"""What each installer makes of its files: the flags of kube-apiserver that are about tokens, in the order in which it gives them.

kubeadm and kind are asked themselves. k3s reads its configuration itself, and Talos makes and patches a machine's; what they make of that, and all that the
others do, is written down here as their sources have it (October 2026).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from cwiictl.installers import cluster_api, k0s, k3s, kind, kops, kubeadm, openshift, rke2, talos
from tests.cluster.installers import modules, talosctl
from tests.cluster.installers.talosctl import ENDPOINT
from tests.cluster.kube.recipe import KUBERNETES

Tree = Mapping[str, bytes]
Lines = dict[str, list[str]]  # by the dialect of the file that they are made of

IN_CLUSTER = "https://kubernetes.default.svc.cluster.local"
OWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "kubeadm": (IN_CLUSTER, (IN_CLUSTER,)),
    "cluster-api": (IN_CLUSTER, (IN_CLUSTER,)),
    "k3s": (IN_CLUSTER, (IN_CLUSTER, "k3s")),
    "rke2": (IN_CLUSTER, (IN_CLUSTER, "rke2")),
    "k0s": (
        "https://kubernetes.default.svc",
        ("https://kubernetes.default.svc", "system:konnectivity-server"),
    ),
    "kops": ("https://api.internal.prod.example.org", ("kubernetes.svc.default",)),
    "talos": (ENDPOINT, (ENDPOINT,)),
}
"""The issuer and the audiences that a cluster has of which nobody has said otherwise."""

K3S_ARGUMENT = "--kube-apiserver-arg="
_TOLD = ("service-account-issuer", "service-account-jwks-uri", "api-audiences")


def lines(name: str, tree: Tree, folder: Path) -> Lines:
    """`folder` is where its files are written to."""
    return {
        dialect: [line for line in made if line.removeprefix("--").startswith(_TOLD)]
        for dialect, made in _LINES[name](tree, folder).items()
    }


def signing_key(name: str, tree: Tree) -> dict[str, bytes]:
    """The private key, wherever it is in the files."""
    match name:
        case "talos":
            return {
                talos.OLD: base64.b64decode(
                    _yaml(tree, talos.OLD)["cluster"]["serviceAccount"]["key"]
                ),
                talos.NEW: _yaml(tree, talos.NEW)["issuer"]["privateKey"].encode(),
            }
        case "cluster-api":
            return {
                cluster_api.SECRET: base64.b64decode(
                    _yaml(tree, cluster_api.SECRET)["data"]["tls.key"]
                )
            }
        case _:
            return {path: text for path, text in tree.items() if path.endswith(".key")}


def _openshift(tree: Tree, _folder: Path) -> Lines:
    return {
        "": [
            f"--service-account-issuer={_yaml(tree, openshift.AUTHENTICATION)['spec']['serviceAccountIssuer']}"
        ]
    }


def _kubeadm(tree: Tree, folder: Path) -> Lines:
    return {path: _by_kubeadm(tree[path], folder) for path in (kubeadm.NEW, kubeadm.OLD)}


def _cluster_api(tree: Tree, folder: Path) -> Lines:
    """It makes kubeadm's configuration of what is in it, and writes the files first."""
    made: Lines = {}
    for path, version in ((cluster_api.NEW, "v1beta4"), (cluster_api.OLD, "v1beta3")):
        spec = _yaml(tree, path)["spec"]["kubeadmConfigSpec"]
        for file in spec.get("files", ()):
            place = folder / "machine" / file["path"].lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file["content"])
        kinds = {
            "ClusterConfiguration": spec["clusterConfiguration"],
            "InitConfiguration": spec.get("initConfiguration"),
        }
        documents = [
            {"apiVersion": f"kubeadm.k8s.io/{version}", "kind": kind, **body}
            for kind, body in kinds.items()
            if body
        ]
        text = yaml.safe_dump_all(documents).replace(
            "/etc/kubernetes/patches", str(folder / "machine/etc/kubernetes/patches")
        )
        made[path] = _by_kubeadm(text.encode(), folder)
    return made


def _kind(tree: Tree, folder: Path) -> Lines:
    """From 1.36 on it speaks kubeadm's new dialect."""
    made: Lines = {}
    for version in (f"v{KUBERNETES}", "v1.35.0"):
        done = subprocess.run(
            [modules.kind(), version], input=tree[kind.CLUSTER], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        made[version] = _by_kubeadm(done.stdout, folder)
    return made


def _by_kubeadm(config: bytes, folder: Path) -> list[str]:
    """What it writes into the pod of kube-apiserver."""
    documents: list[dict[str, Any]] = [
        document
        for document in yaml.safe_load_all(config)
        if document["kind"] in {"ClusterConfiguration", "InitConfiguration"}
    ]
    for document in documents:
        document.pop("metadata", None)
        if document["kind"] == "ClusterConfiguration":
            document.setdefault("kubernetesVersion", f"v{KUBERNETES}")
    file = folder / "kubeadm.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    command = [
        modules.kubeadm(),
        "init",
        "phase",
        "control-plane",
        "apiserver",
        "--dry-run",
        "--config",
        file,
    ]
    environment = {**os.environ, "KUBEADM_INIT_DRYRUN_DIR": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return yaml.safe_load((folder / "kube-apiserver.yaml").read_text())["spec"]["containers"][0][
        "command"
    ]


def _k3s(path: str) -> Callable[[Tree, Path], Lines]:
    """Sorted by flag; of one flag in the order in which they are given."""

    def made(tree: Tree, folder: Path) -> Lines:
        place = folder / "config.yaml.d" / "cwiictl.yaml"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(tree[path])
        return {
            path: [
                f"--{argument}"
                for argument in sorted(
                    k3s_arguments(folder / "config.yaml"),
                    key=lambda argument: argument.partition("=")[0],
                )
            ]
        }

    return made


def k3s_arguments(config: Path) -> list[str]:
    """Those that it has for kube-apiserver, of its configuration and of the folder beside that. RKE2 reads its own by the same code."""
    words = subprocess.run(
        [modules.k3s(), config], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [word.removeprefix(K3S_ARGUMENT) for word in words if word.startswith(K3S_ARGUMENT)]


def _k0s(tree: Tree, _folder: Path) -> Lines:
    api = _yaml(tree, k0s.CONFIG)["spec"]["api"]
    return {k0s.CONFIG: [*_flags(api["extraArgs"].items()), *api.get("rawArgs", ())]}


def _kops(tree: Tree, _folder: Path) -> Lines:
    """The issuers that are additional are appended; where the keys are, it says itself."""
    server = _yaml(tree, kops.CLUSTER)["spec"]["kubeAPIServer"]
    told = {
        "api-audiences": ",".join(server["apiAudiences"]),
        "service-account-issuer": server["serviceAccountIssuer"],
        "service-account-jwks-uri": f"{server['serviceAccountIssuer']}/openid/v1/jwks",
    }
    more = [
        ("service-account-issuer", issuer)
        for issuer in server.get("additionalServiceAccountIssuers", ())
    ]
    return {kops.CLUSTER: _flags([*told.items(), *more])}


def _talos(tree: Tree, _folder: Path) -> Lines:
    """As 1.12 has it, which can be told one issuer, what is extra comes before its own endpoint."""
    lines = {
        talos.NEW: talos_flags(
            talosctl.generated(
                "v1.14",
                *(tree[path].decode() for path in (talos.BEFORE, talos.NEW) if path in tree),
            )
        )
    }
    if talos.OLD in tree:
        extra = talosctl.told(talosctl.generated("v1.12", tree[talos.OLD].decode())).extra
        before = (
            {"api-audiences": [ENDPOINT]}
            | extra
            | {"service-account-issuer": [*extra["service-account-issuer"], ENDPOINT]}
        )
        lines[talos.OLD] = _flags(
            (flag, value) for flag, values in before.items() for value in values
        )
    return lines


def talos_flags(configuration: str) -> list[str]:
    """The first issuer is the one that signs."""
    told = talosctl.told(configuration)
    extra = [(flag, value) for flag, values in told.extra.items() for value in values]
    return _flags(
        [
            *(("service-account-issuer", issuer) for issuer in told.issuers),
            ("api-audiences", ",".join(told.audiences)),
            *extra,
        ]
    )


def _flags(told: Iterable[tuple[str, str]]) -> list[str]:
    return [f"--{flag}={value}" for flag, value in told]


def _yaml(tree: Tree, path: str) -> dict[str, Any]:
    """The first document."""
    return json.loads(json.dumps(next(iter(yaml.safe_load_all(tree[path])))))


_LINES: dict[str, Callable[[Tree, Path], Lines]] = {
    "openshift": _openshift,
    "kubeadm": _kubeadm,
    "cluster-api": _cluster_api,
    "kind": _kind,
    "k3s": _k3s(k3s.CONFIG),
    "rke2": _k3s(rke2.CONFIG),
    "k0s": _k0s,
    "kops": _kops,
    "talos": _talos,
}

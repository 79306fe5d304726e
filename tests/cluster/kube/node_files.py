"""What the programs of a node read: their configuration, built as data."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.cluster.kube.packages import PLUGINS

PAUSE_IMAGE = "registry.k8s.io/pause:3.10.1"
SHELL_IMAGE = "localhost/shell:1"  # a static shell and the usual small programs, for pods that tell what they see. In Debian 12's, `wget -T` crashes
SOCKET = "/run/containerd/containerd.sock"  # in a /run that only this node has
PODS = "10.88.0.0/16"
STATIC = "manifests"  # of pods that the kubelet runs by itself
_CONTAINERD = """version = 3
root = {root}
state = "/run/containerd"
[grpc]
address = {socket}
[plugins.'io.containerd.internal.v1.opt']
path = {opt}
[plugins.'io.containerd.nri.v1.nri']
disable = true
[plugins.'io.containerd.cri.v1.images']
snapshotter = {snapshotter}
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = {pause}
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true  # where oom_score_adj may not be lowered, runc says only "can't get final child's PID"
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [{plugins}]
conf_dir = {cni}
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = {runc}
"""


def containerd(folder: Path, path: str, snapshotter: str) -> str:
    words = {
        "root": folder / "containerd",
        "socket": SOCKET,
        "opt": folder / "opt",
        "snapshotter": snapshotter,
        "pause": PAUSE_IMAGE,
        "plugins": PLUGINS,
        "cni": folder / "cni",
        "runc": shutil.which("runc", path=path),
    }
    return _CONTAINERD.format_map({name: json.dumps(str(word)) for name, word in words.items()})


def network(folder: Path) -> dict[str, Any]:
    """For CNI: a bridge, and whatever pods ask for beyond it goes nowhere."""
    addresses = {
        "type": "host-local",
        "dataDir": str(folder / "addresses"),
        "ranges": [[{"subnet": PODS}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": addresses,
    }
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}],
    }


def kubelet(folder: Path, authority: Path, group: str) -> dict[str, Any]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(authority)},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": group,
        "clusterDomain": "cluster.local",
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "enforceNodeAllocatable": [],
        "evictionHard": {
            "nodefs.available": "1%",
            "imagefs.available": "1%",
            "memory.available": "50Mi",
        },
        "failCgroupV1": False,
        "failSwapOn": False,
        "resolvConf": "/dev/null",
        "staticPodPath": str(folder / STATIC),
        "fileCheckFrequency": "1s",
        "syncFrequency": "10s",  # a minute, as it is elsewhere, is long for certificates that live for two
        "volumePluginDir": str(folder / "plugins"),
    }

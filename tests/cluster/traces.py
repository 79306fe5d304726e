"""What can be seen of a cluster from outside: its processes, and what comes in time."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

# Where programs of a node write, on a machine that is theirs.
_PLACES = (
    *(f"/var/lib/{name}" for name in ("kubelet", "containerd", "cni", "kube-proxy")),
    *(f"/run/{name}" for name in ("containerd", "netns", "nri", "cdi")),
    *(
        "/etc/cni",
        "/etc/cdi",
        "/etc/nri",
        "/opt/cni",
        "/opt/containerd",
        "/opt/nri",
        "/usr/libexec/kubernetes",
        "/var/log/pods",
        "/var/log/containers",
    ),
)
_KERNEL = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "net/ipv4/ip_forward",
)


def processes_in(folder: Path) -> list[str]:
    """Those that name it."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in command:
            found.append(command)
    return found


def seen_within(seconds: float, true: Callable[[], object]) -> bool:
    """Whether it came to be so."""
    until = time.monotonic() + seconds
    while not (seen := true()) and time.monotonic() < until:
        time.sleep(0.1)
    return bool(seen)


def machine() -> dict[str, object]:
    """All that a node could change: interfaces, mounts, rules, settings of the kernel, files."""
    saver = shutil.which("iptables-save", path="/usr/sbin:/sbin")
    rules = (
        subprocess.run([saver], capture_output=True, text=True, check=True).stdout if saver else ""
    )
    return {
        "interfaces": sorted(path.name for path in Path("/sys/class/net").iterdir()),
        "mounts": sorted(line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()),
        "rules": [line for line in rules.splitlines() if not line.startswith(("#", ":"))],
        "kernel": {name: Path("/proc/sys", name).read_text() for name in _KERNEL},
        "files": [place for place in _PLACES if Path(place).exists()],
    }

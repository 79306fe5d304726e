"""What k3s wants: a file beside its configuration, and the key that it signs with before it starts for the first time."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl import manifests
from cwiictl.installers import folder
from cwiictl.installers.flags import IN_CLUSTER, ISSUER, flags, former
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "k3s"
folders = folder.folders(name)

CONFIG = "k3s/config.yaml"
issuer_in = CONFIG
public_in = ""
KEY = "k3s/service.key"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (CONFIG, KEY), (CONFIG,))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own, {CONFIG: _own})


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    return folder.succeeded(
        name, succession, template, successors(template(f"{name}/rotation.yaml"), succession)
    )


def successors(text: str, succession: Succession) -> dict[str, bytes]:
    """Keys beside its own, for what it makes itself it would make again; named in two files, so that who accepts another signs as before."""
    told = manifests.template(text)
    accepted, signs = ({"kube-apiserver-arg+": [flag]} for flag in told["kube-apiserver-arg+"])
    files = {"accepted.yaml": manifests.dump(accepted), "accepted.pub": succession.accepted}
    return files | (
        {"signs.yaml": manifests.dump({**told, **signs}), "next.key": succession.private_key}
        if succession.private_key
        else {}
    )


def config(text: str, handover: Handover) -> bytes:
    """Of what is repeated, k3s keeps the order: the first issuer signs."""
    filled = manifests.template(text)
    (key,) = filled
    known = dict(argument.split("=", 1) for argument in filled[key])
    told = [f"{flag}={value}" for flag, value in flags(handover, known).items()]
    had = former(handover, IN_CLUSTER)
    filled[key] = [*told, *([f"{ISSUER}={had}"] if had else ())]
    return manifests.dump(filled)


def _own(handover: Handover, template: Template) -> Files:
    yield CONFIG, config(template(CONFIG), handover)
    yield from folder.pair(handover, KEY)

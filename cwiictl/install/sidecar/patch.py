"""What is put into what is another's: a container and its volumes, each found by its name, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cwiictl.install.body import APPS, Object
from cwiictl.install.sidecar.container import container, volumes
from cwiictl.install.sidecar.sidecar import KUBE_APISERVER, Sidecar

Body = Mapping[str, Any]
NOTHING: Body = {}


def patch(sidecar: Sidecar, resources: Body | None = None) -> Object:
    """For whoever applies it."""
    pulled = [{"name": name} for name in sidecar.values.image_pull_secrets]
    spec: Object = {
        "containers": [container(sidecar, resources=resources)],
        "volumes": volumes(sidecar),
    }
    template = {"spec": {**spec, **({"imagePullSecrets": pulled} if pulled else {})}}
    return {
        "apiVersion": APPS,
        "kind": "Deployment",
        "metadata": {"name": sidecar.deployment, "namespace": sidecar.namespace},
        "spec": {"template": template},
    }


def behind(spec: Body) -> Object:
    """For a strategic merge, which else puts what is new first: kubeadm and others take a pod's first container for what the pod is."""
    names = [KUBE_APISERVER, *(each["name"] for each in spec["containers"])]
    return {"$setElementOrder/containers": [{"name": name} for name in names], **spec}


def strategic(part: Body) -> Object:
    """The same for a strategic merge patch."""
    template = part["spec"]["template"]
    return {**part, "spec": {"template": {**template, "spec": behind(template["spec"])}}}


def removal(sidecar: Sidecar) -> Object:
    """For a strategic merge patch that takes it out again. Secrets to pull images with stay, which may be others' too."""
    spec = {
        "containers": [_gone(sidecar.flavour.name)],
        "volumes": [_gone(each["name"]) for each in volumes(sidecar)],
    }
    return {"spec": {"template": {"spec": spec}}}


def merged(whole: Body, part: Body) -> Object:
    """A Deployment with that in it: what has one of the names is replaced where it stands, and everything else is as it was."""
    pod, ours = whole["spec"]["template"]["spec"], part["spec"]["template"]["spec"]
    spec = {**pod, **{key: _named(pod.get(key) or (), ours[key]) for key in ours}}
    return {
        **whole,
        "spec": {**whole["spec"], "template": {**whole["spec"]["template"], "spec": spec}},
    }


def sized(sidecar: Sidecar, deployment: Body) -> Body | None:
    """What somebody has given the container since, unless it is said anew how much it is to have."""
    return found(deployment, sidecar.flavour.name).get("resources") if sidecar.unsized else None


def found(deployment: Body, name: str) -> Body:
    """The container of that name, or nothing."""
    containers: list[Body] = deployment["spec"]["template"]["spec"]["containers"]
    return next((each for each in containers if each["name"] == name), NOTHING)


def _gone(name: str) -> Object:
    return {"name": name, "$patch": "delete"}


def _named(there: Iterable[Body], ours: Iterable[Body]) -> list[Body]:
    wanted = {each["name"]: each for each in ours}
    kept = [wanted.pop(each["name"], each) for each in there]
    return [*kept, *wanted.values()]

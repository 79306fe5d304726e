"""The containers that answer in place of the node's metadata service: a proxy, and before it whoever leads its traffic there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cwii_webhook.admission.injection import NO_TOKEN_MOUNT, HelperContainer, Mount, Variable
from cwii_webhook.admission.review import Container, ContainerList, Pod
from cwii_webhook.dialects.azwi.settings import NATIVE_SIDECARS, Settings
from cwii_webhook.dialects.common.pod_traits import declared_resources, least_resources

SIDECAR, INIT = "azwi-proxy", "azwi-proxy-init"
_CPU, _MEMORY = (
    "100m",
    "128Mi",
)  # said only where a container that says nothing would cost the pod its class, or its place under a quota


class Proxies:
    """What does not depend on the pod is made once."""

    def __init__(self, settings: Settings) -> None:
        self._native = settings.kubernetes >= NATIVE_SIDECARS
        self._level = f"--log-level={settings.proxy.log_level}"
        self._sidecar = _sidecar(settings.proxy.image, native=self._native)
        self._init = _init(settings.proxy.init_image)

    def joining(
        self,
        pod: Pod,
        port: int,
        variables: Sequence[Variable],
        mount: Mount,
        skipped: Collection[str],
    ) -> tuple[HelperContainer, ...]:
        """Only those that are not there yet."""
        place: ContainerList = "initContainers" if self._native else "containers"
        flag = f"--proxy-port={port}"
        more = _resources(pod)
        sidecar = (
            self._sidecar
            | more
            | {
                "args": [flag, self._level],
                "ports": [{"containerPort": port}],
                "lifecycle": {
                    "postStart": {"exec": {"command": ["/proxy", flag, "--probe", self._level]}}
                },
                **_given(SIDECAR, (), variables, mount, skipped),
            }
        )
        init = (
            self._init
            | more
            | _given(INIT, (Variable("PROXY_PORT", str(port)),), variables, mount, skipped)
        )
        both = (HelperContainer(SIDECAR, sidecar, place, first=True), HelperContainer(INIT, init))
        return tuple(one for one in both if one.name not in _names(pod, one.container_list))


def _given(
    name: str,
    own: Sequence[Variable],
    variables: Sequence[Variable],
    mount: Mount,
    skipped: Collection[str],
) -> dict[str, object]:
    """Like the pod's own containers, they are given the identity, unless they are to be skipped."""
    if name in skipped:
        return {"env": [*own], "volumeMounts": [NO_TOKEN_MOUNT]}
    return {"env": [*own, *variables], "volumeMounts": [mount, NO_TOKEN_MOUNT]}


def _names(pod: Pod, place: ContainerList) -> set[str]:
    there: Sequence[Container] | None = (
        pod.spec.containers if place == "containers" else pod.spec.init_containers
    )
    return {container.name for container in there or ()}


def _resources(pod: Pod) -> dict[str, object]:
    said = least_resources(declared_resources(pod), _CPU, _MEMORY)
    return {"resources": said} if said else {}


def _sidecar(image: str, *, native: bool) -> dict[str, object]:
    restricted = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
    }
    always = {"restartPolicy": "Always"} if native else {}
    return {
        "name": SIDECAR,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": restricted,
        **always,
    }


def _init(image: str) -> dict[str, object]:
    """It changes the pod's routes, which only a privileged one may."""
    privileged = {
        "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
        "privileged": True,
        "runAsNonRoot": False,
        "runAsUser": 0,
    }
    return {
        "name": INIT,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": privileged,
    }

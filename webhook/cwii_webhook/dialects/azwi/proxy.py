"""Builds the proxy sidecar, which stands in for the node's metadata service."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cwii_webhook.admission.injection import (
    NO_TOKEN_MOUNT,
    EnvVar,
    HelperContainer,
    VolumeMount,
)
from cwii_webhook.admission.review import ContainerList, Pod
from cwii_webhook.dialects.azwi.settings import NATIVE_SIDECARS, Settings
from cwii_webhook.dialects.common.pod_traits import declared_resources, least_resources

SIDECAR, INIT = "azwi-proxy", "azwi-proxy-init"
# Used only if the pod would lose its QoS class, or its place in a quota, without them.
_CPU, _MEMORY = "100m", "128Mi"


class ProxyContainers:
    """Builds the containers for pods, from the images and the log level of the webhook."""

    def __init__(self, settings: Settings) -> None:
        self._is_native = settings.kubernetes >= NATIVE_SIDECARS
        self._log_level = f"--log-level={settings.proxy.log_level}"
        self._sidecar = _sidecar(settings.proxy.image, is_native=self._is_native)
        self._init = _init(settings.proxy.init_image)

    def helpers(
        self,
        pod: Pod,
        port: int,
        env: Sequence[EnvVar],
        mount: VolumeMount,
        skipped: Collection[str],
    ) -> tuple[HelperContainer, ...]:
        """Returns the containers that the pod does not have yet."""
        container_list: ContainerList = "initContainers" if self._is_native else "containers"
        port_flag = f"--proxy-port={port}"
        resources = _resources(pod)
        probe = ["/proxy", port_flag, "--probe", self._log_level]
        sidecar = {
            **self._sidecar,
            **resources,
            "args": [port_flag, self._log_level],
            "ports": [{"containerPort": port}],
            "lifecycle": {"postStart": {"exec": {"command": probe}}},
            **_identity(SIDECAR, (), env, mount, skipped),
        }
        port_variable = EnvVar("PROXY_PORT", str(port))
        identity = _identity(INIT, (port_variable,), env, mount, skipped)
        helpers = (
            HelperContainer(SIDECAR, sidecar, container_list, runs_first=True),
            HelperContainer(INIT, {**self._init, **resources, **identity}),
        )
        return tuple([h for h in helpers if h.name not in _names(pod, h.container_list)])


def _identity(
    name: str,
    own_env: Sequence[EnvVar],
    env: Sequence[EnvVar],
    mount: VolumeMount,
    skipped: Collection[str],
) -> dict[str, object]:
    """Gives a helper the pod's identity, unless the pod's skip list has its name."""
    if name in skipped:
        return {"env": [*own_env], "volumeMounts": [NO_TOKEN_MOUNT]}
    return {"env": [*own_env, *env], "volumeMounts": [mount, NO_TOKEN_MOUNT]}


def _names(pod: Pod, container_list: ContainerList) -> set[str]:
    spec = pod.spec
    containers = spec.containers if container_list == "containers" else spec.init_containers
    return {container.name for container in containers or ()}


def _resources(pod: Pod) -> dict[str, object]:
    resources = least_resources(declared_resources(pod), _CPU, _MEMORY)
    return {"resources": resources} if resources else {}


def _sidecar(image: str, *, is_native: bool) -> dict[str, object]:
    security = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
    }
    restart_policy = {"restartPolicy": "Always"} if is_native else {}
    return {
        "name": SIDECAR,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": security,
        **restart_policy,
    }


def _init(image: str) -> dict[str, object]:
    """The init container changes the pod's iptables rules, so it must be privileged."""
    security = {
        "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
        "privileged": True,
        "runAsNonRoot": False,
        "runAsUser": 0,
    }
    return {
        "name": INIT,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": security,
    }

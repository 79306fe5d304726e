"""Pods that a real API server may well take: those of the laws, with what it would refuse in them mended, and with what only it knows of."""

from __future__ import annotations

from typing import Any

from cwii_webhook.dialects.azwi.annotations import PROXY
from hypothesis import strategies as st

from tests.cluster.kube.client import Object
from tests.cluster.space import ACCOUNT
from tests.properties.pod_laws import get_list
from tests.properties.test_admission import any_pod
from tests.webhook.harness import COMMAND_LINES

# Namespaces in which more is asked of a pod, and what of it has to be there then.
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
_REQUESTS = {"requests.cpu": "1000", "requests.memory": "1000Gi"}
QUOTAS = {
    "counted": {**_REQUESTS, "limits.cpu": "1000", "limits.memory": "1000Gi"},
    "requested": _REQUESTS,
}


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Object]:
    return st.fixed_dictionaries({}, optional=fields)


_FITTING: Object = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_LIMITS: Object = {"cpu": "10m", "memory": "16Mi"}
_COUNTED: tuple[Object, ...] = (
    {"requests": _LIMITS, "limits": _LIMITS},
    {"limits": _LIMITS},
    {"requests": {"cpu": "1m"}, "limits": _LIMITS},
)
_REQUESTED: tuple[Object, ...] = (
    *_COUNTED,
    {"requests": _LIMITS},
    {"requests": {"cpu": "0", "memory": "1Mi"}, "limits": {"cpu": "10m"}},
)
_OF_ALL: Object = {"limits": {"cpu": "500m", "memory": "256Mi"}}

_POD = {shape: any_pod(shape) for shape in COMMAND_LINES}
_SPEC = _some(
    os=st.sampled_from([{"name": "linux"}, {"name": "windows"}]),
    hostNetwork=st.booleans(),
    automountServiceAccountToken=st.booleans(),
    restartPolicy=st.sampled_from(["Never", "OnFailure", "Always"]),
    resources=st.just(_OF_ALL),
    shareProcessNamespace=st.just(value=True),
)
_CONTAINER = _some(
    ports=st.lists(
        st.sampled_from([{"containerPort": 8000}, {"containerPort": 80, "name": "web"}]),
        max_size=2,
        unique_by=str,
    ),
    resources=st.sampled_from([*_COUNTED, {"requests": {"cpu": "10m"}}, {}]),
    securityContext=st.sampled_from(
        [_FITTING, {"runAsUser": 0}, {"runAsUser": 1000, "runAsNonRoot": True}]
    ),
)


@st.composite
def pods(draw: st.DrawFn, shape: str, kind: str) -> Object:
    pod = _mended(draw(_POD[shape]))
    pod["spec"] |= draw(_SPEC)
    for container in _containers(pod):
        container.update(draw(_CONTAINER))
        if kind == "restricted":
            container["securityContext"] = _FITTING
        if kind in QUOTAS:
            container["resources"] = draw(
                st.sampled_from(_COUNTED if kind == "counted" else _REQUESTED)
            )
    if kind == "restricted":
        pod["spec"].pop("hostNetwork", None)
        pod["metadata"]["annotations"].pop(
            PROXY.key, None
        )  # what asks for a privileged container, as the standard forbids
    if kind in QUOTAS:
        pod["spec"].pop("resources", None)
    if pod["spec"].get("os") == {"name": "windows"}:
        _without(pod, "securityContext", "shareProcessNamespace", "hostNetwork")
    return pod


def _without(pod: Object, *keys: str) -> None:
    for holder in (pod["spec"], *_containers(pod)):
        for key in keys:
            holder.pop(key, None)


def _containers(pod: Object) -> list[Object]:
    return [*pod["spec"]["containers"], *get_list(pod["spec"], "initContainers")]


def _mended(pod: Object) -> Object:
    meta, spec = pod["metadata"], pod["spec"]
    annotations: dict[str, str] = meta.get("annotations") or {}
    said = {
        key: value for key, value in annotations.items() if "<" not in key
    }  # that stands for any word
    pod["metadata"] = {"generateName": "p-", "annotations": said}
    spec.pop("ephemeralContainers", None)
    spec["serviceAccountName"] = ACCOUNT
    volumes: dict[str, Object] = {volume["name"]: volume for volume in get_list(spec, "volumes")}
    for number, container in enumerate(_containers(pod)):
        if not _is_label(container["name"]):
            container["name"] = f"c{number}"
        for mount in get_list(container, "volumeMounts"):
            volumes.setdefault(mount["name"], {"name": mount["name"], "emptyDir": {}})
    if volumes:
        spec["volumes"] = list(volumes.values())
    for container in spec["containers"]:
        container.pop("restartPolicy", None)
    return pod


def _is_label(name: str) -> bool:
    return name.isascii() and name.replace("-", "").isalnum()

"""Generates pods with odd names, null lists, and names and paths that the webhook injects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from cwii_webhook.admission.admit import Route, admit
from hypothesis import strategies as st

from tests.webhook.recorded_answers import FakeClusterView, make_request

Json = dict[str, Any]

ABSENT = object()
ODD_NAMES = ("c", "web", "a.b", "ü", 'x"y', "")


@dataclass(frozen=True)
class InjectedNames:
    """Names and paths that the webhook injects into a minimal pod. Users may use them too."""

    volumes: Mapping[str, Json]
    mount_paths: tuple[str, ...]
    env_names: tuple[str, ...]
    helper_names: tuple[str, ...]


def make_pod(**metadata: Any) -> Json:
    reference = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "web",
        "uid": "u",
        "controller": True,
    }
    required = {"name": "p", "namespace": "shop", "ownerReferences": [reference]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": required | metadata,
        "spec": {"containers": [{"name": "c"}], "serviceAccountName": "worker"},
    }


def injected_names(route: Route, view: FakeClusterView) -> InjectedNames:
    injections = admit(route, make_request(make_pod()), view).injections
    assert injections, f"{route.dialect} injects nothing into a minimal pod"
    containers = [container for injection in injections for container in injection.containers]
    return InjectedNames(
        {
            v.name: msgspec.to_builtins({"name": v.name, **v.source})
            for injection in injections
            for v in injection.volumes
        },
        tuple(sorted({m.mount_path for container in containers for m in container.volume_mounts})),
        tuple(sorted({v.name for container in containers for v in container.env})),
        tuple(sorted({helper.name for injection in injections for helper in injection.helpers})),
    )


def pods(
    injected: InjectedNames, annotations: st.SearchStrategy[Mapping[str, str]]
) -> st.SearchStrategy[Json]:
    meta = _record(
        name=_nullable(st.sampled_from(["p", "p-0"])),
        generateName=_nullable(st.just("p-")),
        namespace=_nullable(st.just("shop")),
        annotations=_nullable(annotations),
        labels=_nullable(st.dictionaries(st.sampled_from(["app", "a/b~c"]), st.just("x"))),
    )
    spec = _record(
        containers=_containers(injected, st.sampled_from(ODD_NAMES), min_size=1),
        initContainers=_nullable(
            _containers(
                injected,
                st.sampled_from([f"i{name}" for name in ODD_NAMES] + list(injected.helper_names)),
            )
        ),
        ephemeralContainers=_nullable(_containers(injected, st.sampled_from(["debug", "shell"]))),
        volumes=_nullable(_volumes(injected)),
        serviceAccountName=_nullable(st.just("worker")),
        securityContext=_nullable(
            st.sampled_from([{}, {"runAsUser": 1000, "fsGroup": 5}, {"runAsNonRoot": True}])
        ),
        nodeSelector=_nullable(st.sampled_from([{}, {"kubernetes.io/os": "windows"}])),
        toBeInvented=_nullable(st.just({"kept": [1, None]})),
    )
    return _record(apiVersion=st.just("v1"), kind=st.just("Pod"), metadata=meta, spec=spec)


def _containers(
    injected: InjectedNames, names: st.SearchStrategy[str], min_size: int = 0
) -> st.SearchStrategy[list[Json]]:
    mounts = _record(
        name=st.sampled_from([*injected.volumes, "data", "cache"]),
        mountPath=st.sampled_from(
            [
                *injected.mount_paths,
                *(f"{path}/" for path in injected.mount_paths),
                "/data",
                "/cache",
            ]
        ),
        readOnly=_nullable(st.booleans()),
        subPath=_nullable(st.just("sub")),
    )
    container = _record(
        name=names,
        image=st.just("app:1"),
        env=_nullable(st.lists(_variable(injected), max_size=3)),
        envFrom=_nullable(st.sampled_from([[], [{"configMapRef": {"name": "more"}}]])),
        volumeMounts=_nullable(st.lists(mounts, max_size=3, unique_by=_mount_path)),
        securityContext=_nullable(
            st.sampled_from([{}, {"runAsUser": 0}, {"runAsUser": 1000, "invented": True}])
        ),
        resources=_nullable(
            st.sampled_from(
                [{}, {"limits": {"cpu": 1, "memory": "1Gi"}}, {"requests": {"cpu": "1"}}]
            )
        ),
        restartPolicy=_nullable(st.just("Always")),
    )
    return st.lists(container, min_size=min_size, max_size=3, unique_by=_name)


def _name(member: Json) -> str:
    return str(member["name"])


def _mount_path(mount: Json) -> str:
    return str(mount["mountPath"]).rstrip("/")


def _variable(injected: InjectedNames) -> st.SearchStrategy[Json]:
    names = st.sampled_from([*injected.env_names, "MINE", "a.b"])
    value_from = st.just({"fieldRef": {"fieldPath": "metadata.name"}})
    return _record(name=names, value=_nullable(st.sampled_from(["", "x", "$(MINE)"]))) | _record(
        name=names, valueFrom=value_from
    )


def _volumes(injected: InjectedNames) -> st.SearchStrategy[list[Json]]:
    empty_dir = _record(
        name=st.sampled_from([*injected.volumes, "data", "cache"]), emptyDir=st.just({})
    )
    secret: Json = {"name": "data", "secret": {"secretName": "s"}}
    other = st.sampled_from([secret, *injected.volumes.values()])
    return st.lists(empty_dir | other, max_size=3, unique_by=_name)


def _nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Also generates null, and leaves the member out."""
    return values | st.sampled_from([ABSENT, None])


def _record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(fields).map(
        lambda record: {key: value for key, value in record.items() if value is not ABSENT}
    )

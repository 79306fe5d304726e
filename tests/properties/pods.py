"""Pods as users, and the API server on their behalf, may send them: odd names, null lists, and things that are called as ours are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from cwii_webhook.admission.admit import Route, admit
from hypothesis import strategies as st

from tests.webhook.recorded_answers import Objects, request

Json = dict[str, Any]

ABSENT = object()
ODD = ("c", "web", "a.b", "ü", 'x"y', "")


@dataclass(frozen=True)
class Pool:
    """What a plain pod would be given: names and paths that a user's own things may bear too."""

    volumes: Mapping[str, Json]
    paths: tuple[str, ...]
    variables: tuple[str, ...]
    guests: tuple[str, ...]


def plain(**more: Any) -> Json:
    reference = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "name": "web",
        "uid": "u",
        "controller": True,
    }
    meta = {"name": "p", "namespace": "shop", "ownerReferences": [reference]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta | more,
        "spec": {"containers": [{"name": "c"}], "serviceAccountName": "worker"},
    }


def pool(route: Route, objects: Objects) -> Pool:
    given = admit(route, request(plain()), objects).injections
    assert given, f"{route.dialect} gives nothing to a plain pod"
    touches = [touch for injection in given for touch in injection.containers]
    return Pool(
        {
            v.name: msgspec.to_builtins({"name": v.name, **v.source})
            for injection in given
            for v in injection.volumes
        },
        tuple(sorted({m.mount_path for touch in touches for m in touch.volume_mounts})),
        tuple(sorted({v.name for touch in touches for v in touch.env})),
        tuple(sorted({joining.name for injection in given for joining in injection.helpers})),
    )


def pods(mine: Pool, annotations: st.SearchStrategy[Mapping[str, str]]) -> st.SearchStrategy[Json]:
    meta = _record(
        name=_odd(st.sampled_from(["p", "p-0"])),
        generateName=_odd(st.just("p-")),
        namespace=_odd(st.just("shop")),
        annotations=_odd(annotations),
        labels=_odd(st.dictionaries(st.sampled_from(["app", "a/b~c"]), st.just("x"))),
    )
    spec = _record(
        containers=_containers(mine, st.sampled_from(ODD), least=1),
        initContainers=_odd(
            _containers(mine, st.sampled_from([f"i{name}" for name in ODD] + list(mine.guests)))
        ),
        ephemeralContainers=_odd(_containers(mine, st.sampled_from(["debug", "shell"]))),
        volumes=_odd(_volumes(mine)),
        serviceAccountName=_odd(st.just("worker")),
        securityContext=_odd(
            st.sampled_from([{}, {"runAsUser": 1000, "fsGroup": 5}, {"runAsNonRoot": True}])
        ),
        nodeSelector=_odd(st.sampled_from([{}, {"kubernetes.io/os": "windows"}])),
        toBeInvented=_odd(st.just({"kept": [1, None]})),
    )
    return _record(apiVersion=st.just("v1"), kind=st.just("Pod"), metadata=meta, spec=spec)


def _containers(
    mine: Pool, names: st.SearchStrategy[str], least: int = 0
) -> st.SearchStrategy[list[Json]]:
    mounts = _record(
        name=st.sampled_from([*mine.volumes, "data", "cache"]),
        mountPath=st.sampled_from(
            [*mine.paths, *(f"{path}/" for path in mine.paths), "/data", "/cache"]
        ),
        readOnly=_odd(st.booleans()),
        subPath=_odd(st.just("sub")),
    )
    container = _record(
        name=names,
        image=st.just("app:1"),
        env=_odd(st.lists(_variable(mine), max_size=3)),
        envFrom=_odd(st.sampled_from([[], [{"configMapRef": {"name": "more"}}]])),
        volumeMounts=_odd(st.lists(mounts, max_size=3, unique_by=_place)),
        securityContext=_odd(
            st.sampled_from([{}, {"runAsUser": 0}, {"runAsUser": 1000, "invented": True}])
        ),
        resources=_odd(
            st.sampled_from(
                [{}, {"limits": {"cpu": 1, "memory": "1Gi"}}, {"requests": {"cpu": "1"}}]
            )
        ),
        restartPolicy=_odd(st.just("Always")),
    )
    return st.lists(container, min_size=least, max_size=3, unique_by=lambda one: str(one["name"]))


def _place(mount: Json) -> str:
    return str(mount["mountPath"]).rstrip("/")


def _variable(mine: Pool) -> st.SearchStrategy[Json]:
    names = st.sampled_from([*mine.variables, "MINE", "a.b"])
    elsewhere = st.just({"fieldRef": {"fieldPath": "metadata.name"}})
    return _record(name=names, value=_odd(st.sampled_from(["", "x", "$(MINE)"]))) | _record(
        name=names, valueFrom=elsewhere
    )


def _volumes(mine: Pool) -> st.SearchStrategy[list[Json]]:
    named = _record(name=st.sampled_from([*mine.volumes, "data", "cache"]), emptyDir=st.just({}))
    secret: Json = {"name": "data", "secret": {"secretName": "s"}}
    other = st.sampled_from([secret, *mine.volumes.values()])
    return st.lists(named | other, max_size=3, unique_by=lambda volume: str(volume["name"]))


def _odd(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return usual | st.sampled_from([ABSENT, None])


def _record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(fields).map(
        lambda made: {key: value for key, value in made.items() if value is not ABSENT}
    )

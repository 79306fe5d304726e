"""Azure workload identity's proxy: where its containers go, and that they change nothing else of a pod."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.azwi.settings import Proxy, Settings

from tests.webhook.dialects.azwi.test_mutator import CLIENT_ID, DOMAIN, env, inject, make_pod

WITH_PROXY = {f"{DOMAIN}/inject-proxy-sidecar": "true"}
PORT = f"{DOMAIN}/proxy-sidecar-port"
ONE = {"cpu": "1", "memory": "1Gi"}
GUARANTEED: Any = {"containers": [{"name": "c", "resources": {"requests": ONE, "limits": ONE}}]}
LIMITED: Any = {
    "containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}, "limits": ONE}}]
}
BURSTABLE: Any = {"containers": [{"name": "c", "resources": {"requests": ONE}}]}


def container_names(pod: Any, place: str) -> list[str]:
    return [c["name"] for c in pod["spec"].get(place, ())]


def find_proxy(pod: Any, name: str = "azwi-proxy") -> Any:
    return next(
        c
        for place in ("initContainers", "containers")
        for c in pod["spec"].get(place, ())
        if c["name"] == name
    )


@pytest.mark.parametrize(
    ("kubernetes", "inits", "containers"),
    [
        ((1, 32), ["azwi-proxy", "i", "azwi-proxy-init"], ["c"]),
        ((1, 40), ["azwi-proxy", "i", "azwi-proxy-init"], ["c"]),
        ((2, 0), ["azwi-proxy", "i", "azwi-proxy-init"], ["c"]),
        ((1, 31), ["i", "azwi-proxy-init"], ["azwi-proxy", "c"]),
        ((1, 9), ["i", "azwi-proxy-init"], ["azwi-proxy", "c"]),
    ],
    ids=str,
)
def test_the_proxy_is_a_sidecar_where_the_api_server_knows_them(
    kubernetes: tuple[int, int], inits: list[str], containers: list[str]
) -> None:
    settings = Settings(tenant_id="tenant", kubernetes=kubernetes)

    _, pod = inject(
        make_pod(annotations=WITH_PROXY, initContainers=[{"name": "i"}]), settings=settings
    )
    again, _ = inject(pod, settings=settings)

    assert (container_names(pod, "initContainers"), container_names(pod, "containers")) == (
        inits,
        containers,
    )
    assert ("restartPolicy" in find_proxy(pod)) == (kubernetes >= (1, 32))
    assert not again.ops


@pytest.mark.parametrize(
    ("text", "port", "warned"),
    [
        (None, 8000, False),
        ("8080", 8080, False),
        ("1", 1, False),
        ("65535", 65535, False),
        ("0", 0, True),
        ("65536", 65536, True),
        ("-1", -1, True),
    ],
)
def test_the_proxy_listens_where_it_is_told(text: str | None, port: int, warned: bool) -> None:  # noqa: FBT001 - a table
    decision, pod = inject(
        make_pod(annotations=WITH_PROXY | ({PORT: text} if text is not None else {}))
    )

    assert find_proxy(pod)["args"] == [f"--proxy-port={port}", "--log-level="]
    assert find_proxy(pod)["ports"] == [{"containerPort": port}]
    assert find_proxy(pod)["lifecycle"]["postStart"]["exec"]["command"] == [
        "/proxy",
        f"--proxy-port={port}",
        "--probe",
        "--log-level=",
    ]
    assert env(find_proxy(pod, "azwi-proxy-init"))["PROXY_PORT"] == str(port)
    assert decision.warnings == (
        (f"{PORT}: the API server refuses port {port}; it takes 1 to 65535",) if warned else ()
    )


@pytest.mark.parametrize(
    ("value", "warned"),
    [("true", False), ("yes", False), ("false", True), ("False", True), ("", True), ("no", True)],
)
def test_its_presence_alone_asks_for_the_proxy(value: str, warned: bool) -> None:  # noqa: FBT001 - a table
    decision, pod = inject(make_pod(annotations={f"{DOMAIN}/inject-proxy-sidecar": value}))

    assert container_names(pod, "initContainers") == ["azwi-proxy", "azwi-proxy-init"]
    assert any("presence alone" in warning for warning in decision.warnings) == warned


@pytest.mark.parametrize("name", ["azwi-proxy", "azwi-proxy-init"])
def test_proxies_are_given_the_identity_too(name: str) -> None:
    _, pod = inject(make_pod(annotations=WITH_PROXY))
    _, without = inject(make_pod(annotations=WITH_PROXY | {f"{DOMAIN}/skip-containers": name}))

    assert env(find_proxy(pod, name))["AZURE_CLIENT_ID"] == CLIENT_ID
    assert "AZURE_CLIENT_ID" not in env(find_proxy(without, name))
    assert [m["name"] for m in find_proxy(without, name)["volumeMounts"]] == ["cwii-no-token"]


@pytest.mark.parametrize("name", ["azwi-proxy", "azwi-proxy-init"])
def test_proxies_see_no_token_of_the_api_server(name: str) -> None:
    _, pod = inject(make_pod(annotations=WITH_PROXY))

    empty = {
        "name": "cwii-no-token",
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "readOnly": True,
    }
    assert empty in find_proxy(pod, name)["volumeMounts"]
    assert {"name": "cwii-no-token", "emptyDir": {}} in pod["spec"]["volumes"]


@pytest.mark.parametrize(
    ("spec", "resources"),
    [
        ({}, None),
        (BURSTABLE, {"requests": {"cpu": "0", "memory": "0"}}),
        (
            {
                "containers": [
                    {
                        "name": "c",
                        "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
                    }
                ]
            },
            {"requests": {"cpu": "0", "memory": "128Mi"}, "limits": {"memory": "128Mi"}},
        ),
        ({"containers": [*BURSTABLE["containers"], {"name": "d"}]}, None),
        (
            {
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "0"}, "limits": {"memory": 0}}}
                ]
            },
            {"requests": {"cpu": "0", "memory": "0"}, "limits": {"memory": "0"}},
        ),
        (
            GUARANTEED,
            {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "100m", "memory": "128Mi"},
            },
        ),
        (
            LIMITED,
            {
                "requests": {"cpu": "100m", "memory": "128Mi"},
                "limits": {"cpu": "100m", "memory": "128Mi"},
            },
        ),
        ({"resources": {"limits": ONE, "requests": ONE}}, None),
    ],
    ids=[
        "best effort",
        "burstable",
        "memory is limited",
        "one says nothing",
        "nothing in so many words",
        "guaranteed",
        "limited",
        "of the pod as a whole",
    ],
)
def test_a_pod_keeps_its_class_and_what_all_of_it_say_the_proxies_say_too(
    spec: Any, resources: object
) -> None:
    _, pod = inject(make_pod(annotations=WITH_PROXY, **spec))

    assert {
        repr(find_proxy(pod, name).get("resources")) for name in ("azwi-proxy", "azwi-proxy-init")
    } == {repr(resources)}
    assert not inject(pod)[0].ops


def test_a_container_of_the_proxys_name_is_theirs_and_given_the_identity() -> None:
    mine = {"name": "azwi-proxy-init", "image": "mine"}

    _, pod = inject(make_pod(annotations=WITH_PROXY, initContainers=[mine]))

    assert find_proxy(pod, "azwi-proxy-init")["image"] == "mine"
    assert env(find_proxy(pod, "azwi-proxy-init"))["AZURE_CLIENT_ID"] == CLIENT_ID


def test_images_and_level_are_the_servers() -> None:
    _, pod = inject(
        make_pod(annotations=WITH_PROXY),
        settings=Settings(tenant_id="tenant", proxy=Proxy("a", "b", "debug")),
    )

    assert (find_proxy(pod)["image"], find_proxy(pod, "azwi-proxy-init")["image"]) == ("a", "b")
    assert find_proxy(pod)["args"][1] == "--log-level=debug"


def test_that_no_proxy_runs_on_windows_is_told() -> None:
    spec: dict[str, Any] = {"nodeSelector": {"kubernetes.io/os": "windows"}}

    assert inject(make_pod(annotations=WITH_PROXY, **spec))[0].warnings == (
        f"{DOMAIN}/inject-proxy-sidecar: the proxy does not run on Windows",
    )
    assert not inject(make_pod(**spec))[0].warnings

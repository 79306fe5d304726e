"""Tests the proxy containers of the dialect azwi: position, configuration and resources."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.azwi.settings import Proxy, Settings

from tests.webhook.dialects.azwi.test_mutator import CLIENT_ID, DOMAIN, env, inject, make_pod

WITH_PROXY = {f"{DOMAIN}/inject-proxy-sidecar": "true"}
PORT = f"{DOMAIN}/proxy-sidecar-port"
LIMITS = {"cpu": "1", "memory": "1Gi"}
GUARANTEED: Any = {
    "containers": [{"name": "c", "resources": {"requests": LIMITS, "limits": LIMITS}}]
}
LIMITED: Any = {
    "containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}, "limits": LIMITS}}]
}
BURSTABLE: Any = {"containers": [{"name": "c", "resources": {"requests": LIMITS}}]}


def container_names(pod: Any, field: str) -> list[str]:
    return [c["name"] for c in pod["spec"].get(field, ())]


def find_proxy(pod: Any, name: str = "azwi-proxy") -> Any:
    return next(
        c
        for field in ("initContainers", "containers")
        for c in pod["spec"].get(field, ())
        if c["name"] == name
    )


@pytest.mark.parametrize(
    ("kubernetes", "init_containers", "containers"),
    [
        ((1, 32), ["azwi-proxy", "i", "azwi-proxy-init"], ["c"]),
        ((1, 40), ["azwi-proxy", "i", "azwi-proxy-init"], ["c"]),
        ((2, 0), ["azwi-proxy", "i", "azwi-proxy-init"], ["c"]),
        ((1, 31), ["i", "azwi-proxy-init"], ["azwi-proxy", "c"]),
        ((1, 9), ["i", "azwi-proxy-init"], ["azwi-proxy", "c"]),
    ],
    ids=str,
)
def test_proxy_is_a_sidecar_if_the_api_server_supports_sidecars(
    kubernetes: tuple[int, int], init_containers: list[str], containers: list[str]
) -> None:
    settings = Settings(tenant_id="tenant", kubernetes=kubernetes)

    _, pod = inject(
        make_pod(annotations=WITH_PROXY, initContainers=[{"name": "i"}]), settings=settings
    )
    second, _ = inject(pod, settings=settings)

    assert (container_names(pod, "initContainers"), container_names(pod, "containers")) == (
        init_containers,
        containers,
    )
    assert ("restartPolicy" in find_proxy(pod)) == (kubernetes >= (1, 32))
    assert not second.ops


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
def test_proxy_listens_on_the_port_of_the_annotation(
    text: str | None,
    port: int,
    warned: bool,  # noqa: FBT001 - a table
) -> None:
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
def test_annotation_with_any_value_requests_the_proxy(value: str, warned: bool) -> None:  # noqa: FBT001 - a table
    decision, pod = inject(make_pod(annotations={f"{DOMAIN}/inject-proxy-sidecar": value}))

    assert container_names(pod, "initContainers") == ["azwi-proxy", "azwi-proxy-init"]
    assert any("presence alone" in warning for warning in decision.warnings) == warned


@pytest.mark.parametrize("name", ["azwi-proxy", "azwi-proxy-init"])
def test_proxies_get_the_identity_unless_skipped(name: str) -> None:
    _, pod = inject(make_pod(annotations=WITH_PROXY))
    _, skipped = inject(make_pod(annotations=WITH_PROXY | {f"{DOMAIN}/skip-containers": name}))

    assert env(find_proxy(pod, name))["AZURE_CLIENT_ID"] == CLIENT_ID
    assert "AZURE_CLIENT_ID" not in env(find_proxy(skipped, name))
    assert [m["name"] for m in find_proxy(skipped, name)["volumeMounts"]] == ["cwii-no-token"]


@pytest.mark.parametrize("name", ["azwi-proxy", "azwi-proxy-init"])
def test_proxies_do_not_mount_the_api_server_token(name: str) -> None:
    _, pod = inject(make_pod(annotations=WITH_PROXY))

    mount = {
        "name": "cwii-no-token",
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "readOnly": True,
    }
    assert mount in find_proxy(pod, name)["volumeMounts"]
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
        ({"resources": {"limits": LIMITS, "requests": LIMITS}}, None),
    ],
    ids=[
        "best effort",
        "burstable",
        "memory limit",
        "one container without resources",
        "zero",
        "guaranteed",
        "limits",
        "pod resources",
    ],
)
def test_proxies_keep_the_qos_class_and_declare_what_all_containers_declare(
    spec: Any, resources: object
) -> None:
    _, pod = inject(make_pod(annotations=WITH_PROXY, **spec))

    assert {
        repr(find_proxy(pod, name).get("resources")) for name in ("azwi-proxy", "azwi-proxy-init")
    } == {repr(resources)}
    assert not inject(pod)[0].ops


def test_existing_container_with_a_proxy_name_is_kept_and_injected() -> None:
    container = {"name": "azwi-proxy-init", "image": "mine"}

    _, pod = inject(make_pod(annotations=WITH_PROXY, initContainers=[container]))

    assert find_proxy(pod, "azwi-proxy-init")["image"] == "mine"
    assert env(find_proxy(pod, "azwi-proxy-init"))["AZURE_CLIENT_ID"] == CLIENT_ID


def test_images_and_log_level_come_from_the_flags() -> None:
    _, pod = inject(
        make_pod(annotations=WITH_PROXY),
        settings=Settings(tenant_id="tenant", proxy=Proxy("a", "b", "debug")),
    )

    assert (find_proxy(pod)["image"], find_proxy(pod, "azwi-proxy-init")["image"]) == ("a", "b")
    assert find_proxy(pod)["args"][1] == "--log-level=debug"


def test_proxy_in_a_windows_pod_is_reported() -> None:
    spec: dict[str, Any] = {"nodeSelector": {"kubernetes.io/os": "windows"}}

    assert inject(make_pod(annotations=WITH_PROXY, **spec))[0].warnings == (
        f"{DOMAIN}/inject-proxy-sidecar: the proxy does not run on Windows",
    )
    assert not inject(make_pod(**spec))[0].warnings

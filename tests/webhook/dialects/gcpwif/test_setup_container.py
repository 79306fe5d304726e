"""Tests the command, the user and the resources of the init container gcloud-setup."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.dialects.gcpwif.settings import Settings

from tests.webhook.dialects.gcpwif.test_mutator import (
    ACCOUNT_ANNOTATIONS,
    DIRECT_MODE,
    DOMAIN,
    EMAIL,
    PROVIDER,
    env,
    inject,
    make_pod,
)

LIMITS = {"cpu": "1", "memory": "1Gi"}
SETUP_RESOURCES = {"cpu": "500m", "memory": "256Mi"}
GUARANTEED: Any = {"containers": [{"name": "c", "resources": {"limits": LIMITS}}]}
CONFIGURED = {"requests": {"cpu": "100m"}}


def find_setup_container(pod: Any) -> Any:
    return next(c for c in pod["spec"]["initContainers"] if c["name"] == "gcloud-setup")


def run_as_user(number: int | None) -> dict[str, Any]:
    return {} if number is None else {"securityContext": {"runAsUser": number}}


@pytest.mark.parametrize(
    "value", ["a b", "*", "~", "#x", "-x", "a\tb", "!x", "{a,b}", "[a]", "=", "%s", "\u00e9", "?"]
)
def test_shell_reads_each_value_as_one_word(tmp_path: Path, value: str) -> None:
    """Runs the command in a real shell, with a gcloud that prints its arguments."""
    gcloud = tmp_path / "gcloud"
    gcloud.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" ---\n")
    gcloud.chmod(0o755)
    _, pod = inject(
        make_pod(),
        {
            f"{DOMAIN}/workload-identity-provider": PROVIDER + value,
            f"{DOMAIN}/service-account-email": value,
        },
    )
    environ = {**env(find_setup_container(pod)), "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    process = subprocess.run(
        find_setup_container(pod)["command"],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    config = "/var/run/secrets/gcloud/config/federation.json"
    assert process.stdout.split("\n") == [
        "iam",
        "workload-identity-pools",
        "create-cred-config",
        PROVIDER + value,
        f"--service-account={value}",
        f"--output-file={config}",
        "--credential-source-file=/var/run/secrets/sts.googleapis.com/serviceaccount/token",
        "---",
        "auth",
        "login",
        f"--cred-file={config}",
        "---",
        "",
    ]


@pytest.mark.parametrize("character", list("'\"\\`$;&|<>()\r\n\0"), ids=repr)
@pytest.mark.parametrize("key", ["workload-identity-provider", "service-account-email"])
def test_value_with_shell_syntax_is_refused_unless_the_mode_is_direct(
    key: str, character: str
) -> None:
    hostile = {f"{DOMAIN}/{key}": ACCOUNT_ANNOTATIONS[f"{DOMAIN}/{key}"] + character}

    decision, pod = inject(make_pod(), ACCOUNT_ANNOTATIONS | hostile)

    assert decision.outcome == "refused"
    assert f"{DOMAIN}/{key}" in decision.message
    assert pod == make_pod()
    if character != "\n" or key == "service-account-email":
        assert inject(make_pod(), DIRECT_MODE | hostile)[0].outcome == "injected"


def test_command_has_no_values_and_no_variable_references() -> None:
    _, pod = inject(make_pod())

    assert not any("$(" in argument for argument in find_setup_container(pod)["command"])
    assert all(
        value not in argument
        for argument in find_setup_container(pod)["command"]
        for value in (PROVIDER, EMAIL)
    )


@pytest.mark.parametrize(
    ("spec", "annotation", "as_user", "non_root"),
    [
        ({}, None, None, None),
        ({"securityContext": {"runAsUser": 1000}}, None, 1000, True),
        (
            {
                "containers": [
                    {"name": "c", **run_as_user(1000)},
                    {"name": "d", **run_as_user(1000)},
                ]
            },
            None,
            1000,
            True,
        ),
        (
            {
                "containers": [
                    {"name": "c", **run_as_user(1000)},
                    {"name": "d", **run_as_user(2000)},
                ]
            },
            None,
            None,
            None,
        ),
        (
            {"containers": [{"name": "c", **run_as_user(1000)}], "initContainers": [{"name": "i"}]},
            None,
            None,
            None,
        ),
        ({"containers": [{"name": "c", **run_as_user(0)}]}, None, 0, None),
        ({"securityContext": {"runAsNonRoot": True}}, None, 65532, True),
        ({"securityContext": {"runAsUser": 1000}}, "2000", 2000, True),
        ({"securityContext": {"runAsUser": 1000}}, "0", 0, None),
        ({}, "+7", 7, True),
    ],
    ids=[
        "no user set",
        "user of the pod",
        "same user",
        "several users",
        "not all containers",
        "root",
        "non-root",
        "user of the account",
        "root of the account",
        "user of the account only",
    ],
)
def test_user_comes_from_the_account_or_the_pod(
    spec: Any, annotation: str | None, as_user: int | None, non_root: object
) -> None:
    account = ACCOUNT_ANNOTATIONS | (
        {f"{DOMAIN}/gcloud-run-as-user": annotation} if annotation else {}
    )

    _, pod = inject(make_pod(**spec), account)

    security = find_setup_container(pod)["securityContext"]
    assert (security.get("runAsUser"), security.get("runAsNonRoot")) == (as_user, non_root)
    assert not security["allowPrivilegeEscalation"]
    assert (security["capabilities"], security["seccompProfile"]) == (
        {"drop": ["ALL"]},
        {"type": "RuntimeDefault"},
    )
    assert not inject(pod, account)[0].ops


@pytest.mark.parametrize(
    ("spec", "configured", "resources"),
    [
        ({}, None, None),
        ({}, CONFIGURED, CONFIGURED),
        (
            {"containers": [{"name": "c", "resources": {"requests": LIMITS}}]},
            None,
            {"requests": {"cpu": "0", "memory": "0"}},
        ),
        (
            {"containers": [{"name": "c", "resources": {"requests": LIMITS}}]},
            CONFIGURED,
            {"requests": {"cpu": "100m", "memory": "0"}},
        ),
        (
            {"containers": [{"name": "c", "resources": {"requests": LIMITS}}]},
            {"limits": {"memory": "1Gi"}},
            {"requests": {"cpu": "0"}, "limits": {"memory": "1Gi"}},
        ),
        (
            {"containers": [{"name": "c", "resources": {"requests": LIMITS}}, {"name": "d"}]},
            None,
            None,
        ),
        (
            {
                "containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "1m"}, "limits": LIMITS}}
                ]
            },
            None,
            {"requests": SETUP_RESOURCES, "limits": SETUP_RESOURCES},
        ),
        (GUARANTEED, None, {"requests": SETUP_RESOURCES, "limits": SETUP_RESOURCES}),
        (
            GUARANTEED,
            CONFIGURED,
            {
                "requests": SETUP_RESOURCES | CONFIGURED["requests"],
                "limits": SETUP_RESOURCES | CONFIGURED["requests"],
            },
        ),
        (
            GUARANTEED,
            {"limits": {"memory": "1Gi"}},
            {
                "requests": SETUP_RESOURCES | {"memory": "1Gi"},
                "limits": SETUP_RESOURCES | {"memory": "1Gi"},
            },
        ),
        ({"resources": {"limits": LIMITS, "requests": LIMITS}}, None, None),
        ({"resources": {"limits": LIMITS}}, CONFIGURED, None),
    ],
    ids=[
        "best effort",
        "best effort, configured",
        "burstable",
        "burstable, configured",
        "burstable, configured limits",
        "burstable by one",
        "limited",
        "guaranteed",
        "guaranteed, configured",
        "guaranteed, configured limits",
        "pod resources",
        "pod resources, configured",
    ],
)
def test_gcloud_setup_keeps_the_qos_class_and_declares_what_all_containers_declare(
    spec: Any, configured: Any, resources: object
) -> None:
    settings = Settings(resources=configured)

    _, pod = inject(make_pod(**spec), settings=settings)

    assert find_setup_container(pod).get("resources") == resources
    assert not inject(pod, settings=settings)[0].ops


def test_gcloud_setup_runs_first_without_the_api_server_token() -> None:
    _, pod = inject(make_pod(initContainers=[{"name": "i"}]))

    assert [c["name"] for c in pod["spec"]["initContainers"]] == ["gcloud-setup", "i"]
    mount = {
        "name": "cwii-no-token",
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "readOnly": True,
    }
    assert mount in find_setup_container(pod)["volumeMounts"]
    assert {"name": "cwii-no-token", "emptyDir": {}} in pod["spec"]["volumes"]


def test_container_named_gcloud_setup_is_replaced_in_place() -> None:
    decision, pod = inject(
        make_pod(initContainers=[{"name": "i"}, {"name": "gcloud-setup", "image": "mine"}])
    )

    assert [c["name"] for c in pod["spec"]["initContainers"]] == ["i", "gcloud-setup"]
    assert find_setup_container(pod)["image"] == Settings().image
    assert decision.warnings == (
        "the pod has a container gcloud-setup, which is replaced: the name is ours",
    )


@pytest.mark.parametrize("key", ["workload-identity-provider", "service-account-email"])
def test_changed_account_updates_gcloud_setup(key: str) -> None:
    _, pod = inject(make_pod())
    other = ACCOUNT_ANNOTATIONS | {
        f"{DOMAIN}/{key}": ACCOUNT_ANNOTATIONS[f"{DOMAIN}/{key}"].replace("p", "o", 1)
        if key.startswith("s")
        else PROVIDER + "2"
    }

    decision, updated = inject(pod, other)

    assert [op.path for op in decision.ops][:1] == ["/spec/initContainers/0"]
    assert not inject(updated, other)[0].ops


def test_changes_by_others_do_not_update_gcloud_setup() -> None:
    _, pod = inject(make_pod())
    find_setup_container(pod)["env"].append({"name": "HTTPS_PROXY", "value": "http://proxy"})
    find_setup_container(pod)["resources"] = {"requests": {"cpu": "1"}}
    find_setup_container(pod)["terminationMessagePath"] = "/dev/termination-log"
    pod["spec"]["volumes"][1]["emptyDir"] = {}

    assert not inject(pod)[0].ops


@pytest.mark.parametrize(
    ("spec", "account", "warnings"),
    [
        (
            {
                "containers": [
                    {"name": "c", **run_as_user(1000)},
                    {"name": "d", **run_as_user(2000)},
                ]
            },
            ACCOUNT_ANNOTATIONS,
            ["container c runs as user 1000", "container d runs as user 2000"],
        ),
        ({"containers": [{"name": "c", **run_as_user(1000)}]}, ACCOUNT_ANNOTATIONS, []),
        (
            {"containers": [{"name": "c", **run_as_user(1000)}]},
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/gcloud-run-as-user": "2000"},
            [f"{DOMAIN}/gcloud-run-as-user of ServiceAccount"],
        ),
        (
            {"containers": [{"name": "c", **run_as_user(1000)}], "securityContext": {"fsGroup": 1}},
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/gcloud-run-as-user": "2000"},
            [],
        ),
        ({"containers": [{"name": "c"}]}, ACCOUNT_ANNOTATIONS, []),
        (
            {"nodeSelector": {"kubernetes.io/os": "windows"}},
            ACCOUNT_ANNOTATIONS,
            ["gcloud-setup does not run on Windows"],
        ),
        ({"os": {"name": "windows"}}, DIRECT_MODE, []),
        (
            {},
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/gcloud-run-as-user": "-1"},
            [f"{DOMAIN}/gcloud-run-as-user: the API server refuses user -1"],
        ),
    ],
    ids=[
        "several users",
        "one user",
        "two users",
        "a group",
        "no user set",
        "Windows",
        "Windows, direct",
        "invalid user",
    ],
)
def test_pod_that_cannot_use_the_injection_is_reported(
    spec: Any, account: dict[str, str], warnings: list[str]
) -> None:
    decision, _ = inject(make_pod(**spec), account)

    assert [
        w[: len(start)] for w, start in zip(decision.warnings, warnings, strict=True)
    ] == warnings


def test_windows_pod_is_refused_unless_the_mode_is_direct() -> None:
    decision, pod = inject(make_pod(os={"name": "windows"}))

    assert (decision.outcome, decision.message) == (
        "refused",
        "gcloud-setup does not run on Windows",
    )
    assert decision.warnings == (
        f"set {DOMAIN}/injection-mode of ServiceAccount shop/worker to direct",
    )
    assert "initContainers" not in pod["spec"]
    assert (
        inject(make_pod(os={"name": "windows"}), ACCOUNT_ANNOTATIONS | DIRECT_MODE)[0].outcome
        == "injected"
    )

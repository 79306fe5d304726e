"""The container that sets gcloud up: what it runs, as whom, and with what."""

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
def test_a_shell_takes_each_value_for_one_word(tmp_path: Path, value: str) -> None:
    """Run by a real one, with a gcloud that tells what it was called with."""
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

    done = subprocess.run(
        find_setup_container(pod)["command"],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    config = "/var/run/secrets/gcloud/config/federation.json"
    assert done.stdout.split("\n") == [
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
def test_what_a_shell_might_read_comes_near_none(key: str, character: str) -> None:
    hostile = {f"{DOMAIN}/{key}": ACCOUNT_ANNOTATIONS[f"{DOMAIN}/{key}"] + character}

    by_shell, pod = inject(make_pod(), ACCOUNT_ANNOTATIONS | hostile)

    assert by_shell.outcome == "refused"
    assert f"{DOMAIN}/{key}" in by_shell.message
    assert pod == make_pod()
    if character != "\n" or key == "service-account-email":
        assert inject(make_pod(), DIRECT_MODE | hostile)[0].outcome == "injected"


def test_nothing_in_its_command_is_the_kubelets_to_expand() -> None:
    _, pod = inject(make_pod())

    assert not any("$(" in word for word in find_setup_container(pod)["command"])
    assert all(
        text not in word
        for word in find_setup_container(pod)["command"]
        for text in (PROVIDER, EMAIL)
    )


@pytest.mark.parametrize(
    ("spec", "annotation", "as_user", "never_root"),
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
        "nobody says",
        "the pod",
        "all alike",
        "not alike",
        "not all",
        "root",
        "never root",
        "the account",
        "the account: root",
        "the account alone",
    ],
)
def test_it_runs_as_the_account_says_or_else_as_the_pod_does(
    spec: Any, annotation: str | None, as_user: int | None, never_root: object
) -> None:
    account = ACCOUNT_ANNOTATIONS | (
        {f"{DOMAIN}/gcloud-run-as-user": annotation} if annotation else {}
    )

    _, pod = inject(make_pod(**spec), account)

    security = find_setup_container(pod)["securityContext"]
    assert (security.get("runAsUser"), security.get("runAsNonRoot")) == (as_user, never_root)
    assert not security["allowPrivilegeEscalation"]
    assert (security["capabilities"], security["seccompProfile"]) == (
        {"drop": ["ALL"]},
        {"type": "RuntimeDefault"},
    )
    assert not inject(pod, account)[0].ops


@pytest.mark.parametrize(
    ("spec", "told", "resources"),
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
        "best effort, told",
        "burstable",
        "burstable, told",
        "burstable, told limits",
        "burstable by one",
        "limited",
        "guaranteed",
        "guaranteed, told",
        "guaranteed, told limits",
        "pod's own",
        "pod's own, told",
    ],
)
def test_a_pod_keeps_its_class_and_what_all_of_it_say_gcloud_setup_says_too(
    spec: Any, told: Any, resources: object
) -> None:
    settings = Settings(resources=told)

    _, pod = inject(make_pod(**spec), settings=settings)

    assert find_setup_container(pod).get("resources") == resources
    assert not inject(pod, settings=settings)[0].ops


def test_it_goes_before_the_pods_own_and_sees_no_token_of_the_api_server() -> None:
    _, pod = inject(make_pod(initContainers=[{"name": "i"}]))

    assert [c["name"] for c in pod["spec"]["initContainers"]] == ["gcloud-setup", "i"]
    empty = {
        "name": "cwii-no-token",
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "readOnly": True,
    }
    assert empty in find_setup_container(pod)["volumeMounts"]
    assert {"name": "cwii-no-token", "emptyDir": {}} in pod["spec"]["volumes"]


def test_one_of_its_name_is_replaced_where_it_stands() -> None:
    decision, pod = inject(
        make_pod(initContainers=[{"name": "i"}, {"name": "gcloud-setup", "image": "mine"}])
    )

    assert [c["name"] for c in pod["spec"]["initContainers"]] == ["i", "gcloud-setup"]
    assert find_setup_container(pod)["image"] == Settings().image
    assert decision.warnings == (
        "the pod has a container gcloud-setup, which is replaced: the name is ours",
    )


@pytest.mark.parametrize("key", ["workload-identity-provider", "service-account-email"])
def test_it_is_renewed_when_the_account_says_something_else(key: str) -> None:
    _, pod = inject(make_pod())
    other = ACCOUNT_ANNOTATIONS | {
        f"{DOMAIN}/{key}": ACCOUNT_ANNOTATIONS[f"{DOMAIN}/{key}"].replace("p", "o", 1)
        if key.startswith("s")
        else PROVIDER + "2"
    }

    decision, renewed = inject(pod, other)

    assert [op.path for op in decision.ops][:1] == ["/spec/initContainers/0"]
    assert not inject(renewed, other)[0].ops


def test_what_others_gave_it_since_is_no_reason_to_renew_it() -> None:
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
        "nobody says",
        "Windows",
        "Windows, direct",
        "no user",
    ],
)
def test_who_will_not_read_the_token_is_told(
    spec: Any, account: dict[str, str], warnings: list[str]
) -> None:
    decision, _ = inject(make_pod(**spec), account)

    assert [
        w[: len(begins)] for w, begins in zip(decision.warnings, warnings, strict=True)
    ] == warnings


def test_a_pod_that_says_that_it_is_for_windows_is_not_given_what_the_api_server_would_refuse_in_it() -> (
    None
):
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

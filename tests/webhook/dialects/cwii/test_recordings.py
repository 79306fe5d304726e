"""Compares recorded answers of cwii with the answers of the webhook."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL

from tests.webhook.compatibility import (
    HELPER_CONTAINERS,
    INIT_CONTAINERS,
    OCCUPIED_PATH,
    WINDOWS_PODS,
    WRITER_ORDER,
)
from tests.webhook.recorded_answers import (
    Change,
    Recording,
    apply_changes,
    decide,
    find_differences,
    load_recordings,
    make_view,
    normalized,
)

# Each variable, its annotation or its file in the volume, and the volume.
VARIABLES = (
    ("GOOGLE_APPLICATION_CREDENTIALS", "/credentials.json", "cwii-gcp-creds"),
    ("AWS_ROLE_ARN", "cwii.dev/aws-role-arn", "cwii-aws-token"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "/token", "cwii-aws-token"),
    ("AWS_REGION", "cwii.dev/aws-region", "cwii-aws-token"),
    ("AWS_ROLE_SESSION_NAME", "cwii.dev/aws-role-session-name", "cwii-aws-token"),
    ("AZURE_CLIENT_ID", "cwii.dev/az-client-id", "cwii-az-token"),
    ("AZURE_TENANT_ID", "cwii.dev/az-tenant-id", "cwii-az-token"),
    ("AZURE_FEDERATED_TOKEN_FILE", "/token", "cwii-az-token"),
    ("AZURE_AUTHORITY_HOST", "cwii.dev/az-authority-host", "cwii-az-token"),
)
NO_TOKEN = {
    "name": "cwii-no-token",
    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
    "readOnly": True,
}


def route(recording: Recording, images: tuple[str, ...] = ()) -> Route:
    """Delivers Google's credentials by ConfigMap by default, as the recorded webhooks did."""
    flags = ["--gcp-delivery=config-map", *recording.flags, f"--verify-images={','.join(images)}"]
    return build_service(ALL["cwii"], flags, recording.env).route


def answer(recording: Recording) -> tuple[Decision, dict[str, Any]]:
    """Asks a webhook that lists the images of the recorded pods."""
    images = ("my/image:1",) if _needs_listed_image(recording) else ()
    return decide(route(recording, images), recording.pod, make_view(recording))


def expected(recording: Recording) -> dict[str, Any]:
    """Returns the pod that the peer made, with the changes of docs/reference/compatibility.md."""
    return apply_changes(recording, CHANGES)


def _use_windows_paths(recording: Recording, pod: Any) -> None:
    if not _runs_on_windows(recording):
        return
    spec = pod["spec"]
    spec["initContainers"] = [c for c in spec.get("initContainers", ()) if not _is_helper(c)]
    for before, after in zip(recording.pod["spec"]["containers"], spec["containers"], strict=True):
        for variable in after.get("env", [])[len(before.get("env", ())) :]:
            if variable["name"].endswith(("_FILE", "_CREDENTIALS")):
                variable["value"] = "C:" + variable["value"].replace("/", "\\")
    for volume in spec.get("volumes", ()):
        if volume["name"] == "cwii-gcp-creds" and "configMap" not in volume:
            reference = {
                "apiVersion": "v1",
                "fieldPath": "metadata.annotations['cwii.dev/gcp-credentials']",
            }
            volume["downwardAPI"] = {"items": [{"path": "credentials.json", "fieldRef": reference}]}
            pod["metadata"]["annotations"]["cwii.dev/gcp-credentials"] = _credentials_file(
                _audience(spec), "C:\\secrets\\gcp\\token"
            )
        elif volume["name"] == "cwii-gcp-creds":
            volume["configMap"]["name"] = (
                "cwii-gcp-creds-"
                + hashlib.sha256(f"{_audience(spec)}\0\0windows".encode()).hexdigest()[:12]
            )


def _audience(spec: Any) -> str:
    return next(v for v in spec["volumes"] if v["name"] == "cwii-gcp-token")["projected"][
        "sources"
    ][0]["serviceAccountToken"]["audience"]


def _credentials_file(audience: str, token: str) -> str:
    document = {
        "audience": audience,
        "credential_source": {"file": token},
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_info_url": "https://sts.googleapis.com/v1/introspect",
        "token_url": "https://sts.googleapis.com/v1/token",
        "type": "external_account",
    }
    return json.dumps(document, separators=(",", ":"))


def _keep_occupied_paths(recording: Recording, pod: Any) -> None:
    for before, after in zip(
        recording.pod["spec"]["containers"], pod["spec"]["containers"], strict=True
    ):
        paths = {mount["mountPath"] for mount in before.get("volumeMounts", ())}
        added = [
            m
            for m in after.get("volumeMounts", ())
            if m not in before.get("volumeMounts", ()) and m["mountPath"] not in paths
        ]
        after["volumeMounts"] = [*before.get("volumeMounts", ()), *added]


def _inject_init_containers(recording: Recording, pod: Any) -> None:
    """Adds the variables and mounts of the other containers, unless the container has its own."""
    peer_pod: Any = recording.peer_pod
    mounts: dict[str, Any] = {}
    for container in peer_pod["spec"]["containers"]:
        mounts |= {
            m["name"]: m
            for m in container.get("volumeMounts", ())
            if m["name"].startswith("cwii-") and m["mountPath"] != "/mine"
        }
    variables = dict(
        _variables(recording, {name: mount["mountPath"] for name, mount in mounts.items()})
    )
    for container in pod["spec"].get("initContainers", ()):
        if not _is_helper(container):
            env, own_mounts = container.get("env", []), container.get("volumeMounts", [])
            names, paths = (
                {v["name"] for v in env},
                {m["name"] for m in own_mounts} | {m["mountPath"] for m in own_mounts},
            )
            container["env"] = env + [
                {"name": name, "value": value}
                for name, value in variables.items()
                if name not in names
            ]
            container["volumeMounts"] = own_mounts + [
                m for m in mounts.values() if paths.isdisjoint((m["name"], m["mountPath"]))
            ]


def _variables(recording: Recording, mounts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields the injected variables. No recording has two values for one of the annotations."""
    for name, key, volume in VARIABLES:
        path = mounts.get(volume)
        if path is not None:
            value = path + key if key.startswith("/") else _annotation(recording, key)
            yield from (
                [
                    (
                        name,
                        "C:" + value.replace("/", "\\")
                        if key.startswith("/") and _runs_on_windows(recording)
                        else value,
                    )
                ]
                if value
                else []
            )


def _annotation(recording: Recording, key: str, *, from_pod_or_owner: bool = False) -> str:
    """Returns the value from the nearest source, or an empty string.

    With `from_pod_or_owner`, other sources do not count.
    """
    row = recording.row
    # The webhook finds a Deployment only through its ReplicaSet.
    owner: dict[str, str] = {} if row["owner"] == "Deployment" else row["ownerAnnotations"] or {}
    sources: list[Mapping[str, str]] = [
        recording.pod["metadata"].get("annotations", {}),
        owner,
        *(() if from_pod_or_owner else (row["account"], row["namespace"])),
    ]
    return next((source[key] for source in sources if source.get(key)), "")


def _runs_on_windows(recording: Recording) -> bool:
    return "windows" in recording.pod["spec"].get("nodeSelector", {}).values()


def _restrict_helpers(recording: Recording, pod: Any) -> None:
    helpers = [c for c in pod["spec"].get("initContainers", ()) if _is_helper(c)]
    for helper in helpers:
        helper.pop("resources")  # no recorded pod has resources
        helper["volumeMounts"].append(NO_TOKEN)
        helper["securityContext"] |= {
            "seccompProfile": {"type": "RuntimeDefault"},
            **_user(recording.pod["spec"]),
        }
        if "runAsUser" not in helper["securityContext"]:
            helper["securityContext"].pop("runAsNonRoot", None)
    if helpers:
        pod["spec"]["volumes"].append({"name": NO_TOKEN["name"]})


def _user(spec: Mapping[str, Any]) -> dict[str, object]:
    users = {
        c.get("securityContext", {}).get("runAsUser")
        for c in [*spec["containers"], *spec.get("initContainers", ())]
    }
    if users == {1000}:
        return {"runAsUser": 1000, "runAsNonRoot": True}
    return (
        {"runAsUser": 65532, "runAsNonRoot": True}
        if spec.get("securityContext", {}).get("runAsNonRoot")
        else {}
    )


def _move_writer_first(_: Recording, pod: Any) -> None:
    if "initContainers" in pod["spec"]:
        containers: list[dict[str, Any]] = pod["spec"]["initContainers"]
        pod["spec"]["initContainers"] = sorted(
            containers, key=lambda container: container["name"] != "cwii-gcp-creds-writer"
        )


def _is_helper(container: Mapping[str, Any]) -> bool:
    return container["name"].startswith("cwii-")


def _needs_listed_image(recording: Recording) -> bool:
    """Reports whether a check runs in an image that the ServiceAccount or the namespace sets."""
    peer_pod: Any = recording.peer_pod
    checks: list[dict[str, Any]] = [
        c
        for c in peer_pod["spec"].get("initContainers", ())
        if _is_helper(c) and c["image"] == "my/image:1"
    ]
    return not _runs_on_windows(recording) and any(
        not _annotation(
            recording, f"cwii.dev/{c['name'].split('-')[1]}-verify-image", from_pod_or_owner=True
        )
        for c in checks
    )


CHANGES: Mapping[str, Change] = {
    WINDOWS_PODS: _use_windows_paths,
    OCCUPIED_PATH: _keep_occupied_paths,
    INIT_CONTAINERS: _inject_init_containers,
    HELPER_CONTAINERS: _restrict_helpers,
    WRITER_ORDER: _move_writer_first,
}


RECORDINGS = load_recordings("cwii")
INJECTED = [recording for recording in RECORDINGS if "becomes" in recording.row]


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if not r.is_refused], ids=str)
def test_answer_equals_the_recorded_answer_with_documented_changes(recording: Recording) -> None:
    decision, pod = answer(recording)

    assert decision.outcome == ("injected" if "becomes" in recording.row else "nothing"), (
        decision.message
    )
    assert not list(find_differences(expected(recording), normalized(pod)))


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if r.is_refused], ids=str)
def test_recorded_refusal_is_a_refusal_with_a_reason(recording: Recording) -> None:
    decision, pod = decide(route(recording), recording.pod, make_view(recording))

    assert (decision.outcome, decision.code) == ("refused", 400)
    assert decision.message.startswith("cwii.dev/gcp-delivery of ")
    assert decision.message.endswith(" is 'other': say annotation, config-map or init-container")
    assert pod == recording.pod


@pytest.mark.parametrize(
    "recording", [r for r in RECORDINGS if not r.is_refused and _needs_listed_image(r)], ids=str
)
def test_unlisted_image_of_account_or_namespace_is_refused(
    recording: Recording,
) -> None:
    decision, _ = decide(route(recording), recording.pod, make_view(recording))

    assert decision.outcome == "refused"
    assert "'my/image:1', which this cluster does not list" in decision.message


@pytest.mark.parametrize("recording", INJECTED, ids=str)
def test_second_pass_makes_no_change(recording: Recording) -> None:
    cwii_route = route(recording, ("my/image:1",))
    _, pod = decide(cwii_route, recording.pod, make_view(recording))

    decision, unchanged = decide(cwii_route, pod, make_view(recording))

    assert list(decision.ops) == []
    assert unchanged == pod


@pytest.mark.parametrize(
    "recording", [r for r in INJECTED if "'configMap'" in str(r.peer_pod)], ids=str
)
def test_mounted_config_map_is_a_prerequisite_of_the_pod(recording: Recording) -> None:
    decision, pod = decide(route(recording, ("my/image:1",)), recording.pod, make_view(recording))

    (config_map,) = decision.prerequisites
    assert [config_map.name] == [
        v["configMap"]["name"] for v in pod["spec"]["volumes"] if "configMap" in v
    ]
    assert config_map.namespace == recording.pod["metadata"]["namespace"]
    assert json.loads(config_map.data["credentials.json"])["type"] == "external_account"

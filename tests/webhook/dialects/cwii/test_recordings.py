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
    asked,
    differing,
    normal,
    picture,
    recordings,
)

# Each with the annotation, or else the file in its volume, that it comes from.
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
    """The recorded servers had cwii's own default of how Google's credentials are delivered."""
    words = ["--gcp-delivery=config-map", *recording.flags, f"--verify-images={','.join(images)}"]
    return build_service(ALL["cwii"], words, recording.env).route


def answer(recording: Recording) -> tuple[Decision, dict[str, Any]]:
    """Asks a webhook that lists the images of the recorded pods."""
    images = ("my/image:1",) if _needs_listed_image(recording) else ()
    return asked(route(recording, images), recording.pod, picture(recording))


def expected(recording: Recording) -> dict[str, Any]:
    """Returns the pod that the peer made, with the changes of docs/reference/compatibility.md."""
    return apply_changes(recording, CHANGES)


def _use_windows_paths(recording: Recording, pod: Any) -> None:
    if not _runs_on_windows(recording):
        return
    spec = pod["spec"]
    spec["initContainers"] = [c for c in spec.get("initContainers", ()) if not _is_helper(c)]
    for was, is_ in zip(recording.pod["spec"]["containers"], spec["containers"], strict=True):
        for variable in is_.get("env", [])[len(was.get("env", ())) :]:
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
    for was, is_ in zip(
        recording.pod["spec"]["containers"], pod["spec"]["containers"], strict=True
    ):
        paths = {mount["mountPath"] for mount in was.get("volumeMounts", ())}
        new = [
            m
            for m in is_.get("volumeMounts", ())
            if m not in was.get("volumeMounts", ()) and m["mountPath"] not in paths
        ]
        is_["volumeMounts"] = [*was.get("volumeMounts", ()), *new]


def _inject_init_containers(recording: Recording, pod: Any) -> None:
    """They get what the others get, but what they have themselves."""
    theirs: Any = recording.becomes
    mounts: dict[str, Any] = {}
    for container in theirs["spec"]["containers"]:
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
            env, there = container.get("env", []), container.get("volumeMounts", [])
            names, paths = (
                {v["name"] for v in env},
                {m["name"] for m in there} | {m["mountPath"] for m in there},
            )
            container["env"] = env + [
                {"name": name, "value": value}
                for name, value in variables.items()
                if name not in names
            ]
            container["volumeMounts"] = there + [
                m for m in mounts.values() if paths.isdisjoint((m["name"], m["mountPath"]))
            ]


def _variables(recording: Recording, mounts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """None of the recorded questions has two values for a word that becomes a variable."""
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


def _annotation(recording: Recording, key: str, *, near: bool = False) -> str:
    """By the nearest voice, or, where only near ones count, by the pod's or its owner's."""
    row = recording.row
    owner: dict[str, str] = (
        {} if row["owner"] == "Deployment" else row["ownerAnnotations"] or {}
    )  # nothing but a ReplicaSet leads to one
    voices: list[Mapping[str, str]] = [
        recording.pod["metadata"].get("annotations", {}),
        owner,
        *(() if near else (row["account"], row["namespace"])),
    ]
    return next((voice[key] for voice in voices if voice.get(key)), "")


def _runs_on_windows(recording: Recording) -> bool:
    return "windows" in recording.pod["spec"].get("nodeSelector", {}).values()


def _restrict_helpers(recording: Recording, pod: Any) -> None:
    guests = [c for c in pod["spec"].get("initContainers", ()) if _is_helper(c)]
    for guest in guests:
        guest.pop("resources")  # none of the recorded pods has any
        guest["volumeMounts"].append(NO_TOKEN)
        guest["securityContext"] |= {
            "seccompProfile": {"type": "RuntimeDefault"},
            **_user(recording.pod["spec"]),
        }
        if "runAsUser" not in guest["securityContext"]:
            guest["securityContext"].pop("runAsNonRoot", None)
    if guests:
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
    """Whether a check would run in an image that the ServiceAccount or the namespace names."""
    theirs: Any = recording.becomes
    guests: list[dict[str, Any]] = [
        c
        for c in theirs["spec"].get("initContainers", ())
        if _is_helper(c) and c["image"] == "my/image:1"
    ]
    return not _runs_on_windows(recording) and any(
        not _annotation(recording, f"cwii.dev/{c['name'].split('-')[1]}-verify-image", near=True)
        for c in guests
    )


CHANGES: Mapping[str, Change] = {
    WINDOWS_PODS: _use_windows_paths,
    OCCUPIED_PATH: _keep_occupied_paths,
    INIT_CONTAINERS: _inject_init_containers,
    HELPER_CONTAINERS: _restrict_helpers,
    WRITER_ORDER: _move_writer_first,
}


RECORDINGS = recordings("cwii")
INJECTED = [recording for recording in RECORDINGS if "becomes" in recording.row]


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if not r.refused], ids=str)
def test_a_pod_becomes_what_it_was_made_before(recording: Recording) -> None:
    decision, pod = answer(recording)

    assert decision.outcome == ("injected" if "becomes" in recording.row else "nothing"), (
        decision.message
    )
    assert not list(differing(expected(recording), normal(pod)))


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if r.refused], ids=str)
def test_what_was_refused_is_refused_and_says_why(recording: Recording) -> None:
    decision, pod = asked(route(recording), recording.pod, picture(recording))

    assert (decision.outcome, decision.code) == ("refused", 400)
    assert decision.message.startswith("cwii.dev/gcp-delivery of ")
    assert decision.message.endswith(" is 'other': say annotation, config-map or init-container")
    assert pod == recording.pod


@pytest.mark.parametrize(
    "recording", [r for r in RECORDINGS if not r.refused and _needs_listed_image(r)], ids=str
)
def test_an_image_that_a_namespace_names_is_refused_where_none_is_listed(
    recording: Recording,
) -> None:
    decision, _ = asked(route(recording), recording.pod, picture(recording))

    assert decision.outcome == "refused"
    assert "'my/image:1', which this cluster does not list" in decision.message


@pytest.mark.parametrize("recording", INJECTED, ids=str)
def test_a_second_pass_changes_nothing(recording: Recording) -> None:
    there = route(recording, ("my/image:1",))
    _, pod = asked(there, recording.pod, picture(recording))

    decision, again = asked(there, pod, picture(recording))

    assert list(decision.ops) == []
    assert again == pod


@pytest.mark.parametrize(
    "recording", [r for r in INJECTED if "'configMap'" in str(r.becomes)], ids=str
)
def test_the_config_map_that_a_pod_mounts_is_made_before_it(recording: Recording) -> None:
    decision, pod = asked(route(recording, ("my/image:1",)), recording.pod, picture(recording))

    (made,) = decision.prerequisites
    assert [made.name] == [
        v["configMap"]["name"] for v in pod["spec"]["volumes"] if "configMap" in v
    ]
    assert made.namespace == recording.pod["metadata"]["namespace"]
    assert json.loads(made.data["credentials.json"])["type"] == "external_account"

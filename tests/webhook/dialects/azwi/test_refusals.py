"""Tests what the mutator of the dialect azwi refuses, skips and reports."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.admission.admit import admit
from cwii_webhook.admission.cluster_view import NotCached, ObjectMetadata, ObjectRef
from cwii_webhook.dialects.azwi.mutator import AzwiMutator
from cwii_webhook.dialects.azwi.settings import Settings

from tests.webhook.dialects.azwi.test_mutator import (
    ACCOUNT_ANNOTATIONS,
    CLIENT_ID,
    DOMAIN,
    first_container,
    inject,
    make_pod,
)
from tests.webhook.recorded_answers import make_request, make_route

EXPIRATION, PORT, PROXY = (
    f"{DOMAIN}/service-account-token-expiration",
    f"{DOMAIN}/proxy-sidecar-port",
    f"{DOMAIN}/inject-proxy-sidecar",
)
OUT_OF_RANGE = "not valid. Expected value to be between 3600 and 86400"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3599", f"token expiration 3599 {OUT_OF_RANGE}"),
        ("86401", f"token expiration 86401 {OUT_OF_RANGE}"),
        ("-3600", f"token expiration -3600 {OUT_OF_RANGE}"),
        ("1h", 'strconv.ParseInt: parsing "1h": invalid syntax'),
        (" 3600", 'strconv.ParseInt: parsing " 3600": invalid syntax'),
        ("3_600", 'strconv.ParseInt: parsing "3_600": invalid syntax'),
        ("3600.0", 'strconv.ParseInt: parsing "3600.0": invalid syntax'),
        (
            "\u0663\u0666\u0660\u0660",
            'strconv.ParseInt: parsing "\u0663\u0666\u0660\u0660": invalid syntax',
        ),
        (
            "9223372036854775808",
            'strconv.ParseInt: parsing "9223372036854775808": value out of range',
        ),
        ("9" * 5000, f'strconv.ParseInt: parsing "{"9" * 5000}": value out of range'),
        ("9223372036854775807", f"token expiration 9223372036854775807 {OUT_OF_RANGE}"),
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("scope", ["pod", "account"])
def test_invalid_expiration_is_refused(scope: str, text: str, message: str) -> None:
    """The message equals the peer's. A warning names the object and the remedy."""
    on_pod = {EXPIRATION: text} if scope == "pod" else {}

    decision, pod = inject(
        make_pod(annotations=on_pod), ACCOUNT_ANNOTATIONS | ({} if on_pod else {EXPIRATION: text})
    )

    ref = "Pod shop/p" if on_pod else "ServiceAccount shop/worker"
    assert (decision.outcome, decision.code, decision.message) == ("refused", 400, message)
    assert decision.warnings == (
        (f"{EXPIRATION} of {ref} is {text!r}: write seconds from 3600 to 86400, or remove it"),
    )
    assert pod == make_pod(annotations=on_pod)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "invalid syntax"),
        ("http", "invalid syntax"),
        ("2147483648", "value out of range"),
        ("-2147483649", "value out of range"),
    ],
)
def test_invalid_port_is_refused(text: str, reason: str) -> None:
    decision, _ = inject(make_pod(annotations={PROXY: "true", PORT: text}))

    assert (
        decision.message
        == f'failed to parse proxy sidecar port: strconv.ParseInt: parsing "{text}": {reason}'
    )
    assert decision.warnings == (
        f"{PORT} of Pod shop/p is {text!r}: write a port's number, or remove it",
    )


def test_port_without_a_proxy_is_ignored() -> None:
    assert inject(make_pod(annotations={PORT: "http"}))[0].outcome == "injected"


def test_proxy_with_host_network_is_refused() -> None:
    decision, _ = inject(make_pod(annotations={PROXY: "true"}, hostNetwork=True))

    assert decision.message == "hostNetwork is set to true, cannot inject proxy sidecar"
    assert decision.warnings == (f"remove {PROXY} of Pod shop/p, or its hostNetwork",)


def test_proxy_in_a_pod_with_os_windows_is_refused() -> None:
    decision, _ = inject(make_pod(annotations={PROXY: "true"}, os={"name": "windows"}))

    assert decision.message == "the proxy sidecar does not run on Windows"
    assert decision.warnings == (f"remove {PROXY} of Pod shop/p",)
    assert inject(make_pod(os={"name": "windows"}))[0].outcome == "injected"


@pytest.mark.parametrize(
    ("annotations", "spec", "start"),
    [
        ({PROXY: "", PORT: "x", EXPIRATION: "x"}, {"hostNetwork": True}, "hostNetwork"),
        ({PROXY: "", PORT: "x", EXPIRATION: "x"}, {}, "failed to parse"),
        ({PROXY: "", EXPIRATION: "x"}, {}, "strconv"),
    ],
    ids=["host", "port", "expiration"],
)
def test_refusal_names_the_first_error(
    annotations: dict[str, str], spec: dict[str, Any], start: str
) -> None:
    assert inject(make_pod(annotations=annotations, **spec))[0].message.startswith(start)


@pytest.mark.parametrize("name", ["worker", "default", "", None])
def test_pod_with_a_missing_account_is_refused(name: str | None) -> None:
    decision, _ = inject(make_pod(serviceAccountName=name), None)

    assert (decision.code, decision.message) == (
        400,
        f'serviceaccounts "{name or "default"}" not found',
    )
    assert decision.warnings == (
        f"create ServiceAccount shop/{name or 'default'} before pods that run as it",
    )


@pytest.mark.parametrize("name", ["", None])
def test_pod_without_an_account_uses_default(name: str | None) -> None:
    _, pod = inject(make_pod(serviceAccountName=name))

    assert first_container(pod)["env"][0] == {"name": "AZURE_CLIENT_ID", "value": CLIENT_ID}


@pytest.mark.parametrize(
    ("labels", "is_injected"),
    [
        ({f"{DOMAIN}/use": "true"}, True),
        ({f"{DOMAIN}/use": "True"}, False),
        ({f"{DOMAIN}/use": ""}, False),
        ({}, False),
        (None, False),
    ],
    ids=repr,
)
def test_label_is_required_only_with_the_flag(
    labels: dict[str, str] | None,
    is_injected: bool,  # noqa: FBT001 - a table
) -> None:
    pod = make_pod(labels=labels)

    strict, untouched = inject(pod, settings=Settings(tenant_id="tenant", label=True))
    lenient, _ = inject(pod)

    assert strict.outcome == ("injected" if is_injected else "nothing")
    assert lenient.outcome == "injected"
    assert (untouched == pod) != is_injected
    assert any("label" in warning for warning in strict.warnings) != is_injected


@pytest.mark.parametrize(
    ("value", "is_reported"), [("True", True), ("yes", True), ("", True), ("false", False)]
)
def test_label_with_an_unsupported_value_is_reported(value: str, is_reported: bool) -> None:  # noqa: FBT001 - a table
    decision, _ = inject(make_pod(labels={f"{DOMAIN}/use": value}), settings=Settings(label=True))

    assert decision.warnings == (
        (f'label {DOMAIN}/use of Pod shop/p is {value!r}, and only "true" is heard',)
        if is_reported
        else ()
    )


@pytest.mark.parametrize(
    ("account", "warning"),
    [
        (
            {f"{DOMAIN}/client-id": "foo"},
            (
                f"{DOMAIN}/client-id of ServiceAccount shop/worker is 'foo', which is no UUID: "
                "Azure will not know it"
            ),
        ),
        (
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/tenant-id": "foo"},
            (
                f"{DOMAIN}/tenant-id of ServiceAccount shop/worker is 'foo', "
                "neither a UUID nor a domain: Azure will not know it"
            ),
        ),
        (ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/tenant-id": "contoso.example"}, None),
    ],
    ids=["client", "tenant", "a domain"],
)
def test_id_in_an_invalid_format_is_reported(account: dict[str, str], warning: str | None) -> None:
    assert inject(make_pod(), account)[0].warnings == ((warning,) if warning else ())


def test_pod_without_the_label_gets_no_warning() -> None:
    assert not inject(make_pod(labels={}), {}, Settings(label=True))[0].warnings


def test_pod_without_the_label_needs_no_lookup() -> None:
    class EmptyCache:
        def get(self, ref: ObjectRef) -> ObjectMetadata | None:
            raise NotCached(ref)

    route = make_route("azwi", AzwiMutator(Settings(label=True)))

    assert admit(route, make_request(make_pod(labels={})), EmptyCache()).outcome == "nothing"


def test_mirror_pod_is_not_changed() -> None:
    assert (
        inject(make_pod(annotations={"kubernetes.io/config.mirror": "x"}))[0].outcome == "nothing"
    )


CONFLICTS: list[tuple[dict[str, Any], str | None]] = [
    (
        {"env": [{"name": "AZURE_CLIENT_ID", "value": "mine"}]},
        "container c sets AZURE_CLIENT_ID itself: that is left as it is",
    ),
    (
        {"env": [{"name": "AZURE_TENANT_ID", "valueFrom": {}}]},
        "container c sets AZURE_TENANT_ID itself: that is left as it is",
    ),
    ({"env": [{"name": "AZURE_CLIENT_ID", "value": CLIENT_ID}]}, None),
    ({"env": [{"name": "HOME", "value": "/"}]}, None),
    (
        {"envFrom": [{}]},
        (
            "container c takes variables from elsewhere (envFrom): "
            "where their names are ours, ours win"
        ),
    ),
    (
        {"volumeMounts": [{"name": "data", "mountPath": "/var/run/secrets/azure/wi/"}]},
        (
            "container c has its volume data at /var/run/secrets/azure/wi: "
            "what lies there is used, not azure-workload-identity-reserved-"
        ),
    ),
]


@pytest.mark.parametrize(
    ("container", "warning"),
    CONFLICTS,
    ids=[
        "another value",
        "a value from elsewhere",
        "the same value",
        "another name",
        "envFrom",
        "a path",
    ],
)
def test_conflict_with_the_container_is_reported_once(
    container: dict[str, Any], warning: str | None
) -> None:
    pod = make_pod(containers=[{"name": "c", **container}])

    decision, injected = inject(pod)

    assert [w[: len(warning or "")] for w in decision.warnings] == ([warning] if warning else [])
    assert all(
        entry in first_container(injected)[key]
        for key, entries in container.items()
        for entry in entries
    )

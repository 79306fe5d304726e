"""Azure workload identity's rules, one by one: what is refused, not asked for, or told."""

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
from tests.webhook.recorded_answers import make_route, request

EXPIRATION, PORT, PROXY = (
    f"{DOMAIN}/service-account-token-expiration",
    f"{DOMAIN}/proxy-sidecar-port",
    f"{DOMAIN}/inject-proxy-sidecar",
)
BETWEEN = "not valid. Expected value to be between 3600 and 86400"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3599", f"token expiration 3599 {BETWEEN}"),
        ("86401", f"token expiration 86401 {BETWEEN}"),
        ("-3600", f"token expiration -3600 {BETWEEN}"),
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
        ("9223372036854775807", f"token expiration 9223372036854775807 {BETWEEN}"),
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("bearer", ["pod", "account"])
def test_a_token_that_cannot_last_so_is_refused(bearer: str, text: str, message: str) -> None:
    """In the peer's own words; who wrote it and what to do stands beside."""
    on_pod = {EXPIRATION: text} if bearer == "pod" else {}

    decision, pod = inject(
        make_pod(annotations=on_pod), ACCOUNT_ANNOTATIONS | ({} if on_pod else {EXPIRATION: text})
    )

    assert (decision.outcome, decision.code, decision.message) == ("refused", 400, message)
    assert decision.warnings == (
        f"{EXPIRATION} of {'Pod shop/p' if on_pod else 'ServiceAccount shop/worker'} is {text!r}: write seconds from 3600 to 86400, or remove it",
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
def test_a_port_that_is_none_is_refused(text: str, reason: str) -> None:
    decision, _ = inject(make_pod(annotations={PROXY: "true", PORT: text}))

    assert (
        decision.message
        == f'failed to parse proxy sidecar port: strconv.ParseInt: parsing "{text}": {reason}'
    )
    assert decision.warnings == (
        f"{PORT} of Pod shop/p is {text!r}: write a port's number, or remove it",
    )


def test_a_port_means_nothing_without_a_proxy() -> None:
    assert inject(make_pod(annotations={PORT: "http"}))[0].outcome == "injected"


def test_the_hosts_network_has_no_proxy() -> None:
    decision, _ = inject(make_pod(annotations={PROXY: "true"}, hostNetwork=True))

    assert decision.message == "hostNetwork is set to true, cannot inject proxy sidecar"
    assert decision.warnings == (f"remove {PROXY} of Pod shop/p, or its hostNetwork",)


def test_a_pod_that_says_that_it_is_for_windows_has_no_proxy() -> None:
    decision, _ = inject(make_pod(annotations={PROXY: "true"}, os={"name": "windows"}))

    assert decision.message == "the proxy sidecar does not run on Windows"
    assert decision.warnings == (f"remove {PROXY} of Pod shop/p",)
    assert inject(make_pod(os={"name": "windows"}))[0].outcome == "injected"


@pytest.mark.parametrize(
    ("annotations", "spec", "begins"),
    [
        ({PROXY: "", PORT: "x", EXPIRATION: "x"}, {"hostNetwork": True}, "hostNetwork"),
        ({PROXY: "", PORT: "x", EXPIRATION: "x"}, {}, "failed to parse"),
        ({PROXY: "", EXPIRATION: "x"}, {}, "strconv"),
    ],
    ids=["host", "port", "expiration"],
)
def test_the_first_mistake_is_told_first(
    annotations: dict[str, str], spec: dict[str, Any], begins: str
) -> None:
    assert inject(make_pod(annotations=annotations, **spec))[0].message.startswith(begins)


@pytest.mark.parametrize("name", ["worker", "default", "", None])
def test_a_pod_whose_account_is_not_there_is_refused(name: str | None) -> None:
    decision, _ = inject(make_pod(serviceAccountName=name), None)

    assert (decision.code, decision.message) == (
        400,
        f'serviceaccounts "{name or "default"}" not found',
    )
    assert decision.warnings == (
        f"create ServiceAccount shop/{name or 'default'} before pods that run as it",
    )


@pytest.mark.parametrize("name", ["", None])
def test_who_names_no_account_is_default(name: str | None) -> None:
    _, pod = inject(make_pod(serviceAccountName=name))

    assert first_container(pod)["env"][0] == {"name": "AZURE_CLIENT_ID", "value": CLIENT_ID}


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        ({f"{DOMAIN}/use": "true"}, True),
        ({f"{DOMAIN}/use": "True"}, False),
        ({f"{DOMAIN}/use": ""}, False),
        ({}, False),
        (None, False),
    ],
    ids=repr,
)
def test_the_label_is_looked_at_where_it_is_told_to(
    labels: dict[str, str] | None,
    given: bool,  # noqa: FBT001 - a table
) -> None:
    pod = make_pod(labels=labels)

    strict, untouched = inject(pod, settings=Settings(tenant_id="tenant", label=True))
    lenient, _ = inject(pod)

    assert strict.outcome == ("injected" if given else "nothing")
    assert lenient.outcome == "injected"
    assert (untouched == pod) != given
    assert any("label" in warning for warning in strict.warnings) != given


@pytest.mark.parametrize(
    ("value", "told"), [("True", True), ("yes", True), ("", True), ("false", False)]
)
def test_a_label_that_nobody_hears_is_told(value: str, told: bool) -> None:  # noqa: FBT001 - a table
    decision, _ = inject(make_pod(labels={f"{DOMAIN}/use": value}), settings=Settings(label=True))

    assert decision.warnings == (
        (f'label {DOMAIN}/use of Pod shop/p is {value!r}, and only "true" is heard',)
        if told
        else ()
    )


@pytest.mark.parametrize(
    ("account", "told"),
    [
        (
            {f"{DOMAIN}/client-id": "foo"},
            f"{DOMAIN}/client-id of ServiceAccount shop/worker is 'foo', which is no UUID: Azure will not know it",
        ),
        (
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/tenant-id": "foo"},
            f"{DOMAIN}/tenant-id of ServiceAccount shop/worker is 'foo', neither a UUID nor a domain: Azure will not know it",
        ),
        (ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/tenant-id": "contoso.example"}, None),
    ],
    ids=["client", "tenant", "a domain"],
)
def test_an_id_that_azure_will_not_know_is_told(account: dict[str, str], told: str | None) -> None:
    assert inject(make_pod(), account)[0].warnings == ((told,) if told else ())


def test_who_did_not_ask_is_told_nothing() -> None:
    assert not inject(make_pod(labels={}), {}, Settings(label=True))[0].warnings


def test_who_did_not_ask_waits_for_nobody() -> None:
    class Blind:
        def get(self, ref: ObjectRef) -> ObjectMetadata | None:
            raise NotCached(ref)

    route = make_route("azwi", AzwiMutator(Settings(label=True)))

    assert admit(route, request(make_pod(labels={})), Blind()).outcome == "nothing"


def test_a_mirror_pod_is_left_alone() -> None:
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
        "container c takes variables from elsewhere (envFrom): where their names are ours, ours win",
    ),
    (
        {"volumeMounts": [{"name": "data", "mountPath": "/var/run/secrets/azure/wi/"}]},
        "container c has its volume data at /var/run/secrets/azure/wi: what lies there is used, not azure-workload-identity-reserved-",
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
def test_what_of_theirs_meets_ours_is_told_once(
    container: dict[str, Any], warning: str | None
) -> None:
    pod = make_pod(containers=[{"name": "c", **container}])

    decision, becomes = inject(pod)

    assert [w[: len(warning or "")] for w in decision.warnings] == ([warning] if warning else [])
    assert all(
        entry in first_container(becomes)[key]
        for key, entries in container.items()
        for entry in entries
    )

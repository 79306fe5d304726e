"""Tests what the mutator of the dialect gcpwif injects, refuses and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, admit
from cwii_webhook.admission.cluster_view import NotCached, ObjectMetadata, ObjectRef
from cwii_webhook.dialects.gcpwif.mutator import GcpwifMutator
from cwii_webhook.dialects.gcpwif.settings import Mode, Settings

from tests.webhook.recorded_answers import FakeClusterView, decide, make_request, make_route

DOMAIN = "cloud.google.com"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/p/providers/q"
EMAIL = "sa@project.iam.gserviceaccount.com"
ACCOUNT_ANNOTATIONS = {
    f"{DOMAIN}/workload-identity-provider": PROVIDER,
    f"{DOMAIN}/service-account-email": EMAIL,
}
DIRECT_MODE = ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/injection-mode": "direct"}
NOT_A_NUMBER = 'must be positive integer string: strconv.ParseInt: parsing "x": invalid syntax'
BOTH_REQUIRED = f"{DOMAIN}/workload-identity-provider, {DOMAIN}/token-expiration must set at a time"
PROVIDER_FORM = (
    f"{DOMAIN}/workload-identity-provider must be form of "
    "projects/{ProjectNumber}/locations/{Location}/"
)


def make_pod(**spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "p", "namespace": "shop"} | (
        {"annotations": spec.pop("annotations")} if "annotations" in spec else {}
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c"}], "serviceAccountName": "worker"} | spec,
    }


def inject(
    pod: dict[str, Any],
    account: Mapping[str, str] | None = ACCOUNT_ANNOTATIONS,
    settings: Settings | None = None,
) -> tuple[Decision, dict[str, Any]]:
    objects = (
        {}
        if account is None
        else {ObjectRef("", "ServiceAccount", "shop", "worker"): ObjectMetadata(account)}
    )
    return decide(
        make_route("gcpwif", GcpwifMutator(settings or Settings())),
        pod,
        FakeClusterView(objects),
    )


def env(container: Mapping[str, Any]) -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in container.get("env", ())}


def first_container(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return pod["spec"]["containers"][0]


def find_token(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return pod["spec"]["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]


@pytest.mark.parametrize(
    ("account", "reason", "warned"),
    [
        (None, "no-account", False),
        ({}, "not-asked", False),
        ({f"{DOMAIN}/audience": "x", f"{DOMAIN}/token-expiration": "7200"}, "not-asked", False),
        ({f"{DOMAIN}/injection-mode": "direct"}, "incomplete", True),
        ({f"{DOMAIN}/gcloud-run-as-user": "1000"}, "incomplete", True),
    ],
    ids=["no account", "no annotations", "other annotations", "mode only", "user only"],
)
def test_account_without_a_provider_is_skipped(
    account: Mapping[str, str] | None,
    reason: str,
    warned: bool,  # noqa: FBT001 - a table
) -> None:
    decision, pod = inject(make_pod(), account)

    assert [n.reason for n in decision.skips] == [reason]
    assert bool(decision.warnings) == warned
    assert pod == make_pod()


@pytest.mark.parametrize("name", ["", None])
def test_pod_without_an_account_is_skipped(name: str | None) -> None:
    assert [n.reason for n in inject(make_pod(serviceAccountName=name))[0].skips] == ["no-account"]


@pytest.mark.parametrize(
    ("account", "message", "remedy"),
    [
        (
            {f"{DOMAIN}/token-expiration": "x"},
            f"{DOMAIN}/token-expiration {NOT_A_NUMBER}",
            "write a whole number",
        ),
        (
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/token-expiration": "x"},
            f"{DOMAIN}/token-expiration {NOT_A_NUMBER}",
            "write a whole number",
        ),
        (
            {f"{DOMAIN}/gcloud-run-as-user": "x"},
            f"{DOMAIN}/gcloud-run-as-user {NOT_A_NUMBER}",
            "write a whole number",
        ),
        (
            {f"{DOMAIN}/injection-mode": "sidecar"},
            f"{DOMAIN}/injection-mode mode must be 'direct', 'gcloud' or unset",
            "write gcloud or direct",
        ),
        (
            {f"{DOMAIN}/injection-mode": ""},
            f"{DOMAIN}/injection-mode mode must be 'direct', 'gcloud' or unset",
            "write gcloud or direct",
        ),
        (
            {f"{DOMAIN}/workload-identity-provider": PROVIDER},
            BOTH_REQUIRED,
            f"no {DOMAIN}/service-account-email: set both",
        ),
        (
            {f"{DOMAIN}/service-account-email": EMAIL},
            BOTH_REQUIRED,
            f"no {DOMAIN}/workload-identity-provider: set both",
        ),
        (
            {f"{DOMAIN}/workload-identity-provider": "", f"{DOMAIN}/service-account-email": EMAIL},
            PROVIDER_FORM,
            "copy it",
        ),
        (
            ACCOUNT_ANNOTATIONS
            | {f"{DOMAIN}/workload-identity-provider": f"//iam.googleapis.com/{PROVIDER}"},
            PROVIDER_FORM,
            "copy it",
        ),
        (
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/workload-identity-provider": f"{PROVIDER}\n"},
            PROVIDER_FORM,
            "copy it",
        ),
        (
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/workload-identity-provider": f"x\n{PROVIDER}"},
            PROVIDER_FORM,
            "copy it",
        ),
        (
            ACCOUNT_ANNOTATIONS
            | {f"{DOMAIN}/workload-identity-provider": PROVIDER.replace("/p/", "//")},
            PROVIDER_FORM,
            "copy it",
        ),
        (
            ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/token-expiration": "1" * 20},
            f"{DOMAIN}/token-expiration must be positive integer string: strconv.ParseInt: parsing",
            "write a whole number",
        ),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)
def test_invalid_annotation_is_refused_with_the_message_of_the_peer(
    account: Mapping[str, str], message: str, remedy: str
) -> None:
    decision, _ = inject(make_pod(), account)

    assert (decision.outcome, decision.code) == ("refused", 400)
    assert decision.message.startswith(message)
    assert len(decision.warnings) == 1
    assert remedy in decision.warnings[0]
    assert "ServiceAccount shop/worker" in decision.warnings[0]


@pytest.mark.parametrize(
    ("pod", "account", "flag", "seconds"),
    [
        (None, None, 86400, 86400),
        (None, None, 7200.9, 7200),
        (None, None, 60, 3600),
        (None, "7200", 86400, 7200),
        (None, "10", 86400, 3600),
        ("5000", "7200", 86400, 5000),
        ("0", "7200", 86400, 3600),
        ("-1", None, 86400, 3600),
        ("100000", None, 86400, 100000),
    ],
)
def test_expiration_is_at_least_an_hour(
    pod: str | None, account: str | None, flag: float, seconds: int
) -> None:
    key = f"{DOMAIN}/token-expiration"
    annotations = ACCOUNT_ANNOTATIONS | ({key: account} if account is not None else {})

    decision, injected = inject(
        make_pod(annotations={key: pod} if pod is not None else {}),
        annotations,
        Settings(expiration=flag),
    )
    second, unchanged = inject(injected, annotations, Settings(expiration=flag))

    assert find_token(injected)["expirationSeconds"] == seconds
    assert injected["metadata"]["annotations"][key] == str(seconds)
    assert any("the least that there is" in w for w in decision.warnings) == (
        int(pod or account or seconds) < 3600
    )
    assert (second.ops, second.warnings, unchanged) == ([], (), injected)


def test_expiration_that_the_api_server_refuses_is_reported() -> None:
    decision, _ = inject(make_pod(annotations={f"{DOMAIN}/token-expiration": str(1 << 33)}))

    assert decision.warnings == (
        (
            f"{DOMAIN}/token-expiration: the API server refuses a token of {1 << 33} seconds; "
            f"it takes 600 to {1 << 32}"
        ),
    )


@pytest.mark.parametrize(
    ("annotation", "default", "mode"),
    [
        (None, "gcloud", "gcloud"),
        (None, "direct", "direct"),
        ("gcloud", "direct", "gcloud"),
        ("direct", "gcloud", "direct"),
        ("DIRECT", "gcloud", "direct"),
        ("GCloud", "direct", "gcloud"),
    ],
)
def test_mode_comes_from_the_account_or_the_flag(
    annotation: str | None, default: Mode, mode: Mode
) -> None:
    account = ACCOUNT_ANNOTATIONS | ({f"{DOMAIN}/injection-mode": annotation} if annotation else {})

    _, pod = inject(make_pod(), account, Settings(mode=default))

    assert ("initContainers" in pod["spec"]) == (mode == "gcloud")
    assert (f"{DOMAIN}/external-credentials-json" in pod["metadata"]["annotations"]) == (
        mode == "direct"
    )


def test_direct_credentials_refer_to_the_token_and_the_service_account() -> None:
    _, pod = inject(make_pod(), DIRECT_MODE)

    credentials = json.loads(pod["metadata"]["annotations"][f"{DOMAIN}/external-credentials-json"])
    assert credentials["audience"] == f"//iam.googleapis.com/{PROVIDER}"
    assert (
        credentials["credential_source"]["file"]
        == f"{first_container(pod)['volumeMounts'][0]['mountPath']}/{find_token(pod)['path']}"
    )
    assert f"/serviceAccounts/{EMAIL}:" in credentials["service_account_impersonation_url"]
    assert (
        env(first_container(pod))["GOOGLE_APPLICATION_CREDENTIALS"]
        == "/var/run/secrets/workload-identity/federation.json"
    )


def test_value_with_quotes_cannot_change_direct_credentials() -> None:
    hostile = f'"}},"token_url":"https://evil/{EMAIL}'

    _, pod = inject(make_pod(), DIRECT_MODE | {f"{DOMAIN}/service-account-email": hostile})

    assert (
        json.loads(pod["metadata"]["annotations"][f"{DOMAIN}/external-credentials-json"])[
            "token_url"
        ]
        == "https://sts.googleapis.com/v1/token"
    )


@pytest.mark.parametrize(
    ("email", "project"),
    [
        (EMAIL, "project"),
        ("sa@a.b.iam.gserviceaccount.com", "a.b"),
        ("sa@developer.gserviceaccount.com", ""),
        ("", ""),
        ("sa@project.iam.gserviceaccount.com.evil", "project"),
        ("a@b@project.iam.gserviceaccount.com", "b@project"),
        ("sa@example.com:project.iam.gserviceaccount.com", "example.com:project"),
    ],
)
def test_project_comes_from_the_service_account(email: str, project: str) -> None:
    _, pod = inject(make_pod(), ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/service-account-email": email})

    assert env(first_container(pod))["CLOUDSDK_CORE_PROJECT"] == project
    assert env(pod["spec"]["initContainers"][0])["CLOUDSDK_CORE_PROJECT"] == project


def test_variable_reference_in_a_value_is_escaped() -> None:
    _, pod = inject(
        make_pod(),
        DIRECT_MODE | {f"{DOMAIN}/service-account-email": "a@$(TOKEN).iam.gserviceaccount.com"},
    )

    assert env(first_container(pod))["CLOUDSDK_CORE_PROJECT"] == "$$(TOKEN)"


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("", ""),
        ("c", "c"),
        (" c , i ", "ci"),
        ("c;i", ""),
        (",", ""),
        ("gcloud-setup", ""),
        ("i", "i"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("account", [ACCOUNT_ANNOTATIONS, DIRECT_MODE], ids=["gcloud", "direct"])
def test_skipped_container_is_not_changed(
    text: str, skipped: str, account: Mapping[str, str]
) -> None:
    _, pod = inject(
        make_pod(annotations={f"{DOMAIN}/skip-containers": text}, initContainers=[{"name": "i"}]),
        account,
    )

    containers = [
        c
        for c in (*pod["spec"]["containers"], *pod["spec"]["initContainers"])
        if c["name"] != "gcloud-setup"
    ]
    assert {c["name"] for c in containers if c == {"name": c["name"]}} == set(skipped)


REPLACED = ("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG")


@pytest.mark.parametrize("name", [*REPLACED, "CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_CORE_PROJECT"])
def test_credential_variables_are_replaced_and_others_are_kept(name: str) -> None:
    variables = [
        {"name": "A", "value": "a"},
        {"name": name, "value": "mine"},
        {"name": "Z", "value": "z"},
    ]

    decision, pod = inject(
        make_pod(containers=[{"name": "c", "env": variables}]),
        settings=Settings(region="europe-west1"),
    )

    assert (env(first_container(pod))[name] == "mine") == (name not in REPLACED)
    assert list(env(first_container(pod)))[:3] == ["A", name, "Z"]
    outcome = "ours replaces it" if name in REPLACED else "that is left as it is"
    assert decision.warnings == (f"container c sets {name} itself: {outcome}",)


def test_domain_flag_changes_the_annotation_keys() -> None:
    account = {key.replace(DOMAIN, "example.com"): value for key, value in DIRECT_MODE.items()}

    _, pod = inject(make_pod(), account, Settings(domain="example.com"))

    assert {key.partition("/")[0] for key in pod["metadata"]["annotations"]} == {"example.com"}
    field = pod["spec"]["volumes"][1]["downwardAPI"]["items"][0]["fieldRef"]["fieldPath"]
    assert field == "metadata.annotations['example.com/external-credentials-json']"


@pytest.mark.parametrize(
    ("key", "warning"),
    [
        ("audience", "the token is for the API server"),
        ("service-account-email", "there is nobody to act as"),
    ],
)
def test_empty_value_is_reported(key: str, warning: str) -> None:
    decision, _ = inject(make_pod(), ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/{key}": ""})

    assert [warning in w for w in decision.warnings] == [True]


def test_annotations_over_the_limit_of_the_api_server_are_reported() -> None:
    assert not inject(make_pod(annotations={"a": "x" * 200_000}))[0].warnings
    assert "over 262144 bytes" in inject(make_pod(annotations={"a": "x" * 262_000}))[0].warnings[0]


def test_account_that_is_not_cached_is_left_to_the_caller() -> None:
    class EmptyCache:
        def get(self, ref: ObjectRef) -> ObjectMetadata | None:
            raise NotCached(ref)

    with pytest.raises(NotCached):
        admit(
            make_route("gcpwif", GcpwifMutator(Settings())),
            make_request(make_pod()),
            EmptyCache(),
        )


def test_audit_annotation_names_the_source_of_each_value() -> None:
    decision, _ = inject(make_pod(annotations={f"{DOMAIN}/token-expiration": "7200"}), DIRECT_MODE)

    assert decision.audit["gcp"] == (
        "provider from ServiceAccount shop/worker; "
        "service account from ServiceAccount shop/worker; "
        "audience by default; expiration from Pod shop/p; "
        "GOOGLE_APPLICATION_CREDENTIALS by default; "
        "CLOUDSDK_CORE_PROJECT from ServiceAccount shop/worker"
    )


@pytest.mark.parametrize(
    "path", ["/var/run/secrets/gcloud/config", "/var/run/secrets/gcloud/config/", "/mine"]
)
def test_injected_volume_at_another_path_is_moved(path: str) -> None:
    mounts = [{"name": "gcp-iam-token", "mountPath": path}]

    _, pod = inject(make_pod(containers=[{"name": "c", "volumeMounts": mounts}]))

    assert [(m["name"], m["mountPath"]) for m in first_container(pod)["volumeMounts"]] == [
        ("gcp-iam-token", "/var/run/secrets/sts.googleapis.com/serviceaccount"),
        ("gcloud-config", "/var/run/secrets/gcloud/config"),
    ]
    assert not inject(pod)[0].ops


def test_mount_path_in_two_spellings_is_mounted_once() -> None:
    path = "/var/run/secrets/sts.googleapis.com/serviceaccount"
    mounts = [
        {"name": "gcp-iam-token", "mountPath": path},
        {"name": "gcp-iam-token", "mountPath": f"{path}/"},
    ]

    _, pod = inject(make_pod(containers=[{"name": "c", "volumeMounts": mounts}]))

    paths = [m["mountPath"] for m in first_container(pod)["volumeMounts"]]
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize("slashes", ["/{}/", "//{}", "/{}//"])
def test_injected_mount_in_another_spelling_is_kept(slashes: str) -> None:
    mount = {
        "name": "gcp-iam-token",
        "mountPath": slashes.format("var/run/secrets/sts.googleapis.com/serviceaccount"),
        "readOnly": True,
    }

    decision, pod = inject(make_pod(containers=[{"name": "c", "volumeMounts": [mount]}]))

    assert [
        entry for entry in first_container(pod)["volumeMounts"] if entry["name"] == "gcp-iam-token"
    ] == [mount]
    assert decision.warnings == ()


def test_only_the_mount_at_an_injected_path_is_moved() -> None:
    """One mount of the token occupies the path of another injected volume."""
    mounts = [
        {"name": "gcp-iam-token", "mountPath": "/tokens"},
        {"name": "gcp-iam-token", "mountPath": "/var/run/secrets/gcloud/config"},
    ]

    _, pod = inject(make_pod(containers=[{"name": "c", "volumeMounts": mounts}]))

    assert {
        (entry["name"], entry["mountPath"]) for entry in first_container(pod)["volumeMounts"]
    } == {
        ("gcp-iam-token", "/tokens"),
        ("gcp-iam-token", "/var/run/secrets/sts.googleapis.com/serviceaccount"),
        ("gcloud-config", "/var/run/secrets/gcloud/config"),
    }
    assert inject(pod)[0].ops == []


def test_pods_with_the_same_account_get_independent_decisions() -> None:
    """The pods differ in user, QoS class, expiration and skipped containers."""
    specs: tuple[dict[str, Any], ...] = (
        {},
        {"securityContext": {"runAsUser": 1000}},
        {"securityContext": {"runAsNonRoot": True}},
        {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]},
        {"containers": [{"name": "c"}, {"name": "d"}]},
        {"annotations": {f"{DOMAIN}/skip-containers": "c"}},
        {"annotations": {f"{DOMAIN}/token-expiration": "7200"}},
        {
            "containers": [
                {"name": "c", "env": [{"name": "CLOUDSDK_CORE_PROJECT", "value": "mine"}]}
            ]
        },
    )
    route = make_route("gcpwif", GcpwifMutator(Settings()))
    cluster = FakeClusterView(
        {ObjectRef("", "ServiceAccount", "shop", "worker"): ObjectMetadata(ACCOUNT_ANNOTATIONS)}
    )

    sequence = [decide(route, make_pod(**spec), cluster) for spec in (*specs, *reversed(specs))]
    alone = [inject(make_pod(**spec)) for spec in specs]

    assert [pod for _, pod in sequence] == [pod for _, pod in (*alone, *reversed(alone))]
    assert [decision.warnings for decision, _ in sequence[: len(specs)]] == [
        decision.warnings for decision, _ in alone
    ]
    assert len({json.dumps(pod) for _, pod in alone}) == len(specs)


@pytest.mark.parametrize(
    ("email", "is_reported"), [("foo", True), (EMAIL, False), ("112233445566778899001", False)]
)
def test_address_that_is_no_service_account_is_reported(email: str, is_reported: bool) -> None:  # noqa: FBT001 - a table
    key = f"{DOMAIN}/service-account-email"

    decision, _ = inject(make_pod(), DIRECT_MODE | {key: email})

    warning = (
        f"{key} of ServiceAccount shop/worker is {email!r}, which is no service account's address: "
        "Google Cloud will not know it"
    )
    assert (warning in decision.warnings) == is_reported

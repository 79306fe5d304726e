"""Tests refused values, warnings, and the privileges of helper containers in cwii's dialect."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.cwii import annotations as keys
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.dialects.cwii.value_checks import AUTHORITY_HOSTS

from tests.webhook.dialects.cwii.pods import (
    AWS,
    AZURE,
    GCP,
    SOURCES,
    env,
    find_helper,
    find_token,
    find_volume,
    first_container,
    inject,
    inject_with_account,
    make_pod,
)

ALL_CLOUDS = {**AWS, **AZURE, **GCP}
API_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
HOSTILE = [
    "$(SECRET)",
    "`id`",
    "a;id",
    "a|id",
    "a&&id",
    "a>b",
    "a<b",
    'a"b',
    "a'b",
    "a\\b",
    "a\nb",
    "a b",
    "$HOME",
    "(a)",
    "@/etc/passwd",
    "-x",
    "é",
    "\x00",
]
CHECKED_ANNOTATIONS = [
    keys.AWS_ROLE_ARN,
    keys.AWS_REGION,
    keys.AWS_SESSION_NAME,
    keys.AZURE_CLIENT_ID,
    keys.AZURE_TENANT_ID,
    keys.AZURE_AUTHORITY_HOST,
    keys.GCP_SERVICE_ACCOUNT,
    keys.GCP_DELIVERY,
]
SHELL_SYNTAX = [
    "$(SECRET)",
    "`id`",
    "a;id",
    "a|id",
    "a&&id",
    "a>b",
    "a<b",
    'a"b',
    "a'b",
    "a\\b",
    "a\nb",
    "$HOME",
    "(a)",
]


@pytest.mark.parametrize(
    "hostile", [text for text in HOSTILE if text not in {"@/etc/passwd", "-x"}], ids=ascii
)
@pytest.mark.parametrize("annotation", CHECKED_ANNOTATIONS, ids=lambda annotation: annotation.key)
def test_invalid_value_is_refused(annotation: Any, hostile: str) -> None:
    decision, pod = inject(make_pod({annotation.key: hostile}), account=ALL_CLOUDS)

    assert decision.outcome == "refused"
    assert decision.message.startswith(f"{annotation.key} of Pod shop/p is ")
    assert decision.message.isascii()
    assert decision.message.isprintable()
    assert pod == make_pod({annotation.key: hostile})


@pytest.mark.parametrize("hostile", ["@/etc/passwd", "-x"])
@pytest.mark.parametrize("key", ["cwii.dev/az-client-id", "cwii.dev/az-tenant-id"])
def test_azure_id_that_az_reads_as_option_or_file_is_refused(key: str, hostile: str) -> None:
    assert inject(make_pod({key: hostile}), account=AZURE)[0].outcome == "refused"


@pytest.mark.parametrize("hostile", SHELL_SYNTAX, ids=ascii)
@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
@pytest.mark.parametrize("suffix", ["audience", "verify-image"])
def test_audience_or_image_with_shell_syntax_is_refused(
    cloud: str, suffix: str, hostile: str
) -> None:
    annotations = {**ALL_CLOUDS, f"cwii.dev/{cloud}-verify": "true"}

    assert (
        inject(make_pod({f"cwii.dev/{cloud}-{suffix}": hostile}), account=annotations)[0].outcome
        == "refused"
    )


@pytest.mark.parametrize("host", sorted(AUTHORITY_HOSTS))
def test_authority_host_of_each_azure_cloud_is_accepted(host: str) -> None:
    _, pod = inject_with_account({**AZURE, "cwii.dev/az-authority-host": f"https://{host}/"})

    assert env(first_container(pod))["AZURE_AUTHORITY_HOST"] == f"https://{host}/"


@pytest.mark.parametrize(
    "host",
    [
        "http://login.microsoftonline.com/",
        "https://login.example.com/",
        "https://login.microsoftonline.com.example.com/",
        "https://login.microsoftonline.com@example.com/",
        "https://login.microsoftonline.com/path",
        "https://login.microsoftonline.com:8443/",
        "login.microsoftonline.com",
        "https://LOGIN.example.com",
    ],
)
def test_unknown_authority_host_is_refused(host: str) -> None:
    decision, _ = inject_with_account({**AZURE, "cwii.dev/az-authority-host": host})

    assert decision.outcome == "refused"
    assert "--authority-hosts" in decision.message


def test_listed_authority_host_is_accepted() -> None:
    settings = Settings(authority_hosts=("login.example.com",))

    assert (
        inject_with_account(
            {**AZURE, "cwii.dev/az-authority-host": "https://login.example.com/"}, settings
        )[0].outcome
        == "injected"
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("listed", "accepted"),
    [
        ((), {"pod", "owner"}),
        (("a/b:1",), set(SOURCES)),
        (("a/*",), set(SOURCES)),
        (("a/c:1",), set[str]()),
    ],
)
def test_verify_image_is_set_by_pod_or_owner_or_is_listed(
    source: str, listed: tuple[str, ...], accepted: set[str]
) -> None:
    annotations = {**AWS, "cwii.dev/aws-verify": "true"}
    sources: dict[str, Any] = {
        "account": annotations,
        source: {
            "cwii.dev/aws-verify-image": "a/b:1",
            **(annotations if source == "account" else {}),
        },
    }
    decision, pod = inject(
        make_pod(sources.pop("pod", None)), Settings(verify_images=listed), **sources
    )

    assert (decision.outcome == "injected") == (source in accepted), decision.message
    if source in accepted:
        assert find_helper(pod, "cwii-aws-verify")["image"] == "a/b:1"
    else:
        assert "or have --verify-images of the webhook list it" in decision.message


@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
@pytest.mark.parametrize(
    ("enforce", "blocks"), [("true", True), ("false", False), ("", False), ("yes", False)]
)
def test_check_blocks_the_pod_only_if_enforced(cloud: str, enforce: str, blocks: bool) -> None:  # noqa: FBT001 - a table
    annotations = {
        **ALL_CLOUDS,
        f"cwii.dev/{cloud}-verify": "true",
        f"cwii.dev/{cloud}-verify-enforce": enforce,
    }
    (script,) = find_helper(inject_with_account(annotations)[1], f"cwii-{cloud}-verify")["args"]

    assert (
        script.endswith(" || echo 'cwii: verification check failed (non-enforcing)' >&2") != blocks
    )


@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
def test_enforce_alone_adds_no_check(cloud: str) -> None:
    _, pod = inject_with_account({**ALL_CLOUDS, f"cwii.dev/{cloud}-verify-enforce": "true"})

    assert "initContainers" not in pod["spec"]


def helper_containers(
    annotations: dict[str, str] | None = None, **spec: Any
) -> list[dict[str, Any]]:
    """Returns all helper containers that the dialect can add, from a pod with this spec."""
    checks = {f"cwii.dev/{cloud}-verify": "true" for cloud in ("aws", "az", "gcp")}
    _, pod = inject_with_account(
        {**ALL_CLOUDS, **checks, **(annotations or {})},
        Settings(gcp_delivery="init-container"),
        **spec,
    )
    helpers = [c for c in pod["spec"]["initContainers"] if c["name"].startswith("cwii-")]
    assert len(helpers) == 4
    assert find_volume(pod, "cwii-no-token") == {"name": "cwii-no-token", "emptyDir": {}}
    return helpers


def test_helpers_do_not_mount_the_api_server_token() -> None:
    for helper in helper_containers():
        assert {"name": "cwii-no-token", "mountPath": API_TOKEN, "readOnly": True} in helper[
            "volumeMounts"
        ]


def test_arguments_of_helpers_contain_no_token() -> None:
    for helper in helper_containers():
        assert not any(
            syntax in argument for argument in helper["args"] for syntax in ("$(", "`", "cat ")
        )


LEAST_PRIVILEGE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
USERS: list[tuple[dict[str, Any], dict[str, object]]] = [
    ({}, {}),
    ({"securityContext": {"runAsUser": 1000}}, {"runAsUser": 1000, "runAsNonRoot": True}),
    ({"securityContext": {"runAsUser": 0}}, {"runAsUser": 0}),
    ({"securityContext": {"runAsNonRoot": True}}, {"runAsUser": 65532, "runAsNonRoot": True}),
    (
        {
            "securityContext": {"runAsUser": 1000},
            "containers": [{"name": "c", "securityContext": {"runAsUser": 2}}],
        },
        {"runAsUser": 2, "runAsNonRoot": True},
    ),
    (
        {"containers": [{"name": "c", "securityContext": {"runAsNonRoot": True}}]},
        {"runAsUser": 65532, "runAsNonRoot": True},
    ),
    ({"containers": [{"name": "c", "securityContext": {"runAsUser": 2}}, {"name": "d"}]}, {}),
    (
        {
            "containers": [{"name": "c", "securityContext": {"runAsUser": 2}}],
            "initContainers": [{"name": "i", "securityContext": {"runAsUser": 3}}],
        },
        {},
    ),
]


@pytest.mark.parametrize(("spec", "user"), USERS, ids=str)
def test_helpers_are_restricted_and_run_as_the_user_of_the_pod(
    spec: dict[str, Any], user: dict[str, object]
) -> None:
    for helper in helper_containers(**spec):
        is_writer = helper["name"] == "cwii-gcp-creds-writer"
        assert helper["securityContext"] == {
            **LEAST_PRIVILEGE,
            **user,
            **({"readOnlyRootFilesystem": True} if is_writer else {}),
        }


CPU_REQUEST, ALL_LIMITS = {"requests": {"cpu": "500m"}}, {"limits": {"cpu": "1", "memory": "1Gi"}}


@pytest.mark.parametrize(
    ("resources", "fields"),
    [({}, set[str]()), (CPU_REQUEST, {"requests", "limits"}), (ALL_LIMITS, {"requests", "limits"})],
    ids=["best effort", "burstable", "guaranteed"],
)
def test_helpers_keep_the_qos_class(resources: dict[str, Any], fields: set[str]) -> None:
    for helper in helper_containers(containers=[{"name": "c", "resources": resources}]):
        helper_resources = helper["resources"]
        assert set(helper_resources) == fields
        assert (helper_resources.get("requests") == helper_resources.get("limits")) == (
            resources != CPU_REQUEST
        )


def test_helpers_have_the_limits_that_all_containers_of_the_pod_have() -> None:
    """If a ResourceQuota has limits, the API server requires limits of each container."""
    for helper in helper_containers(
        containers=[{"name": "c", "resources": CPU_REQUEST | ALL_LIMITS}]
    ):
        assert helper["resources"]["limits"].keys() == {"cpu", "memory"}
    for helper in helper_containers(
        containers=[
            {"name": "c", "resources": CPU_REQUEST | ALL_LIMITS},
            {"name": "d", "resources": CPU_REQUEST},
        ]
    ):
        assert helper["resources"]["limits"].keys() == {"memory"}
    for helper in helper_containers(
        containers=[{"name": "c", "resources": {"limits": {"cpu": "1"}}}]
    ):
        assert helper["resources"]["limits"].keys() == {"cpu", "memory"}


def test_helpers_have_no_resources_if_the_pod_has_resources() -> None:
    """The API server refuses a pod whose containers request more than the pod."""
    assert [
        helper["resources"]
        for helper in helper_containers(
            resources={"limits": {"memory": "1Mi"}},
            containers=[{"name": "c", "resources": CPU_REQUEST}],
        )
    ] == [{}, {}, {}, {}]


@pytest.mark.parametrize(
    ("name", "memory"),
    [("cwii-aws-verify", "256Mi"), ("cwii-az-verify", "512Mi"), ("cwii-gcp-verify", "384Mi")],
)
def test_verification_has_enough_memory_for_the_tool_of_the_cloud(name: str, memory: str) -> None:
    (helper,) = [
        c
        for c in helper_containers(containers=[{"name": "c", "resources": CPU_REQUEST}])
        if c["name"] == name
    ]

    assert helper["resources"]["limits"] == {"memory": memory}


def test_variable_of_the_container_takes_precedence_with_a_warning() -> None:
    decision, pod = inject_with_account(
        AWS,
        containers=[
            {"name": "c", "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}]},
            {"name": "d"},
        ],
    )

    assert env(first_container(pod))["AWS_ROLE_ARN"] == "mine"
    assert decision.warnings == (
        "container c sets AWS_ROLE_ARN itself: that is used, not what is injected",
    )


def test_env_from_is_reported() -> None:
    decision, _ = inject_with_account(
        AWS, containers=[{"name": "c", "envFrom": [{"secretRef": {"name": "s"}}]}]
    )

    assert decision.warnings == (
        (
            "container c takes variables from elsewhere (envFrom): should AWS_ROLE_ARN, "
            "AWS_WEB_IDENTITY_TOKEN_FILE be among them, ours are used"
        ),
    )


@pytest.mark.parametrize(("cloud", "annotations"), [("aws", AWS), ("az", AZURE), ("gcp", GCP)])
def test_volume_of_the_pod_with_an_injected_name_is_kept_with_a_warning(
    cloud: str, annotations: dict[str, str]
) -> None:
    pod_volume: dict[str, Any] = {"name": f"cwii-{cloud}-token", "emptyDir": {}}
    decision, pod = inject_with_account(annotations, volumes=[pod_volume])

    assert find_volume(pod, pod_volume["name"]) == pod_volume
    assert any(
        f"volume cwii-{cloud}-token is the pod's own" in warning for warning in decision.warnings
    )


@pytest.mark.parametrize(
    "path",
    [
        "/var/run/secrets/cwii.dev/aws/",
        "//var/run/secrets/cwii.dev/aws",
        "/var/run//secrets/./cwii.dev/aws",
    ],
)
def test_mount_of_the_container_stays_alone_at_its_path(path: str) -> None:
    mount = {"name": "data", "mountPath": path}
    decision, pod = inject_with_account(
        AWS,
        containers=[{"name": "c", "volumeMounts": [mount]}],
        volumes=[{"name": "data", "emptyDir": {}}],
    )

    assert first_container(pod)["volumeMounts"] == [mount]
    assert len(decision.warnings) == 1


def test_aws_account_without_twelve_digits_is_reported() -> None:
    decision, _ = inject_with_account({**AWS, "cwii.dev/aws-role-arn": "arn:aws:iam::1:role/a"})

    assert decision.warnings == (
        (
            "cwii.dev/aws-role-arn of ServiceAccount shop/worker names no account of 12 digits: "
            "AWS will not know it"
        ),
    )


@pytest.mark.parametrize("size", [256 * 1024, 256 * 1024 - 600, 256 * 1024 - 200])
def test_pod_without_space_for_the_credentials_is_refused(size: int) -> None:
    decision, _ = inject(make_pod({"note": "x" * (size - len("note"))}), account=GCP)

    assert (decision.outcome == "refused") == (size > 256 * 1024 - 600)
    if decision.outcome == "refused":
        assert decision.message.startswith("Pod shop/p has no room for cwii.dev/gcp-credentials: ")


@pytest.mark.parametrize(
    ("space", "has_marker"),
    [(len("cwii.dev/injected" + "aws"), True), (len("cwii.dev/injected" + "aws") - 1, False)],
)
def test_marker_is_omitted_without_space_for_it(space: int, has_marker: bool) -> None:  # noqa: FBT001 - a column of the table
    decision, pod = inject(
        make_pod({"note": "x" * (256 * 1024 - len("note") - space)}), account=AWS
    )

    assert ("cwii.dev/injected" in pod["metadata"]["annotations"]) == has_marker
    assert decision.warnings == (
        ()
        if has_marker
        else ("Pod shop/p has no room for cwii.dev/injected among its annotations: it is left out",)
    )
    assert env(first_container(pod))["AWS_ROLE_ARN"]
    assert not inject(pod, account=AWS)[0].ops


def test_expiration_beyond_the_limit_of_the_api_server_is_refused() -> None:
    decision, _ = inject_with_account({**AZURE, "cwii.dev/az-token-expiration": "9999999999"})

    assert decision.outcome == "refused"
    assert decision.message.startswith(
        "cwii.dev/az-token-expiration of ServiceAccount shop/worker is '9999999999'"
    )


def test_expiration_flag_means_at_least_ten_minutes() -> None:
    assert (
        find_token(inject_with_account(AWS, Settings(token_expiration=10))[1], "aws")[
            "expirationSeconds"
        ]
        == 600
    )

"""cwii's rules, one by one: what is refused, what is said of, and what containers of ours may do."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.cwii import annotations as words
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
    words.AWS_ROLE_ARN,
    words.AWS_REGION,
    words.AWS_SESSION_NAME,
    words.AZURE_CLIENT_ID,
    words.AZURE_TENANT_ID,
    words.AZURE_AUTHORITY_HOST,
    words.GCP_SERVICE_ACCOUNT,
    words.GCP_DELIVERY,
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
@pytest.mark.parametrize("word", CHECKED_ANNOTATIONS, ids=lambda word: word.key)
def test_a_value_that_is_none_of_its_kind_is_refused(word: Any, hostile: str) -> None:
    decision, pod = inject(make_pod({word.key: hostile}), account=ALL_CLOUDS)

    assert decision.outcome == "refused"
    assert decision.message.startswith(f"{word.key} of Pod shop/p is ")
    assert decision.message.isascii()
    assert decision.message.isprintable()
    assert pod == make_pod({word.key: hostile})


@pytest.mark.parametrize("hostile", ["@/etc/passwd", "-x"])
@pytest.mark.parametrize("key", ["cwii.dev/az-client-id", "cwii.dev/az-tenant-id"])
def test_an_id_is_never_an_option_or_a_file_to_az(key: str, hostile: str) -> None:
    assert inject(make_pod({key: hostile}), account=AZURE)[0].outcome == "refused"


@pytest.mark.parametrize("hostile", SHELL_SYNTAX, ids=ascii)
@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
@pytest.mark.parametrize("what", ["audience", "verify-image"])
def test_audiences_and_images_hold_nothing_that_a_shell_obeys(
    cloud: str, what: str, hostile: str
) -> None:
    said = {**ALL_CLOUDS, f"cwii.dev/{cloud}-verify": "true"}

    assert (
        inject(make_pod({f"cwii.dev/{cloud}-{what}": hostile}), account=said)[0].outcome
        == "refused"
    )


@pytest.mark.parametrize("host", sorted(AUTHORITY_HOSTS))
def test_each_cloud_of_azures_may_be_logged_in_to(host: str) -> None:
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
def test_no_other_authority_gets_the_token(host: str) -> None:
    decision, _ = inject_with_account({**AZURE, "cwii.dev/az-authority-host": host})

    assert decision.outcome == "refused"
    assert "--authority-hosts" in decision.message


def test_an_authority_that_is_listed_may_be_logged_in_to() -> None:
    settings = Settings(authority_hosts=("login.example.com",))

    assert (
        inject_with_account(
            {**AZURE, "cwii.dev/az-authority-host": "https://login.example.com/"}, settings
        )[0].outcome
        == "injected"
    )


@pytest.mark.parametrize("voice", SOURCES)
@pytest.mark.parametrize(
    ("listed", "taken"),
    [
        ((), {"pod", "owner"}),
        (("a/b:1",), set(SOURCES)),
        (("a/*",), set(SOURCES)),
        (("a/c:1",), set[str]()),
    ],
)
def test_images_are_named_by_who_may_run_them_or_from_the_list(
    voice: str, listed: tuple[str, ...], taken: set[str]
) -> None:
    said = {**AWS, "cwii.dev/aws-verify": "true"}
    by: dict[str, Any] = {
        "account": said,
        voice: {"cwii.dev/aws-verify-image": "a/b:1", **(said if voice == "account" else {})},
    }
    decision, pod = inject(make_pod(by.pop("pod", None)), Settings(verify_images=listed), **by)

    assert (decision.outcome == "injected") == (voice in taken), decision.message
    if voice in taken:
        assert find_helper(pod, "cwii-aws-verify")["image"] == "a/b:1"
    else:
        assert "or have --verify-images of the webhook list it" in decision.message


@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
@pytest.mark.parametrize(
    ("enforce", "blocks"), [("true", True), ("false", False), ("", False), ("yes", False)]
)
def test_a_check_blocks_the_pod_where_that_is_said(cloud: str, enforce: str, blocks: bool) -> None:  # noqa: FBT001 - a table
    said = {
        **ALL_CLOUDS,
        f"cwii.dev/{cloud}-verify": "true",
        f"cwii.dev/{cloud}-verify-enforce": enforce,
    }
    (script,) = find_helper(inject_with_account(said)[1], f"cwii-{cloud}-verify")["args"]

    assert (
        script.endswith(" || echo 'cwii: verification check failed (non-enforcing)' >&2") != blocks
    )


@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
def test_no_check_is_made_that_nobody_asked_for(cloud: str) -> None:
    _, pod = inject_with_account({**ALL_CLOUDS, f"cwii.dev/{cloud}-verify-enforce": "true"})

    assert "initContainers" not in pod["spec"]


def helper_containers(said: dict[str, str] | None = None, **spec: Any) -> list[dict[str, Any]]:
    """All that we ever add to a pod, in a pod of this kind."""
    checks = {f"cwii.dev/{cloud}-verify": "true" for cloud in ("aws", "az", "gcp")}
    _, pod = inject_with_account(
        {**ALL_CLOUDS, **checks, **(said or {})}, Settings(gcp_delivery="init-container"), **spec
    )
    found = [c for c in pod["spec"]["initContainers"] if c["name"].startswith("cwii-")]
    assert len(found) == 4
    assert find_volume(pod, "cwii-no-token") == {"name": "cwii-no-token", "emptyDir": {}}
    return found


def test_containers_of_ours_see_no_token_of_the_api_server() -> None:
    for one in helper_containers():
        assert {"name": "cwii-no-token", "mountPath": API_TOKEN, "readOnly": True} in one[
            "volumeMounts"
        ]


def test_no_token_stands_in_a_list_of_arguments() -> None:
    for one in helper_containers():
        assert not any(word in text for text in one["args"] for word in ("$(", "`", "cat "))


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
def test_containers_of_ours_fit_the_restricted_standard_as_the_pods_user(
    spec: dict[str, Any], user: dict[str, object]
) -> None:
    for one in helper_containers(**spec):
        writes = one["name"] == "cwii-gcp-creds-writer"
        assert one["securityContext"] == {
            **LEAST_PRIVILEGE,
            **user,
            **({"readOnlyRootFilesystem": True} if writes else {}),
        }


SOME, ALL = {"requests": {"cpu": "500m"}}, {"limits": {"cpu": "1", "memory": "1Gi"}}


@pytest.mark.parametrize(
    ("resources", "said"),
    [({}, set[str]()), (SOME, {"requests", "limits"}), (ALL, {"requests", "limits"})],
    ids=["best effort", "burstable", "guaranteed"],
)
def test_containers_of_ours_leave_the_pods_class(resources: dict[str, Any], said: set[str]) -> None:
    for one in helper_containers(containers=[{"name": "c", "resources": resources}]):
        own = one["resources"]
        assert set(own) == said
        assert (own.get("requests") == own.get("limits")) == (resources != SOME)


def test_containers_of_ours_have_limits_where_all_of_the_pods_own_have_them() -> None:
    """Where there is a quota of limits, the API server asks them of every container."""
    for one in helper_containers(containers=[{"name": "c", "resources": SOME | ALL}]):
        assert one["resources"]["limits"].keys() == {"cpu", "memory"}
    for one in helper_containers(
        containers=[{"name": "c", "resources": SOME | ALL}, {"name": "d", "resources": SOME}]
    ):
        assert one["resources"]["limits"].keys() == {"memory"}
    for one in helper_containers(containers=[{"name": "c", "resources": {"limits": {"cpu": "1"}}}]):
        assert one["resources"]["limits"].keys() == {"cpu", "memory"}


def test_containers_of_ours_share_what_a_pod_may_take_as_a_whole() -> None:
    """The API server refuses a pod whose containers request more than it does itself."""
    assert [
        one["resources"]
        for one in helper_containers(
            resources={"limits": {"memory": "1Mi"}}, containers=[{"name": "c", "resources": SOME}]
        )
    ] == [{}, {}, {}, {}]


@pytest.mark.parametrize(
    ("name", "memory"),
    [("cwii-aws-verify", "256Mi"), ("cwii-az-verify", "512Mi"), ("cwii-gcp-verify", "384Mi")],
)
def test_the_clouds_tools_have_the_memory_that_they_need(name: str, memory: str) -> None:
    (one,) = [
        c
        for c in helper_containers(containers=[{"name": "c", "resources": SOME}])
        if c["name"] == name
    ]

    assert one["resources"]["limits"] == {"memory": memory}


def test_a_variable_of_the_users_own_wins_and_is_told() -> None:
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


def test_variables_from_elsewhere_are_told_of() -> None:
    decision, _ = inject_with_account(
        AWS, containers=[{"name": "c", "envFrom": [{"secretRef": {"name": "s"}}]}]
    )

    assert decision.warnings == (
        "container c takes variables from elsewhere (envFrom): should AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE be among them, ours are used",
    )


@pytest.mark.parametrize(("cloud", "said"), [("aws", AWS), ("az", AZURE), ("gcp", GCP)])
def test_a_volume_of_our_name_that_is_not_ours_is_left_and_told_of(
    cloud: str, said: dict[str, str]
) -> None:
    own: dict[str, Any] = {"name": f"cwii-{cloud}-token", "emptyDir": {}}
    decision, pod = inject_with_account(said, volumes=[own])

    assert find_volume(pod, own["name"]) == own
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
def test_a_mount_of_the_users_own_stays_alone_at_its_path(path: str) -> None:
    mine = {"name": "data", "mountPath": path}
    decision, pod = inject_with_account(
        AWS,
        containers=[{"name": "c", "volumeMounts": [mine]}],
        volumes=[{"name": "data", "emptyDir": {}}],
    )

    assert first_container(pod)["volumeMounts"] == [mine]
    assert len(decision.warnings) == 1


def test_an_account_that_has_not_twelve_digits_is_told_of() -> None:
    decision, _ = inject_with_account({**AWS, "cwii.dev/aws-role-arn": "arn:aws:iam::1:role/a"})

    assert decision.warnings == (
        "cwii.dev/aws-role-arn of ServiceAccount shop/worker names no account of 12 digits: AWS will not know it",
    )


@pytest.mark.parametrize("size", [256 * 1024, 256 * 1024 - 600, 256 * 1024 - 200])
def test_a_pod_without_room_for_the_credentials_is_refused_here(size: int) -> None:
    decision, _ = inject(make_pod({"note": "x" * (size - len("note"))}), account=GCP)

    assert (decision.outcome == "refused") == (size > 256 * 1024 - 600)
    if decision.outcome == "refused":
        assert decision.message.startswith("Pod shop/p has no room for cwii.dev/gcp-credentials: ")


@pytest.mark.parametrize(
    ("room", "marked"),
    [(len("cwii.dev/injected" + "aws"), True), (len("cwii.dev/injected" + "aws") - 1, False)],
)
def test_the_marker_is_left_out_where_there_is_no_room_for_it(room: int, marked: bool) -> None:  # noqa: FBT001 - a column of the table
    decision, pod = inject(make_pod({"note": "x" * (256 * 1024 - len("note") - room)}), account=AWS)

    assert ("cwii.dev/injected" in pod["metadata"]["annotations"]) == marked
    assert decision.warnings == (
        ()
        if marked
        else ("Pod shop/p has no room for cwii.dev/injected among its annotations: it is left out",)
    )
    assert env(first_container(pod))["AWS_ROLE_ARN"]
    assert not inject(pod, account=AWS)[0].ops


def test_an_expiration_that_the_api_server_would_refuse_is_refused_here() -> None:
    decision, _ = inject_with_account({**AZURE, "cwii.dev/az-token-expiration": "9999999999"})

    assert decision.outcome == "refused"
    assert decision.message.startswith(
        "cwii.dev/az-token-expiration of ServiceAccount shop/worker is '9999999999'"
    )


def test_the_servers_own_expiration_is_ten_minutes_at_least() -> None:
    assert (
        find_token(inject_with_account(AWS, Settings(token_expiration=10))[1], "aws")[
            "expirationSeconds"
        ]
        == 600
    )

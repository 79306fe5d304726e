"""Tests what the mutator of the dialect eks injects and reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.eks.mutator import EksMutator, parse_csv_names
from cwii_webhook.dialects.eks.settings import Settings
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.settings.flags import BadFlag

from tests.webhook.recorded_answers import FakeClusterView, decide, make_route

ROLE = "arn:aws:iam::111122223333:role/s3"
DOMAIN = "eks.amazonaws.com"
TOKEN_FILE = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"


def make_pod(**spec: Any) -> dict[str, Any]:
    metadata = {
        "name": "p",
        "namespace": "shop",
        "annotations": spec.pop("annotations", {}),
        "labels": spec.pop("labels", {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c"}], "serviceAccountName": "billing"} | spec,
    }


def inject(
    pod: dict[str, Any],
    account: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    identities: Sequence[tuple[str, str]] = (),
    config: object = None,
) -> tuple[Decision, dict[str, Any]]:
    objects = (
        {}
        if account is None
        else {ObjectRef("", "ServiceAccount", "shop", "billing"): ObjectMetadata(account)}
    )
    eks = EksMutator(
        settings or (Settings(identities="/identities.json") if identities else Settings())
    )
    contents: dict[str, str] = {
        "identities": json.dumps(
            {
                "identities": [
                    {"namespace": namespace, "serviceAccount": name}
                    for namespace, name in identities
                ]
            }
        ),
        "instance": json.dumps({"accountId": "111122223333", "region": "cn-north-1"}),
    }
    if config is not None:
        contents["config-map"] = config if isinstance(config, str) else json.dumps(config)
    for source in eks.external_config:
        if source.name in contents:
            source.update(contents[source.name])
    return decide(make_route("eks", eks), pod, FakeClusterView(objects))


def find_token(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return pod["spec"]["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]


def env(pod: Mapping[str, Any], field: str = "containers") -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in pod["spec"][field][0].get("env", ())}


@pytest.mark.parametrize(
    ("account", "reason"),
    [
        (None, "no-account"),
        ({}, "not-asked"),
        ({f"{DOMAIN}/role-arn": ""}, "not-asked"),
        ({f"{DOMAIN}/audience": "sts.amazonaws.com"}, "not-asked"),
    ],
)
def test_account_without_a_role_is_skipped(account: Mapping[str, str] | None, reason: str) -> None:
    decision, pod = inject(make_pod(), account)

    assert (decision.outcome, [n.reason for n in decision.skips]) == ("nothing", [reason])
    assert pod == make_pod()


@pytest.mark.parametrize("name", [None, ""])
def test_pod_without_an_account_is_skipped(name: str | None) -> None:
    decision, _ = inject(make_pod(serviceAccountName=name), {f"{DOMAIN}/role-arn": ROLE})

    assert [n.reason for n in decision.skips] == ["no-account"]


@pytest.mark.parametrize("value", ["", "true", "false"])
def test_skip_label_with_any_value_disables_injection(value: str) -> None:
    decision, _ = inject(
        make_pod(labels={f"{DOMAIN}/skip-pod-identity-webhook": value}),
        {f"{DOMAIN}/role-arn": ROLE},
    )

    assert [n.reason for n in decision.skips] == ["switched-off"]


@pytest.mark.parametrize(
    ("role", "warned"),
    [
        (ROLE, False),
        ("arn:aws-cn:iam::111122223333:role/a/b", False),
        ("s3", True),
        ("arn:aws:iam::1:role/x", True),
        ("arn:aws:iam::111122223333:role/", True),
    ],
)
def test_role_is_injected_unchanged_with_a_warning_if_unusual(role: str, warned: bool) -> None:  # noqa: FBT001 - a column of the table
    decision, pod = inject(make_pod(), {f"{DOMAIN}/role-arn": role})

    assert env(pod)["AWS_ROLE_ARN"] == role
    assert any("no role's ARN" in warning for warning in decision.warnings) == warned


@pytest.mark.parametrize(
    ("on_account", "on_pod", "flag", "seconds"),
    [
        (None, None, 86400, 86400),
        ("3600", None, 86400, 3600),
        ("3600", "7200", 86400, 7200),
        ("10", None, 86400, 600),
        ("3600", "10", 86400, 600),
        ("abc", None, 86400, 86400),
        ("3600", "abc", 86400, 3600),
        ("", "", 7200, 7200),
        (None, None, 10, 600),
        ("-5", None, 86400, 600),
        ("+900", None, 86400, 900),
        (" 900", None, 86400, 86400),
        ("9223372036854775808", None, 86400, 86400),
        ("100000", None, 86400, 100000),
    ],
)
def test_expiration_comes_from_the_pod_the_account_or_the_flag(
    on_account: str | None, on_pod: str | None, flag: int, seconds: int
) -> None:
    key = f"{DOMAIN}/token-expiration"
    account = {f"{DOMAIN}/role-arn": ROLE} | ({} if on_account is None else {key: on_account})

    _, pod = inject(
        make_pod(annotations={} if on_pod is None else {key: on_pod}),
        account,
        Settings(expiration=flag),
    )

    assert find_token(pod)["expirationSeconds"] == seconds


@pytest.mark.parametrize(
    ("on_account", "on_pod", "warning"),
    [
        (
            "1h",
            None,
            (
                "{key} of ServiceAccount shop/billing is '1h', which is no number of seconds: "
                "86400 is used"
            ),
        ),
        (
            "",
            None,
            (
                "{key} of ServiceAccount shop/billing is '', which is no number of seconds: "
                "86400 is used"
            ),
        ),
        ("3600", "1h", "{key} of Pod shop/p is '1h', which is no number of seconds: 3600 is used"),
        (
            "60",
            None,
            (
                "{key} of ServiceAccount shop/billing is 60, "
                "and no token lasts less than 600 seconds: 600 is used"
            ),
        ),
        ("1h", "3600", ""),
        ("600", None, ""),
    ],
)
def test_invalid_expiration_is_reported_with_the_value_in_use(
    on_account: str, on_pod: str | None, warning: str
) -> None:
    key = f"{DOMAIN}/token-expiration"

    decision, _ = inject(
        make_pod(annotations={} if on_pod is None else {key: on_pod}),
        {f"{DOMAIN}/role-arn": ROLE, key: on_account},
    )

    assert decision.warnings == ((warning.format(key=key),) if warning else ())


@pytest.mark.parametrize(
    ("text", "is_reported"), [("yes", True), ("", True), ("TRUE", False), ("0", False)]
)
def test_invalid_boolean_is_reported(text: str, is_reported: bool) -> None:  # noqa: FBT001 - a table
    decision, _ = inject(
        make_pod(), {f"{DOMAIN}/role-arn": ROLE, f"{DOMAIN}/sts-regional-endpoints": text}
    )

    assert (
        any(
            f"is {text!r}, neither true nor false: it is taken for false" in warning
            for warning in decision.warnings
        )
        == is_reported
    )


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("c", ""),
        ("c,", ""),
        ("sidecra", "skips 'sidecra', and no container is called so: did you mean 'sidecar'?"),
        ("c, sidecar", "skips ' sidecar', and no container is called so: did you mean 'sidecar'?"),
        ("istio", "skips 'istio', and no container is called so"),
        ('a"b', "is 'a\"b', which is no line of CSV: nobody is skipped"),
    ],
)
def test_skip_list_without_effect_is_reported(text: str, warning: str) -> None:
    pod = make_pod(
        annotations={f"{DOMAIN}/skip-containers": text},
        containers=[{"name": "c"}],
        initContainers=[{"name": "sidecar"}],
    )

    assert inject(pod, {f"{DOMAIN}/role-arn": ROLE})[0].warnings == (
        (f"{DOMAIN}/skip-containers of Pod shop/p {warning}",) if warning else ()
    )


def test_audit_annotation_names_the_source_of_each_value() -> None:
    annotations = {
        f"{DOMAIN}/role-arn": ROLE,
        f"{DOMAIN}/audience": "mine",
        f"{DOMAIN}/sts-regional-endpoints": "true",
        f"{DOMAIN}/token-expiration": "7200",
    }

    decision, _ = inject(
        make_pod(annotations={f"{DOMAIN}/token-expiration": "3600"}),
        annotations,
        Settings(region="eu-west-1"),
    )

    assert decision.audit["aws"] == (
        "AWS_ROLE_ARN from ServiceAccount shop/billing; AWS_WEB_IDENTITY_TOKEN_FILE by default; "
        "audience from ServiceAccount shop/billing; "
        "expiration from Pod shop/p; "
        "AWS_STS_REGIONAL_ENDPOINTS from ServiceAccount shop/billing; "
        "AWS_DEFAULT_REGION by default; AWS_REGION by default"
    )


def test_expiration_that_the_api_server_refuses_is_reported() -> None:
    decision, _ = inject(
        make_pod(), {f"{DOMAIN}/role-arn": ROLE, f"{DOMAIN}/token-expiration": str(1 << 33)}
    )

    assert any(f"{DOMAIN}/token-expiration" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("annotation", "flag", "regional"),
    [
        ("true", False, True),
        ("T", False, True),
        ("1", False, True),
        ("yes", False, False),
        ("", True, True),
        ("false", True, False),
        ("0", True, False),
        (None, True, True),
    ],
)
def test_sts_endpoint_comes_from_the_annotation_or_the_flag(
    annotation: str | None,
    flag: bool,  # noqa: FBT001 - a column of the table
    regional: bool,  # noqa: FBT001 - a column of the table
) -> None:
    account = {f"{DOMAIN}/role-arn": ROLE} | (
        {} if annotation is None else {f"{DOMAIN}/sts-regional-endpoints": annotation}
    )

    _, pod = inject(make_pod(), account, Settings(regional=flag))

    assert ("AWS_STS_REGIONAL_ENDPOINTS" in env(pod)) == regional


@pytest.mark.parametrize(
    ("existing", "added"),
    [
        (
            [],
            [
                "AWS_STS_REGIONAL_ENDPOINTS",
                "AWS_DEFAULT_REGION",
                "AWS_REGION",
                "AWS_ROLE_ARN",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
            ],
        ),
        (["AWS_ROLE_ARN"], ["AWS_STS_REGIONAL_ENDPOINTS", "AWS_DEFAULT_REGION", "AWS_REGION"]),
        (
            ["AWS_WEB_IDENTITY_TOKEN_FILE"],
            ["AWS_STS_REGIONAL_ENDPOINTS", "AWS_DEFAULT_REGION", "AWS_REGION"],
        ),
        (
            ["AWS_REGION"],
            ["AWS_STS_REGIONAL_ENDPOINTS", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"],
        ),
        (
            ["AWS_DEFAULT_REGION"],
            ["AWS_STS_REGIONAL_ENDPOINTS", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"],
        ),
        (
            ["AWS_STS_REGIONAL_ENDPOINTS"],
            ["AWS_DEFAULT_REGION", "AWS_REGION", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"],
        ),
        (["AWS_ROLE_ARN", "AWS_REGION"], ["AWS_STS_REGIONAL_ENDPOINTS"]),
        (["AWS_ROLE_ARN", "AWS_REGION", "AWS_STS_REGIONAL_ENDPOINTS"], []),
    ],
)
def test_each_group_of_variables_is_added_completely_or_not_at_all(
    existing: list[str], added: list[str]
) -> None:
    container = {"name": "c", "env": [{"name": name, "value": "mine"} for name in existing]}

    _, pod = inject(
        make_pod(containers=[container]),
        {f"{DOMAIN}/role-arn": ROLE},
        Settings(region="eu-west-1", regional=True),
    )

    assert list(env(pod)) == [*existing, *added]
    assert ("volumeMounts" in pod["spec"]["containers"][0]) == bool(added)


def test_variable_of_the_container_is_reported() -> None:
    decision, _ = inject(
        make_pod(containers=[{"name": "c", "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}]}]),
        {f"{DOMAIN}/role-arn": ROLE},
    )

    assert "container c sets AWS_ROLE_ARN itself: that is left as it is" in decision.warnings


def test_env_from_is_reported() -> None:
    decision, _ = inject(
        make_pod(containers=[{"name": "c", "envFrom": [{"configMapRef": {"name": "m"}}]}]),
        {f"{DOMAIN}/role-arn": ROLE},
    )

    assert any("envFrom" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("", {""}),
        ("a", {"a"}),
        ("a,b", {"a", "b"}),
        ("a, b", {"a", " b"}),
        ('"a,b",c', {"a,b", "c"}),
        ('"a""b"', {'a"b'}),
        ('a"b', set[str]()),
        ('"a', set[str]()),
        ('"a"b', set[str]()),
        ("a\nb", {"a"}),
        ("\na", {"a"}),
        ("a,", {"a", ""}),
    ],
)
def test_skip_list_is_parsed_as_csv(text: str, skipped: set[str]) -> None:
    assert parse_csv_names(text) - {""} == skipped - {""}


def test_init_containers_and_sidecars_are_injected() -> None:
    _, pod = inject(
        make_pod(initContainers=[{"name": "i", "restartPolicy": "Always"}]),
        {f"{DOMAIN}/role-arn": ROLE},
    )

    assert (
        env(pod, "initContainers")
        == env(pod)
        == {"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": TOKEN_FILE}
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"kubernetes.io/os": "windows"}},
        {"nodeSelector": {"beta.kubernetes.io/os": "windows"}},
        {"os": {"name": "windows"}},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {
                                        "key": "kubernetes.io/os",
                                        "operator": "In",
                                        "values": ["windows"],
                                    }
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ],
    ids=["selector", "old selector", "os", "affinity"],
)
def test_windows_token_path_has_backslashes(spec: dict[str, Any]) -> None:
    _, pod = inject(make_pod(**spec), {f"{DOMAIN}/role-arn": ROLE})

    assert (
        env(pod)["AWS_WEB_IDENTITY_TOKEN_FILE"]
        == "C:\\var\\run\\secrets\\eks.amazonaws.com\\serviceaccount\\token"
    )


def test_identities_in_the_file_use_the_agent_despite_a_role() -> None:
    decision, pod = inject(
        make_pod(),
        {f"{DOMAIN}/role-arn": ROLE, f"{DOMAIN}/token-expiration": "3600"},
        identities=[("shop", "billing")],
    )

    assert env(pod) == {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/var/run/secrets/pods.eks.amazonaws.com"
        "/serviceaccount/eks-pod-identity-token",
    }
    assert find_token(pod) == {
        "audience": "pods.eks.amazonaws.com",
        "expirationSeconds": 3600,
        "path": "eks-pod-identity-token",
    }
    assert pod["metadata"]["labels"] == {"eks.amazonaws.com/pod-identity": "enabled"}
    assert decision.outcome == "injected"


def test_agent_token_of_a_day_lasts_a_little_less() -> None:
    _, pod = inject(make_pod(), None, identities=[("shop", "billing")])

    assert 79200 <= find_token(pod)["expirationSeconds"] <= 86400


@pytest.mark.parametrize(
    ("config", "role"),
    [
        ({"shop/billing": {"RoleARN": ROLE}}, ROLE),
        ({"*/billing": {"RoleARN": ROLE}}, ROLE),
        ({"shop/billing": {"RoleARN": "first"}, "*/billing": {"RoleARN": "second"}}, "first"),
        ({"other/billing": {"RoleARN": ROLE}}, None),
        ({"shop/billing": {}}, None),
        ({"nobody": {"RoleARN": ROLE}}, None),
        ("no json", None),
    ],
    ids=[
        "exact",
        "any namespace",
        "exact goes first",
        "another",
        "no role",
        "no namespace",
        "unreadable",
    ],
)
def test_config_map_provides_roles(config: object, role: str | None) -> None:
    _, pod = inject(make_pod(), {}, Settings(config_map=True), config=config)

    assert env(pod).get("AWS_ROLE_ARN") == role


def test_account_annotation_takes_precedence_over_the_config_map() -> None:
    _, pod = inject(
        make_pod(),
        {f"{DOMAIN}/role-arn": ROLE},
        Settings(config_map=True),
        config={"shop/billing": {"RoleARN": "other"}},
    )

    assert env(pod)["AWS_ROLE_ARN"] == ROLE


def test_role_name_becomes_an_arn_with_the_flag() -> None:
    _, pod = inject(make_pod(), {f"{DOMAIN}/role-arn": "a/b"}, Settings(compose=True))

    assert env(pod)["AWS_ROLE_ARN"] == "arn:aws-cn:iam::111122223333:role/a/b"


def test_variable_reference_in_a_value_is_escaped() -> None:
    _, pod = inject(make_pod(), {f"{DOMAIN}/role-arn": "$(SECRET)"})

    assert env(pod)["AWS_ROLE_ARN"] == "$$(SECRET)"


def test_mirror_pod_is_not_changed() -> None:
    decision, _ = inject(
        make_pod(annotations={"kubernetes.io/config.mirror": "x"}), {f"{DOMAIN}/role-arn": ROLE}
    )

    assert [n.reason for n in decision.skips] == ["mirror-pod"]


@pytest.mark.parametrize(
    "args",
    [
        ("--token-expiration", "4294967297"),
        ("--token-mount-path", "relative"),
        ("--container-credentials-mount-path", "C:/tokens"),
        ("--container-credentials-volume-name", "Under_score"),
        ("--namespace", ""),
        ("--annotation-prefix", "Example.com/"),
        ("--container-credentials-token-path", "../token"),
        ("--container-credentials-token-path", "/token"),
        ("--container-credentials-token-path", ""),
    ],
    ids=lambda args: args[0],
)
def test_invalid_flag_is_an_error_at_startup(
    args: tuple[str, str],
) -> None:
    with pytest.raises(BadFlag, match=f"^{args[0]} is "):
        build_service(ALL["eks"], args, {})


def test_domain_flag_changes_the_annotation_keys() -> None:
    _, pod = inject(
        make_pod(), {"id.example.org/role-arn": ROLE}, Settings(domain="id.example.org")
    )

    assert env(pod)["AWS_ROLE_ARN"] == ROLE

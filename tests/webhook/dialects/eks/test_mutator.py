"""EKS pod identity's rules, one by one."""

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

from tests.webhook.recorded_answers import Objects, asked, make_route

ROLE = "arn:aws:iam::111122223333:role/s3"
DOMAIN = "eks.amazonaws.com"
TOKEN_FILE = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"


def make_pod(**spec: Any) -> dict[str, Any]:
    meta = {
        "name": "p",
        "namespace": "shop",
        "annotations": spec.pop("annotations", {}),
        "labels": spec.pop("labels", {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
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
                    {"namespace": space, "serviceAccount": name} for space, name in identities
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
    return asked(make_route("eks", eks), pod, Objects(objects))


def find_token(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return pod["spec"]["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]


def env(pod: Mapping[str, Any], place: str = "containers") -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in pod["spec"][place][0].get("env", ())}


@pytest.mark.parametrize(
    ("account", "reason"),
    [
        (None, "no-account"),
        ({}, "not-asked"),
        ({f"{DOMAIN}/role-arn": ""}, "not-asked"),
        ({f"{DOMAIN}/audience": "sts.amazonaws.com"}, "not-asked"),
    ],
)
def test_who_has_no_role_gets_nothing(account: Mapping[str, str] | None, reason: str) -> None:
    decision, pod = inject(make_pod(), account)

    assert (decision.outcome, [n.reason for n in decision.skips]) == ("nothing", [reason])
    assert pod == make_pod()


@pytest.mark.parametrize("name", [None, ""])
def test_a_pod_that_names_no_account_gets_nothing(name: str | None) -> None:
    decision, _ = inject(make_pod(serviceAccountName=name), {f"{DOMAIN}/role-arn": ROLE})

    assert [n.reason for n in decision.skips] == ["no-account"]


@pytest.mark.parametrize("value", ["", "true", "false"])
def test_the_label_switches_it_off_whatever_it_says(value: str) -> None:
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
def test_a_role_is_taken_as_it_is_and_an_odd_one_is_told(role: str, warned: bool) -> None:  # noqa: FBT001 - a column of the table
    decision, pod = inject(make_pod(), {f"{DOMAIN}/role-arn": role})

    assert env(pod)["AWS_ROLE_ARN"] == role
    assert any("no role's ARN" in warning for warning in decision.warnings) == warned


@pytest.mark.parametrize(
    ("on_account", "on_pod", "flag", "lasts"),
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
def test_how_long_a_token_lasts(
    on_account: str | None, on_pod: str | None, flag: int, lasts: int
) -> None:
    key = f"{DOMAIN}/token-expiration"
    account = {f"{DOMAIN}/role-arn": ROLE} | ({} if on_account is None else {key: on_account})

    _, pod = inject(
        make_pod(annotations={} if on_pod is None else {key: on_pod}),
        account,
        Settings(expiration=flag),
    )

    assert find_token(pod)["expirationSeconds"] == lasts


@pytest.mark.parametrize(
    ("on_account", "on_pod", "told"),
    [
        (
            "1h",
            None,
            "{key} of ServiceAccount shop/billing is '1h', which is no number of seconds: 86400 is used",
        ),
        (
            "",
            None,
            "{key} of ServiceAccount shop/billing is '', which is no number of seconds: 86400 is used",
        ),
        ("3600", "1h", "{key} of Pod shop/p is '1h', which is no number of seconds: 3600 is used"),
        (
            "60",
            None,
            "{key} of ServiceAccount shop/billing is 60, and no token lasts less than 600 seconds: 600 is used",
        ),
        ("1h", "3600", ""),
        ("600", None, ""),
    ],
)
def test_what_a_token_cannot_last_is_told_with_what_is_used_instead(
    on_account: str, on_pod: str | None, told: str
) -> None:
    key = f"{DOMAIN}/token-expiration"

    decision, _ = inject(
        make_pod(annotations={} if on_pod is None else {key: on_pod}),
        {f"{DOMAIN}/role-arn": ROLE, key: on_account},
    )

    assert decision.warnings == ((told.format(key=key),) if told else ())


@pytest.mark.parametrize(
    ("text", "told"), [("yes", True), ("", True), ("TRUE", False), ("0", False)]
)
def test_a_flag_that_is_neither_is_told(text: str, told: bool) -> None:  # noqa: FBT001 - a table
    decision, _ = inject(
        make_pod(), {f"{DOMAIN}/role-arn": ROLE, f"{DOMAIN}/sts-regional-endpoints": text}
    )

    assert (
        any(
            f"is {text!r}, neither true nor false: it is taken for false" in warning
            for warning in decision.warnings
        )
        == told
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("c", ""),
        ("c,", ""),
        ("sidecra", "skips 'sidecra', and no container is called so: did you mean 'sidecar'?"),
        ("c, sidecar", "skips ' sidecar', and no container is called so: did you mean 'sidecar'?"),
        ("istio", "skips 'istio', and no container is called so"),
        ('a"b', "is 'a\"b', which is no line of CSV: nobody is skipped"),
    ],
)
def test_a_list_that_skips_nobody_is_told(text: str, told: str) -> None:
    pod = make_pod(
        annotations={f"{DOMAIN}/skip-containers": text},
        containers=[{"name": "c"}],
        initContainers=[{"name": "sidecar"}],
    )

    assert inject(pod, {f"{DOMAIN}/role-arn": ROLE})[0].warnings == (
        (f"{DOMAIN}/skip-containers of Pod shop/p {told}",) if told else ()
    )


def test_each_value_says_whose_word_it_is() -> None:
    said = {
        f"{DOMAIN}/role-arn": ROLE,
        f"{DOMAIN}/audience": "mine",
        f"{DOMAIN}/sts-regional-endpoints": "true",
        f"{DOMAIN}/token-expiration": "7200",
    }

    decision, _ = inject(
        make_pod(annotations={f"{DOMAIN}/token-expiration": "3600"}),
        said,
        Settings(region="eu-west-1"),
    )

    assert decision.audit["aws"] == (
        "AWS_ROLE_ARN from ServiceAccount shop/billing; AWS_WEB_IDENTITY_TOKEN_FILE by default; audience from ServiceAccount shop/billing; "
        "expiration from Pod shop/p; AWS_STS_REGIONAL_ENDPOINTS from ServiceAccount shop/billing; AWS_DEFAULT_REGION by default; AWS_REGION by default"
    )


def test_what_the_api_server_will_refuse_is_told() -> None:
    decision, _ = inject(
        make_pod(), {f"{DOMAIN}/role-arn": ROLE, f"{DOMAIN}/token-expiration": str(1 << 33)}
    )

    assert any(f"{DOMAIN}/token-expiration" in warning for warning in decision.warnings)


@pytest.mark.parametrize(
    ("said", "flag", "regional"),
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
def test_which_sts_is_used(said: str | None, flag: bool, regional: bool) -> None:  # noqa: FBT001 - columns of the table
    account = {f"{DOMAIN}/role-arn": ROLE} | (
        {} if said is None else {f"{DOMAIN}/sts-regional-endpoints": said}
    )

    _, pod = inject(make_pod(), account, Settings(regional=flag))

    assert ("AWS_STS_REGIONAL_ENDPOINTS" in env(pod)) == regional


@pytest.mark.parametrize(
    ("own", "added"),
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
def test_of_each_group_all_is_added_or_none(own: list[str], added: list[str]) -> None:
    container = {"name": "c", "env": [{"name": name, "value": "mine"} for name in own]}

    _, pod = inject(
        make_pod(containers=[container]),
        {f"{DOMAIN}/role-arn": ROLE},
        Settings(region="eu-west-1", regional=True),
    )

    assert list(env(pod)) == [*own, *added]
    assert ("volumeMounts" in pod["spec"]["containers"][0]) == bool(added)


def test_a_variable_of_theirs_is_told() -> None:
    decision, _ = inject(
        make_pod(containers=[{"name": "c", "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}]}]),
        {f"{DOMAIN}/role-arn": ROLE},
    )

    assert "container c sets AWS_ROLE_ARN itself: that is left as it is" in decision.warnings


def test_variables_from_elsewhere_are_told() -> None:
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
def test_who_is_skipped(text: str, skipped: set[str]) -> None:
    assert parse_csv_names(text) - {""} == skipped - {""}


def test_init_containers_and_sidecars_get_it_too() -> None:
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
def test_on_windows_the_token_is_behind_backslashes(spec: dict[str, Any]) -> None:
    _, pod = inject(make_pod(**spec), {f"{DOMAIN}/role-arn": ROLE})

    assert (
        env(pod)["AWS_WEB_IDENTITY_TOKEN_FILE"]
        == "C:\\var\\run\\secrets\\eks.amazonaws.com\\serviceaccount\\token"
    )


def test_the_agent_is_asked_by_those_in_its_file_whatever_their_role() -> None:
    decision, pod = inject(
        make_pod(),
        {f"{DOMAIN}/role-arn": ROLE, f"{DOMAIN}/token-expiration": "3600"},
        identities=[("shop", "billing")],
    )

    assert env(pod) == {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token",
    }
    assert find_token(pod) == {
        "audience": "pods.eks.amazonaws.com",
        "expirationSeconds": 3600,
        "path": "eks-pod-identity-token",
    }
    assert pod["metadata"]["labels"] == {"eks.amazonaws.com/pod-identity": "enabled"}
    assert decision.outcome == "injected"


def test_a_day_is_a_little_less_for_the_agents_tokens() -> None:
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
def test_a_config_map_gives_roles_too(config: object, role: str | None) -> None:
    _, pod = inject(make_pod(), {}, Settings(config_map=True), config=config)

    assert env(pod).get("AWS_ROLE_ARN") == role


def test_the_accounts_own_word_goes_before_the_config_maps() -> None:
    _, pod = inject(
        make_pod(),
        {f"{DOMAIN}/role-arn": ROLE},
        Settings(config_map=True),
        config={"shop/billing": {"RoleARN": "other"}},
    )

    assert env(pod)["AWS_ROLE_ARN"] == ROLE


def test_a_bare_name_becomes_an_arn_where_that_is_asked_for() -> None:
    _, pod = inject(make_pod(), {f"{DOMAIN}/role-arn": "a/b"}, Settings(compose=True))

    assert env(pod)["AWS_ROLE_ARN"] == "arn:aws-cn:iam::111122223333:role/a/b"


def test_what_the_kubelet_would_expand_arrives_as_it_was_written() -> None:
    _, pod = inject(make_pod(), {f"{DOMAIN}/role-arn": "$(SECRET)"})

    assert env(pod)["AWS_ROLE_ARN"] == "$$(SECRET)"


def test_a_mirror_pod_is_never_changed() -> None:
    decision, _ = inject(
        make_pod(annotations={"kubernetes.io/config.mirror": "x"}), {f"{DOMAIN}/role-arn": ROLE}
    )

    assert [n.reason for n in decision.skips] == ["mirror-pod"]


@pytest.mark.parametrize(
    "words",
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
    ids=lambda words: words[0],
)
def test_what_every_pod_would_be_refused_for_is_refused_at_the_start(
    words: tuple[str, str],
) -> None:
    with pytest.raises(BadFlag, match=f"^{words[0]} is "):
        build_service(ALL["eks"], words, {})


def test_another_domain_has_its_own_words() -> None:
    _, pod = inject(
        make_pod(), {"id.example.org/role-arn": ROLE}, Settings(domain="id.example.org")
    )

    assert env(pod)["AWS_ROLE_ARN"] == ROLE

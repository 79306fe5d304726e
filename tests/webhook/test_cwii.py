"""cwii's rules, one by one: what a pod is given."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cwii_webhook.mutators import credentials
from cwii_webhook.review import encode
from cwii_webhook.settings.cwii import Settings

from tests.webhook.cwii_pods import AUDIENCE, AWS, AZURE, CLIENT, GCP, ROLE, TENANT, VOICES, a_pod, env, first, given, guest, made, token, volume

ROOT = "/var/run/secrets/cwii.dev"
WINDOWS = "C:\\var\\run\\secrets\\cwii.dev"
EVERYTHING = {**AWS, **AZURE, **GCP}

EXTRAS = [
    ("cwii.dev/aws-region", "eu-west-1", AWS, "AWS_REGION"),
    ("cwii.dev/aws-role-session-name", "me", AWS, "AWS_ROLE_SESSION_NAME"),
    ("cwii.dev/aws-role-arn", "arn:aws-cn:iam::123456789012:role/path/name", AWS, "AWS_ROLE_ARN"),
    ("cwii.dev/az-client-id", "99999999-2222-3333-4444-555555555555", AZURE, "AZURE_CLIENT_ID"),
    ("cwii.dev/az-tenant-id", "contoso.onmicrosoft.com", AZURE, "AZURE_TENANT_ID"),
    ("cwii.dev/az-authority-host", "https://login.chinacloudapi.cn", AZURE, "AZURE_AUTHORITY_HOST"),
]


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize(("key", "value", "rest", "variable"), EXTRAS, ids=[extra[0] for extra in EXTRAS])
def test_a_word_is_heard_of_every_voice(voice: str, key: str, value: str, rest: dict[str, str], variable: str) -> None:
    others = {name: text for name, text in rest.items() if name != key}
    by: dict[str, Any] = {"namespace": others, voice: {**(others if voice == "namespace" else {}), key: value}}
    decision, pod = made(a_pod(by.pop("pod", None)), **by)

    assert env(first(pod))[variable] == value
    (origin,) = [origin for injection in decision.injections for origin in injection.origins if origin.what == variable]
    assert (origin.value, origin.key, origin.voice and origin.voice.scope) == (value, key, voice)


def test_a_pod_has_what_its_three_clouds_want() -> None:
    _, pod = given(EVERYTHING)

    assert env(first(pod)) == {
        "GOOGLE_APPLICATION_CREDENTIALS": f"{ROOT}/gcp-creds/credentials.json",
        "AWS_ROLE_ARN": ROLE,
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{ROOT}/aws/token",
        "AZURE_CLIENT_ID": CLIENT,
        "AZURE_TENANT_ID": TENANT,
        "AZURE_FEDERATED_TOKEN_FILE": f"{ROOT}/az/token",
    }
    assert pod["metadata"]["annotations"]["cwii.dev/injected"] == "aws,az,gcp"
    assert {mount["name"]: mount["mountPath"] for mount in first(pod)["volumeMounts"]} == {
        "cwii-gcp-token": f"{ROOT}/gcp",
        "cwii-gcp-creds": f"{ROOT}/gcp-creds",
        "cwii-aws-token": f"{ROOT}/aws",
        "cwii-az-token": f"{ROOT}/az",
    }


@pytest.mark.parametrize(
    ("cloud", "said", "audience"), [("aws", AWS, "sts.amazonaws.com"), ("az", AZURE, "api://AzureADTokenExchange"), ("gcp", GCP, AUDIENCE)]
)
@pytest.mark.parametrize("voice", VOICES)
def test_each_token_has_its_own_audience_and_expiration(cloud: str, said: dict[str, str], audience: str, voice: str) -> None:
    _, default = given(said)
    own = {f"cwii.dev/{cloud}-audience": "mine", f"cwii.dev/{cloud}-token-expiration": "7200"}
    by: dict[str, Any] = {"namespace": said, voice: {**(said if voice == "namespace" else {}), **own}}
    if voice != "namespace":
        by["namespace"] = {key: text for key, text in said.items() if key not in own}
    _, changed = made(a_pod(by.pop("pod", None)), **by)

    assert token(default, cloud) == {"audience": audience, "expirationSeconds": 3600, "path": "token"}
    assert token(changed, cloud) == {"audience": "mine", "expirationSeconds": 7200, "path": "token"}


@pytest.mark.parametrize(("cloud", "said"), [("aws", AWS), ("az", AZURE), ("gcp", GCP)])
@pytest.mark.parametrize("voice", VOICES[:3])
def test_a_nearer_false_takes_away_what_the_namespace_gives(cloud: str, said: dict[str, str], voice: str) -> None:
    by: dict[str, Any] = {"namespace": said, voice: {f"cwii.dev/{cloud}-inject": "false"}}
    decision, _ = made(a_pod(by.pop("pod", None)), **by)

    assert decision.outcome == "nothing"
    assert [n.reason for n in decision.nothing if n.gives == cloud] == ["switched-off"]
    assert decision.warnings == ()


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        (AWS, "cwii.dev/aws-role-arn"),
        (AZURE, "cwii.dev/az-client-id"),
        (AZURE, "cwii.dev/az-tenant-id"),
        (GCP, "cwii.dev/gcp-audience"),
    ],
)
def test_who_asks_and_does_not_say_enough_is_told_what_is_missing(said: dict[str, str], missing: str) -> None:
    decision, _ = given({key: value for key, value in said.items() if key != missing})

    assert decision.outcome == "nothing"
    (warning,) = decision.warnings
    assert f"nobody says {missing}: set it on the pod, its owner, its ServiceAccount or its namespace" in warning
    assert "of ServiceAccount shop/worker asks" in warning


VAIN = [("aws", AWS, "aws-role-arn"), ("az", AZURE, "az-client-id"), ("gcp", GCP, "gcp-audience")]


@pytest.mark.parametrize(("cloud", "said", "telling"), VAIN, ids=[cloud for cloud, *_ in VAIN])
@pytest.mark.parametrize("voice", VOICES)
def test_who_says_all_but_that_it_should_be_given_is_told(cloud: str, said: dict[str, str], telling: str, voice: str) -> None:
    """A namespace's words are for whoever asks."""
    by: dict[str, Any] = {voice: {key: value for key, value in said.items() if key != f"cwii.dev/{cloud}-inject"}}

    decision, _ = made(a_pod(by.pop("pod", None)), **by)

    assert decision.outcome == "nothing"
    assert [f"cwii.dev/{telling} of " in w and f'alone gives nothing: set cwii.dev/{cloud}-inject to "true" beside it' in w for w in decision.warnings] == [
        True for _ in VOICES[:3] if voice != "namespace"
    ][:1]


def test_words_of_another_webhook_beside_our_own_are_told_of_once() -> None:
    words = {**AZURE, "azure.workload.identity/client-id": CLIENT, "azure.workload.identity/tenant-id": TENANT}
    del words["cwii.dev/az-inject"]

    assert len(given(words)[0].warnings) == 1


@pytest.mark.parametrize(
    ("rest", "key", "value", "told"),
    [
        (AZURE, "cwii.dev/az-client-id", "foo", "is 'foo', which is no UUID: Azure will not know it"),
        (AZURE, "cwii.dev/az-tenant-id", "foo", "is 'foo', neither a UUID nor a domain: Azure will not know it"),
        (AZURE, "cwii.dev/az-client-id", CLIENT.upper(), ""),
        (AZURE, "cwii.dev/az-tenant-id", "contoso.onmicrosoft.com", ""),
        (GCP, "cwii.dev/gcp-audience", "foo", "is 'foo', which names no provider: Google Cloud knows it as //iam.googleapis.com/projects/NUMBER/"),
        (GCP, "cwii.dev/gcp-audience", AUDIENCE.removeprefix("//"), "which names no provider"),
        (GCP, "cwii.dev/gcp-audience", "//iam.googleapis.com/locations/global/workforcePools/p/providers/q", ""),
        (GCP, "cwii.dev/gcp-service-account", "foo", "is 'foo', which is no service account's address: Google Cloud will not know it"),
        (GCP, "cwii.dev/gcp-service-account", "112233445566778899001", ""),
    ],
)
def test_what_no_cloud_will_know_is_given_and_told(rest: dict[str, str], key: str, value: str, told: str) -> None:
    decision, _ = given({**rest, key: value})

    assert decision.outcome == "injected"
    assert [w.startswith(f"{key} of ServiceAccount shop/worker") and told in w for w in decision.warnings] == ([True] if told else [])


@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
def test_a_cloud_that_is_switched_off_is_not_heard(cloud: str) -> None:
    decision, pod = given(EVERYTHING, Settings(aws_enabled=cloud != "aws", az_enabled=cloud != "az", gcp_enabled=cloud != "gcp"))

    assert cloud not in {injection.gives for injection in decision.injections}
    assert not [v for v in pod["spec"]["volumes"] if v["name"].startswith(f"cwii-{cloud}-")]


NATIVE = [
    ("aws", {"eks.amazonaws.com/role-arn": ROLE}),
    ("az", {"azure.workload.identity/client-id": CLIENT, "azure.workload.identity/tenant-id": TENANT}),
    ("gcp", {"iam.gke.io/gcp-service-account": "sa@p.iam.gserviceaccount.com", "cwii.dev/gcp-audience": AUDIENCE}),
]


@pytest.mark.parametrize(("cloud", "said"), NATIVE, ids=[cloud for cloud, _ in NATIVE])
@pytest.mark.parametrize("voice", VOICES)
def test_words_of_other_webhooks_ask_for_a_cloud_where_they_are_honoured(cloud: str, said: dict[str, str], voice: str) -> None:
    by: dict[str, Any] = {voice: said}
    pod = a_pod(by.pop("pod", None))

    assert [i.gives for i in made(pod, Settings(native_annotations=True), **by)[0].injections] == [cloud]
    assert made(pod, Settings(), **by)[0].outcome == "nothing"


@pytest.mark.parametrize(("cloud", "said"), NATIVE, ids=[cloud for cloud, _ in NATIVE])
def test_an_own_false_goes_before_the_words_of_other_webhooks(cloud: str, said: dict[str, str]) -> None:
    decision, _ = made(a_pod(said), Settings(native_annotations=True), namespace={f"cwii.dev/{cloud}-inject": "false"})

    assert decision.outcome == "nothing"


def test_an_own_word_goes_before_that_of_another_webhook_and_both_are_told() -> None:
    decision, pod = made(a_pod({"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/other"}), account=AWS)

    assert env(first(pod))["AWS_ROLE_ARN"] == ROLE
    (warning,) = decision.warnings
    assert "cwii.dev/aws-role-arn of ServiceAccount shop/worker and eks.amazonaws.com/role-arn of Pod shop/p say different things" in warning


@pytest.mark.parametrize("native", [True, False])
def test_words_of_another_webhook_that_say_the_same_are_nothing_to_tell(native: bool) -> None:  # noqa: FBT001 - a column of the table
    """cwiictl writes both beside each other."""
    azwi = {"azure.workload.identity/client-id": AZURE["cwii.dev/az-client-id"], "azure.workload.identity/tenant-id": AZURE["cwii.dev/az-tenant-id"]}

    decision, _ = given(AZURE | azwi | AWS | {"eks.amazonaws.com/role-arn": ROLE}, Settings(native_annotations=native))

    assert (decision.outcome, decision.warnings) == ("injected", ())


@pytest.mark.parametrize(
    ("key", "way"),
    [
        ("eks.amazonaws.com/role-arn", "with --native-annotations=true or in the dialect eks"),
        ("azure.workload.identity/client-id", "with --native-annotations=true or in the dialect azwi"),
        ("iam.gke.io/gcp-service-account", "with --native-annotations=true"),
        ("cloud.google.com/workload-identity-provider", "in the dialect gcpwif"),
    ],
)
def test_a_word_of_another_webhook_that_is_not_heeded_is_told_with_what_would_heed_it(key: str, way: str) -> None:
    decision, _ = given({key: "x"})

    assert (decision.outcome, decision.warnings) == ("nothing", (f"{key} of ServiceAccount shop/worker is not heeded by this webhook: it would be {way}",))


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("cwii.dev/aws-injcet", "cwii.dev/aws-inject"),
        ("cwii.dev/aws_role_arn", "cwii.dev/aws-role-arn"),
        ("cwii.dev/azure-client-id", "cwii.dev/az-client-id"),
        ("cwii.dev/gcp-serviceaccount", "cwii.dev/gcp-service-account"),
        ("cwii.dev/xyzzy", ""),
    ],
)
@pytest.mark.parametrize("scope", ["account", "namespace", "owner"])
def test_a_word_that_is_none_is_told_once_with_the_nearest(key: str, near: str, scope: str) -> None:
    ref = {"account": "ServiceAccount shop/worker", "namespace": "Namespace shop", "owner": "StatefulSet shop/web"}[scope]
    hint = f"did you mean {near}?" if near else "see README for those that there are"

    for pod in (a_pod(), a_pod(AWS)):
        assert made(pod, Settings(), **{scope: {key: "true"}})[0].warnings == (f"'{key}' of {ref} is no word of cwii's: {hint}",)


def test_a_pods_own_word_that_is_none_is_told_and_its_written_ones_are_not() -> None:
    written = {"cwii.dev/injected": "aws", "cwii.dev/gcp-credentials": "{}", "not.cwii.dev/x": "x", "example.com/cwii.dev": "x"}

    assert made(a_pod({"cwii.dev/aws-regoin": "x", **written}))[0].warnings == (
        "'cwii.dev/aws-regoin' of Pod shop/p is no word of cwii's: did you mean cwii.dev/aws-region?",
    )


def test_of_many_words_that_are_none_a_few_are_told() -> None:
    assert len(made(a_pod({f"cwii.dev/x{number}": "" for number in range(1000)}))[0].warnings) == 4


@pytest.mark.parametrize(
    ("audience", "account", "name"),
    [
        ("//iam.googleapis.com/x", "", "cwii-gcp-creds-40616f410d46"),
        ("//iam.googleapis.com/x", "svc@proj.iam.gserviceaccount.com", "cwii-gcp-creds-873fac8b5089"),
        ("aud1", "", "cwii-gcp-creds-54b5a930a9cf"),
    ],
)
def test_a_config_map_has_the_name_that_cwii_gives_it(audience: str, account: str, name: str) -> None:
    assert credentials.name(audience, account) == name


ANNOTATION = {"items": [{"path": "credentials.json", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.annotations['cwii.dev/gcp-credentials']"}}]}


@pytest.mark.parametrize(
    ("word", "way"),
    [
        ("annotation", "downwardAPI"),
        ("Annotation", "downwardAPI"),
        ("config-map", "configMap"),
        ("configMap", "configMap"),
        ("CONFIG_MAP", "configMap"),
        ("init-container", "emptyDir"),
        ("initContainer", "emptyDir"),
        (" init_container ", "emptyDir"),
    ],
)
def test_googles_credentials_come_as_is_said(word: str, way: str) -> None:
    decision, pod = given({**GCP, "cwii.dev/gcp-delivery": word, "cwii.dev/gcp-service-account": "sa@p.iam.gserviceaccount.com"})

    assert set(volume(pod, "cwii-gcp-creds")) == {"name", way}
    texts = [
        pod["metadata"]["annotations"].get("cwii.dev/gcp-credentials"),
        *[one.data["credentials.json"] for one in decision.before],
        *[env(c)["CWII_GCP_CREDS_JSON"] for c in pod["spec"].get("initContainers", ())],
    ]
    (text,) = [text for text in texts if text]
    assert text == credentials.document(AUDIENCE, "sa@p.iam.gserviceaccount.com", f"{ROOT}/gcp/token")
    assert json.loads(text)["service_account_impersonation_url"].endswith("/sa@p.iam.gserviceaccount.com:generateAccessToken")


def test_without_its_flag_they_come_by_annotation_and_nothing_is_written() -> None:
    decision, pod = given(GCP)

    assert volume(pod, "cwii-gcp-creds")["downwardAPI"] == ANNOTATION
    assert "initContainers" not in pod["spec"]
    assert decision.before == ()


def test_credentials_are_written_before_the_pods_own_init_containers() -> None:
    _, pod = given({**GCP, "cwii.dev/gcp-verify": "true"}, Settings(gcp_delivery="init-container"), initContainers=[{"name": "mine"}])

    assert [c["name"] for c in pod["spec"]["initContainers"]] == ["cwii-gcp-creds-writer", "mine", "cwii-gcp-verify"]
    assert env(pod["spec"]["initContainers"][1])["GOOGLE_APPLICATION_CREDENTIALS"] == f"{ROOT}/gcp-creds/credentials.json"


@pytest.mark.parametrize("delivery", ["annotation", "config-map", "init-container"])
def test_a_second_pass_over_everything_says_and_does_nothing(delivery: str) -> None:
    said = {**EVERYTHING, **{f"cwii.dev/{cloud}-verify": "true" for cloud in ("aws", "az", "gcp")}}
    settings = Settings(gcp_delivery=delivery)
    _, pod = given(said, settings, initContainers=[{"name": "mine"}])
    decision, again = made(pod, settings, account=said)

    assert (list(decision.ops), decision.warnings, again) == ([], (), pod)


def test_the_api_servers_defaults_in_our_volumes_are_no_change() -> None:
    _, pod = given(EVERYTHING, Settings(gcp_delivery="config-map"))
    for one in pod["spec"]["volumes"]:
        next(source for kind, source in one.items() if kind != "name")["defaultMode"] = 0o644

    decision, _ = made(pod, Settings(gcp_delivery="config-map"), account=EVERYTHING)

    assert (list(decision.ops), decision.warnings) == ([], ())


@pytest.mark.parametrize(("there", "marker"), [("", "aws"), ("user", "aws,user"), (" gcp , aws,", "aws,gcp"), ("aws", "aws")])
def test_the_marker_keeps_what_it_lists(there: str, marker: str) -> None:
    decision, pod = made(a_pod({"cwii.dev/injected": there}), account=AWS)

    assert pod["metadata"]["annotations"]["cwii.dev/injected"] == marker
    assert any("injected" in op.path for op in decision.ops) == (there != marker)


WHERE: list[dict[str, Any]] = [
    {"os": {"name": "windows"}},
    {"nodeSelector": {"kubernetes.io/os": "windows"}},
    {"nodeSelector": {"beta.kubernetes.io/os": "windows"}},
]


@pytest.mark.parametrize("spec", WHERE, ids=str)
def test_on_windows_paths_begin_with_a_drive_and_no_shell_is_needed(spec: dict[str, Any]) -> None:
    said = {**EVERYTHING, "cwii.dev/aws-verify": "true"}
    decision, pod = given(said, Settings(gcp_delivery="init-container"), **spec)

    variables = env(first(pod))
    assert variables["AWS_WEB_IDENTITY_TOKEN_FILE"] == f"{WINDOWS}\\aws\\token"
    assert variables["AZURE_FEDERATED_TOKEN_FILE"] == f"{WINDOWS}\\az\\token"
    assert variables["GOOGLE_APPLICATION_CREDENTIALS"] == f"{WINDOWS}\\gcp-creds\\credentials.json"
    assert json.loads(pod["metadata"]["annotations"]["cwii.dev/gcp-credentials"])["credential_source"]["file"] == f"{WINDOWS}\\gcp\\token"
    assert "initContainers" not in pod["spec"]
    assert len(decision.warnings) == 2


def test_other_paths_are_the_servers_to_choose() -> None:
    _, pod = given(EVERYTHING, Settings(mount_root="/secrets/"))

    assert {m["mountPath"] for m in first(pod)["volumeMounts"]} == {"/secrets/aws", "/secrets/az", "/secrets/gcp", "/secrets/gcp-creds"}


def test_the_region_is_the_servers_own_where_nobody_says_one() -> None:
    settings = Settings(aws_default_region="eu-west-1")
    decision, pod = given(AWS, settings)

    assert env(first(pod))["AWS_REGION"] == "eu-west-1"
    assert "AWS_REGION by default" in decision.audit["aws"]
    assert env(first(given({**AWS, "cwii.dev/aws-region": "us-east-2"}, settings)[1]))["AWS_REGION"] == "us-east-2"
    assert env(first(given(AWS, settings, containers=[{"name": "main", "env": [{"name": "AWS_REGION", "value": "mine"}]}])[1]))["AWS_REGION"] == "mine"
    assert "AWS_REGION" not in env(first(given(AWS)[1]))


def test_the_marker_and_the_audit_say_what_was_given_and_by_whom() -> None:
    decision, _ = made(a_pod({"cwii.dev/aws-region": "eu-west-1"}), account=AWS)

    assert decision.audit["injected"] == "aws"
    assert "AWS_ROLE_ARN from ServiceAccount shop/worker; " in decision.audit["aws"]
    assert "AWS_REGION from Pod shop/p" in decision.audit["aws"]
    assert "token audience by default" in decision.audit["aws"]
    assert all("/" not in key for key in decision.audit)


def test_the_same_words_at_another_pod_are_worked_out_anew_where_they_differ() -> None:
    """Plans are remembered: by all that is said, and by nothing less."""
    other = {**AWS, "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/other"}
    answers = [env(first(made(a_pod(), account=said)[1]))["AWS_ROLE_ARN"] for said in (AWS, other, AWS)]

    assert answers == [ROLE, other["cwii.dev/aws-role-arn"], ROLE]


def test_ops_are_made_in_one_order() -> None:
    assert [encode(given(EVERYTHING)[0].ops) for _ in range(3)] == [encode(given(dict(reversed(EVERYTHING.items())))[0].ops)] * 3


def test_guests_of_a_second_pass_are_given_nothing_of_other_clouds() -> None:
    """Another webhook's change may bring the pod back with another voice speaking by then."""
    _, pod = given({**AWS, "cwii.dev/aws-verify": "true"})
    _, again = made(pod, account={**EVERYTHING, "cwii.dev/aws-verify": "true"})

    assert guest(again, "cwii-aws-verify") == guest(pod, "cwii-aws-verify")

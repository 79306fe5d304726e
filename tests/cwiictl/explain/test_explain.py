"""What is said of a pod: as it would be, whose word each value is, or why there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.explain import explain
from cwiictl.cli.wording import shown
from cwiictl.errors import BadInput

ROLE = "arn:aws:iam::111122223333:role/s3"


def an_account(role: str = ROLE) -> dict[str, Any]:
    meta = {
        "name": "billing",
        "namespace": "shop",
        "annotations": {"eks.amazonaws.com/role-arn": role},
    }
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}


ACCOUNT = an_account()
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"serviceAccountName": "billing", "containers": [{"name": "c", "image": "nginx"}]},
}


def ran(*objects: Any, arguments: tuple[str, ...] = ("--dialect", "eks")) -> Result:
    text = "\n---\n".join(json.dumps(o) for o in objects)
    return CliRunner().invoke(explain, ["-f", "-", *arguments], input=text, catch_exceptions=False)


def test_the_pod_is_shown_as_it_would_be_with_whose_word_each_value_is() -> None:
    told = ran(ACCOUNT, POD)

    assert told.exit_code == 0
    assert "Pod shop/web: injected" in told.stdout
    assert "  +    - name: AWS_ROLE_ARN" in told.stdout
    assert (
        f"AWS_ROLE_ARN                 {ROLE}  (eks.amazonaws.com/role-arn of ServiceAccount shop/billing)"
        in told.stdout
    )


def test_on_a_terminal_what_is_added_is_green() -> None:
    text = "\n---\n".join(json.dumps(o) for o in (an_account("a\x1b[31mb"), POD))

    told = (
        CliRunner()
        .invoke(
            explain, ["-f", "-", "--dialect", "eks"], input=text, catch_exceptions=False, color=True
        )
        .stdout
    )

    assert "\x1b[32m+    - name: AWS_ROLE_ARN\x1b[0m" in told
    assert "\n     - name: c\n" in told
    assert "\x1b[31m" not in told


def test_why_there_is_nothing_is_said_and_what_was_missed() -> None:
    told = ran(POD)

    assert "Pod shop/web: nothing" in told.stdout
    assert "aws: no-account" in told.stdout
    assert "Looked for, and not there: ServiceAccount shop/billing" in told.stdout


def test_what_was_missed_is_told_with_what_may_have_been_meant() -> None:
    misspelt = {**POD, "spec": {**POD["spec"], "serviceAccountName": "biling"}}

    assert (
        "Looked for, and not there: ServiceAccount shop/biling (did you mean billing?)"
        in ran(ACCOUNT, misspelt).stdout
    )


PASSED_BY = {
    **ACCOUNT,
    "metadata": {
        **ACCOUNT["metadata"],
        "annotations": {"eks.amazonaws.com/role-arn": ROLE, "cwii.dev/aws-injcet": "true"},
    },
}


def test_an_object_of_that_name_in_another_namespace_may_have_been_meant() -> None:
    elsewhere = {**POD, "metadata": {"name": "web"}}

    assert (
        "Looked for, and not there: ServiceAccount default/billing (did you mean shop/billing?)"
        in ran(ACCOUNT, elsewhere).stdout
    )


def test_machines_get_what_was_missed_with_what_may_have_been_meant() -> None:
    misspelt = {**POD, "spec": {**POD["spec"], "serviceAccountName": "biling"}}

    assert json.loads(ran(ACCOUNT, misspelt, arguments=("--dialect", "eks", "-o", "json")).stdout)[
        "unseen"
    ] == [{"object": "ServiceAccount shop/biling", "near": "billing"}]


def test_a_misspelt_word_and_one_of_another_webhook_are_told_with_what_was_meant() -> None:
    told = ran(PASSED_BY, POD, arguments=()).stdout

    assert (
        "Warning: 'cwii.dev/aws-injcet' of ServiceAccount shop/billing is no word of cwii's: did you mean cwii.dev/aws-inject?"
        in told
    )
    assert (
        "eks.amazonaws.com/role-arn of ServiceAccount shop/billing is not heeded by this webhook"
        in told
    )
    assert "with --native-annotations=true or in the dialect eks" in told


@pytest.mark.parametrize(
    ("said", "arguments", "code"),
    [
        ({"eks.amazonaws.com/role-arn": ROLE}, ("--dialect", "eks"), 0),
        ({}, (), 0),
        ({"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": "no role"}, (), 1),
        ({"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": "no role"}, ("-o", "json"), 1),
    ],
    ids=["injected", "nothing", "refused", "refused, as data"],
)
def test_the_exit_code_says_whether_a_pod_would_be_refused(
    said: dict[str, str], arguments: tuple[str, ...], code: int
) -> None:
    account = {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "annotations": said}}

    assert ran(account, POD, arguments=arguments).exit_code == code
    assert BadInput.code == 2
    assert (
        "The exit code is 0 whether or not a pod is given something, 1 where one would be refused"
        in (explain.help or "").replace("\n    ", " ")
    )


@pytest.mark.parametrize(
    ("dialect", "said", "lasts"),
    [
        (
            "cwii",
            {
                "cwii.dev/aws-inject": "true",
                "cwii.dev/aws-role-arn": ROLE,
                "cwii.dev/aws-token-expiration": "60",
            },
            "token expiration 600",
        ),
        (
            "eks",
            {"eks.amazonaws.com/role-arn": ROLE, "eks.amazonaws.com/token-expiration": "60"},
            "expiration 600",
        ),
        (
            "gcpwif",
            {
                "cloud.google.com/workload-identity-provider": "projects/1/locations/global/workloadIdentityPools/p/providers/q",
                "cloud.google.com/service-account-email": "sa@project.iam.gserviceaccount.com",
                "cloud.google.com/token-expiration": "60",
            },
            "expiration 3600",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values_are_those_that_the_pod_is_given_not_what_was_said(
    dialect: str, said: dict[str, str], lasts: str
) -> None:
    told = ran(
        {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "annotations": said}},
        POD,
        arguments=("--dialect", dialect),
    ).stdout

    (key,) = [key for key in said if key.endswith("token-expiration")]
    assert f"{lasts} ({key} of ServiceAccount shop/billing)" in " ".join(told.split())
    assert f"{key} of ServiceAccount shop/billing is 60" in told


def test_all_that_a_pod_is_given_has_its_line() -> None:
    told = ran(
        ACCOUNT,
        POD,
        arguments=(
            "--dialect",
            "eks",
            "-o",
            "json",
            "--",
            "--aws-default-region=eu-west-1",
            "--sts-regional-endpoint",
        ),
    )

    assert {
        value["what"]: value["value"] for value in json.loads(told.stdout)["pods"][0]["values"]
    } == {
        "AWS_ROLE_ARN": ROLE,
        "AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
        "audience": "sts.amazonaws.com",
        "expiration": "86400",
        "AWS_STS_REGIONAL_ENDPOINTS": "regional",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_REGION": "eu-west-1",
    }


def test_a_pod_without_containers_is_given_nothing_and_told_why() -> None:
    told = ran(ACCOUNT, {**POD, "spec": {"serviceAccountName": "billing", "containers": []}}).stdout

    assert "Pod shop/web: nothing" in told
    assert "eks: no-containers (it has none, and the API server takes no pod without)" in told


def test_a_flag_that_is_missing_is_said_with_where_it_goes() -> None:
    with pytest.raises(BadInput, match="AZURE_TENANT_ID is not set") as error:
        ran(ACCOUNT, POD, arguments=("--dialect", "azwi"))

    assert (
        "flags of the webhook stand behind --, as in: -- --tenant-id=TENANT" in error.value.remedy
    )
    labelled = {
        **POD,
        "metadata": {**POD["metadata"], "labels": {"azure.workload.identity/use": "true"}},
    }
    assert (
        "AZURE_TENANT_ID             t"
        in ran(ACCOUNT, labelled, arguments=("--dialect", "azwi", "--", "--tenant-id=t")).stdout
    )


def test_a_refusal_is_told_word_for_word() -> None:
    metadata = {
        "labels": {"azure.workload.identity/use": "true"},
        "annotations": {"azure.workload.identity/inject-proxy-sidecar": "true"},
    }
    pod = {
        **POD,
        "metadata": {**POD["metadata"], **metadata},
        "spec": {**POD["spec"], "hostNetwork": True},
    }

    told = ran(ACCOUNT, pod, arguments=("--dialect", "azwi", "--", "--tenant-id=t"))

    assert (told.exit_code, told.stdout.splitlines()[-1]) == (
        1,
        "Error: hostNetwork is set to true, cannot inject proxy sidecar",
    )


def test_the_webhooks_own_flags_count() -> None:
    told = ran(ACCOUNT, POD, arguments=("--dialect", "eks", "--", "--aws-default-region=eu-west-1"))

    assert "name: AWS_REGION" in told.stdout


def test_machines_get_data() -> None:
    told = json.loads(ran(ACCOUNT, POD, arguments=("--dialect", "eks", "-o", "json")).stdout)

    assert told["pods"][0]["outcome"] == "injected"
    assert told["pods"][0]["after"]["spec"]["volumes"][0]["name"] == "aws-iam-token"
    assert told["unseen"] == []


@pytest.mark.parametrize(
    ("objects", "arguments", "problem"),
    [
        ([ACCOUNT], ("--dialect", "eks"), "there is no pod in standard input"),
        (
            [ACCOUNT, POD],
            ("--dialect", "eks", "--", "--aws-default-regio=x"),
            "there is no flag --aws-default-regio",
        ),
        (
            [{**POD, "spec": {"containers": "x"}}],
            ("--dialect", "eks"),
            "Pod shop/web is none that Kubernetes would take",
        ),
    ],
    ids=["no pod", "no flag", "no containers"],
)
def test_what_cannot_be_meant_is_said(
    objects: list[Any], arguments: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        ran(*objects, arguments=arguments)


ROLES: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "pod-identity-webhook", "namespace": "eks"},
}
BARE = {**ACCOUNT, "metadata": {"name": "billing", "namespace": "shop"}}


def test_roles_of_a_config_map_count_where_it_is_at_hand() -> None:
    arguments = ("--dialect", "eks", "--", "--watch-config-map")

    told = ran(
        BARE,
        POD,
        {**ROLES, "data": {"config": json.dumps({"*/billing": {"RoleARN": ROLE}})}},
        arguments=arguments,
    )

    assert f"{ROLE}  (shop/billing of ConfigMap eks/pod-identity-webhook)" in told.stdout
    assert (
        "Looked for, and not there: ConfigMap eks/pod-identity-webhook"
        in ran(BARE, POD, arguments=arguments).stdout
    )


@pytest.mark.parametrize(
    ("data", "outcome", "warning"),
    [
        (
            {"config": json.dumps({"*/billing": {"RoleARN": ROLE}, "odd": {"RoleARN": ROLE}})},
            "injected",
            "has 'odd', which is no NAMESPACE/SERVICEACCOUNT",
        ),
        ({"config": "{"}, "nothing", "config of ConfigMap eks/pod-identity-webhook cannot be read"),
        ({}, "nothing", "there is no ConfigMap eks/pod-identity-webhook with a key config"),
    ],
    ids=["odd key", "no JSON", "no config"],
)
def test_what_the_webhook_would_pass_over_is_a_warning_and_the_rest_counts(
    data: dict[str, str], outcome: str, warning: str
) -> None:
    arguments = ("--dialect", "eks", "-o", "json", "--", "--watch-config-map")

    told = ran(BARE, POD, {**ROLES, "data": data}, arguments=arguments)

    assert told.exit_code == 0
    answer = json.loads(told.stdout)
    assert answer["pods"][0]["outcome"] == outcome
    assert [warning in each for each in answer["warnings"]] == [True]


def test_a_file_that_only_the_webhooks_machine_has_names_nobody(tmp_path: Path) -> None:
    told = ran(
        ACCOUNT,
        POD,
        arguments=(
            "--dialect",
            "eks",
            "--",
            f"--watch-container-credentials-config={tmp_path / 'none.json'}",
        ),
    )

    assert told.exit_code == 0
    assert "Pod shop/web: injected" in told.stdout
    assert (
        f"Warning: there is no file {tmp_path / 'none.json'}: nobody gets credentials of the agent"
        in told.stdout
    )


def test_who_goes_to_the_agent_is_read_from_the_webhooks_file(tmp_path: Path) -> None:
    file = tmp_path / "identities.json"
    file.write_text('{"identities": [{"namespace": "shop", "serviceAccount": "billing"}]}')

    assert (
        "AWS_CONTAINER_CREDENTIALS_FULL_URI"
        in ran(
            BARE,
            POD,
            arguments=("--dialect", "eks", "--", f"--watch-container-credentials-config={file}"),
        ).stdout
    )


def test_a_role_that_the_webhooks_machine_would_complete_is_said_to_lack_its_account() -> None:
    told = ran(an_account("s3"), POD, arguments=("--dialect", "eks", "--", "--compose-role-arn"))

    assert (
        "'arn:aws:iam:::role/s3', in which the account is missing: the webhook asks the instance that it runs on"
        in told.stdout
    )


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb", "a\\nb"),
        ("\u202eevil", "\\u202eevil"),
        ("\u200b", "\\u200b"),
        ("grüße", "grüße"),
        ("\x9b1m", "\\x9b1m"),
    ],
)
def test_what_would_move_the_terminal_is_shown_and_not_sent(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_a_hostile_annotation_does_not_reach_the_terminal() -> None:
    assert "\x1b" not in ran(an_account("a\x1b]0;x\x07"), POD).stdout

"""What is said of a pod: as it would be, whose word each value is, or why there is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.explain import explain, shown
from cwiictl.errors import BadInput, Failed

ROLE = "arn:aws:iam::111122223333:role/s3"


def an_account(role: str = ROLE) -> dict[str, Any]:
    meta = {"name": "billing", "namespace": "shop", "annotations": {"eks.amazonaws.com/role-arn": role}}
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
    assert f"AWS_ROLE_ARN                 {ROLE}  (eks.amazonaws.com/role-arn of ServiceAccount shop/billing)" in told.stdout


def test_why_there_is_nothing_is_said_and_what_was_missed() -> None:
    told = ran(POD)

    assert "Pod shop/web: nothing" in told.stdout
    assert "aws: no-account" in told.stdout
    assert "Looked for, and not there: ServiceAccount shop/billing" in told.stdout


def test_what_was_missed_is_told_with_what_may_have_been_meant() -> None:
    misspelt = {**POD, "spec": {**POD["spec"], "serviceAccountName": "biling"}}

    assert "Looked for, and not there: ServiceAccount shop/biling (did you mean billing?)" in ran(ACCOUNT, misspelt).stdout


PASSED_BY = {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "annotations": {"eks.amazonaws.com/role-arn": ROLE, "cwii.dev/aws-injcet": "true"}}}


def test_a_misspelt_word_and_one_of_another_webhook_are_told_with_what_was_meant() -> None:
    told = ran(PASSED_BY, POD, arguments=()).stdout

    assert "Warning: 'cwii.dev/aws-injcet' of ServiceAccount shop/billing is no word of cwii's: did you mean cwii.dev/aws-inject?" in told
    assert "eks.amazonaws.com/role-arn of ServiceAccount shop/billing is not heeded by this webhook" in told
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
def test_the_exit_code_says_whether_a_pod_would_be_refused(said: dict[str, str], arguments: tuple[str, ...], code: int) -> None:
    account = {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "annotations": said}}

    assert ran(account, POD, arguments=arguments).exit_code == code
    assert BadInput.code == 2
    assert "The exit code is 0 whether or not a pod is given something, 1 where one would be refused" in (explain.help or "").replace("\n    ", " ")


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
        ([ACCOUNT, POD], ("--dialect", "eks", "--", "--aws-default-regio=x"), "there is no flag --aws-default-regio"),
        ([{**POD, "spec": {"containers": "x"}}], ("--dialect", "eks"), "Pod shop/web is none that Kubernetes would take"),
    ],
    ids=["no pod", "no flag", "no containers"],
)
def test_what_cannot_be_meant_is_said(objects: list[Any], arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        ran(*objects, arguments=arguments)


ROLES: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "pod-identity-webhook", "namespace": "eks"}}
BARE = {**ACCOUNT, "metadata": {"name": "billing", "namespace": "shop"}}


def test_roles_of_a_config_map_count_where_it_is_at_hand() -> None:
    arguments = ("--dialect", "eks", "--", "--watch-config-map")

    told = ran(BARE, POD, {**ROLES, "data": {"config": json.dumps({"*/billing": {"RoleARN": ROLE}})}}, arguments=arguments)

    assert f"{ROLE}  (shop/billing of ConfigMap eks/pod-identity-webhook)" in told.stdout
    assert "Looked for, and not there: ConfigMap eks/pod-identity-webhook" in ran(BARE, POD, arguments=arguments).stdout


@pytest.mark.parametrize(
    ("data", "outcome", "warning"),
    [
        ({"config": json.dumps({"*/billing": {"RoleARN": ROLE}, "odd": {"RoleARN": ROLE}})}, "injected", "has 'odd', which is no NAMESPACE/SERVICEACCOUNT"),
        ({"config": "{"}, "nothing", "config of ConfigMap eks/pod-identity-webhook cannot be read"),
        ({}, "nothing", "there is no ConfigMap eks/pod-identity-webhook with a key config"),
    ],
    ids=["odd key", "no JSON", "no config"],
)
def test_what_the_webhook_would_pass_over_is_a_warning_and_the_rest_counts(data: dict[str, str], outcome: str, warning: str) -> None:
    arguments = ("--dialect", "eks", "-o", "json", "--", "--watch-config-map")

    told = ran(BARE, POD, {**ROLES, "data": data}, arguments=arguments)

    assert told.exit_code == 0
    answer = json.loads(told.stdout)
    assert answer["pods"][0]["outcome"] == outcome
    assert [warning in each for each in answer["warnings"]] == [True]


def test_a_file_that_only_the_webhooks_machine_has_names_nobody(tmp_path: Path) -> None:
    told = ran(ACCOUNT, POD, arguments=("--dialect", "eks", "--", f"--watch-container-credentials-config={tmp_path / 'none.json'}"))

    assert told.exit_code == 0
    assert "Pod shop/web: injected" in told.stdout
    assert f"Warning: there is no file {tmp_path / 'none.json'}: nobody gets credentials of the agent" in told.stdout


def test_who_goes_to_the_agent_is_read_from_the_webhooks_file(tmp_path: Path) -> None:
    file = tmp_path / "identities.json"
    file.write_text('{"identities": [{"namespace": "shop", "serviceAccount": "billing"}]}')

    assert "AWS_CONTAINER_CREDENTIALS_FULL_URI" in ran(BARE, POD, arguments=("--dialect", "eks", "--", f"--watch-container-credentials-config={file}")).stdout


def test_a_role_that_the_webhooks_machine_would_complete_is_said_to_lack_its_account() -> None:
    told = ran(an_account("s3"), POD, arguments=("--dialect", "eks", "--", "--compose-role-arn"))

    assert "'arn:aws:iam:::role/s3', in which the account is missing: the webhook asks the instance that it runs on" in told.stdout


@pytest.mark.parametrize(
    ("text", "seen"),
    [("a\x1b[31mb", "a\\x1b[31mb"), ("a\nb", "a\\nb"), ("\u202eevil", "\\u202eevil"), ("\u200b", "\\u200b"), ("grüße", "grüße"), ("\x9b1m", "\\x9b1m")],
)
def test_what_would_move_the_terminal_is_shown_and_not_sent(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_a_hostile_annotation_does_not_reach_the_terminal() -> None:
    assert "\x1b" not in ran(an_account("a\x1b]0;x\x07"), POD).stdout


KUBECTL = """#!/bin/sh
# As kubectl gets objects, of those in this folder.
[ "$1" = get ] || exit 9
here=$(dirname "$0") words=$*
while [ "$1" != -- ]; do shift; done
file="$here/$(echo "$2" | tr / -)$3.json"
case "$2" in Rollout.*) echo "error: the server doesn't have a resource type \"Rollout\"" >&2; exit 1 ;; esac
[ -e "$file" ] && exec cat "$file"
case "$words" in *--ignore-not-found*) exit 0 ;; *) echo "Error from server (NotFound): not found" >&2; exit 1 ;; esac
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What kubectl finds: a folder of objects."""
    (tmp_path / "kubectl").write_text(KUBECTL)
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "pod-web.json").write_text(json.dumps(POD))
    return tmp_path


def test_a_pod_of_the_cluster_is_explained_with_what_the_cluster_has(cluster: Path) -> None:
    (cluster / "ServiceAccountbilling.json").write_text(json.dumps(ACCOUNT))

    told = CliRunner().invoke(explain, ["pod/web", "-n", "shop", "--dialect", "eks", "--", "--aws-default-region=eu-west-1"], catch_exceptions=False)

    assert told.exit_code == 0
    assert "eks.amazonaws.com/role-arn of ServiceAccount shop/billing" in told.stdout
    assert "AWS_REGION" in told.stdout


@pytest.mark.usefixtures("cluster")
def test_what_the_cluster_has_not_is_said() -> None:
    assert "Looked for, and not there: ServiceAccount shop/billing" in CliRunner().invoke(explain, ["pod/web", "-n", "shop", "--dialect", "eks"]).stdout
    with pytest.raises(Failed, match="kubectl does not get pod/other of namespace shop: Error from server"):
        CliRunner().invoke(explain, ["pod/other", "-n", "shop"], catch_exceptions=False)


def test_a_pods_owner_says_nothing_to_kubectl(cluster: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "--kubeconfig=evil", "uid": "u", "controller": True}
    (cluster / "pod-web.json").write_text(json.dumps({**POD, "metadata": {"name": "web", "namespace": "shop", "ownerReferences": [owner]}}))
    (cluster / "ReplicaSet.apps--kubeconfig=evil.json").write_text("{}")

    assert "ReplicaSet shop/--kubeconfig=evil" in CliRunner().invoke(explain, ["pod/web", "-n", "shop"], catch_exceptions=False).stdout


def test_without_kubectl_there_is_a_way_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(BadInput, match="kubectl is not here"):
        CliRunner().invoke(explain, ["pod/web"], catch_exceptions=False)

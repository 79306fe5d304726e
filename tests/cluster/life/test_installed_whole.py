"""From what create-all has left to pods with tokens, by one command; and that command once more."""

from __future__ import annotations

import pytest

from tests.cluster.life.user import CONFIGURATION, DEPLOYMENT, HOME, NAME, User, space
from tests.cluster.objects import a_pod
from tests.cluster.traces import seen_within
from tests.federation.world import World

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

FILES = "$AWS_WEB_IDENTITY_TOKEN_FILE $AZURE_FEDERATED_TOKEN_FILE"
TELLS = f"id -u; for file in {FILES}; do wc -c < $file; done; cat $GOOGLE_APPLICATION_CREDENTIALS | grep -c token_url; sleep 1000"


@pytest.fixture(autouse=True)
def _installed(user: User) -> None:
    user.has()


def test_deployments_of_annotated_service_accounts_have_tokens_that_the_kubelet_wrote(
    user: User, world: World
) -> None:
    (account,) = [
        each
        for each in world.accounts
        if (each["metadata"]["namespace"], each["metadata"]["name"]) == ("cwii", "all")
    ]
    here = space(user, "cwii")
    user.admin.create(f"{here}/serviceaccounts", account)
    pod = a_pod(
        "",
        TELLS,
        serviceAccountName="all",
        securityContext={"runAsUser": 1000, "runAsNonRoot": True},
    )["spec"]
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "all"}},
        "template": {"metadata": {"labels": {"app": "all"}}, "spec": pod},
    }
    del pod["restartPolicy"]

    user.admin.create(
        "/apis/apps/v1/namespaces/cwii/deployments", {"metadata": {"name": "all"}, "spec": spec}
    )

    path = "/apis/apps/v1/namespaces/cwii/deployments/all"
    assert seen_within(90, lambda: user.admin.get(path)["status"].get("readyReplicas") == 2), (
        user.admin.list(f"{here}/pods")
    )
    for each in user.admin.list(f"{here}/pods"):
        log = f"{here}/pods/{each['metadata']['name']}/log"
        assert seen_within(30, lambda: len(user.admin.text(log).split()) == 4), user.admin.text(log)  # noqa: B023  # it is asked at once
        who, *sizes, google = user.admin.text(log).split()
        assert who == "1000"
        assert all(int(size) > 500 for size in sizes)
        assert int(google) > 0
    user.admin.delete(path)


def test_a_second_time_nothing_is_written(user: User) -> None:
    before = len(user.wrote())

    said = user.installs()

    assert said.code == 0, said
    assert user.wrote(before) == []
    assert "repaired" not in said
    assert "created" not in said


def test_what_was_changed_by_hand_is_told_by_field_and_repaired(user: User) -> None:
    hand = user.cluster.reach.authority
    del hand
    user.admin.patch(
        f"{CONFIGURATION}?fieldManager=kubectl-edit",
        [{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 17}],
        "json",
    )
    user.admin.patch(
        f"{DEPLOYMENT}?fieldManager=kubectl-edit", {"spec": {"revisionHistoryLimit": 7}}
    )

    told = user.installs("--dry-run")

    assert told.code == 0, told
    assert "webhooks[pods.cwii.cwii.dev].timeoutSeconds: 17 -> 5" in told
    assert "spec.revisionHistoryLimit: 7 -> 3" in told
    assert user.admin.get(CONFIGURATION)["webhooks"][0]["timeoutSeconds"] == 17
    assert (
        user.has("--expect", told.out.partition("--expect ")[2].split()[0]).out.count("repaired")
        == 3
    )  # and in the summary
    assert user.admin.get(CONFIGURATION)["webhooks"][0]["timeoutSeconds"] == 5
    assert user.admin.get(DEPLOYMENT)["spec"]["revisionHistoryLimit"] == 3


def test_what_is_asked_for_no_more_is_left_over_and_goes_when_that_is_said(user: User) -> None:
    policy = f"/apis/networking.k8s.io/v1/namespaces/{HOME}/networkpolicies/{NAME}"
    made = user.has("--set", "networkPolicy.enabled=true")

    left = user.installs()

    assert f"created     k8s/NetworkPolicy/{HOME}/{NAME}" in made.out
    assert left.code == 0, left
    assert f"left over   k8s/NetworkPolicy/{HOME}/{NAME}" in left.out
    assert "install-webhook --prune" in left
    assert user.admin.exists(policy)
    assert "dropped" in user.has()
    assert not user.admin.exists(policy)

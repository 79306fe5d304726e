"""Whoever made pods that the webhook has missed, restarted on request, on a real API server."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cwiictl.cli.status import status
from cwiictl.errors import BadInput
from tests.cluster.kube.client import Refused
from tests.cluster.kube.reach import Reach
from tests.cluster.shop import SAYS, Shop, owner, remarks
from tests.cluster.space import plain
from tests.cluster.traces import seen_within
from tests.cluster.webhook import running


def refused(shop: Shop) -> bool:
    try:
        shop.space.tried(plain())
    except Refused as e:
        return "it has no token" in str(e)
    return False


def restarts(shop: Shop) -> bool:
    template = shop.admin.get(f"{shop.space.path('deployments', 'apps')}/web")["spec"]["template"]
    return "kubectl.kubernetes.io/restartedAt" in template["metadata"].get("annotations", {})


def test_what_belongs_to_a_restart_is_of_no_use_without() -> None:
    for words in (["--dry-run"], ["--yes", "--pods"]):
        with pytest.raises(BadInput, match="of --restart, which is not given"):
            CliRunner().invoke(status, words, catch_exceptions=False)


def test_what_nobody_makes_anew_is_named_and_pods_of_nodes_and_ended_ones_are_not(
    shop: Shop,
) -> None:
    shop.pod("alone", plain())
    shop.pod(
        "mirror",
        {
            "metadata": {"annotations": {**SAYS, "kubernetes.io/config.mirror": "x"}},
            "spec": {"nodeName": "n", "containers": plain()["spec"]["containers"]},
        },
    )
    shop.pod("ended", plain())
    shop.admin.patch(f"{shop.space.path('pods')}/ended/status", {"status": {"phase": "Succeeded"}})

    told = shop.told("--restart", "--dry-run")

    assert set(told) == {"Pod/alone"}
    assert told["Pod/alone"]["condition"] == "missing"
    assert "nobody makes it anew: delete it, and create it again" in remarks(told["Pod/alone"])


def test_what_is_restarted_is_shown_and_then_only_with_a_webhook_that_answers(
    shop: Shop, reach: Reach, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """First nobody says that it is ready, then it says so and does not answer: the pods would come back as they are."""
    shop.deployed("web")
    assert shop.told("--restart", "--dry-run")["Deployment/web"]["condition"] == "to restart"

    refused = shop.status("--restart", "--yes")
    assert f"the webhook {shop.values.name} has no replica that is ready" in refused.stdout
    assert refused.exit_code == 1
    assert not restarts(shop)

    shop.ready()
    silent = shop.status("--restart", "--yes")
    assert silent.exit_code == 1
    assert (
        "it was not restarted: its pods would come back without volume cwii-aws-token, AWS_ROLE_ARN"
        in silent.stdout
    )
    assert not restarts(shop)

    line = ("cwii", "--aws-default-region=eu-west-1", "--gcp-delivery=annotation")
    with running(reach, tmp_path_factory.mktemp("webhook"), line, host=shop.host) as webhook:
        shop.answered(webhook.port)
        assert shop.told("--restart", "--yes")["Deployment/web"]["condition"] == "restarted"
    assert restarts(shop)


def test_pods_with_claims_of_their_own_are_tried_too(shop: Shop) -> None:
    """A StatefulSet's template has no volume for them."""
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    container = {
        "name": "c",
        "image": "c",
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    labels = {"app": "db"}
    template = {"metadata": {"labels": labels}, "spec": plain(containers=[container])["spec"]}
    wanted = {
        "selector": {"matchLabels": labels},
        "serviceName": "db",
        "template": template,
        "volumeClaimTemplates": [claim],
    }
    of = owner(shop.made("statefulsets", "db", wanted), "StatefulSet")
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}
    shop.pod("db-0", {**template, "spec": {**template["spec"], "volumes": [volume]}}, of)
    shop.ready()

    told = shop.told("--restart", "--yes")["StatefulSet/db"]

    assert told["condition"] == "failed"
    assert "it was not restarted: its pods would come back without" in told["problem"]


def test_what_others_have_against_a_pod_of_a_dry_run_hinders_no_restart(shop: Shop) -> None:
    shop.deployed("web")
    shop.ready()
    shop.space.quota({"pods": "0"})

    assert shop.told("--restart", "--yes")["Deployment/web"]["condition"] == "restarted"
    assert restarts(shop)


def test_what_our_own_policy_has_against_it_does(shop: Shop) -> None:
    """As `--require` has it where the webhook is asked and nobody answers."""
    shop.deployed("web")
    shop.ready()
    policies, name = "/apis/admissionregistration.k8s.io/v1", f"{shop.values.name}-require"
    made = [
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
    ]
    spec = {
        "matchConstraints": {"resourceRules": made},
        "validations": [{"expression": "false", "message": "it has no token"}],
    }
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": shop.space.name}}}
    shop.admin.create(
        f"{policies}/validatingadmissionpolicies", {"metadata": {"name": name}, "spec": spec}
    )
    bound = {"policyName": name, "validationActions": ["Deny"], "matchResources": here}
    shop.admin.create(
        f"{policies}/validatingadmissionpolicybindings", {"metadata": {"name": name}, "spec": bound}
    )
    assert seen_within(30, lambda: refused(shop))

    told = shop.told("--restart", "--yes")["Deployment/web"]

    for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
        shop.admin.delete(f"{policies}/{plural}/{name}")
    assert told["condition"] == "failed"
    assert "it was not restarted: its pods would not be let in" in told["problem"]
    assert not restarts(shop)


def test_whose_pods_would_be_refused_now_is_not_restarted(shop: Shop) -> None:
    """It would lose those that it has."""
    shop.deployed("web")
    shop.ready()
    shop.space.tell({"cwii.dev/aws-role-arn": "no role"})

    told = shop.told("--restart", "--yes")["Deployment/web"]

    assert told["condition"] == "missing"
    assert "pod web-1-0: would be refused now: " in remarks(told)
    assert "it is not restarted: mend what is refused first" in remarks(told)
    assert not restarts(shop)


def test_where_nobody_can_be_asked_nothing_is_restarted(shop: Shop) -> None:
    shop.deployed("web")
    shop.ready()

    with pytest.raises(BadInput, match="nobody can be asked"):
        shop.status("--restart")

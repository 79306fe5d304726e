"""Tests injections into ephemeral containers, which join a running pod."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, admit
from cwii_webhook.admission.decision_log import DecisionLog, summarize
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op
from cwii_webhook.admission.review import encode
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

from tests.webhook.dialects.cwii.pods import AWS, AZURE, GCP, env, inject, make_cluster, make_pod
from tests.webhook.harness import DEV_NULL, PROVIDER, ROUTES
from tests.webhook.recorded_answers import FakeClusterView, decide, make_request

Pod = dict[str, Any]

# By cloud: annotations of the ServiceAccount, and the variables and volumes that they inject.
INJECTED: Mapping[str, tuple[Mapping[str, str], set[str], set[str]]] = {
    "aws": (AWS, {"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"}, {"cwii-aws-token"}),
    "azure": (
        AZURE,
        {"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE"},
        {"cwii-az-token"},
    ),
    "gcp": (GCP, {"GOOGLE_APPLICATION_CREDENTIALS"}, {"cwii-gcp-token", "cwii-gcp-creds"}),
}
# By dialect of a peer: annotations of the ServiceAccount.
PEER_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "eks": {"eks.amazonaws.com/role-arn": AWS["cwii.dev/aws-role-arn"]},
    "azwi": {"azure.workload.identity/client-id": "1"},
    "gcpwif": {
        "cloud.google.com/workload-identity-provider": PROVIDER,
        "cloud.google.com/service-account-email": "sa@project.iam.gserviceaccount.com",
    },
}


def add_ephemeral(
    pod: Pod,
    *new: Pod,
    route: str = "cwii",
    view: FakeClusterView | None = None,
) -> tuple[Decision, Pod]:
    """Adds ephemeral containers to a pod. Returns the decision, and the pod with the patch applied.

    Without a view, owner, ServiceAccount and namespace have no annotations.
    """
    after = copy.deepcopy(pod)
    after["spec"]["ephemeralContainers"] = [*pod["spec"].get("ephemeralContainers", []), *new]
    request = make_request(
        after, operation="UPDATE", subResource="ephemeralcontainers", oldObject=pod
    )
    decision = admit(ROUTES[route], request, view or make_cluster())
    return decision, apply_patch(
        after, [Op(op["op"], op["path"], op["value"]) for op in json.loads(encode(decision.ops))]
    )


def ephemeral_container(pod: Pod, name: str = "debug") -> Pod:
    return next(c for c in pod["spec"]["ephemeralContainers"] if c["name"] == name)


def mounted_volumes(container: Pod) -> set[str]:
    return {mount["name"] for mount in container.get("volumeMounts", [])}


def skip_annotation(dialect: str) -> str:
    domain = next(iter(PEER_ANNOTATIONS[dialect])).partition("/")[0]
    return f"{domain}/skip-containers"


@pytest.mark.parametrize("cloud", INJECTED)
def test_ephemeral_container_gets_what_the_others_have_without_annotations(cloud: str) -> None:
    annotations, variables, volumes = INJECTED[cloud]
    pod = inject(make_pod(), account=annotations)[1]

    debug = ephemeral_container(add_ephemeral(pod, {"name": "debug"})[1])

    assert env(debug) == {
        name: text for name, text in env(pod["spec"]["containers"][0]).items() if name in variables
    }
    assert (set(env(debug)), mounted_volumes(debug)) == (variables, volumes)
    assert debug["volumeMounts"] == pod["spec"]["containers"][0]["volumeMounts"]


@pytest.mark.parametrize("dialect", PEER_ANNOTATIONS)
def test_ephemeral_container_gets_what_the_others_have_in_each_dialect(dialect: str) -> None:
    pod = decide(ROUTES[dialect], make_pod(), make_cluster(account=PEER_ANNOTATIONS[dialect]))[1]
    first = pod["spec"]["containers"][0]

    debug = ephemeral_container(add_ephemeral(pod, {"name": "debug"}, route=dialect)[1])

    assert env(debug) == env(first)
    assert debug["volumeMounts"] == first["volumeMounts"]


def test_ephemeral_container_gets_only_the_clouds_of_the_pod() -> None:
    pod = inject(make_pod(), account={**AWS, **GCP})[1]

    decision, after = add_ephemeral(
        pod, {"name": "debug"}, view=make_cluster(account={**AWS, **AZURE, **GCP})
    )

    assert mounted_volumes(ephemeral_container(after)) == {
        "cwii-aws-token",
        "cwii-gcp-token",
        "cwii-gcp-creds",
    }
    assert [injection.provider for injection in decision.injections] == ["gcp", "aws"]


def test_decision_has_metrics_audit_annotations_and_warnings() -> None:
    pod = inject(make_pod(), account={**AWS, **GCP})[1]
    container = {
        "name": "debug",
        "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}],
        "volumeMounts": [{"name": "d", "mountPath": "/var/run/secrets/cwii.dev/aws"}],
    }

    decision, _ = add_ephemeral(pod, container)
    metrics = Metrics()
    DecisionLog(metrics, Log(DEV_NULL), tuple(ROUTES)).log_decision(
        make_request(pod), summarize("cwii", decision)
    )

    assert decision.audit == {
        "injected": "gcp,aws",
        "gcp": "as container c has it",
        "aws": "as container c has it",
    }
    assert decision.warnings == (
        "container debug sets AWS_ROLE_ARN itself: that is left as it is",
        (
            "container debug has its volume d at /var/run/secrets/cwii.dev/aws: "
            "what lies there is used, not cwii-aws-token"
        ),
    )
    for cloud in ("gcp", "aws"):
        assert (
            f'provider="{cloud}",outcome="injected",reason=""}} 1' in metrics.exposition().decode()
        )
    assert "other" not in metrics.exposition().decode()


def test_annotations_that_changed_after_admission_are_ignored() -> None:
    pod = inject(make_pod(), account=AWS)[1]
    changed = {**AWS, "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/other"}

    _, after = add_ephemeral(pod, {"name": "debug"}, view=make_cluster(account=changed))

    debug = ephemeral_container(after)
    assert env(debug)["AWS_ROLE_ARN"] == AWS["cwii.dev/aws-role-arn"]


@pytest.mark.parametrize("dialect", ["cwii", *PEER_ANNOTATIONS])
def test_pod_without_an_injection_stays_unchanged(dialect: str) -> None:
    decision, after = add_ephemeral(
        make_pod(),
        {"name": "debug"},
        route=dialect,
        view=make_cluster(account={**AWS, **PEER_ANNOTATIONS.get(dialect, {})}),
    )

    assert (decision.outcome, [skip.reason for skip in decision.skips]) == (
        "nothing",
        ["nothing-there"],
    )
    assert ephemeral_container(after) == {"name": "debug"}


def test_existing_ephemeral_containers_stay_unchanged() -> None:
    """The API server refuses any change to them."""
    pod = inject(make_pod(), account=AWS)[1]
    pod["spec"]["ephemeralContainers"] = [{"name": "before"}]

    decision, after = add_ephemeral(pod, {"name": "debug"}, {"name": "shell"})

    assert ephemeral_container(after, "before") == {"name": "before"}
    assert (
        mounted_volumes(ephemeral_container(after, "debug"))
        == mounted_volumes(ephemeral_container(after, "shell"))
        == {"cwii-aws-token"}
    )
    assert {op.path.split("/")[3] for op in decision.ops} == {"1", "2"}


def test_update_without_new_containers_changes_nothing() -> None:
    pod = inject(make_pod(), account=AWS)[1]
    pod["spec"]["ephemeralContainers"] = [{"name": "before"}]

    assert add_ephemeral(pod)[0].outcome == "nothing"


def test_rest_of_the_pod_stays_unchanged() -> None:
    pod = inject(
        make_pod(),
        Settings(gcp_delivery="init-container"),
        account={**AWS, **AZURE, **GCP, "cwii.dev/aws-verify": "true"},
    )[1]
    before = copy.deepcopy(pod)

    _, after = add_ephemeral(pod, {"name": "debug"})

    del after["spec"]["ephemeralContainers"]
    assert after == before


def test_variables_and_mounts_of_the_container_stay() -> None:
    pod = inject(make_pod(), account=AWS)[1]
    container = {
        "name": "debug",
        "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }

    debug = ephemeral_container(add_ephemeral(pod, container)[1])

    assert env(debug)["AWS_ROLE_ARN"] == "mine"
    assert "AWS_WEB_IDENTITY_TOKEN_FILE" in env(debug)
    assert mounted_volumes(debug) == {"data", "cwii-aws-token"}


def test_other_variables_of_the_pod_are_not_copied() -> None:
    pod = inject(
        make_pod(containers=[{"name": "c", "env": [{"name": "PASSWORD", "value": "x"}]}]),
        account=AWS,
    )[1]

    _, after = add_ephemeral(pod, {"name": "debug"})

    assert "PASSWORD" not in env(ephemeral_container(after))


@pytest.mark.parametrize("dialect", PEER_ANNOTATIONS)
def test_injection_is_copied_from_the_first_container_that_is_not_skipped(dialect: str) -> None:
    pod = make_pod({skip_annotation(dialect): "c"}, containers=[{"name": "c"}, {"name": "d"}])
    pod = decide(ROUTES[dialect], pod, make_cluster(account=PEER_ANNOTATIONS[dialect]))[1]
    assert not mounted_volumes(pod["spec"]["containers"][0])

    assert (
        mounted_volumes(
            ephemeral_container(add_ephemeral(pod, {"name": "debug"}, route=dialect)[1])
        )
        == mounted_volumes(pod["spec"]["containers"][1])
        != set()
    )


@pytest.mark.parametrize("dialect", PEER_ANNOTATIONS)
def test_skipped_ephemeral_container_gets_nothing(dialect: str) -> None:
    pod = decide(
        ROUTES[dialect],
        make_pod({skip_annotation(dialect): "debug"}),
        make_cluster(account=PEER_ANNOTATIONS[dialect]),
    )[1]

    _, after = add_ephemeral(pod, {"name": "debug"}, {"name": "shell"}, route=dialect)

    assert ephemeral_container(after) == {"name": "debug"}
    assert mounted_volumes(ephemeral_container(after, "shell"))


@pytest.mark.parametrize("dialect", PEER_ANNOTATIONS)
def test_ephemeral_container_gets_nothing_if_all_others_are_skipped(dialect: str) -> None:
    pod = decide(
        ROUTES[dialect],
        make_pod({skip_annotation(dialect): "c"}),
        make_cluster(account=PEER_ANNOTATIONS[dialect]),
    )[1]

    assert add_ephemeral(pod, {"name": "debug"}, route=dialect)[0].outcome == "nothing"

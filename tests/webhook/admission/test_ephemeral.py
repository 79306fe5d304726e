"""Containers that join a running pod: they get what its others have, and whoever was admitted without us stays as he is."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, admit
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op
from cwii_webhook.admission.review import encode
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

from tests.webhook.dialects.cwii.pods import AWS, AZURE, GCP, env, inject, make_cluster, make_pod
from tests.webhook.harness import ROUTES, UNREAD
from tests.webhook.recorded_answers import Objects, asked, request

Pod = dict[str, Any]

CLOUDS: Mapping[str, tuple[Mapping[str, str], set[str], set[str]]] = {
    "aws": (AWS, {"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"}, {"cwii-aws-token"}),
    "azure": (
        AZURE,
        {"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE"},
        {"cwii-az-token"},
    ),
    "gcp": (GCP, {"GOOGLE_APPLICATION_CREDENTIALS"}, {"cwii-gcp-token", "cwii-gcp-creds"}),
}
NATIVE: Mapping[str, Mapping[str, str]] = {
    "eks": {"eks.amazonaws.com/role-arn": AWS["cwii.dev/aws-role-arn"]},
    "azwi": {"azure.workload.identity/client-id": "1"},
    "gcpwif": {
        "cloud.google.com/workload-identity-provider": "projects/1/locations/global/workloadIdentityPools/p/providers/q",
        "cloud.google.com/service-account-email": "sa@project.iam.gserviceaccount.com",
    },
}


def joined(
    pod: Pod, *new: Pod, shape: str = "cwii", objects: Objects | None = None, old: Pod | None = None
) -> tuple[Decision, Pod]:
    """The pod as it is once these have joined it; by then the voices say nothing, unless they are given."""
    after = copy.deepcopy(pod)
    after["spec"]["ephemeralContainers"] = [*pod["spec"].get("ephemeralContainers", []), *new]
    late = request(
        after, operation="UPDATE", subResource="ephemeralcontainers", oldObject=old or pod
    )
    decision = admit(ROUTES[shape], late, objects or make_cluster())
    return decision, apply_patch(
        after, [Op(op["op"], op["path"], op["value"]) for op in json.loads(encode(decision.ops))]
    )


def late(pod: Pod, name: str = "debug") -> Pod:
    return next(c for c in pod["spec"]["ephemeralContainers"] if c["name"] == name)


def mounted(container: Pod) -> set[str]:
    return {mount["name"] for mount in container.get("volumeMounts", [])}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_it_gets_what_the_others_have_when_nobody_says_it_any_more(cloud: str) -> None:
    words, variables, volumes = CLOUDS[cloud]
    pod = inject(make_pod(), account=words)[1]

    debug = late(joined(pod, {"name": "debug"})[1])

    assert env(debug) == {
        name: text for name, text in env(pod["spec"]["containers"][0]).items() if name in variables
    }
    assert (set(env(debug)), mounted(debug)) == (variables, volumes)
    assert debug["volumeMounts"] == pod["spec"]["containers"][0]["volumeMounts"]


@pytest.mark.parametrize("native", NATIVE)
def test_so_it_is_in_the_other_dialects(native: str) -> None:
    pod = asked(ROUTES[native], make_pod(), make_cluster(account=NATIVE[native]))[1]
    first = pod["spec"]["containers"][0]

    debug = late(joined(pod, {"name": "debug"}, shape=native)[1])

    assert env(debug) == env(first)
    assert debug["volumeMounts"] == first["volumeMounts"]


def test_of_several_clouds_it_gets_those_that_the_pod_has() -> None:
    pod = inject(make_pod(), account={**AWS, **GCP})[1]

    decision, after = joined(
        pod, {"name": "debug"}, objects=make_cluster(account={**AWS, **AZURE, **GCP})
    )

    assert mounted(late(after)) == {"cwii-aws-token", "cwii-gcp-token", "cwii-gcp-creds"}
    assert [injection.provider for injection in decision.injections] == ["gcp", "aws"]


def test_it_is_told_of_like_any_other_decision() -> None:
    """Counted under each cloud, with what the audit log says of it, and with what a user would want to know."""
    pod = inject(make_pod(), account={**AWS, **GCP})[1]
    own = {
        "name": "debug",
        "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}],
        "volumeMounts": [{"name": "d", "mountPath": "/var/run/secrets/cwii.dev/aws"}],
    }

    decision, _ = joined(pod, own)
    metrics = Metrics()
    DecisionLog(metrics, Log(UNREAD), tuple(ROUTES)).log_decision("cwii", request(pod), decision)

    assert decision.audit == {
        "injected": "gcp,aws",
        "gcp": "as container c has it",
        "aws": "as container c has it",
    }
    assert decision.warnings == (
        "container debug sets AWS_ROLE_ARN itself: that is left as it is",
        "container debug has its volume d at /var/run/secrets/cwii.dev/aws: what lies there is used, not cwii-aws-token",
    )
    for cloud in ("gcp", "aws"):
        assert (
            f'provider="{cloud}",outcome="injected",reason=""}} 1' in metrics.exposition().decode()
        )
    assert "other" not in metrics.exposition().decode()


def test_what_the_voices_say_by_now_is_not_heard() -> None:
    pod = inject(make_pod(), account=AWS)[1]

    debug = late(
        joined(
            pod,
            {"name": "debug"},
            objects=make_cluster(
                account={**AWS, "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/other"}
            ),
        )[1]
    )

    assert env(debug)["AWS_ROLE_ARN"] == AWS["cwii.dev/aws-role-arn"]


@pytest.mark.parametrize("shape", ["cwii", *NATIVE])
def test_a_pod_that_was_admitted_without_us_stays_as_it_is(shape: str) -> None:
    decision, after = joined(
        make_pod(),
        {"name": "debug"},
        shape=shape,
        objects=make_cluster(account={**AWS, **NATIVE.get(shape, {})}),
    )

    assert (decision.outcome, [nothing.reason for nothing in decision.skips]) == (
        "nothing",
        ["nothing-there"],
    )
    assert late(after) == {"name": "debug"}


def test_those_that_were_there_are_never_touched() -> None:
    """The API server refuses any change to them."""
    pod = inject(make_pod(), account=AWS)[1]
    pod["spec"]["ephemeralContainers"] = [{"name": "before"}]

    decision, after = joined(pod, {"name": "debug"}, {"name": "shell"})

    assert late(after, "before") == {"name": "before"}
    assert mounted(late(after, "debug")) == mounted(late(after, "shell")) == {"cwii-aws-token"}
    assert {op.path.split("/")[3] for op in decision.ops} == {"1", "2"}


def test_where_nobody_joins_nothing_is_done() -> None:
    pod = inject(make_pod(), account=AWS)[1]
    pod["spec"]["ephemeralContainers"] = [{"name": "before"}]

    assert joined(pod)[0].outcome == "nothing"


def test_nothing_else_of_the_pod_is_changed() -> None:
    pod = inject(
        make_pod(),
        Settings(gcp_delivery="init-container"),
        account={**AWS, **AZURE, **GCP, "cwii.dev/aws-verify": "true"},
    )[1]
    before = copy.deepcopy(pod)

    _, after = joined(pod, {"name": "debug"})

    del after["spec"]["ephemeralContainers"]
    assert after == before


def test_what_it_has_itself_stays() -> None:
    pod = inject(make_pod(), account=AWS)[1]
    own = {
        "name": "debug",
        "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }

    debug = late(joined(pod, own)[1])

    assert env(debug)["AWS_ROLE_ARN"] == "mine"
    assert "AWS_WEB_IDENTITY_TOKEN_FILE" in env(debug)
    assert mounted(debug) == {"data", "cwii-aws-token"}


def test_variables_of_the_others_that_are_not_ours_are_not_copied() -> None:
    pod = inject(
        make_pod(containers=[{"name": "c", "env": [{"name": "PASSWORD", "value": "x"}]}]),
        account=AWS,
    )[1]

    assert "PASSWORD" not in env(late(joined(pod, {"name": "debug"})[1]))


@pytest.mark.parametrize("native", NATIVE)
def test_where_a_container_is_skipped_the_next_one_is_the_model(native: str) -> None:
    domain = next(iter(NATIVE[native])).partition("/")[0]
    pod = make_pod({f"{domain}/skip-containers": "c"}, containers=[{"name": "c"}, {"name": "d"}])
    pod = asked(ROUTES[native], pod, make_cluster(account=NATIVE[native]))[1]
    assert not mounted(pod["spec"]["containers"][0])

    assert (
        mounted(late(joined(pod, {"name": "debug"}, shape=native)[1]))
        == mounted(pod["spec"]["containers"][1])
        != set()
    )


@pytest.mark.parametrize("native", NATIVE)
def test_whoever_is_on_the_skip_list_gets_nothing(native: str) -> None:
    domain = next(iter(NATIVE[native])).partition("/")[0]
    pod = asked(
        ROUTES[native],
        make_pod({f"{domain}/skip-containers": "debug"}),
        make_cluster(account=NATIVE[native]),
    )[1]

    after = joined(pod, {"name": "debug"}, {"name": "shell"}, shape=native)[1]

    assert late(after) == {"name": "debug"}
    assert mounted(late(after, "shell"))


@pytest.mark.parametrize("native", NATIVE)
def test_where_all_are_skipped_there_is_nothing_to_give(native: str) -> None:
    domain = next(iter(NATIVE[native])).partition("/")[0]
    pod = asked(
        ROUTES[native],
        make_pod({f"{domain}/skip-containers": "c"}),
        make_cluster(account=NATIVE[native]),
    )[1]

    assert joined(pod, {"name": "debug"}, shape=native)[0].outcome == "nothing"

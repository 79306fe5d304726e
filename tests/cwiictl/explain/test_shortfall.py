"""Which pods run without what they would be given now, and with what else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.dialects.registry import routes

from cwiictl.engine.resource import Difference
from cwiictl.errors import BadInput
from cwiictl.explain.installed import account, secret, services
from cwiictl.explain.objects import Objects
from cwiictl.explain.parts import differences
from cwiictl.explain.shortfall import Cluster, Shortfall, shortfalls

SPACE = "shop"
ROLE = "arn:aws:iam::111122223333:role/shop"
SAYS = {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
Body = dict[str, Any]


def an_object(kind: str, name: str, *owners: Body, api: str = "apps/v1", **more: Any) -> Body:
    about = {
        "name": name,
        "namespace": SPACE,
        "uid": f"uid of {name}",
        "ownerReferences": list(owners),
        **more.pop("metadata", {}),
    }
    return {"apiVersion": api, "kind": kind, "metadata": about, **more}


def by(body: Body, uid: str = "") -> Body:
    about = body["metadata"]
    return {
        "apiVersion": body["apiVersion"],
        "kind": body["kind"],
        "name": about["name"],
        "uid": uid or about["uid"],
        "controller": True,
    }


def a_template(**more: Any) -> Body:
    return {
        "spec": {"serviceAccountName": "till", "containers": [{"name": "c", "image": "c"}]},
        **more,
    }


def a_pod(*owners: Body, name: str = "p", **more: Any) -> Body:
    return an_object("Pod", name, *owners, api="v1", **a_template(**more))


def a_deployment(*words: str) -> Body:
    container = {
        "name": "webhook",
        "args": list(words),
        "env": [{"name": "AZURE_TENANT_ID", "value": "t"}],
    }
    return an_object("Deployment", "hook", spec={"template": {"spec": {"containers": [container]}}})


def a_cluster(
    *bodies: Body, says: Mapping[str, str] = SAYS, words: tuple[str, ...] = ("cwii",)
) -> Cluster:
    """With a webhook that is asked about all pods, in each of its dialects."""
    picture = Objects(SPACE)
    till = an_object("ServiceAccount", "till", api="v1", metadata={"annotations": dict(says)})
    held = {
        picture.hold(body): body
        for body in (till, an_object("Namespace", SPACE, api="v1"), *bodies)
    }
    ways = {
        path.decode(): route
        for path, route in routes(services(a_deployment(*words), (1, 33))).items()
    }
    rules = [{"operations": ["CREATE"], "resources": ["pods"]}]
    entries = [
        {"clientConfig": {"service": {"path": path}}, "rules": rules}
        for path in ways
        if path.count("/") == 2
    ]
    return Cluster(picture, held, {"webhooks": entries}, ways, ("kube-",))


def judged(pod: Body, cluster: Cluster) -> Shortfall:
    (found,) = shortfalls([pod], cluster)
    return found


def test_a_pod_of_a_deployment_is_told_of_the_deployment() -> None:
    deployment = an_object("Deployment", "web")
    between = an_object("ReplicaSet", "web-1", by(deployment), spec={"template": a_template()})

    found = judged(a_pod(by(between)), a_cluster(deployment, between))

    assert (found.owner, found.pod) == (ObjectRef("apps", "Deployment", SPACE, "web"), "p")
    assert found.lacks == ("volume cwii-aws-token", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE")
    assert found.why == (f"aws: cwii.dev/aws-inject of ServiceAccount {SPACE}/till",)


def test_a_pod_of_a_job_of_a_cron_job_is_told_of_the_cron_job() -> None:
    cron = an_object("CronJob", "nightly", api="batch/v1")
    job = an_object("Job", "nightly-1", by(cron), api="batch/v1", spec={"template": a_template()})

    assert judged(a_pod(by(job)), a_cluster(cron, job)).owner == ObjectRef(
        "batch", "CronJob", SPACE, "nightly"
    )


def test_another_object_of_its_owners_name_is_not_its_owner() -> None:
    elsewhere = an_object(
        "StatefulSet",
        "web",
        spec={
            "template": a_template(metadata={"annotations": {"cwii.dev/aws-role-arn": "no role"}})
        },
    )

    found = judged(a_pod(by(elsewhere, uid="of another")), a_cluster(elsewhere))

    assert found.owner == ObjectRef("", "Pod", SPACE, "p")
    assert not found.refusal


def test_the_template_has_the_word_and_not_the_pod_that_it_once_made() -> None:
    owner = an_object(
        "StatefulSet",
        "web",
        spec={"template": a_template(metadata={"annotations": {"cwii.dev/aws-inject": "false"}})},
    )

    assert list(shortfalls([a_pod(by(owner))], a_cluster(owner))) == []


def test_a_pod_that_would_be_refused_now_says_why() -> None:
    found = judged(a_pod(), a_cluster(says={**SAYS, "cwii.dev/aws-role-arn": "no role"}))

    assert found
    assert "cwii.dev/aws-role-arn" in found.refusal


def test_all_dialects_that_it_is_asked_in_give_it_their_own() -> None:
    says = {
        **SAYS,
        "iam.gke.io/x": "",
        "azure.workload.identity/client-id": "c",
        "eks.amazonaws.com/role-arn": ROLE,
    }
    cluster = a_cluster(says=says, words=("cwii", "+", "eks", "+", "azwi"))

    found = judged(a_pod(), cluster)

    assert {"volume cwii-aws-token", "volume aws-iam-token", "AZURE_CLIENT_ID"} <= {*found.lacks}


@pytest.mark.parametrize(
    "pod",
    [
        a_pod(metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
        a_pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        a_pod(metadata={"namespace": "kube-system"}),
        a_pod(metadata={"namespace": "one that has gone"}),
        a_pod(status={"phase": "Succeeded"}),
        a_pod(status={"phase": "Failed"}),
    ],
    ids=["mirror", "going", "system", "gone", "done", "failed"],
)
def test_who_is_nobodys_to_make_anew_is_left_out(pod: Body) -> None:
    system = an_object("Namespace", "kube-system", api="v1")

    assert list(shortfalls([pod], a_cluster(system))) == []
    assert list(shortfalls([a_pod()], a_cluster(system)))


def test_what_is_there_besides_makes_no_difference_and_what_is_otherwise_is_told_by_its_path() -> (
    None
):
    want = {"projected": {"sources": [{"serviceAccountToken": {"audience": "a", "path": "token"}}]}}
    have = {
        "projected": {
            "defaultMode": 420,
            "sources": [{"serviceAccountToken": {"audience": "b", "path": "token"}}],
        }
    }

    assert list(differences("v", want, have)) == [
        Difference("v.projected.sources[0].serviceAccountToken.audience", "b", "a")
    ]
    assert list(differences("v", [1], [1, 2])) == [Difference("v", [1, 2], [1])]


def test_what_a_deployment_says_is_read_of_it() -> None:
    template = {
        "spec": {
            "serviceAccountName": "hook",
            "volumes": [{"name": "certificates", "secret": {"secretName": "pair"}}],
            "containers": [],
        }
    }

    assert account({"spec": {"template": template}}) == "hook"
    assert secret({"spec": {"template": template}}) == "pair"
    assert [
        each.route.path
        for each in services(a_deployment("eks", "--aws-default-region=eu-west-1", "+", "cwii"), ())
    ] == ["/mutate", "/cwii/mutate"]


@pytest.mark.parametrize("words", [("toolbox",), ("cwii", "--no-such-flag=1"), ()])
def test_a_command_line_that_is_none_is_told(words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match="the command line of Deployment hook"):
        services(a_deployment(*words), ())

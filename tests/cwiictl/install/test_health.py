"""How an installed webhook is, as its cluster and its replicas tell it."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.install.health import (
    Finding,
    let_through,
    permitted,
    replica,
    running,
    samples,
    versions,
)
from cwiictl.kubernetes.rights import Right

STATUS = {
    "observedGeneration": 1,
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
}


def a_deployment(**status: int) -> dict[str, Any]:
    spec = {
        "replicas": 2,
        "template": {
            "spec": {"containers": [{"name": "webhook", "image": "example.org/webhook:1"}]}
        },
    }
    return {"metadata": {"generation": 1}, "spec": spec, "status": {**STATUS, **status}}


def test_one_that_is_whole_is_told_by_its_image_and_its_replicas() -> None:
    assert running(a_deployment(), [], []) == Finding(
        "as wanted", ("image example.org/webhook:1", "2 of 2 replicas are ready")
    )


def test_the_versions_of_those_who_answer_are_told_beside_the_image() -> None:
    said = [
        'cwii_build_info{version="0.2.0"} 1\n',
        "",
        'cwii_build_info{version="0.1.0"} 1\n',
        'cwii_build_info{version="0.2.0"} 1\n',
    ]

    assert versions(said) == ("0.1.0", "0.2.0")
    assert running(a_deployment(), [], [], versions(said)).remarks[:2] == (
        "image example.org/webhook:1",
        "version 0.1.0 and 0.2.0",
    )


def test_whose_release_it_is_is_told() -> None:
    helms = a_deployment()
    helms["metadata"] |= {
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
        "annotations": {
            "meta.helm.sh/release-name": "hook",
            "meta.helm.sh/release-namespace": "tools",
        },
    }

    assert "it is helm's release hook in the namespace tools" in running(helms, [], []).remarks


def test_one_that_is_not_whole_says_what_hinders_it() -> None:
    pod = {
        "metadata": {"name": "w-1"},
        "status": {
            "conditions": [{"type": "PodScheduled", "status": "False", "message": "no room"}]
        },
    }

    found = running(a_deployment(availableReplicas=1, readyReplicas=1), [pod], [])

    assert (found.word, found.problem) == (
        "failed",
        "1 of 2 replicas are ready: pod w-1 has no node: no room",
    )
    assert running(None, [], []).word == "missing"


def test_one_that_is_scaled_to_nothing_is_not_whole() -> None:
    away = a_deployment(replicas=0, updatedReplicas=0, readyReplicas=0, availableReplicas=0)
    away["spec"]["replicas"] = 0

    assert running(away, [], []).problem == "nobody answers: it is scaled to no replicas"


PICTURE = """# HELP cwii_cache_age_seconds Since a watch was last heard from.
# TYPE cwii_cache_age_seconds gauge
cwii_cache_age_seconds{kind="namespaces"} 12.5
cwii_cache_age_seconds{kind="serviceaccounts"} %s
cwii_cache_age_seconds_of_another 9000
"""


@pytest.mark.parametrize(("age", "word"), [("31", "as wanted"), ("301", "failed")])
def test_a_replica_is_as_old_as_the_oldest_that_it_knows(age: str, word: str) -> None:
    found = replica("", PICTURE % age)

    assert (found.word, found.remarks) == (word, (f"its picture of the cluster is {age} s old",))


def test_a_replica_that_is_not_ready_says_why() -> None:
    assert replica("watch: not yet there", "").problem == "it is not ready: watch: not yet there"


def test_what_its_account_may_not_is_named() -> None:
    assert permitted([]).word == "as wanted"
    assert (
        permitted([Right("watch", "namespaces"), Right("list", "jobs", "batch")]).problem
        == "its ServiceAccount may not watch namespaces, list jobs.batch"
    )


COUNTS = """apiserver_admission_webhook_fail_open_count{name="pods.cwii.cwii.dev",type="admitting"} 3
apiserver_admission_webhook_fail_open_count{name="required.cwii.cwii.dev",type="admitting"} 1
apiserver_admission_webhook_fail_open_count{name="somebody.else",type="admitting"} 70
apiserver_admission_webhook_fail_open_count_total{name="pods.cwii.cwii.dev"} 100
"""


def test_pods_that_were_let_through_are_counted_of_its_own_entries() -> None:
    ours = {"webhooks": [{"name": "pods.cwii.cwii.dev"}, {"name": "required.cwii.cwii.dev"}]}

    assert let_through(COUNTS, ours) == 4
    assert let_through("", ours) == 0


def test_a_label_may_have_any_text() -> None:
    assert list(samples(r'x{a="1,2",b="say \"{}\""} 1e3', "x")) == [
        ({"a": "1,2", "b": r"say \"{}\""}, 1000.0)
    ]

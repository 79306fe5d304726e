"""The walk from a pod to who made it."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.cluster_view import NotCached, ObjectMetadata, ObjectRef, OwnerReference
from cwii_webhook.admission.review import Metadata, Pod, Request, Spec

from tests.webhook.dialects.cwii.pods import make_controller
from tests.webhook.recorded_answers import Objects

GROUPS = {"Rollout": "argoproj.io", "Job": "batch", "CronJob": "batch"}


def walked(owner: OwnerReference, **objects: ObjectMetadata) -> list[str]:
    """Names of those that are heard, where the kinds of these objects are what they are called."""
    there = {
        ObjectRef(GROUPS.get(kind, "apps"), kind, "shop", name): seen
        for (kind, _, name), seen in ((key.partition("_"), seen) for key, seen in objects.items())
    }
    subject = PodContext(
        Request("u", namespace="shop"),
        Pod(Metadata(owner_references=[owner]), Spec()),
        Objects(there),
    )
    return [source.ref.name for source in subject.sources if source.scope == "owner"]


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("StatefulSet", "apps/v1"),
        ("DaemonSet", "apps/v1"),
        ("Job", "batch/v1"),
        ("ReplicaSet", "apps/v1"),
    ],
)
def test_who_made_the_pod_is_heard(kind: str, version: str) -> None:
    assert walked(
        make_controller(kind, "a", version=version), **{f"{kind}_a": ObjectMetadata({}, (), "u")}
    ) == ["a"]


@pytest.mark.parametrize(
    "kind", ["Deployment", "ReplicationController", "CronJob", "Rollout", "Node"]
)
def test_kinds_that_make_no_pods_themselves_are_not_asked(kind: str) -> None:
    assert walked(make_controller(kind, "a"), **{f"{kind}_a": ObjectMetadata({}, (), "u")}) == []


@pytest.mark.parametrize(
    ("kind", "version"), [("Deployment", "apps/v1"), ("Rollout", "argoproj.io/v1alpha1")]
)
def test_what_is_above_a_replica_set_is_heard_in_its_place(kind: str, version: str) -> None:
    above = make_controller(kind, "above", version=version)

    assert walked(
        make_controller("ReplicaSet", "set"),
        ReplicaSet_set=ObjectMetadata({}, (above,), "u"),
        **{f"{kind}_above": ObjectMetadata({}, (), "u")},
    ) == ["above"]


def test_a_job_is_heard_before_its_cron_job() -> None:
    cron = make_controller("CronJob", "nightly", version="batch/v1")

    assert walked(
        make_controller("Job", "tonight", version="batch/v1"),
        Job_tonight=ObjectMetadata({}, (cron,), "u"),
        CronJob_nightly=ObjectMetadata({}, (), "u"),
    ) == [
        "tonight",
        "nightly",
    ]


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(
            OwnerReference("apps/v1", "StatefulSet", "a", "u", controller=False), id="no controller"
        ),
        pytest.param(make_controller("StatefulSet", "a", "another"), id="another uid"),
        pytest.param(make_controller("StatefulSet", "a", ""), id="no uid"),
        pytest.param(make_controller("StatefulSet", "b"), id="another name"),
        pytest.param(
            make_controller("StatefulSet", "a", version="example.com/v1"), id="another group"
        ),
        pytest.param(make_controller("StatefulSet", "a", version="v1"), id="no group"),
    ],
)
def test_a_reference_that_does_not_fit_its_object_is_not_followed(owner: OwnerReference) -> None:
    assert walked(owner, StatefulSet_a=ObjectMetadata({}, (), "u")) == []


def test_a_deployment_that_is_another_by_now_leaves_the_replica_set_to_speak() -> None:
    old = make_controller("Deployment", "web", "gone")

    assert walked(
        make_controller("ReplicaSet", "set"),
        ReplicaSet_set=ObjectMetadata({}, (old,), "u"),
        Deployment_web=ObjectMetadata({}, (), "new"),
    ) == ["set"]


def test_what_the_picture_does_not_know_is_asked_for_before_anything_is_decided() -> None:
    class Dark:
        def get(self, ref: ObjectRef) -> ObjectMetadata | None:
            raise NotCached(ref)

    subject = PodContext(
        Request("u", namespace="shop"),
        Pod(Metadata(owner_references=[make_controller("Job", "a", version="batch/v1")]), Spec()),
        Dark(),
    )

    with pytest.raises(NotCached, match="Job shop/a"):
        _ = subject.sources

"""Tests which owners of a pod are annotation sources."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.cluster_view import NotCached, ObjectMetadata, ObjectRef, OwnerReference
from cwii_webhook.admission.review import Metadata, Pod, Request, Spec

from tests.webhook.dialects.cwii.pods import make_controller
from tests.webhook.recorded_answers import FakeClusterView

GROUPS = {"Rollout": "argoproj.io", "Job": "batch", "CronJob": "batch"}


def owner_sources(owner: OwnerReference, **objects: ObjectMetadata) -> list[str]:
    """Returns the names of the owners that are sources. `objects` are named KIND_NAME."""
    existing = {
        ObjectRef(GROUPS.get(kind, "apps"), kind, "shop", name): metadata
        for (kind, _, name), metadata in (
            (key.partition("_"), metadata) for key, metadata in objects.items()
        )
    }
    context = PodContext(
        Request("u", namespace="shop"),
        Pod(Metadata(owner_references=[owner]), Spec()),
        FakeClusterView(existing),
    )
    return [source.ref.name for source in context.sources if source.scope == "owner"]


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("StatefulSet", "apps/v1"),
        ("DaemonSet", "apps/v1"),
        ("Job", "batch/v1"),
        ("ReplicaSet", "apps/v1"),
    ],
)
def test_controller_of_the_pod_is_a_source(kind: str, version: str) -> None:
    assert owner_sources(
        make_controller(kind, "a", version=version), **{f"{kind}_a": ObjectMetadata({}, (), "u")}
    ) == ["a"]


@pytest.mark.parametrize(
    "kind", ["Deployment", "ReplicationController", "CronJob", "Rollout", "Node"]
)
def test_kinds_that_create_no_pods_are_no_source(kind: str) -> None:
    assert (
        owner_sources(make_controller(kind, "a"), **{f"{kind}_a": ObjectMetadata({}, (), "u")})
        == []
    )


@pytest.mark.parametrize(
    ("kind", "version"), [("Deployment", "apps/v1"), ("Rollout", "argoproj.io/v1alpha1")]
)
def test_controller_of_a_replica_set_is_the_source_in_its_place(kind: str, version: str) -> None:
    above = make_controller(kind, "above", version=version)

    assert owner_sources(
        make_controller("ReplicaSet", "set"),
        ReplicaSet_set=ObjectMetadata({}, (above,), "u"),
        **{f"{kind}_above": ObjectMetadata({}, (), "u")},
    ) == ["above"]


def test_job_precedes_its_cron_job() -> None:
    cron = make_controller("CronJob", "nightly", version="batch/v1")

    assert owner_sources(
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
def test_reference_that_does_not_match_its_object_is_not_followed(owner: OwnerReference) -> None:
    assert owner_sources(owner, StatefulSet_a=ObjectMetadata({}, (), "u")) == []


def test_replica_set_is_the_source_if_its_deployment_has_another_uid() -> None:
    old = make_controller("Deployment", "web", "gone")

    assert owner_sources(
        make_controller("ReplicaSet", "set"),
        ReplicaSet_set=ObjectMetadata({}, (old,), "u"),
        Deployment_web=ObjectMetadata({}, (), "new"),
    ) == ["set"]


def test_owner_that_is_not_cached_is_requested_before_a_decision() -> None:
    class EmptyCache:
        def get(self, ref: ObjectRef) -> ObjectMetadata | None:
            raise NotCached(ref)

    context = PodContext(
        Request("u", namespace="shop"),
        Pod(Metadata(owner_references=[make_controller("Job", "a", version="batch/v1")]), Spec()),
        EmptyCache(),
    )

    with pytest.raises(NotCached, match="Job shop/a"):
        _ = context.sources

"""What is installed in a real API server: the laws of `apply`, `preview` and `remove` with objects that others have their hands in too."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread, Timer
from typing import Any

import pytest

from cwiictl.engine.holdings import inspect
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Known
from cwiictl.errors import Conflict, NotYet
from cwiictl.kubernetes import Place
from tests.cluster.installation import Installation, an_installation, connected, told, verbs
from tests.cluster.kube.reach import Reach

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def cluster(reach: Reach, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with connected(reach, tmp_path_factory.mktemp("kube")) as place:
        yield place


@pytest.fixture
def installed(cluster: Place) -> Installation:
    one = an_installation(cluster)
    outcome = one.apply()
    assert outcome.whole, outcome.failed
    return one


def changed(one: Installation, kind: str, **said: Any) -> list[dict[str, Any]]:
    return [{**body, **said} if body["kind"] == kind else body for body in one.bodies]


def test_a_preview_of_what_is_not_there_says_that_all_will_be_made_and_makes_nothing(
    cluster: Place, reach: Reach
) -> None:
    one = an_installation(cluster)

    seen = one.preview()

    assert seen.whole, seen.failed
    assert set(verbs(seen).values()) == {"create"}
    assert not reach.admin.exists(one.path("Namespace"))
    assert not reach.admin.exists(one.path("ClusterRole"))


def test_a_second_apply_writes_nothing(installed: Installation, reach: Reach) -> None:
    versions = {
        body["kind"]: reach.admin.get(installed.path(body["kind"]))["metadata"]["resourceVersion"]
        for body in installed.bodies
    }

    again = installed.apply()

    assert again.whole, again.failed
    assert set(verbs(again).values()) == {"keep"}
    assert told(again) == {}
    assert versions == {
        body["kind"]: reach.admin.get(installed.path(body["kind"]))["metadata"]["resourceVersion"]
        for body in installed.bodies
    }


def test_what_is_wanted_in_another_order_is_the_same(installed: Installation) -> None:
    """Where the API server itself goes by names."""
    bodies = json.loads(json.dumps(installed.bodies))
    deployment = next(body for body in bodies if body["kind"] == "Deployment")["spec"]["template"][
        "spec"
    ]
    deployment["containers"].reverse()
    deployment["containers"][1]["env"].reverse()
    deployment["containers"][1]["ports"].reverse()
    next(body for body in bodies if body["kind"] == "Service")["spec"]["ports"].reverse()

    assert set(verbs(installed.preview(bodies)).values()) == {"keep"}


def test_a_preview_says_field_by_field_what_apply_then_does(
    installed: Installation, reach: Reach
) -> None:
    wanted = changed(installed, "ConfigMap", data={"colour": "red", "size": "1"})

    seen = installed.preview(wanted)
    assert reach.admin.get(installed.path("ConfigMap"))["data"] == {"colour": "blue"}
    done = installed.apply(wanted)

    address = installed.address("ConfigMap")
    assert (
        told(seen)
        == told(done)
        == {f"{address} data.colour": ("blue", "red"), f"{address} data.size": (None, "1")}
    )
    assert seen.changes == done.changes
    assert reach.admin.get(installed.path("ConfigMap"))["data"] == {"colour": "red", "size": "1"}


def test_what_is_no_longer_said_goes(installed: Installation, reach: Reach) -> None:
    reach.admin.patch(
        f"{installed.path('ConfigMap')}?fieldManager=somebody", {"data": {"theirs": "stays"}}
    )
    wanted = changed(installed, "ConfigMap", data={})

    assert told(installed.preview(wanted)) == {
        f"{installed.address('ConfigMap')} data.colour": ("blue", None)
    }
    assert installed.apply(wanted).whole

    assert reach.admin.get(installed.path("ConfigMap"))["data"] == {"theirs": "stays"}
    assert set(verbs(installed.apply(wanted)).values()) == {"keep"}


@pytest.mark.parametrize(
    "client", ["kubectl-edit", "kubectl-client-side-apply", "kubectl", "Mozilla"]
)
def test_what_a_person_has_set_is_drift_and_is_repaired(
    installed: Installation, reach: Reach, client: str
) -> None:
    patch = {
        "spec": {
            "replicas": 5,
            "template": {
                "spec": {"containers": [{"name": "webhook", "image": "example.org/theirs"}]}
            },
        }
    }
    reach.admin.patch(f"{installed.path('Deployment')}?fieldManager={client}", patch, "strategic")

    seen, done = installed.preview(), installed.apply()

    address = installed.address("Deployment")
    image = f"{address} spec.template.spec.containers[webhook].image"
    assert (
        told(seen)
        == told(done)
        == {
            f"{address} spec.replicas": (5, 2),
            image: ("example.org/theirs", "example.org/webhook:1"),
        }
    )
    live = reach.admin.get(installed.path("Deployment"))["spec"]
    assert (live["replicas"], live["template"]["spec"]["containers"][0]["image"]) == (
        2,
        "example.org/webhook:1",
    )
    assert set(verbs(installed.apply()).values()) == {"keep"}


def test_what_a_controller_has_set_is_a_conflict_that_names_it_and_the_field(
    installed: Installation, reach: Reach
) -> None:
    reach.admin.patch(
        f"{installed.path('Deployment')}?fieldManager=vpa-updater", {"spec": {"replicas": 7}}
    )

    for outcome in (installed.preview(), installed.apply()):
        conflict = outcome.failed[installed.address("Deployment")]
        assert isinstance(conflict, Conflict)
        assert (
            conflict.problem
            == f"{installed.address('Deployment')} has spec.replicas held by vpa-updater, which would be set to something else"
        )
    assert reach.admin.get(installed.path("Deployment"))["spec"]["replicas"] == 7


def test_what_another_has_applied_is_a_conflict_though_it_be_a_person(
    installed: Installation, reach: Reach
) -> None:
    applied(
        reach,
        installed.path("ConfigMap"),
        "kubectl",
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"colour": "green"}},
    )

    outcome = installed.apply()

    assert isinstance(outcome.failed[installed.address("ConfigMap")], Conflict)
    assert "data.colour held by kubectl" in str(outcome.failed[installed.address("ConfigMap")])
    assert reach.admin.get(installed.path("ConfigMap"))["data"] == {"colour": "green"}


def test_replicas_that_are_left_to_an_autoscaler_stay_as_many_as_there_are_until_it_says_otherwise(
    installed: Installation, reach: Reach
) -> None:
    path = installed.path("Deployment")
    bodies = json.loads(json.dumps(installed.bodies))
    del next(body for body in bodies if body["kind"] == "Deployment")["spec"]["replicas"]

    for replicas in (2, 5):
        for outcome in (installed.preview(bodies), installed.apply(bodies)):
            assert outcome.whole, outcome.failed
            assert set(verbs(outcome).values()) == {"keep"}
        assert reach.admin.get(path)["spec"]["replicas"] == replicas
        reach.admin.patch(
            f"{path}/scale?fieldManager=kube-controller-manager", {"spec": {"replicas": 5}}
        )


def test_what_we_leave_out_others_may_fill(installed: Installation, reach: Reach) -> None:
    """As the renewer does with the bundle of authorities, and with Secrets that are made empty."""
    path = installed.path("MutatingWebhookConfiguration")
    bundle = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "Cg=="}]
    reach.admin.patch(f"{path}?fieldManager=cwii-webhook-renewer", bundle, "json")

    again = installed.apply()

    assert again.whole
    assert set(verbs(again).values()) == {"keep"}
    assert reach.admin.get(path)["webhooks"][0]["clientConfig"]["caBundle"] == "Cg=="


def test_the_data_of_a_secret_is_repaired_and_shown_nowhere(
    installed: Installation, reach: Reach
) -> None:
    reach.admin.patch(
        f"{installed.path('Secret')}?fieldManager=kubectl-edit", {"data": {"password": "b3RoZXI="}}
    )

    seen, done = installed.preview(), installed.apply()

    assert (
        told(seen)
        == told(done)
        == {f"{installed.address('Secret')} data.password": ("<hidden>", "<hidden, and another>")}
    )
    assert reach.admin.get(installed.path("Secret"))["data"] == {"password": "aHVzaA=="}
    shown = repr(installed.plan()[installed.address("Secret")]) + repr(done)
    assert not [word for word in ("hush", "aHVzaA", "b3RoZXI") if word in shown]


@contextmanager
def ending(one: Installation, reach: Reach) -> Generator[None]:
    """Its Namespace, as soon as that is deleted. Nobody else ends one here: no controller runs."""
    path, over = one.path("Namespace"), Event()

    def end() -> None:
        while not over.wait(0.05):
            live: dict[str, Any] = reach.admin.get(path) if reach.admin.exists(path) else {}
            if "deletionTimestamp" in live.get("metadata", ()):
                reach.admin.put(f"{path}/finalize", {**live, "spec": {"finalizers": []}})
                return

    thread = Thread(target=end)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def applied(reach: Reach, path: str, manager: str, body: dict[str, Any]) -> None:
    """By the server, as another would."""
    reach.admin.patch(f"{path}?fieldManager={manager}&force=true", body, "apply")


def test_what_is_there_and_bears_no_mark_stands_against_everything(
    cluster: Place, reach: Reach
) -> None:
    one = an_installation(cluster)
    reach.admin.create(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        {"metadata": {"name": one.name}, "rules": []},
    )

    outcome = one.apply()

    assert isinstance(outcome.failed[one.address("ClusterRole")], Conflict)
    assert not reach.admin.exists(one.path("Namespace"))
    assert not reach.admin.get(one.path("ClusterRole"))["rules"]


def test_a_copy_with_our_labels_is_not_ours(installed: Installation, reach: Reach) -> None:
    copied = reach.admin.get(installed.path("ConfigMap"))
    about = {key: copied["metadata"][key] for key in ("labels", "annotations")}
    path = f"/api/v1/namespaces/{installed.name}/configmaps"
    reach.admin.create(
        f"{path}?fieldManager=kubectl-create", {"metadata": {**about, "name": "copy"}}
    )

    assert not [thing.address for thing in installed.held() if "copy" in thing.name]


def test_what_was_adopted_is_taken_from_whoever_has_set_it_and_given_back_in_the_end(
    cluster: Place, reach: Reach
) -> None:
    one = an_installation(cluster)
    role: dict[str, Any] = {
        "metadata": {"name": one.name, "labels": {"app.kubernetes.io/managed-by": "them"}},
        "rules": [],
        "aggregationRule": None,
    }
    reach.admin.create(
        "/apis/rbac.authorization.k8s.io/v1/clusterroles?fieldManager=terraform", role
    )
    address = one.address("ClusterRole")

    seen, done = one.preview(adopt=[address]), one.apply(adopt=[address])
    again = one.apply()
    with ending(one, reach):
        removal = one.remove()

    assert done.whole, done.failed
    assert told(seen) == told(done)
    assert f"{address} mark" in told(done)
    assert set(verbs(again).values()) == {"keep"}
    assert removal.whole, removal.failed
    assert removal.released == (address,)
    left = reach.admin.get(one.path("ClusterRole"))
    assert left["rules"] == one.bodies[4]["rules"]
    assert left["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "them",
        "app.kubernetes.io/name": "webhook",
    }
    assert not left["metadata"].get("annotations")
    assert "cwiictl" not in {
        entry["manager"] for entry in left["metadata"].get("managedFields", ())
    }


def test_remove_takes_all_that_is_ours_and_leaves_the_rest(cluster: Place, reach: Reach) -> None:
    one = an_installation(cluster)
    assert one.apply().whole
    theirs = an_installation(cluster)
    assert theirs.apply().whole
    before = {body["kind"]: reach.admin.get(theirs.path(body["kind"])) for body in theirs.bodies}

    held = one.held()
    assert {thing.address for thing in held} == set(one.plan())
    with ending(one, reach):
        removal = one.remove()

    assert removal.whole, removal.failed
    assert set(removal.dropped) == set(one.plan())
    assert not [body["kind"] for body in one.bodies if reach.admin.exists(one.path(body["kind"]))]
    assert before == {
        body["kind"]: reach.admin.get(theirs.path(body["kind"])) for body in theirs.bodies
    }


def test_a_namespace_with_what_is_anothers_in_it_stays_with_all_that_it_holds_until_that_is_gone(
    installed: Installation, reach: Reach
) -> None:
    reach.admin.create(
        f"/api/v1/namespaces/{installed.name}/configmaps", {"metadata": {"name": "theirs"}}
    )

    held = installed.held()
    seen = inspect(held, Pace())
    removal = installed.remove()

    assert "holds what is not ours: ConfigMap/theirs" in str(
        seen.failed[installed.address("Namespace")]
    )
    assert "holds what is not ours: ConfigMap/theirs" in str(
        removal.failed[installed.address("Namespace")]
    )
    assert reach.admin.exists(installed.path("Namespace"))
    assert reach.admin.exists(f"/api/v1/namespaces/{installed.name}/configmaps/theirs")


def test_what_is_being_deleted_is_waited_for_and_made_anew(
    installed: Installation, reach: Reach
) -> None:
    path = installed.path("ConfigMap")
    reach.admin.patch(path, {"metadata": {"finalizers": ["example.org/slow"]}})
    born = reach.admin.get(path)["metadata"]["uid"]
    reach.admin.delete(path)
    store = installed.plan()[installed.address("ConfigMap")].store
    with pytest.raises(NotYet, match=r"is being deleted, and waits for example\.org/slow"):
        store.get([f"{installed.name}/{installed.name}"])
    with pytest.raises(NotYet, match="is being deleted"):
        store.drop(f"{installed.name}/{installed.name}")
    later = Timer(0.5, lambda: reach.admin.patch(path, {"metadata": {"finalizers": None}}))
    later.start()

    outcome = installed.apply()
    later.join()

    assert outcome.whole, outcome.failed
    assert verbs(outcome)[installed.address("ConfigMap")] == "create"
    assert reach.admin.get(path)["metadata"]["uid"] != born


def test_between_reading_and_writing_nobody_elses_write_is_lost(
    installed: Installation, reach: Reach
) -> None:
    """Made anew by another, or changed: what was read is no longer what is there."""
    resource: Any = installed.plan()[installed.address("ConfigMap")]
    path, want = installed.path("ConfigMap"), replace(resource.want(Known()), owner=installed.mark)
    have = resource.store.get([resource.name])[resource.name]
    reach.admin.patch(path, {"data": {"theirs": "new"}})
    with pytest.raises(NotYet):
        resource.store.put(resource.name, want, have)
    reach.admin.delete(path)
    for call in (resource.store.put, resource.store.rehearse):
        with pytest.raises(NotYet):
            call(resource.name, want, have)
    assert not reach.admin.exists(path)
    reach.admin.create(
        f"/api/v1/namespaces/{installed.name}/configmaps",
        {"metadata": {"name": installed.name}, "data": {"theirs": "newer"}},
    )
    for old in (have, None):
        with pytest.raises(NotYet):
            resource.store.put(resource.name, want, old)

    assert reach.admin.get(path)["data"] == {"theirs": "newer"}
    with pytest.raises(Conflict, match="no longer bears our mark"):
        resource.store.drop(resource.name)

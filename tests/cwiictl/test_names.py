"""Names fit where they must, and never become one another's; marks say whose a thing is."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cwiictl import names
from cwiictl.engine.resource import Mark
from tests.examples import a_cluster, a_workload

LETTERS = st.characters(codec="ascii", categories=["Ll", "Nd"], include_characters="-.")
CLUSTERS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?", fullmatch=True)
MARKS: st.SearchStrategy[Any] = st.builds(Mark, CLUSTERS, st.sampled_from(["owned", "adopted", "brought"]), st.sampled_from(["create-all", "create-identity"]))


@given(st.text(LETTERS, min_size=1, max_size=200), st.integers(20, 128))
def test_a_name_that_fits_stays_and_no_other_is_longer_than_the_limit(name: str, limit: int) -> None:
    fitted = names.fit(name, limit)

    assert len(fitted) <= limit
    assert (fitted == name) == (len(name) <= limit)
    assert names.fit(fitted, limit) == fitted


@given(st.text(LETTERS, min_size=60, max_size=100), st.text(LETTERS, max_size=40), st.text(LETTERS, max_size=40))
def test_names_that_differ_only_beyond_the_limit_stay_different(begin: str, one: str, two: str) -> None:
    if one != two:
        assert names.fit(begin + one, 64) != names.fit(begin + two, 64)


@given(CLUSTERS, st.from_regex(r"[a-z]{1,63}", fullmatch=True), st.from_regex(r"[a-z]{1,200}", fullmatch=True))
def test_the_name_of_every_role_begins_with_its_clusters_prefix_and_fits_iam(cluster: str, namespace: str, name: str) -> None:
    """`owned` looks for it by that prefix, so shortening must leave it whole."""
    role = names.role(a_cluster(cluster), a_workload(namespace=namespace, name=name))

    assert role.startswith(names.role_prefix(cluster))
    assert len(role) <= 64


def test_the_names_are_those_of_ccoctl_as_long_as_they_fit() -> None:
    assert names.role(a_cluster("prod"), a_workload(namespace="openshift-ingress-operator", name="cloud-credentials")) == (
        "prod-openshift-ingress-operator-cloud-credentials"
    )
    assert names.bucket(a_cluster("prod")) == "prod-oidc"


@given(MARKS)
def test_a_mark_is_read_as_it_was_written(mark: Mark) -> None:
    assert names.mark(names.marked(mark) | {"Name": "x", "costs": "y"}, mark.cluster) == mark


@given(MARKS, CLUSTERS)
def test_another_clusters_mark_is_read_as_that_clusters(mark: Mark, other: str) -> None:
    found = names.mark(names.marked(mark), other)

    assert found == mark
    assert found is not None
    assert (found.cluster == other) == (mark.cluster == other)


@given(MARKS, MARKS)
def test_our_own_mark_is_seen_beside_anothers(ours: Mark, theirs: Mark) -> None:
    if ours.cluster != theirs.cluster:
        found = names.mark(names.marked(theirs) | names.marked(ours), ours.cluster)
        assert found == ours


def test_what_bears_no_mark_is_nobodys() -> None:
    assert names.mark({}, "demo") is None
    assert names.mark({"Name": "demo", f"{names.CCOCTL_KEY}demo": "owned", names.ORIGIN_KEY: "create-all"}, "demo") is None


def test_a_hold_that_is_not_known_is_never_taken_for_owned() -> None:
    found = names.mark({f"{names.CLUSTER_KEY}demo": "something new"}, "demo")

    assert found == Mark("demo", "adopted")


def test_only_what_we_made_bears_the_tag_by_which_ccoctl_deletes() -> None:
    key = f"{names.CCOCTL_KEY}demo"

    assert names.marked(Mark("demo"))[key] == "owned"
    assert key not in names.marked(Mark("demo", "adopted"))
    assert key not in names.marked(Mark("demo", "brought"))

"""Marks: on what is ours, in tags and in sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl import names
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput
from cwiictl.model import Cluster

LETTERS = st.characters(codec="ascii", categories=["Ll", "Nd"], include_characters="-.")
CLUSTERS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?", fullmatch=True)
MARKS: st.SearchStrategy[Any] = st.builds(
    Mark,
    CLUSTERS,
    st.sampled_from(["owned", "adopted", "brought"]),
    st.sampled_from(["create-all", "create-identity"]),
)


@given(MARKS)
def test_a_mark_is_read_as_it_was_written(mark: Mark) -> None:
    assert names.mark(names.marked(mark) | {"Name": "x", "costs": "y"}, mark.cluster) == mark


@given(MARKS, CLUSTERS)
def test_another_clusters_mark_is_read_as_that_clusters_unless_it_was_only_lent_to_it(
    mark: Mark, other: str
) -> None:
    """What a user lends to several clusters is nobody's of them."""
    found = names.mark(names.marked(mark), other)

    assert found == (None if mark.hold == "brought" and mark.cluster != other else mark)


@given(MARKS, MARKS)
def test_our_own_mark_is_seen_beside_anothers(ours: Mark, theirs: Mark) -> None:
    if ours.cluster != theirs.cluster:
        found = names.mark(names.marked(theirs) | names.marked(ours), ours.cluster)
        assert found == ours


def test_what_bears_no_mark_is_nobodys() -> None:
    assert names.mark({}, "demo") is None
    assert (
        names.mark(
            {
                "Name": "demo",
                names.ORIGIN_KEY: "create-all",
                "cwii.dev/cluster": "demo",
                "openshift.io": "demo",
            },
            "demo",
        )
        is None
    )


@given(CLUSTERS, CLUSTERS)
def test_what_ccoctl_made_is_ccoctls_and_can_be_taken_over_only_if_it_bears_this_name(
    made: str, asked: str
) -> None:
    tags = {"Name": made, f"{names.CCOCTL_KEY}{made}": "owned"}

    found = names.mark(tags, asked)

    assert found is not None
    assert found.cluster == names.ccoctls(made)
    assert found.tool == (names.CCOCTL if made == asked else "")
    assert found.cluster != asked
    assert names.mark(tags, names.ccoctls(asked)) == found, "as `owned` asks for it"


@given(MARKS)
def test_what_bears_our_mark_is_ours_though_ccoctls_is_beside_it(mark: Mark) -> None:
    found = names.mark(
        names.marked(mark)
        | {f"{names.CCOCTL_KEY}{mark.cluster}": "owned", f"{names.CCOCTL_KEY}other": "owned"},
        mark.cluster,
    )

    assert found == mark


@given(MARKS, st.data())
def test_a_mark_that_lost_a_part_or_says_something_else_is_ours_and_not_whole(
    mark: Mark, data: st.DataObject
) -> None:
    tags = names.marked(mark)
    key = data.draw(st.sampled_from(sorted(tags.keys() - {f"{names.CLUSTER_KEY}{mark.cluster}"})))
    del tags[key]

    found = names.mark(tags, mark.cluster)

    assert found is not None
    if key == names.ORIGIN_KEY:
        assert (found.origin, found.whole) == ("create-all", False)
    else:
        assert found == replace(mark, whole=False)


@given(MARKS)
def test_a_description_is_read_as_it_was_written_and_what_was_written_into_it_is_damage(
    mark: Mark,
) -> None:
    text = names.described(mark)

    assert len(text) <= 256
    assert names.undescribed(text) == mark
    assert names.undescribed(f"{text} of the platform team") == replace(mark, whole=False)
    assert names.undescribed(f"the platform team's {text}") == replace(mark, whole=False)


@given(st.text(max_size=60))
def test_no_description_of_others_is_a_mark(text: str) -> None:
    assert names.CLUSTER_KEY in text or names.undescribed(text) is None


def test_a_hold_that_is_not_known_is_never_taken_for_owned() -> None:
    found = names.mark({f"{names.CLUSTER_KEY}demo": "something new"}, "demo")

    assert found == Mark("demo", "adopted", whole=False)


def test_only_what_we_made_bears_the_tag_by_which_ccoctl_deletes() -> None:
    key = f"{names.CCOCTL_KEY}demo"

    assert names.marked(Mark("demo"))[key] == "owned"
    assert key not in names.marked(Mark("demo", "adopted"))
    assert key not in names.marked(Mark("demo", "brought"))


@given(MARKS, st.text(LETTERS, max_size=60))
def test_a_sentence_and_the_mark_behind_it_are_read_as_they_were_written(
    mark: Mark, sentence: str
) -> None:
    assert names.unsigned(names.signed(sentence, mark), mark.cluster) == (sentence, mark)
    assert names.unsigned(f"{names.signed(sentence, mark)} and more", mark.cluster) == (
        sentence,
        replace(mark, whole=False),
    )


@given(st.text(max_size=60))
def test_a_sentence_without_a_mark_is_nobodys(text: str) -> None:
    assert names.CLUSTER_KEY in text or names.unsigned(text, "demo") == (text, None)


@given(CLUSTERS, CLUSTERS)
def test_a_role_that_ccoctl_made_says_for_which_cluster(made: str, asked: str) -> None:
    text = f"Custom role for OpenShift. Owned by: {made}"

    sentence, found = names.unsigned(text, asked)

    assert sentence == text
    assert found == names.mark({f"{names.CCOCTL_KEY}{made}": "owned"}, asked)
    assert names.unsigned(f"{text} ", asked)[1] is None, "ccoctl compares it to the letter"


@given(
    MARKS,
    st.text(LETTERS, max_size=60),
    st.sets(st.from_regex(r"[a-z][-a-z0-9]{4,9}", fullmatch=True), max_size=5),
)
def test_scopes_stand_between_a_sentence_and_its_mark(
    mark: Mark, sentence: str, scopes: set[str]
) -> None:
    told, found = names.entitled(
        names.signed(names.scoped(sentence, scopes), mark), "a title", mark.cluster
    )

    assert names.unscoped(told) == (sentence, scopes)
    assert found == mark


def test_what_ccoctl_made_in_google_says_in_its_title_for_which_cluster() -> None:
    pool, account = (
        "Created By OpenShift ccoctl",
        "Created By OpenShift ccoctl for service account demo-a-request",
    )
    ours = names.mark({f"{names.CCOCTL_KEY}demo": "owned"}, "demo")

    assert ours
    assert ours.tool == names.CCOCTL
    for text, title in ((pool, "demo"), (account, "demo-a-request")):
        assert names.entitled(text, title, "demo") == (text, ours)
        assert names.entitled(text, title, names.ccoctls("demo"))[1] == ours
    for text, title in ((pool, "demo-2"), (account, "other-a-request"), (pool, "demo-a-request")):
        found = names.entitled(text, title, "demo")[1]
        assert found
        assert not found.tool
    assert names.entitled(f"{pool}!", "demo", "demo")[1] is None


def test_a_mark_is_written_with_these_keys_for_ever() -> None:
    """What an earlier release made is found by them, and ccoctl finds by its own what it may drop."""
    assert names.marked(Mark("demo", origin="create-identity")) == {
        "cwii.dev/cluster/demo": "owned",
        "cwii.dev/origin": "create-identity",
        "openshift.io/cloud-credential-operator/demo": "owned",
    }
    assert (
        names.described(Mark("demo", "adopted"))
        == "cwii.dev/cluster/demo=adopted cwii.dev/origin=create-all"
    )
    assert names.trusted(["aws", "gcp"]) == {
        "cwii.dev/trusted-by-aws": "true",
        "cwii.dev/trusted-by-gcp": "true",
    }
    assert names.scoped("A sentence.", ["two", "one"]) == "A sentence. cwii.dev/scopes=one,two"
    assert (names.ISSUER_KEY, names.DOCUMENTS_KEY, names.SHARED_KEY) == (
        "cwii.dev/issuer",
        "cwii.dev/documents",
        "cwii.dev/shared-role",
    )


# --- whose tags are whose ---


def test_a_tag_that_is_our_mark_is_no_tag_to_us_and_anothers_is() -> None:
    ours, theirs = names.marked(Mark("demo")), names.marked(Mark("other"))

    assert names.apart({**ours, "Name": "demo"}, Mark("demo")) == {"Name": "demo"}
    assert names.apart({"Name": "demo", **ours}, None) == {"Name": "demo", **ours}
    both = names.apart({**ours, **theirs}, Mark("demo"))
    assert both == theirs, "the origin is said once for both, and is left to the other"


def test_what_hosts_an_issuer_says_which_other_clouds_trust_it() -> None:
    found = names.mark({**names.marked(Mark("demo")), **names.trusted(["aws", "gcp"])}, "demo")

    assert found
    assert found.clouds == {"aws", "gcp"}
    assert found.whole


def test_a_thing_says_the_clusters_name_and_the_users_tags() -> None:
    assert names.tags(Cluster("demo", {"team": "a"})) == {"Name": "demo", "team": "a"}


def test_of_several_clusters_of_ccoctls_ours_comes_first_and_any_other_is_not_to_be_taken_over() -> (
    None
):
    tags = {f"{names.CCOCTL_KEY}{name}": "owned" for name in ("b", "a")}

    assert names.mark(tags, "b") == Mark("ccoctl/b", tool="ccoctl", whole=False)
    assert names.mark(tags, "c") == Mark("ccoctl/a", whole=False)


def test_a_mark_without_a_sentence_has_no_space_before_it_and_a_sentence_keeps_its_own() -> None:
    assert names.signed("", Mark("demo")) == names.described(Mark("demo"))
    assert names.signed("A pool. ", Mark("demo")).startswith("A pool.  cwii.dev/")
    assert names.unsigned("A pool. ", "demo") == ("A pool. ", None)


def test_what_is_scoped_nowhere_is_the_sentence_itself() -> None:
    assert names.scoped("A sentence.", []) == "A sentence."
    assert names.scoped("", ["one"]) == "cwii.dev/scopes=one"
    assert names.unscoped("A sentence.") == ("A sentence.", frozenset())
    assert names.unscoped("A sentence. cwii.dev/scopes=") == ("A sentence.", frozenset())


@given(MARKS)
def test_the_mark_of_an_object_in_kubernetes_is_read_as_it_was_written(mark: Mark) -> None:
    assert (
        names.installed(names.labelled(mark) | {"app": "x"}, names.annotated(mark) | {"y": "z"})
        == mark
    )


def test_a_mark_that_was_meddled_with_is_damaged_and_never_taken_for_more_than_adopted() -> None:
    mark = Mark("hook", origin="install-webhook")
    assert names.installed({}, names.annotated(mark)) is None
    assert names.installed(names.labelled(mark), {}) == Mark(
        "hook", "adopted", "install-webhook", whole=False
    )
    assert names.installed(
        {**names.labelled(mark), names.MANAGED_BY: "Helm"}, names.annotated(mark)
    ) == replace(mark, whole=False)


@pytest.mark.parametrize("name", ["a" * 64, "a/b", "-a", ""])
def test_what_cannot_be_a_label_is_no_name_of_an_installation(name: str) -> None:
    with pytest.raises(BadInput, match="cannot be a label"):
        names.labelled(Mark(name))

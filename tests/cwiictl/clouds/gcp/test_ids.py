"""The names of members, roles and places: what is built can be read again, and nothing else is taken for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.universes import universe
from cwiictl.errors import BadInput

NAMES = st.from_regex(r"[a-z][-a-z0-9]{4,20}[a-z0-9]", fullmatch=True)
SUBJECT = "system:serviceaccount:shop:billing"


@given(NAMES, NAMES)
def test_an_email_says_whose_it_is(account: str, project: str) -> None:
    email = ids.email(account, project)

    assert email == f"{account}@{project}.iam.gserviceaccount.com"
    assert ids.account(email) == account
    assert ids.account_member(email) == f"serviceAccount:{email}"


def test_a_project_of_a_domain_is_turned_round() -> None:
    assert ids.email("a", "example.com:proj") == "a@proj.example.com.iam.gserviceaccount.com"
    assert ids.account(ids.email("a", "example.com:proj")) == "a"


@pytest.mark.parametrize("text", ["", "somebody@example.org", "serviceAccount"])
def test_another_email_is_no_service_accounts(text: str) -> None:
    assert ids.account(text) == ""


@given(NAMES, NAMES)
def test_a_principal_is_a_member_of_its_pool_alone_gone_or_not(pool: str, other: str) -> None:
    member = ids.principal("1", pool, SUBJECT)

    assert (
        member
        == f"principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/{pool}/subject/{SUBJECT}"
    )
    assert ids.is_member(member, "1", pool)
    assert ids.is_member(f"deleted:{member}", "1", pool)
    assert not ids.is_member(member, "2", pool)
    assert ids.is_member(member, "1", other) == (pool == other)
    assert not ids.is_member("serviceAccount:x@y.iam.gserviceaccount.com", "1", pool)


@pytest.mark.parametrize(
    ("member", "was"),
    [
        (
            "deleted:serviceAccount:x@y.iam.gserviceaccount.com?uid=123",
            "serviceAccount:x@y.iam.gserviceaccount.com",
        ),
        ("deleted:principal://iam.googleapis.com/x", "principal://iam.googleapis.com/x"),
        ("serviceAccount:x@y.iam.gserviceaccount.com", ""),
        ("allUsers", ""),
    ],
)
def test_who_is_gone_says_who_it_was(member: str, was: str) -> None:
    assert ids.gone(member) == was


@pytest.mark.parametrize(
    ("role", "ours"),
    [
        ("projects/p/roles/cwii_0123456789ab", True),
        ("projects/p/roles/cwii_0123456789ab_2", True),
        ("roles/viewer", False),
        ("projects/p/roles/mine", False),
    ],
)
def test_only_roles_of_our_naming_are_ours(role: str, *, ours: bool) -> None:
    assert ids.is_ours(role) == ours


def test_a_universe_has_hosts_of_its_own() -> None:
    here, there = universe(""), universe("example.goog")

    assert (here.domain, here.elsewhere, here.host("sts"), here.bucket("x")) == (
        "googleapis.com",
        False,
        "sts.googleapis.com",
        "https://storage.googleapis.com/x",
    )
    assert (there.elsewhere, there.host("iam"), there.bucket("x")) == (
        True,
        "iam.example.goog",
        "https://storage.example.goog/x",
    )
    with pytest.raises(BadInput, match="--universe-domain"):
        universe("https://example.goog")

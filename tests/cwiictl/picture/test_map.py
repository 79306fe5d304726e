"""Who stands on which line, and how it is."""

from __future__ import annotations

from cwiictl.picture.map import Acting, Cloud, Identity, Issuer, Map, Thing, whos, worst


def an_identity(
    title: str, *accounts: str, namespace: str = "shop", how: Thing | None = None
) -> Identity:
    return Identity(
        Acting(f"aws/role/{title}", namespace, accounts, title),
        "aws",
        (how or Thing(f"aws/role/{title}", "as wanted"),),
    )


def a_map(*identities: Identity, cloud: Cloud | None = None) -> Map:
    return Map(
        "demo", Issuer("https://issuer"), (cloud or Cloud("aws", "AWS", "1", "me"),), identities
    )


def test_service_accounts_that_may_act_as_the_same_share_a_line() -> None:
    (who,) = whos(a_map(an_identity("one", "b", "a")))

    assert (who.namespace, who.accounts) == ("shop", ("a", "b"))


def test_one_that_may_act_as_more_than_another_has_a_line_of_its_own_with_all_of_it() -> None:
    found = whos(a_map(an_identity("one", "a", "b"), an_identity("two", "b")))

    assert [(who.accounts, [each.acting.title for each in who.identities]) for who in found] == [
        (("a",), ["one"]),
        (("b",), ["one", "two"]),
    ]


def test_the_same_name_in_another_namespace_is_another() -> None:
    found = whos(a_map(an_identity("one", "a"), an_identity("two", "a", namespace="other")))

    assert [(who.namespace, who.accounts) for who in found] == [("other", ("a",)), ("shop", ("a",))]


def test_a_line_is_as_bad_as_the_worst_of_it_and_says_the_condition_of_that() -> None:
    parts = (
        Thing("aws/role/one", "as wanted"),
        Thing("aws/policy/one", "drifted", "warning"),
        Thing("aws/policy/two", "foreign", "wrong"),
    )
    identity = Identity(Acting("aws/role/one", "shop", ("a",), "one"), "aws", parts)

    assert (identity.state, identity.condition) == ("wrong", "foreign")
    assert whos(a_map(identity, an_identity("two", "a")))[0].state == "wrong"
    assert worst([]) == "fine"


def test_what_two_share_counts_once() -> None:
    shared = Thing("azure/custom-role/shared", "as wanted")

    assert a_map(
        an_identity("one", "a", how=shared), an_identity("two", "b", how=shared)
    ).things == (shared,)

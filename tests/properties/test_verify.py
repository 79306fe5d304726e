"""Whatever is read from the web, from a cloud or from a file, verify has an answer to it: wrong is a finding, and never an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cwiictl import oidc
from cwiictl.clouds.aws import belief, policy
from cwiictl.clouds.aws.resources.role import Account, Role, trust
from cwiictl.errors import Problem
from cwiictl.issuer.home import Home
from cwiictl.issuer.page import Page
from cwiictl.oidc import VerificationKey
from cwiictl.verify.documents import judged
from cwiictl.verify.expected import Expected
from cwiictl.verify.letter import not_, unlike
from cwiictl.verify.told import differing
from tests.contracts.shelf import Shelf, World
from tests.examples import a_cluster, a_role, a_workload

URL = "https://issuer.example.org"
KEY = VerificationKey("ours", "AQAB", "AQAB", "")
WORDS = st.sampled_from(
    [
        "issuer",
        "jwks_uri",
        "keys",
        "kid",
        "kty",
        "n",
        "e",
        URL,
        f"{URL}/",
        f"{URL}/keys",
        "ours",
        "RSA",
        "AQAB",
        "x",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
)
BODIES = st.binary(max_size=40) | VALUES.map(lambda value: json.dumps(value).encode())
SAID = st.text(max_size=20) | st.sampled_from(["max-age=9999999", "text/html"])
HEADERS = st.dictionaries(st.sampled_from(["content-type", "cache-control", "location"]), SAID)
PAGES = st.builds(
    Page, st.just(URL), st.sampled_from([200, 200, 200, 301, 403, 404, 500]), HEADERS, BODIES
)

PROVIDER, SUBJECT = "arn:aws:iam::1:oidc-provider/issuer.example.org", a_workload().subjects[0]
SOME = st.sampled_from(
    ["*", "sts:*", belief.ASSUME, PROVIDER, f"{PROVIDER}/", SUBJECT, "system:serviceaccount:a:*"]
)
MANY = SOME | st.lists(SOME, max_size=3)
KEYS_ = st.sampled_from(
    ["issuer.example.org:sub", "issuer.example.org:aud", "issuer.example.org/:sub", "aws:SourceIp"]
)
STATEMENT = st.fixed_dictionaries(  # as far as IAM sees to their form
    {"Effect": st.sampled_from(["Allow", "Deny"])},
    optional={
        "Action": MANY,
        "Principal": SOME | st.dictionaries(st.sampled_from(["Federated", "AWS"]), MANY),
        "Condition": st.dictionaries(
            st.sampled_from(["StringEquals", "StringLike", "Bool"]), st.dictionaries(KEYS_, MANY)
        ),
    },
)
TRUSTS = (
    st.fixed_dictionaries({"Statement": STATEMENT | st.lists(STATEMENT, max_size=3)}) | st.text()
)


def a_role_of_ours() -> Role:
    store: Any = Shelf(World(), "aws/role")
    return Role(
        "role",
        store,
        a_cluster(),
        a_workload(),
        Account("arn:aws:iam::1:", "", "", "/"),
        Home(URL),
        None,
    )


@given(PAGES, st.none() | PAGES, st.sampled_from([None, KEY]))
def test_whatever_an_issuer_serves_is_judged_and_only_its_own_documents_are_all_right(
    discovery: Page, keys: Page | None, key: VerificationKey | None
) -> None:
    found = list(judged("issuer", Expected(URL, key), discovery, keys))

    assert all(bool(each.problem) == (each.severity != "ok") for each in found)
    good = {each.check for each in found if each.severity in {"ok", "warning"}}
    assert "discovery document" not in good or json.loads(discovery.text)["issuer"] == URL
    assert "signing key" not in good or (
        keys is not None and KEY.kid in oidc.key_set(keys.text, "").kids
    )


@given(TRUSTS)
def test_whatever_a_role_trusts_is_judged_and_none_is_all_right_but_the_wanted_one(
    document: Mapping[str, Any] | str,
) -> None:
    role = a_role_of_ours()
    have = a_role(trust=policy.read(document), managed=frozenset(), session=3600)

    found = list(belief.believed(role, have, Expected(URL)))

    assert bool(found) == (have.trust != trust(role.account.trusted(URL), role.workload))


@given(BODIES, BODIES)
def test_whatever_a_file_says_is_compared_or_is_bad_input(have: bytes, want: bytes) -> None:
    try:
        told = list(differing("file", have, want))
    except Problem:
        return
    assert told == [] or have != want


@given(st.text(), st.sampled_from(["{}/", "{}//", " {}", "{}\n"]))
def test_what_is_easily_overlooked_is_told_beside_what_is_there(want: str, spelt: str) -> None:
    have = spelt.format(want)

    assert unlike(have, want)
    assert not_(want, [have]) == f"{have}, and not {want}: {unlike(have, want)}"
    assert not_(want, [f"{want}x"]) == f"{want}x, and not {want}"

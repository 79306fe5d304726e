"""Which issuer a cluster that exists gets: its own where clouds can read it, and else another of the same keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.actions.order import Order, Reach
from cwiictl.actions.served import decided, judge_audiences
from cwiictl.errors import BadInput
from cwiictl.issuer.documents import PLAIN as PLAIN_KEYS
from cwiictl.issuer.served import Served
from cwiictl.model import Cluster
from cwiictl.oidc import VerificationKey

KEY = VerificationKey("kid", "AQAB", "AQAB", "")
AWS = {"aws": {"region": "eu-west-1"}}
GOOGLE = {"gcp": {"project": "cwii-sandbox", "key_storage": "pool-jwk-file"}}
BOTH = {**GOOGLE, **AWS}
PLAIN = Order(Cluster("prod"), AWS, from_cluster=Reach())
INSIDE = "https://kubernetes.default.svc.cluster.local"
OUTSIDE = "https://oidc.example.org"
OURS = "https://prod-oidc.s3.eu-west-1.amazonaws.com"
NEW = ("", False)


@pytest.mark.parametrize(
    ("order", "issuer", "trusted"),
    [
        (PLAIN, INSIDE, NEW),
        (PLAIN, OUTSIDE, (OUTSIDE, True)),
        (PLAIN, OURS, NEW),
        (replace(PLAIN, move_issuer=True), OUTSIDE, NEW),
        (
            replace(PLAIN, issuer_url="https://own.example.org"),
            OUTSIDE,
            ("https://own.example.org", False),
        ),
        (replace(PLAIN, issuer_exists=True), INSIDE, (INSIDE, True)),
        (replace(PLAIN, clouds={"aws": {"region": "eu-west-1", "bucket": "mine"}}), OUTSIDE, NEW),
        (replace(PLAIN, clouds=GOOGLE), INSIDE, (INSIDE, False)),
        (replace(PLAIN, clouds=GOOGLE, issuer_exists=True), INSIDE, (INSIDE, False)),
        (replace(PLAIN, clouds=BOTH), INSIDE, NEW),
    ],
    ids=[
        "nobody outside could read it",
        "its own is read by clouds",
        "what we publish stays ours to publish",
        "another was asked for",
        "another was named",
        "as it is was asked for",
        "there is a place for another",
        "Google has the keys itself",
        "and needs nothing to read",
        "but not if somebody else reads",
    ],
)
def test_the_issuer_is(order: Order, issuer: str, trusted: tuple[str, bool]):
    made = decided(order, Served(issuer, KEY))

    assert (made.issuer_url, made.issuer_exists) == trusted
    assert made.served == Served(issuer, KEY)


def test_what_may_be_done_to_published_keys_is_what_the_user_has_said():
    assert [
        decided(replace(PLAIN, keys=keys), Served(INSIDE, KEY)).keys for keys in PLAIN_KEYS
    ] == list(PLAIN_KEYS)


KUBEADM = replace(PLAIN, installers=("openshift", "kubeadm"))


@pytest.mark.parametrize(
    ("order", "issuer"),
    [
        (KUBEADM, INSIDE),
        (replace(KUBEADM, issuer_url="https://own.example.org"), INSIDE),
        (replace(KUBEADM, move_issuer=True), OURS),
    ],
    ids=["where we publish", "where the user does", "away from where we did"],
)
def test_no_api_server_is_given_another_issuer_that_has_not_said_for_whom_it_takes_tokens(
    order: Order, issuer: str
):
    with pytest.raises(
        BadInput, match="is not known, and they would be told anew with another issuer"
    ):
        judge_audiences(decided(order, Served(issuer, KEY)))

    judge_audiences(decided(order, Served(issuer, KEY, audiences=("a",))))


@pytest.mark.parametrize(
    ("order", "issuer"),
    [
        (PLAIN, INSIDE),
        (KUBEADM, OUTSIDE),
        (KUBEADM, OURS),
        (replace(KUBEADM, clouds=GOOGLE), INSIDE),
    ],
    ids=[
        "it is OpenShift's operator that tells them",
        "it is read as it is",
        "it has moved already",
        "Google has its keys",
    ],
)
def test_nothing_more_has_to_be_known_where(order: Order, issuer: str):
    judge_audiences(decided(order, Served(issuer, KEY)))


def test_of_a_cluster_that_was_not_asked_nothing_is_judged():
    judge_audiences(KUBEADM)

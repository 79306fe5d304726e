"""What kube-apiserver is told: nothing empty, and a second issuer only where there is one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.installers.flags import IN_CLUSTER, flags, former
from tests.cwiictl.installers.handovers import ISSUER, a_handover


def test_what_is_known_of_the_cluster_stands_before_what_the_installer_says():
    known = {"service-account-issuer": "", "api-audiences": "its own"}

    assert flags(a_handover(jwks_uri=""), known) == {
        "service-account-issuer": ISSUER,
        "api-audiences": "its own",
    }
    assert flags(replace(a_handover(), audiences=("a", "b")), known)["api-audiences"] == "a,b"


@pytest.mark.parametrize(
    ("private", "had", "second"),
    [
        (b"private", "https://old", ""),
        (None, "https://old", "https://old"),
        (None, "", IN_CLUSTER),
        (None, ISSUER, ""),
    ],
    ids=[
        "a new cluster has had none",
        "as it was read",
        "or as installers have it",
        "the same is no second one",
    ],
)
def test_the_second_issuer_is_the_one_of_a_cluster_that_runs(
    private: bytes | None, had: str, second: str
):
    assert former(a_handover(private=private, former=had), IN_CLUSTER) == second

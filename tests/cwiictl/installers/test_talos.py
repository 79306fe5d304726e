"""Talos' patches: what a cluster that runs accepts beside its new issuer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from cwiictl import files
from cwiictl.installers import talos
from tests.cwiictl.installers.handovers import ISSUER, a_handover

ENDPOINT = "https://10.0.0.1:6443"


def accounts(**known: Any) -> dict[str, Any]:
    handover = replace(a_handover(private=None), **known)
    return next(iter(yaml.safe_load_all(talos.render(handover, files.template)[talos.NEW])))


def test_tokens_that_pods_have_stay_valid_in_issuer_and_audience():
    assert accounts(former=ENDPOINT)["accepted"] == {
        "issuers": [ENDPOINT],
        "audiences": [ENDPOINT, ISSUER],
    }
    assert accounts(former=ENDPOINT, audiences=("a",))["accepted"] == {
        "issuers": [ENDPOINT],
        "audiences": ["a", ISSUER],
    }


def test_of_a_cluster_that_nobody_has_asked_nothing_is_made_up():
    assert "accepted" not in accounts()

"""Who acts in Google Cloud, and what they may do and must have turned on."""

from __future__ import annotations

import pytest

from cwiictl.clouds.gcp.permissions import Grant as Asked
from cwiictl.clouds.gcp.resources.api import ApiState
from cwiictl.clouds.gcp.spec import Spec
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.clouds.gcp.stores.session import connect
from cwiictl.errors import BadInput
from cwiictl.model import Cluster
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.gcp.world import PROJECT
from tests.contracts.gcp.ground import (
    CLUSTER,
)
from tests.contracts.store import Specimen


class TestApis:
    def test_they_are_on_or_off_and_stay_on_once_they_were_turned_on(self, stores: Stores) -> None:
        assert stores.apis.get(["iam.googleapis.com", "dns.googleapis.com"]) == {
            "iam.googleapis.com": ApiState(),
            "dns.googleapis.com": ApiState(on=False),
        }
        specimen = Specimen(stores.apis, "dns.googleapis.com", ApiState(), ApiState())

        assert specimen.put(ApiState(), None) == ApiState()
        specimen.drop()

        assert specimen.get() == ApiState()
        assert specimen.owned(CLUSTER) == {}


class TestPermissions:
    def test_what_lacks_is_named(self, stores: Stores, sandbox: Sandbox) -> None:
        asked = (Asked(("iam.serviceAccounts.create", "iam.serviceAccounts.get"), PROJECT),)
        assert stores.permissions(asked).get(["x"])["x"].lacking == ()

        sandbox.faults.deny = {"iam.serviceAccounts.create"}

        assert stores.permissions(asked).get(["x"])["x"].lacking == ("iam.serviceAccounts.create",)


def test_nobody_acts_in_a_project_that_is_not_shown(sandbox: Sandbox) -> None:  # noqa: ARG001 - it must run first
    with pytest.raises(BadInput, match="not-a-project"):
        connect(Spec(project="not-a-project"), Cluster(CLUSTER), 4)


def test_credentials_of_another_universe_are_refused(sandbox: Sandbox) -> None:  # noqa: ARG001 - it must run first
    with pytest.raises(BadInput, match=r"universe googleapis\.com"):
        connect(Spec(project=PROJECT, domain="apis-sandbox.goog"), Cluster(CLUSTER), 4)

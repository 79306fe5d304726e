"""What a rotation asks of a running cluster: the tokens in its Secrets, and which API servers run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cwiictl.actions.running import TOKEN, Running
from cwiictl.kubernetes.place import Api
from cwiictl.rotate.waits import SKEW
from tests.cluster.installation import connected
from tests.cluster.kube.reach import Reach
from tests.cluster.leases import leased
from tests.cluster.space import Space

pytestmark = pytest.mark.timeout(60)


def test_of_secrets_only_those_of_tokens_are_read(reach: Reach, tmp_path: Path) -> None:
    space = Space(reach).account({})
    about = {"name": "legacy", "annotations": {"kubernetes.io/service-account.name": "worker"}}
    reach.admin.create(space.path("secrets"), {"metadata": about, "type": TOKEN})
    reach.admin.create(
        space.path("secrets"),
        {"metadata": {"name": "password"}, "stringData": {"password": "nobody's business"}},
    )

    with connected(reach, tmp_path) as place:
        assert [
            each["metadata"]["name"]
            for each in place.api.list("Secret", space.name, fields=f"type={TOKEN}")
        ] == ["legacy"]
        found = Running(place, dict).token_secrets()

    assert {each["type"] for each in found} == {TOKEN}
    assert any(each["metadata"]["namespace"] == space.name for each in found)


def test_an_api_server_that_runs_without_an_endpoint_is_known_not_to_have_been_asked(
    reach: Reach, tmp_path: Path
) -> None:
    """Whoever has not renewed its Lease for a while, whatever its clock shows, runs no more."""
    with connected(reach, tmp_path) as place:
        running = Running(place, lambda: {"10.0.0.1:6443": place.api})
        with leased(reach.admin, "control-3", ago=SKEW + 120):
            assert ([server.address for server in running.servers()], running.doubt) == (
                ["10.0.0.1:6443"],
                "",
            )
            with leased(reach.admin, "control-2", ago=SKEW):
                _, unasked = running.servers()

    assert unasked.address == "not asked"
    assert unasked.problem.startswith("2 renew their Leases (control-2, ")
    assert unasked.problem.endswith(
        "and the Service kubernetes names 1, so not each could be asked"
    )


def test_who_may_not_read_leases_is_told_what_that_leaves_open(
    reach: Reach, tmp_path: Path
) -> None:
    with connected(reach, tmp_path, "viewer", "viewers") as place:
        running = Running(place, lambda: {"10.0.0.1:6443": place.api})
        assert len(running.servers()) == 1

    assert running.doubt.startswith(
        "Whether API servers run that the Service kubernetes does not name is not known: the cluster does not allow it: leases"
    )


@dataclass
class Opaque:
    """An API server, but for the tokens that it gives."""

    api: Api
    gives: str

    def document(self, path: str) -> Any:
        return self.api.document(path)

    def token(self, *_: Any) -> str:
        return self.gives


@pytest.mark.parametrize("gives", ["opaque", "e30.e30.c2lnbmVk"])
def test_a_token_that_names_no_issuer_is_told_of_instead_of_an_issuer_without_a_name(
    reach: Reach, tmp_path: Path, gives: str
) -> None:
    with connected(reach, tmp_path) as place:
        other: Any = Opaque(place.api, gives)
        (server,) = Running(place, lambda: {"10.0.0.1:6443": other}).servers()

    assert server.problem == "the token that it gives is none that names its issuer"

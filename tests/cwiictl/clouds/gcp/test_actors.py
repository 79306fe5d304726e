"""Who may act as what in Google Cloud, as it is drawn: with roles, which are in projects' policies."""

from __future__ import annotations

from cwiictl.clouds.gcp.actors import acting
from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.spec import Ask, Role
from cwiictl.engine.resource import Known
from cwiictl.picture.map import Acting
from tests.cwiictl.clouds.gcp.planned import POWERS, planned
from tests.cwiictl.clouds.gcp.told import OTHER, a_spec
from tests.examples import a_workload

PROJECT = a_spec().project
NIGHTLY = Condition("nightly", "request.time.getHours() < 6")


def drawn(asked: Ask) -> Acting:
    (found,) = acting(planned((a_workload(), asked)).values(), Known())
    return found


def test_a_role_is_shown_with_its_project_and_with_when_it_holds() -> None:
    found = drawn(
        Ask(
            (
                Role("roles/viewer"),
                Role("roles/storage.objectViewer", projects=(OTHER,), condition=NIGHTLY),
            )
        )
    )

    assert sorted(found.powers) == [
        f"roles/storage.objectViewer in {OTHER} if nightly",
        f"roles/viewer in {PROJECT}",
    ]
    assert sorted(found.parts) == sorted(f"gcp/policies/{project}" for project in (OTHER, PROJECT))


def test_a_role_of_our_own_is_shown_with_what_it_allows() -> None:
    (power,) = drawn(POWERS).powers

    assert power.endswith(f" (dns.changes.create, dns.changes.get) in {PROJECT}")


def test_who_has_no_service_account_has_the_same_roles() -> None:
    found = drawn(Ask((Role("roles/viewer"),), direct=True))

    assert (found.title, found.powers) == ("itself", (f"roles/viewer in {PROJECT}",))

"""What a cluster needs in Google Cloud follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.gcp import clearance, plan, telling
from cwiictl.clouds.gcp.permissions import COMMANDS, ENABLE, WRITE, Grant, least, making
from cwiictl.clouds.gcp.resources.policy import Policy, PolicyState
from cwiictl.clouds.gcp.resources.pool import Pool, PoolState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.clouds.gcp.spec import Ask, Role
from cwiictl.clouds.permissions import PermissionsState
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Mark, Plan
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Denied
from cwiictl.issuer.home import Home
from tests.contracts.shelf import Shelf, Thing, World
from tests.cwiictl.clouds.gcp.planned import (
    DIRECT,
    HOME,
    NAMED,
    OWN,
    POWERS,
    VIEWER,
    planned,
    wanted,
)
from tests.cwiictl.clouds.gcp.told import OTHER, PROJECT, a_spec, the_stores
from tests.examples import a_cluster, a_workload


def test_permissions_are_asked_of_each_project() -> None:
    asked: list[tuple[Grant, ...]] = []
    place: Any = Shelf(World(), "gcp/permissions")

    def permissions_of(grants: tuple[Grant, ...]) -> Any:
        asked.append(grants)
        return place

    stores = replace(the_stores(), permissions=permissions_of)
    far = Ask((Role("roles/viewer", (OTHER,)),), POWERS.permissions)
    things = Plan(plan.identities(a_spec(), a_cluster(), stores, [(a_workload(), far)], HOME))

    permissions = list(clearance.permitted(stores, tuple(things.values())))
    assert [each.name for each in permissions] == ["somebody", f"somebody at {OTHER}"]
    assert {grant.permissions for grant in asked[0]} == {
        WRITE["pool"],
        WRITE["account"],
        WRITE["role"],
        WRITE["policy"],
    }
    assert asked[1] == (Grant(WRITE["policy"], OTHER),)
    known = Known()
    known.learn(permissions[0], PermissionsState(lacking=("iam.roles.create",)))
    assert isinstance(permissions[0].objection(known), Denied)
    for thing in permissions[0].things:
        known.learn(thing, Thing(value=""))
    assert permissions[0].objection(known) is None, (
        "who lacks what nothing needs today is not stopped"
    )
    known.learn(permissions[0], PermissionsState(lacking=("iam.roles.create", *WRITE["policy"])))
    (policy,) = (thing for thing in permissions[0].shared if isinstance(thing, Policy))
    for role in policy.roles:
        known.learn(role, wanted(role))
    known.learn(policy, PolicyState(grants=policy.want(known).grants))
    assert permissions[0].objection(known) is None
    known.learn(policy, PolicyState(grants=frozenset()))
    told = permissions[0].objection(known)
    assert isinstance(told, Denied), "it is there always, and is to be written all the same"
    assert "iam.roles.create" not in told.problem


@pytest.mark.parametrize("command", list(COMMANDS))
def test_the_least_role_of_a_command_holds_what_it_needs_and_nothing_twice(command: str) -> None:
    role = least(command, a_spec(), a_cluster())
    told = role["includedPermissions"]

    assert told == sorted(set(told))
    assert role["title"] == f"cwiictl {command} demo"
    assert all("*" not in permission for permission in told)
    assert (
        "serviceusage.services.enable"
        in least("create", a_spec(enable=True), a_cluster())["includedPermissions"]
    ) is True
    assert "serviceusage.services.enable" not in told
    assert {grant.permissions for grant in making({"api": (PROJECT,)})} == set(ENABLE.values())


def test_of_a_bucket_that_is_yet_to_be_made_only_its_making_is_asked() -> None:
    assert list(making({"bucket": (PROJECT,)})) == [Grant(("storage.buckets.create",), PROJECT)]


def test_what_trusts_goes_before_what_hosts_and_roles_before_who_has_them() -> None:
    walk = plan.walk(the_stores())
    kinds = [store.kind for store in walk]

    assert (
        kinds.index("gcp/buckets")
        < kinds.index("gcp/pools")
        < kinds.index("gcp/service_accounts")
        < kinds.index("gcp/policies")
    )


def test_a_plan_can_be_told_by_its_checksum() -> None:
    one, other = (checksum(foretold(planned((a_workload(), asked)))) for asked in (VIEWER, POWERS))
    assert one != other
    assert one == checksum(foretold(planned((a_workload(), VIEWER))))


def standing(have: ProviderState | None, url: str = "", **told: Any) -> Home:
    stores = the_stores()

    def get(places: Collection[str]) -> Mapping[str, ProviderState]:
        return dict.fromkeys(places, have) if have else {}

    store: Any = stores.providers
    store.get = get
    return plan.standing(a_spec(**told), a_cluster(), stores, url)


def a_provider(**changes: Any) -> ProviderState:
    state: dict[str, Any] = {
        "title": "demo",
        "description": "",
        "issuer": "https://i.example.org",
        "audiences": frozenset({"openshift"}),
        "owner": OWN,
    }
    return ProviderState(**{**state, **changes})


def test_the_issuer_that_was_made_before_is_as_the_clusters_provider_says() -> None:
    assert standing(a_provider()).text == "https://i.example.org"
    assert standing(a_provider(), "https://i.example.org").text == "https://i.example.org"
    assert standing(a_provider(owner=None), provider="prov").text == "https://i.example.org"
    with pytest.raises(BadInput, match="and not https://other"):
        standing(a_provider(), "https://other.example.org")
    for have in (
        None,
        a_provider(deleted=True),
        a_provider(owner=None),
        a_provider(owner=Mark("other")),
    ):
        with pytest.raises(BadInput, match="no provider demo/demo"):
            standing(have)


def bound(asked: Ask, **told: Any) -> Any:
    spec = a_spec(**told)
    things = Plan(
        plan.identities(spec, a_cluster(), the_stores(spec.domain), [(a_workload(), asked)], HOME)
    )
    known = Known()
    for address, want in foretold(things).items():
        known.learn(things[address], want)
    (binding,) = telling.bindings(things.values(), known)
    assert list(telling.bindings(things.values(), Known())) == []
    return binding


def test_a_workload_is_told_ccoctls_credentials_to_the_letter() -> None:
    binding = bound(VIEWER)
    email = f"{names.service_account(a_cluster(), 'a-request')}@{PROJECT}.iam.gserviceaccount.com"

    assert list(binding.data) == ["service_account.json"]
    told = json.loads(binding.data["service_account.json"])
    assert list(told.items()) == [
        ("type", "external_account"),
        ("audience", f"//{NAMED}"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ("token_url", "https://sts.googleapis.com/v1/token"),
        (
            "service_account_impersonation_url",
            f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{email}:generateAccessToken",
        ),
        (
            "credential_source",
            {"file": "/var/run/secrets/openshift/serviceaccount/token", "format": {"type": "text"}},
        ),
    ]
    assert binding.annotations == {
        "cwii.dev/gcp-inject": "true",
        "cwii.dev/gcp-audience": f"//{NAMED}",
        "cwii.dev/gcp-service-account": email,
        "cloud.google.com/workload-identity-provider": NAMED.removeprefix("iam.googleapis.com/"),
        "cloud.google.com/service-account-email": email,
    }


def test_who_has_no_service_account_is_told_of_none() -> None:
    binding = bound(DIRECT)

    assert "service_account_impersonation_url" not in json.loads(
        binding.data["service_account.json"]
    )
    assert binding.annotations == {
        "cwii.dev/gcp-inject": "true",
        "cwii.dev/gcp-audience": f"//{NAMED}",
    }


def test_in_another_universe_hosts_are_others_and_names_the_same() -> None:
    told = json.loads(bound(VIEWER, domain="example.goog").data["service_account.json"])

    assert told["token_url"] == "https://sts.example.goog/v1/token"
    assert told["service_account_impersonation_url"].startswith(
        "https://iamcredentials.example.goog/"
    )
    assert (told["universe_domain"], told["audience"]) == ("example.goog", f"//{NAMED}")


@pytest.mark.parametrize("owner", [None, Mark("demo", "brought"), Mark("demo", "adopted")])
def test_nobody_has_roles_without_a_service_account_in_a_pool_that_is_not_the_clusters_own(
    owner: Mark | None,
) -> None:
    """Nobody could tell later which of them were ours."""
    found = planned((a_workload(), DIRECT))
    (policy,) = (thing for thing in found.values() if isinstance(thing, Policy))
    (pool,) = (thing for thing in found.values() if isinstance(thing, Pool))
    there = Known()
    there.learn(pool, PoolState(title="demo", description="", owner=owner))

    assert isinstance(policy.objection(there), BadInput)
    there.learn(pool, PoolState(title="demo", description="", owner=Mark("demo")))
    assert policy.objection(there) is None
    assert policy.objection(Known()) is None

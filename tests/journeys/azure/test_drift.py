"""What was changed by hand is found field by field, named, and repaired; and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.examples import an_azure_object, text
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import (
    ACCOUNT,
    CONTAINER,
    GROUP,
    INGRESS,
    ISSUER,
    LENT,
    NAME,
    OWNER,
    READER,
    REGISTRY,
    WHOLE,
    AzureGround,
)

CREDENTIALS = "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials"
ASSIGNMENTS = "Microsoft.Authorization/roleAssignments"
STORAGE = "Microsoft.Storage/storageAccounts"
BLOBS = f"{STORAGE}/blobServices/containers/blobs"
GROUPS = "Microsoft.Resources/subscriptions/resourceGroups"
HOST = f"{WHOLE}/resourceGroups/{GROUP}/providers/{STORAGE}/{ACCOUNT}"
PLACE = f"{HOST}/blobServices/default/containers/{CONTAINER}"
DOCUMENT, KEY_SET = ".well-known/openid-configuration", "openid/v1/jwks"
Drifted = dict[str, list[str]]


def mended(
    ground: AzureGround, clouds: Any, drifted: Drifted, writes: list[str], *arguments: str
) -> None:
    """Status tells of it, and create-all does something about it: about that, and no more."""
    seen = ground.status(*arguments)
    assert seen.code == 3
    assert seen.fields == drifted
    assert seen.but("as wanted") == dict.fromkeys(drifted, "drifted")

    ground.fresh()
    repaired = ground.create_all(*arguments)
    assert repaired.code == 0, repaired.err
    assert {thing: fields for thing, fields in repaired.fields.items() if thing != LENT} == drifted
    assert repaired.but("as wanted", "repaired", "given back") == {}
    assert ground.mutating() == sorted(writes)
    assert ground.clouds() == clouds
    assert ground.status(*arguments).code == 0


def test_whom_an_identity_believes_is_repaired_to_the_letter(enter: Enter) -> None:
    ground = enter()
    drifts = ("audience", "subject", "issuer", "name", "removed", "added")
    ground.requests(
        {
            f"{drift}.yaml": text(
                an_azure_object(drift, "drift", drift, "app", roleBindings=[{"role": "Reader"}])
            )
            for drift in drifts
        }
    )
    assert ground.create_all().code == 0
    clouds = ground.clouds()
    identities = {drift: f"{NAME}-drift-{drift}" for drift in drifts}
    credentials = {
        drift: f"{ground.identity(title)}/federatedIdentityCredentials"
        for drift, title in identities.items()
    }
    subject = "system:serviceaccount:drift:app"
    ground.changed(f"{credentials['audience']}/app", audiences=["api://AzureADTokenExchange"])
    ground.changed(f"{credentials['subject']}/app", subject=subject.upper())
    ground.changed(f"{credentials['issuer']}/app", issuer=f"{ISSUER}/")
    ground.arm("DELETE", f"{credentials['removed']}/app")
    mallory = {
        "issuer": ISSUER,
        "subject": "system:serviceaccount:drift:mallory",
        "audiences": ["openshift"],
    }
    ground.arm("PUT", f"{credentials['added']}/mallory", {"properties": mallory})
    ground.arm(
        "DELETE", f"{credentials['name']}/app"
    )  # another name for what is believed is no difference
    ground.arm(
        "PUT", f"{credentials['name']}/other", {"properties": {**mallory, "subject": subject}}
    )
    kept = clouds["identities"][identities["name"]]["credentials"]
    kept["other"] = kept.pop("app")

    drifted = {
        f"azure/identity/{GROUP}/{identities[drift]}": ["credentials"]
        for drift in drifts
        if drift != "name"
    }
    mended(ground, clouds, drifted, [f"{CREDENTIALS}/delete", *[f"{CREDENTIALS}/write"] * 4])


def test_what_an_identity_may_do_is_neither_less_nor_more_than_was_asked_for(
    ground: AzureGround,
) -> None:
    ground.create_all()
    clouds = ground.clouds()
    given = {each["properties"]["principalId"]: each for each in ground.assignments()}
    ingress, registry = (
        ground.arm("GET", ground.identity(title))["properties"]["principalId"]
        for title in (INGRESS, REGISTRY)
    )
    ground.arm("DELETE", given[ingress]["id"])
    ground.granted(f"{WHOLE}/resourceGroups/{GROUP}", OWNER, registry)
    for scope in (WHOLE, f"{WHOLE}/resourceGroups/{NAME}"):
        ground.granted(scope, READER, registry, "by hand")

    drifted = {
        f"azure/role-assignments/{GROUP}/{title}": ["grants"] for title in (INGRESS, REGISTRY)
    }
    mended(ground, clouds, drifted, [f"{ASSIGNMENTS}/write", *[f"{ASSIGNMENTS}/delete"] * 3])


def test_roles_that_others_gave_stay_where_that_is_asked_for(ground: AzureGround) -> None:
    keep = "--preserve-existing-roles"
    ground.create_all()
    clouds = ground.clouds()
    given = {each["properties"]["principalId"]: each for each in ground.assignments()}
    ingress = ground.arm("GET", ground.identity(INGRESS))["properties"]["principalId"]
    ground.granted(WHOLE, READER, ingress, "by hand")
    assert (ground.status().code, ground.status(keep).code) == (3, 0)
    ground.arm("DELETE", given[ingress]["id"])
    by_hand = {
        "scope": WHOLE,
        "role": READER,
        "principal": INGRESS,
        "type": "ServicePrincipal",
        "description": "by hand",
    }
    both = sorted(
        [*clouds["assignments"], by_hand], key=lambda each: json.dumps(each, sort_keys=True)
    )

    drifted = {f"azure/role-assignments/{GROUP}/{INGRESS}": ["grants"]}
    mended(ground, {**clouds, "assignments": both}, drifted, [f"{ASSIGNMENTS}/write"], keep)
    mended(ground, clouds, drifted, [f"{ASSIGNMENTS}/delete"])


def test_a_role_of_the_clusters_own_says_what_was_asked_for(ground: AzureGround) -> None:
    ground.create_all()
    clouds = ground.clouds()
    (found,) = ground.custom_roles()
    (powers,) = found["properties"]["permissions"]
    more = {
        "actions": [powers["actions"][0].upper(), "*"],
        "notActions": ["Microsoft.Storage/*/delete"],
        "dataActions": [],
        "notDataActions": ["Microsoft.Storage/storageAccounts/queueServices/*"],
    }
    description = found["properties"]["description"].replace("OpenShift role", "Our role")
    scopes = [*found["properties"]["assignableScopes"], f"{WHOLE}/resourceGroups/{GROUP}"]
    ground.changed(
        found["id"], permissions=[more], description=description, assignableScopes=scopes
    )

    fields = ["description", "actions", "not_actions", "data_actions", "not_data_actions", "scopes"]
    mended(
        ground,
        clouds,
        {f"azure/custom-role/{REGISTRY}": fields},
        ["Microsoft.Authorization/roleDefinitions/write"],
    )


def test_tags_are_put_back_beside_those_of_others(ground: AzureGround) -> None:
    ground.create_all()
    clouds = ground.clouds()
    paths = {
        f"azure/resource-group/{GROUP}": f"{WHOLE}/resourceGroups/{GROUP}",
        f"azure/storage-account/{GROUP}/{ACCOUNT}": HOST,
        f"azure/identity/{GROUP}/{INGRESS}": ground.identity(INGRESS),
    }
    for path in paths.values():
        ground.arm(
            "PATCH",
            path,
            {"tags": {**ground.arm("GET", path)["tags"], "Name": "another", "costs": "theirs"}},
        )
    for thing in (
        clouds["groups"][GROUP],
        clouds["accounts"][ACCOUNT],
        clouds["identities"][INGRESS],
    ):
        thing["tags"]["costs"] = "theirs"

    writes = [
        f"{GROUPS}/write",
        f"{STORAGE}/write",
        "Microsoft.ManagedIdentity/userAssignedIdentities/write",
    ]
    mended(ground, clouds, {thing: ["tags"] for thing in paths}, writes)


def test_who_may_read_the_issuer_and_how_is_repaired(ground: AzureGround) -> None:
    ground.create_all()
    clouds = ground.clouds()
    account, container = (
        f"azure/storage-account/{GROUP}/{ACCOUNT}",
        f"azure/container/{ACCOUNT}/{CONTAINER}",
    )
    open_ = {
        "minimumTlsVersion": "TLS1_0",
        "supportsHttpsTrafficOnly": False,
        "allowSharedKeyAccess": True,
    }
    ground.arm("PATCH", HOST, {"properties": open_})
    ground.arm("PATCH", PLACE, {"properties": {"publicAccess": "Container"}})
    mended(
        ground,
        clouds,
        {account: ["minimum_tls", "https_only", "shared_key"], container: ["public"]},
        [f"{STORAGE}/write", f"{STORAGE}/blobServices/containers/write"],
    )


def test_an_issuer_that_nobody_may_read_any_more_is_opened_again_and_nothing_is_lent_for_that(
    ground: AzureGround,
) -> None:
    """Nor may the operator, and so what is in it is only known when it is open."""
    ground.create_all()
    clouds = ground.clouds()
    ground.arm("PATCH", PLACE, {"properties": {"publicAccess": "None"}})
    ground.arm("PATCH", HOST, {"properties": {"allowBlobPublicAccess": False}})

    drifted = {
        f"azure/storage-account/{GROUP}/{ACCOUNT}": ["public"],
        f"azure/container/{ACCOUNT}/{CONTAINER}": ["public"],
        f"azure/document/{ACCOUNT}/{CONTAINER}/{DOCUMENT}": ["readable"],
        f"azure/key-set/{ACCOUNT}/{CONTAINER}/{KEY_SET}": ["readable"],
        f"issuer/{ISSUER}": ["readable", "kids"],
    }
    mended(
        ground, clouds, drifted, [f"{STORAGE}/write", f"{STORAGE}/blobServices/containers/write"]
    )


@pytest.mark.parametrize("body", ["{}", "no JSON"])
def test_what_the_issuer_says_is_repaired(ground: AzureGround, body: str) -> None:
    ground.create_all()
    clouds = ground.clouds()
    keys = clouds["accounts"][ACCOUNT]["containers"][CONTAINER]["documents"][KEY_SET]["body"]
    with ground.writing():
        assert ground.blob("PUT", DOCUMENT, body, content_type="text/html").status_code == 201
        assert (
            ground.blob(
                "PUT", KEY_SET, keys, content_type="application/json", cache_control="no-store"
            ).status_code
            == 201
        )

    drifted = {
        f"azure/document/{ACCOUNT}/{CONTAINER}/{DOCUMENT}": [
            "body",
            "content_type",
            "cache_control",
        ],
        f"azure/key-set/{ACCOUNT}/{CONTAINER}/{KEY_SET}": ["cache_control"],
        f"issuer/{ISSUER}": ["url", "kids"],
    }
    mended(
        ground,
        clouds,
        drifted,
        [*[f"{BLOBS}/write"] * 2, f"{ASSIGNMENTS}/write", f"{ASSIGNMENTS}/delete"],
    )


def test_a_key_set_without_our_key_is_refused_and_replaced_only_when_asked_for(
    ground: AzureGround,
) -> None:
    ground.create_all()
    everything = ground.everything()
    with ground.writing():
        ground.blob(
            "PUT",
            KEY_SET,
            '{"keys": []}',
            content_type="application/json",
            cache_control="public, max-age=60",
        )

    ground.fresh()
    refused = ground.create_all()
    assert refused.code == 2
    assert "--add-key" in refused.out
    assert ground.mutating() == []

    done = ground.create_all("--replace-keys")
    assert done.code == 0, done.err
    assert done.fields[f"azure/key-set/{ACCOUNT}/{CONTAINER}/{KEY_SET}"] == ["kids"]
    assert ground.everything() == everything

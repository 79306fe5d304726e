"""What was changed by hand is found field by field, named, and repaired; and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import a_gcp_object, text
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import (
    ACCOUNTS,
    BUCKET,
    DISCOVERY,
    INGRESS,
    ISSUER,
    JWKS,
    NAME,
    POOL,
    POOLS,
    PROVIDER,
    REGISTRY,
    ROLES,
    SHARED,
    GcpGround,
    principal,
)

BUCKETS = f"gcp/bucket/{BUCKET}"
DOCUMENT, KEY_SET = f"gcp/document/{BUCKET}/{DISCOVERY}", f"gcp/key-set/{BUCKET}/{JWKS}"
POLICY, ROLE = f"gcp/policy/{PROJECT}", f"gcp/custom-role/{SHARED}"
POOL_, PROVIDER_ = f"gcp/pool/{POOL}", f"gcp/provider/{POOL}/{PROVIDER}"
SET = "resourcemanager.projects.setIamPolicy"
Drifted = dict[str, list[str]]


def mended(
    ground: GcpGround, clouds: Any, drifted: Drifted, writes: list[str], *arguments: str
) -> None:
    """Status tells of it, and create-all does something about it: about that, and no more."""
    seen = ground.status(*arguments)
    assert seen.code == 3
    assert seen.fields == drifted
    assert seen.but("as wanted") == dict.fromkeys(drifted, "drifted")

    ground.fresh()
    repaired = ground.create_all(*arguments)
    assert repaired.code == 0, repaired.err
    assert repaired.fields == drifted
    assert repaired.but("as wanted", "repaired") == {}
    assert ground.mutating() == sorted(writes)
    assert ground.clouds() == clouds
    assert ground.status(*arguments).code == 0


@pytest.fixture
def made(ground: GcpGround) -> Any:
    """All that is there after a run."""
    assert ground.create_all().code == 0
    return ground.clouds()


def test_who_may_read_the_issuer_and_how_is_repaired_and_labels_are_put_back_beside_those_of_others(
    ground: GcpGround, made: Any
) -> None:
    """Whatever else everybody may goes; what others may, stays."""
    labels = {"name": "another", "costs": "theirs"}
    by_hand.bucket(
        ground,
        BUCKET,
        labels=labels,
        iamConfiguration={"uniformBucketLevelAccess": {"enabled": False}},
    )
    made["buckets"][BUCKET]["labels"]["costs"] = "theirs"
    theirs = {
        "role": "roles/storage.objectViewer",
        "members": [f"serviceAccount:{ground.account(INGRESS)}"],
    }
    by_hand.may(
        ground, BUCKET, theirs, {"role": "roles/storage.objectViewer", "members": ["allUsers"]}
    )
    made["buckets"][BUCKET]["policy"].append(theirs)  # as the last of them by its role

    mended(
        ground,
        made,
        {BUCKETS: ["access", "labels"]},
        ["storage.buckets.setIamPolicy", "storage.buckets.update"],
    )


@pytest.mark.parametrize("how", ["prevention", "policy"])
def test_an_issuer_that_nobody_may_read_any_more_is_opened_again(
    ground: GcpGround, made: Any, how: str
) -> None:
    if how == "prevention":
        by_hand.bucket(ground, BUCKET, iamConfiguration={"publicAccessPrevention": "enforced"})
    else:
        by_hand.set_access(
            ground,
            BUCKET,
            [each for each in by_hand.access(ground, BUCKET) if each["role"] != by_hand.READER],
        )
        for each in made["buckets"][BUCKET]["policy"]:
            if each["role"] == by_hand.READER:
                each["members"] = ["allUsers"]

    writes = [
        "storage.buckets.update",
        *(["storage.buckets.setIamPolicy"] if how == "policy" else []),
    ]
    mended(ground, made, {BUCKETS: ["access"], f"issuer/{ISSUER}": ["readable", "kids"]}, writes)


@pytest.mark.parametrize("body", ["{}", "no JSON"])
def test_what_the_issuer_says_is_repaired(ground: GcpGround, made: Any, body: str) -> None:
    metadata = {
        each: thing["metadata"] for each, thing in made["buckets"][BUCKET]["objects"].items()
    }
    by_hand.upload(ground, BUCKET, DISCOVERY, body, "text/html", metadata=metadata[DISCOVERY])
    by_hand.object_(ground, BUCKET, JWKS, cacheControl="no-store")

    drifted = {
        DOCUMENT: ["body", "content_type", "cache_control"],
        KEY_SET: ["cache_control"],
        f"issuer/{ISSUER}": ["url", "kids"],
    }
    mended(ground, made, drifted, ["storage.objects.create"] * 2)


def test_a_key_set_without_our_key_is_refused_and_replaced_only_when_asked_for(
    ground: GcpGround,
) -> None:
    ground.create_all()
    everything = ground.everything()
    metadata = everything[0]["buckets"][BUCKET]["objects"][JWKS]["metadata"]
    by_hand.upload(
        ground,
        BUCKET,
        JWKS,
        '{"keys": []}',
        "application/json",
        cacheControl="public, max-age=60",
        metadata=metadata,
    )

    ground.fresh()
    refused = ground.create_all()
    assert refused.code == 2
    assert "--add-key" in refused.out
    assert ground.mutating() == []

    done = ground.create_all("--replace-keys")
    assert done.code == 0, done.err
    assert done.fields[KEY_SET] == ["kids"]
    assert ground.everything() == everything


def test_a_pool_and_its_provider_say_what_they_should(ground: GcpGround, made: Any) -> None:
    described = {
        thing: found[0]["description"].replace("Kubernetes", "Our")
        for thing, found in (("pool", ground.pools()), ("provider", ground.providers()))
    }
    by_hand.pool(ground, disabled=True, displayName="other", description=described["pool"])
    changes: dict[str, Any] = {
        "displayName": "other",
        "description": described["provider"],
        "disabled": True,
        "attributeCondition": "assertion.sub == 'mallory'",
    }
    by_hand.provider(
        ground,
        attributeMapping={"google.subject": "assertion.sub", "google.groups": "assertion.groups"},
        **changes,
    )
    by_hand.provider(
        ground, mask="oidc.allowedAudiences", oidc={"allowedAudiences": ["sts.amazonaws.com"]}
    )

    fields = ["title", "description", "audiences", "mapping", "condition", "disabled"]
    writes = ["iam.workloadIdentityPools.update", "iam.workloadIdentityPoolProviders.update"]
    mended(ground, made, {POOL_: ["title", "description", "disabled"], PROVIDER_: fields}, writes)


def test_another_issuer_is_believed_only_when_that_is_meant(ground: GcpGround, made: Any) -> None:
    """The cluster may use by now what somebody has pointed its provider to."""
    by_hand.provider(
        ground, mask="oidc.issuerUri", oidc={"issuerUri": "https://mallory.example.org"}
    )
    assert ground.status().fields[PROVIDER_] == ["issuer"]

    ground.fresh()
    refused = ground.create_all()
    assert refused.code == 2
    assert "--move-issuer" in refused.out
    assert ground.mutating() == []

    done = ground.create_all("--move-issuer")
    assert done.code == 0, done.out
    assert done.fields == {PROVIDER_: ["issuer"]}
    assert ground.clouds() == made


def test_keys_that_somebody_gave_the_provider_go_and_the_issuers_are_read_again(
    ground: GcpGround, made: Any
) -> None:
    keys = made["buckets"][BUCKET]["objects"][JWKS]["body"]
    by_hand.provider(ground, mask="oidc.jwksJson", oidc={"jwksJson": keys})

    mended(ground, made, {PROVIDER_: ["keys"]}, ["iam.workloadIdentityPoolProviders.update"])


def test_a_provider_that_was_deleted_is_revived_with_all_that_was_changed_before(
    ground: GcpGround, made: Any
) -> None:
    by_hand.provider(ground, disabled=True)
    by_hand.gone(ground, f"{POOLS}/{POOL}/providers/{PROVIDER}")

    verbs = ("undelete", "update")
    mended(
        ground,
        made,
        {PROVIDER_: ["disabled", "deleted"]},
        [f"iam.workloadIdentityPoolProviders.{verb}" for verb in verbs],
    )


def test_a_pool_that_was_deleted_is_revived_and_its_provider_comes_back_with_it(
    ground: GcpGround, made: Any
) -> None:
    by_hand.pool(ground, disabled=True)
    by_hand.gone(ground, f"{POOLS}/{POOL}")

    seen = ground.status()
    assert seen.fields[POOL_] == ["disabled", "deleted"]
    ground.fresh()
    done = ground.create_all()

    assert done.code == 0, done.out
    assert ground.mutating() == [
        "iam.workloadIdentityPools.undelete",
        "iam.workloadIdentityPools.update",
    ]
    assert ground.clouds() == made
    assert ground.status().code == 0


def test_whom_a_service_account_believes_is_repaired_to_the_letter(enter: Enter) -> None:
    """All of the cluster's pool is ours to judge; others of other pools are not."""
    ground = enter()
    drifts = ("added", "condition", "everybody", "others", "removed", "subject")
    ground.requests(
        {
            f"{drift}.yaml": text(
                a_gcp_object(drift, "drift", drift, "app", predefinedRoles=["roles/viewer"])
            )
            for drift in drifts
        }
    )
    assert ground.create_all().code == 0
    clouds = ground.clouds()
    app = principal("system:serviceaccount:drift:app")
    believed: dict[str, list[Any]] = {
        "added": [
            {
                "role": by_hand.IMPERSONATE,
                "members": [app, principal("system:serviceaccount:drift:mallory")],
            }
        ],
        "condition": [
            {
                "role": by_hand.IMPERSONATE,
                "members": [app],
                "condition": {"title": "t", "expression": "true"},
            }
        ],
        "everybody": [
            {
                "role": by_hand.IMPERSONATE,
                "members": [
                    app,
                    f"{app.partition('/subject/')[0].replace('principal:', 'principalSet:')}/*",
                ],
            }
        ],
        "others": [
            {"role": by_hand.IMPERSONATE, "members": [app, principal(pool="another")]},
            {"role": "roles/viewer", "members": [app]},
        ],
        "removed": [],
        "subject": [
            {"role": by_hand.IMPERSONATE, "members": [principal("system:serviceaccount:drift:App")]}
        ],
    }
    by_hand.a_pool(ground, "another")
    clouds["pools"] = ground.clouds()["pools"]
    emails = {drift: ground.account(f"{NAME}-{drift}") for drift in drifts}
    for drift, bindings in believed.items():
        by_hand.trust(ground, emails[drift], bindings)
    clouds["accounts"][emails["others"]] = ground.clouds()["accounts"][emails["others"]]

    names = [
        f"gcp/service-account/{emails[drift].partition('@')[0]}"
        for drift in drifts
        if drift != "others"
    ]
    mended(
        ground,
        clouds,
        {name: ["principals"] for name in names},
        ["iam.serviceAccounts.setIamPolicy"] * 5,
    )


def test_service_accounts_and_roles_say_what_they_should_and_may_be_used(
    ground: GcpGround, made: Any
) -> None:
    ingress, registry = (ground.account(title) for title in (INGRESS, REGISTRY))
    description = made["accounts"][ingress]["description"].replace("OpenShift", "Our")
    by_hand.account(ground, ingress, displayName="other", description=description)
    ground.rest("POST", "iam", f"{ACCOUNTS}/{registry}:disable", {})

    names = {
        email: f"gcp/service-account/{email.partition('@')[0]}" for email in (ingress, registry)
    }
    by_hand.role(
        ground,
        SHARED,
        title="other",
        includedPermissions=["storage.buckets.get", "storage.buckets.delete"],
        stage="DISABLED",
    )

    drifted = {
        names[ingress]: ["title", "description"],
        names[registry]: ["disabled"],
        ROLE: ["title", "permissions", "stage"],
    }
    mended(
        ground,
        made,
        drifted,
        ["iam.roles.update", "iam.serviceAccounts.enable", "iam.serviceAccounts.update"],
    )


def test_a_custom_role_that_was_deleted_is_revived_and_those_who_had_it_have_it_again(
    ground: GcpGround, made: Any
) -> None:
    by_hand.role(ground, SHARED, stage="DISABLED")
    by_hand.gone(ground, f"{ROLES}/{SHARED}")

    mended(ground, made, {ROLE: ["stage", "deleted"]}, ["iam.roles.undelete", "iam.roles.update"])


def test_what_was_taken_away_is_granted_again_and_what_only_we_grant_goes_where_it_was_not_asked_for(
    ground: GcpGround, made: Any
) -> None:
    """Nothing else in the policy is touched, not even what others have granted to ours."""
    ingress, registry = (f"serviceAccount:{ground.account(title)}" for title in (INGRESS, REGISTRY))
    shared = f"projects/{PROJECT}/roles/{SHARED}"
    by_hand.granted(ground, "roles/viewer", registry)
    by_hand.granted(
        ground,
        "roles/browser",
        f"projectViewer:{PROJECT}",
        title="soon",
        expression="request.time < timestamp('2100-01-01T00:00:00Z')",
    )
    kept = ground.clouds()
    by_hand.revoked(ground, shared, registry)
    by_hand.granted(ground, shared, ingress)

    mended(ground, kept, {POLICY: ["grants"]}, [SET])
    assert [
        each for each in kept["policies"][PROJECT] if each in made["policies"][PROJECT]
    ] == made["policies"][PROJECT]


def test_roles_that_others_gave_go_where_that_is_asked_for(ground: GcpGround, made: Any) -> None:
    """And from nobody but ours."""
    ingress, theirs = (
        f"serviceAccount:{ground.account(INGRESS)}",
        f"serviceAccount:{by_hand.an_account(ground, 'theirs-1')}",
    )
    by_hand.granted(ground, "roles/viewer", theirs)
    kept = ground.clouds()
    assert len(kept["policies"][PROJECT]) == len(made["policies"][PROJECT]) + 1
    by_hand.granted(ground, "roles/viewer", ingress)
    by_hand.granted(ground, "roles/dns.admin", ingress, title="soon", expression="true")
    seen = ground.status()
    assert seen.code == 0
    assert seen.remarks == {
        POLICY: [
            f"{ingress} has roles/dns.admin if soon, roles/viewer too: not asked for, and kept without --exact-roles"
        ]
    }
    assert seen.remarks[POLICY][0] in " ".join(ground.status("-o", "text").out.split())

    mended(ground, kept, {POLICY: ["grants"]}, [SET], "--exact-roles")

"""What all of it is for: a token that the cluster signs is worth an access token, and no other token is."""

from __future__ import annotations

import time
from typing import Any

import pytest
import yaml

from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys.gcp import by_hand, pod
from tests.journeys.gcp.ground import (
    AUDIENCE,
    BUCKET,
    DISCOVERY,
    ISSUER,
    JWKS,
    NAME,
    SUBJECT,
    GcpGround,
)
from tests.journeys.ground import a_key, kid_of, public_pem

UPLOADED = ("--key-storage-method", "pool-jwk-file")
ASKED = ("dns.changes.create", "storage.buckets.create", "storage.buckets.delete")
DIRECT = "out/kubeadm/credentials/shop-billing.json"
BILLING = "system:serviceaccount:shop:billing"


@pytest.fixture
def made(ground: GcpGround) -> GcpGround:
    ground.keys()
    assert ground.create_all().code == 0
    return ground


@pytest.fixture
def direct(ground: GcpGround) -> GcpGround:
    """A workload without a service account."""
    ground.keys()
    billing: dict[str, Any] = {
        "name": "billing",
        "namespace": "shop",
        "serviceAccounts": ["billing"],
    }
    billing["gcp"] = {"predefinedRoles": ["roles/dns.admin"], "serviceAccount": False}
    clouds = {"gcp": {"project": PROJECT}}
    cluster = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": clouds,
        "outputDir": "out",
        "workloads": [billing],
    }
    ground.write("cluster.yaml", yaml.safe_dump(cluster))
    done = ground.cwiictl("create-all", "--file", "cluster.yaml", "--installer", "kubeadm")
    assert done.code == 0, done.err
    return ground


def test_a_token_of_the_cluster_is_worth_an_access_token_of_its_service_account_that_may_do_what_it_was_given_and_no_more(
    made: GcpGround,
) -> None:
    access = pod.access(made, made.token())

    assert pod.may(made, access, *ASKED) == {"dns.changes.create"}


def test_every_service_account_of_a_request_is_its_identity_and_no_other(made: GcpGround) -> None:
    for account in ("registry", "cluster-image-registry-operator"):
        token = made.token(sub=f"system:serviceaccount:openshift-image-registry:{account}")

        assert pod.may(made, pod.access(made, token, "registry"), *ASKED) == {
            "storage.buckets.create"
        }
        assert "Permission 'iam.serviceAccounts.getAccessToken' denied" in pod.refusal(
            made, token, "ingress"
        )


def test_without_a_service_account_the_token_itself_is_worth_an_access_token(
    direct: GcpGround,
) -> None:
    assert direct.clouds()["accounts"] == {}
    assert "service_account_impersonation_url" not in pod.told(direct, DIRECT)

    for audience in (AUDIENCE, f"https:{AUDIENCE}", "sts.googleapis.com"):
        access = pod.access(direct, direct.token(sub=BILLING, aud=[audience]), DIRECT)
        assert pod.may(direct, access, *ASKED) == {"dns.changes.create"}
    assert "does not match the expected audience" in pod.refusal(
        direct, direct.token(sub=BILLING, aud=["sts.amazonaws.com"]), DIRECT
    )
    another = pod.access(direct, direct.token(sub=BILLING.upper(), aud=[AUDIENCE]), DIRECT)
    assert pod.may(direct, another, *ASKED) == set()  # believed, and given nothing


def test_every_other_token_is_refused_as_sts_does(made: GcpGround) -> None:
    strangers: list[tuple[dict[str, Any], str]] = [
        (
            {"aud": ["sts.amazonaws.com"]},
            "The audience in ID Token [sts.amazonaws.com] does not match the expected audience",
        ),
        (
            {"aud": ["OpenShift"]},
            "The audience in ID Token [OpenShift] does not match the expected audience",
        ),
        ({"aud": [f"{AUDIENCE}/"]}, "does not match the expected audience"),
        (
            {"sub": "system:serviceaccount:default:ingress-operator"},
            "Permission 'iam.serviceAccounts.getAccessToken' denied",
        ),
        (
            {"sub": SUBJECT.replace("ingress-operator:", "Ingress-Operator:")},
            "Permission 'iam.serviceAccounts.getAccessToken' denied",
        ),
        ({"sub": ""}, "Could not obtain a value for google.subject"),
        ({"sub": f"{SUBJECT}{'x' * 128}"}, "google.subject exceeds the 127 bytes limit"),
        (
            {"iss": "https://storage.googleapis.com/another-oidc"},
            "does not match the expected ones",
        ),
        (
            {"iss": f"{ISSUER}/"},
            f"The issuer in ID Token {ISSUER}/ does not match the expected ones: {ISSUER}",
        ),
        ({"iss": ISSUER.upper()}, "does not match the expected ones"),
        ({"iat": 1_000_000_000, "exp": 1_000_003_600}, "The ID Token has expired"),
        ({"nbf": int(time.time()) + 7200}, "The ID Token is not valid yet"),
        ({"exp": int(time.time()) + 26 * 3600}, "longer than the maximum of 86400 seconds"),
    ]

    for claims, words in strangers:
        assert words in pod.refusal(made, made.token(**claims)), claims


def test_another_key_is_refused_whatever_it_calls_itself(made: GcpGround) -> None:
    for token in (made.token(1), made.token(1, kid=kid_of(a_key(0)))):
        assert "Unable to verify the ID Token signature" in pod.refusal(made, token)


@pytest.mark.parametrize("where", [(), UPLOADED], ids=["in a bucket", "in the provider"])
def test_with_the_key_added_the_tokens_of_both_are_believed_and_replaced_only_the_new_ones(
    ground: GcpGround, where: tuple[str, ...]
) -> None:
    ground.keys()
    ground.write("new.pub", public_pem(a_key(1)))
    assert ground.create_all(*where).code == 0
    assert "signature" in pod.refusal(ground, ground.token(1))

    assert ground.create_all("--public-key-file", "new.pub", "--add-key", *where).code == 0
    assert all(pod.access(ground, ground.token(number)) for number in (0, 1))

    assert ground.create_all("--public-key-file", "new.pub", "--replace-keys", *where).code == 0
    assert "Unable to verify the ID Token signature" in pod.refusal(ground, ground.token(0))
    assert pod.access(ground, ground.token(1))


def test_keys_in_the_provider_are_believed_though_nobody_can_read_the_issuer(
    ground: GcpGround,
) -> None:
    ground.keys()
    assert ground.create_all(*UPLOADED).code == 0

    for path in (DISCOVERY, JWKS):
        assert ground.session.get(
            f"https://storage.googleapis.com/{BUCKET}/{path}", timeout=30
        ).status_code in {403, 404}
    assert pod.may(ground, pod.access(ground, ground.token()), *ASKED) == {"dns.changes.create"}
    assert "Unable to verify the ID Token signature" in pod.refusal(ground, ground.token(1))
    assert "does not match the expected ones" in pod.refusal(ground, ground.token(iss=f"{ISSUER}/"))


def test_after_delete_no_token_is_believed_any_more_and_none_that_was_worth_something(
    made: GcpGround,
) -> None:
    access = pod.access(made, made.token())
    assert made.delete("--yes").code == 0

    assert 'The target service indicated by the "audience" parameters is invalid' in pod.refusal(
        made, made.token()
    )
    url = f"https://cloudresourcemanager.googleapis.com/v3/projects/{PROJECT}:testIamPermissions"
    assert (
        made.session.post(
            url,
            json={"permissions": ASKED},
            headers={"Authorization": f"Bearer {access}"},
            timeout=30,
        ).status_code
        == 401
    )
    assert by_hand.exchanged(made, made.token()).json()["error"] == "invalid_target"

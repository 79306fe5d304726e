"""Pods that were made while the webhook was away, on a real API server: found, with whoever made them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cwiictl.install.body import labels
from cwiictl.install.objects import objects
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import path
from tests.cluster.shop import ROLE, Shop, here, injected, remarks
from tests.cluster.space import ACCOUNT, a_name, plain
from tests.cwiictl.install.installed import found, some

OTHER = "arn:aws:iam::123456789012:role/other"


def test_pods_that_were_let_through_are_told_with_whoever_made_them(shop: Shop) -> None:
    shop.deployed("web", pods=2)

    row = shop.told()["Deployment/web"]

    assert row["condition"] == "missing"
    assert (
        "pod web-1-0, web-1-1: without volume cwii-aws-token, AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_REGION"
        in remarks(row)
    )
    assert f"aws: cwii.dev/aws-inject of ServiceAccount {shop.space.name}/{ACCOUNT}" in remarks(row)


def test_pods_that_have_all_that_they_ask_for_are_not_told_nor_those_that_ask_for_nothing(
    shop: Shop,
) -> None:
    """What the API server has filled in since, and variables that their authors have set, make no difference."""
    own = [{"name": "c", "image": "c", "env": [{"name": "AWS_REGION", "value": "eu-north-1"}]}]
    shop.deployed("web", given=True, containers=own)
    shop.admin.create(shop.space.path("serviceaccounts"), {"metadata": {"name": "nobody"}})
    shop.deployed("quiet", serviceAccountName="nobody")
    shop.pod("alone", injected(shop, plain()))

    assert shop.told() == {}


def test_values_that_pods_would_not_get_now_are_told_field_by_field(shop: Shop) -> None:
    shop.deployed("web", given=True)
    shop.pod("alone", injected(shop, plain()))
    shop.space.tell({"cwii.dev/aws-role-arn": OTHER, "cwii.dev/aws-audience": "elsewhere"})

    told = shop.told()

    for thing in ("Deployment/web", "Pod/alone"):
        assert told[thing]["condition"] == "drifted"
        assert {"field": "c: AWS_ROLE_ARN", "have": ROLE, "want": OTHER} in told[thing][
            "differences"
        ]
        assert {"sts.amazonaws.com", "elsewhere"} <= {
            each[side] for each in told[thing]["differences"] for side in ("have", "want")
        }


def test_who_asks_in_words_that_nobody_hears_is_told_and_not_restarted(shop: Shop) -> None:
    shop.admin.create(
        shop.space.path("serviceaccounts"),
        {"metadata": {"name": "typist", "annotations": {"cwii.dev/aws-injct": "true"}}},
    )
    shop.deployed("web", serviceAccountName="typist")
    shop.deployed("asked", given=True)

    told = shop.told("--restart", "--dry-run")

    assert set(told) == {"Deployment/web"}
    assert told["Deployment/web"]["condition"] == "missing"
    assert "pod web-1-0: is given nothing: 'cwii.dev/aws-injct' of" in remarks(
        told["Deployment/web"]
    )
    assert "did you mean cwii.dev/aws-inject?" in remarks(told["Deployment/web"])
    assert "it is not restarted: mend what is written first" in remarks(told["Deployment/web"])


@pytest.mark.parametrize(
    ("said", "pods"),
    [
        ({"eks.amazonaws.com/role-arn": ROLE}, {}),  # another webhook's, which has heard it or not
        ({"iam.gke.io/gcp-service-account": "shop@project.iam.gserviceaccount.com"}, {}),
        (
            {"azure.workload.identity/client-id": "11111111-2222-4333-8444-555555555555"},
            {},
        ),  # without the label, on purpose
        ({"cwii.dev/aws-role-arn": ROLE}, {}),  # for those that ask one by one
        ({"cwii.dev/aws-role-arm": ROLE}, {"cwii.dev/aws-inject": "false"}),
    ],
)
def test_who_asks_nobody_or_somebody_else_lacks_nothing(
    shop: Shop, said: dict[str, str], pods: dict[str, str]
) -> None:
    shop.admin.create(
        shop.space.path("serviceaccounts"), {"metadata": {"name": "other", "annotations": said}}
    )
    shop.pod(
        "web",
        {"metadata": {"annotations": pods}, "spec": plain(serviceAccountName="other")["spec"]},
    )

    assert shop.told() == {}


def test_who_asks_by_halves_is_told(shop: Shop) -> None:
    shop.admin.create(
        shop.space.path("serviceaccounts"),
        {"metadata": {"name": "half", "annotations": {"cwii.dev/aws-inject": "true"}}},
    )
    shop.deployed("web", serviceAccountName="half")

    assert "is given nothing: " in remarks(shop.told()["Deployment/web"])
    assert "cwii.dev/aws-role-arn" in remarks(shop.told()["Deployment/web"])


def test_whom_one_of_two_webhooks_has_not_understood_lacks_what_the_other_gives(
    shop: Shop, reach: Reach
) -> None:
    values = some(name=f"{shop.values.name}-eks", namespace=shop.values.namespace, dialects=["eks"])
    bodies = here(values, shop.values.name)
    for body in bodies:
        reach.admin.create(path(reach.admin, body), body)
    said = {"cwii.dev/aws-injct": "true", "eks.amazonaws.com/role-arn": ROLE}
    shop.admin.create(
        shop.space.path("serviceaccounts"), {"metadata": {"name": "both", "annotations": said}}
    )
    shop.deployed("web", serviceAccountName="both")

    told = shop.told("--restart", "--dry-run")

    for body in bodies:
        reach.admin.delete(f"{path(reach.admin, body)}/{values.name}")
    assert told["Deployment/web"]["condition"] == "to restart"
    assert "pod web-1-0: without volume aws-iam-token, " in remarks(told["Deployment/web"])
    assert "given nothing" not in remarks(told["Deployment/web"])


def test_each_thing_of_the_webhook_says_what_it_lacks_itself(shop: Shop) -> None:
    """Nobody has made more of it here than a configuration and a Deployment, and its account may read nothing."""
    name, space = shop.values.name, shop.values.namespace

    told = {each["thing"]: each for each in json.loads(shop.status().stdout)["things"]}

    assert told[f"k8s/Deployment/{space}/{name}"]["condition"] == "failed"
    assert told[f"k8s/Deployment/{space}/{name}"]["problem"].startswith("0 of 2 replicas are ready")
    assert (
        "pods.cwii.cwii.dev: Ignore where nobody answers"
        in told[f"k8s/MutatingWebhookConfiguration/{name}"]["remarks"]
    )
    assert told[f"k8s/Secret/{space}/{name}-serving"]["condition"] == "missing"
    rights = told[f"k8s/ClusterRole/{name}"]["problem"]
    assert rights.startswith("its ServiceAccount may not get cronjobs.batch")
    assert "watch serviceaccounts" in rights


def test_a_replica_on_its_way_out_is_not_expected_to_be_ready(shop: Shop) -> None:
    """After each upgrade there are some, for as long as they serve on."""
    home = f"/api/v1/namespaces/{shop.values.namespace}"
    pods = f"{home}/pods"
    shop.admin.create(f"{home}/serviceaccounts", {"metadata": {"name": ACCOUNT}})
    for name in ("stays", "goes"):
        about = {"name": name, "labels": labels(shop.values), "finalizers": ["example.com/serves"]}
        shop.admin.create(pods, {"metadata": about, "spec": plain()["spec"]})
    shop.admin.delete(f"{pods}/goes")

    told = {
        each["thing"]
        for each in json.loads(shop.status().stdout)["things"]
        if "/Pod/" in each["thing"]
    }

    for name in ("stays", "goes"):
        shop.admin.patch(f"{pods}/{name}", {"metadata": {"finalizers": None}})
    assert told == {f"k8s/Pod/{shop.values.namespace}/stays"}


def test_a_bundle_that_is_stale_is_told(reach: Reach, shop: Shop) -> None:
    pair = reach.authority.server("webhook", [f"{shop.values.name}.svc"])
    data = {"tls.crt": base64.b64encode(pair.certificate).decode()}
    secret = {"metadata": {"name": shop.values.serving_secret}, "data": data}
    shop.admin.create(f"/api/v1/namespaces/{shop.values.namespace}/secrets", secret)
    thing = f"k8s/MutatingWebhookConfiguration/{shop.values.name}"

    def told() -> dict[str, Any]:
        return next(
            each for each in json.loads(shop.status().stdout)["things"] if each["thing"] == thing
        )

    assert told()["condition"] == "drifted"
    assert "has not the CA of the certificate that is served" in remarks(told())
    of = f"{path(shop.admin, found(objects(shop.values), 'MutatingWebhookConfiguration'))}/{shop.values.name}"
    bundle = base64.b64encode(reach.authority.pem).decode()
    shop.admin.patch(
        of,
        [
            {"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": bundle}
            for number in range(3)
        ],
        "json",
    )
    assert told()["condition"] == "as wanted"


def test_where_no_webhook_is_asked_about_pods_nobody_can_tell(shop: Shop) -> None:
    shop.deployed("web")
    shop.admin.delete(
        f"{path(shop.admin, found(objects(shop.values), 'MutatingWebhookConfiguration'))}/{shop.values.name}"
    )

    assert "Deployment/web" not in shop.told()
    things = {each["thing"]: each for each in json.loads(shop.status().stdout)["things"]}
    assert things[f"k8s/MutatingWebhookConfiguration/{shop.values.name}"]["condition"] == "missing"


def test_who_may_not_list_pods_learns_it(reach: Reach, shop: Shop, tmp_path: Path) -> None:
    rights = [
        {
            "apiGroups": ["apps", "admissionregistration.k8s.io"],
            "resources": ["*"],
            "verbs": ["list"],
        }
    ]
    reader = reach.authority.client("reader", "readers")
    role = a_name("reader")
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    shop.admin.create(
        f"{rbac}/clusterroles",
        {
            "metadata": {"name": role},
            "rules": [*rights, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
        },
    )
    bound = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "User", "name": "reader"}],
    }
    shop.admin.create(f"{rbac}/clusterrolebindings", {"metadata": {"name": role}, **bound})
    shop.kubeconfig = reach.authority.kubeconfig(tmp_path / "reader", reach.urls[0], reader)

    told = shop.status("--pods")

    assert told.exit_code == 1
    assert "reader may not list" in told.stdout
    assert "which status --pods needs" in told.stdout

"""Pods that were made while the webhook was away, on a real API server: found, with whoever made them, and restarted on request."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cwiictl.cli.explain import explain
from cwiictl.cli.status import status
from cwiictl.errors import BadInput
from cwiictl.explain import explained
from cwiictl.explain.installed import services
from cwiictl.explain.objects import Objects, Pod
from cwiictl.install.body import Object, labels
from cwiictl.install.command import command
from cwiictl.install.objects import objects
from cwiictl.install.values import Values
from tests.cluster.kube.client import Client
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import path
from tests.cluster.space import ACCOUNT, HOOK, Space, a_name, plain
from tests.cwiictl.install.installed import found, some

ROLE, OTHER = "arn:aws:iam::123456789012:role/shop", "arn:aws:iam::123456789012:role/other"
SAYS = {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
APPS = "apps/v1"
RBAC = "rbac.authorization.k8s.io"
READS: Object = {"metadata": {"name": "reads"}, "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}]}
READER: Object = {  # of a namespace, and of nothing else
    "metadata": {"name": "reads"},
    "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "reads"},
    "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "somebody"}],
}


@dataclass
class Shop:
    """A namespace that a webhook is asked about, which is installed and does not run: nobody runs pods here."""

    space: Space
    values: Values
    kubeconfig: Path
    pem: bytes

    @property
    def admin(self) -> Client:
        return self.space.admin

    def status(self, *words: str) -> Result:
        return CliRunner().invoke(status, ["--kubeconfig", str(self.kubeconfig), "-n", self.space.name, "-o", "json", *words], catch_exceptions=False)

    def told(self, *words: str) -> dict[str, dict[str, Any]]:
        """Of this namespace, by kind and name."""
        things = json.loads(self.status("--pods", *words).stdout)["things"]
        begins = f"/{self.space.name}/"
        return {each["thing"].removeprefix("k8s/").replace(begins, "/"): each for each in things if begins in each["thing"]}

    def ready(self) -> None:
        """As its kubelet and controllers would say."""
        of = path(self.admin, found(objects(self.values), "Deployment"))
        self.admin.patch(f"{of}/{self.values.name}/status", {"status": {"replicas": 2, "readyReplicas": 2}})
        configuration = found(objects(self.values), "MutatingWebhookConfiguration")
        believed = f"{path(self.admin, configuration)}/{self.values.name}"
        bundle = base64.b64encode(self.pem).decode()
        ops = [{"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": bundle} for number in range(len(configuration["webhooks"]))]
        self.admin.patch(believed, ops, "json")

    def deployed(self, name: str, pods: int = 1, *, given: bool = False, **spec: Any) -> None:
        """A Deployment with the ReplicaSet and the pods that its controllers would make."""
        labels = {"app": name}
        template: Object = {"metadata": {"labels": labels}, "spec": {**plain()["spec"], **spec}}
        wanted = {"selector": {"matchLabels": labels}, "template": template}
        deployment = self.made("deployments", name, wanted)
        between = self.made("replicasets", f"{name}-1", wanted, owner(deployment, "Deployment"))
        for number in range(pods):
            self.pod(f"{name}-1-{number}", injected(self, template) if given else template, owner(between, "ReplicaSet"))

    def made(self, plural: str, name: str, spec: Object, *owners: Object) -> Object:
        return self.admin.create(self.space.path(plural, "apps"), {"metadata": {"name": name, "ownerReferences": list(owners)}, "spec": spec})

    def pod(self, name: str, template: Object, *owners: Object) -> Object:
        about = {**template["metadata"], "name": name, "ownerReferences": list(owners)}
        return self.space.create({"metadata": about, "spec": template["spec"]})


def owner(body: Object, kind: str) -> Object:
    about = body["metadata"]
    return {"apiVersion": APPS, "kind": kind, "name": about["name"], "uid": about["uid"], "controller": True}


def here(values: Values, hook: str) -> list[Object]:
    """What is asked about this namespace alone, and never answered: reviews are let through."""
    body = found(objects(values), "MutatingWebhookConfiguration")
    for entry in body["webhooks"]:
        entry["namespaceSelector"]["matchExpressions"].append({"key": HOOK, "operator": "In", "values": [hook]})
        entry |= {"failurePolicy": "Ignore", "timeoutSeconds": 1}
    return [body, found(objects(values), "Deployment")]


@pytest.fixture
def shop(reach: Reach, tmp_path: Path) -> Iterator[Shop]:
    values = some(name=a_name("webhook"), namespace=a_name("space"), aws={"region": "eu-west-1"})
    Space(reach, name=values.namespace)
    bodies = here(values, values.name)
    for body in bodies:
        reach.admin.create(path(reach.admin, body), body)
    kubeconfig = reach.authority.kubeconfig(tmp_path / "kubeconfig", reach.urls[0], reach.authority.client("admin", "system:masters"))
    yield Shop(Space(reach, hook=values.name).account(SAYS), values, kubeconfig, reach.authority.pem)
    for body in bodies:
        if reach.admin.exists(f"{path(reach.admin, body)}/{body['metadata']['name']}"):
            reach.admin.delete(f"{path(reach.admin, body)}/{body['metadata']['name']}")


def remarks(row: dict[str, Any]) -> str:
    return "\n".join(row["remarks"])


def injected(shop: Shop, template: Object) -> Object:
    """As the webhook would have it."""
    objects = Objects(shop.space.name)
    objects.hold({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "annotations": SAYS}})
    (service,) = services({"metadata": {"name": ""}, "spec": {"template": {"spec": {"containers": [{"name": "webhook", "args": command(shop.values)}]}}}}, ())
    after = explained(Pod(shop.space.name, {"kind": "Pod", **template}), service.route, objects).after
    return {"metadata": dict(after["metadata"]), "spec": after["spec"]}


def test_pods_that_were_let_through_are_told_with_whoever_made_them(shop: Shop) -> None:
    shop.deployed("web", pods=2)

    row = shop.told()["Deployment/web"]

    assert row["condition"] == "missing"
    assert "pod web-1-0, web-1-1: without volume cwii-aws-token, AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_REGION" in remarks(row)
    assert f"aws: cwii.dev/aws-inject of ServiceAccount {shop.space.name}/{ACCOUNT}" in remarks(row)


def test_pods_that_have_all_that_they_ask_for_are_not_told_nor_those_that_ask_for_nothing(shop: Shop) -> None:
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
        assert {"field": "c: AWS_ROLE_ARN", "have": ROLE, "want": OTHER} in told[thing]["differences"]
        assert {"sts.amazonaws.com", "elsewhere"} <= {each[side] for each in told[thing]["differences"] for side in ("have", "want")}


def test_each_thing_of_the_webhook_says_what_it_lacks_itself(shop: Shop) -> None:
    """Nobody has made more of it here than a configuration and a Deployment, and its account may read nothing."""
    name, space = shop.values.name, shop.values.namespace

    told = {each["thing"]: each for each in json.loads(shop.status().stdout)["things"]}

    assert told[f"k8s/Deployment/{space}/{name}"]["condition"] == "failed"
    assert told[f"k8s/Deployment/{space}/{name}"]["problem"].startswith("0 of 2 replicas are ready")
    assert "pods.cwii.cwii.dev: Ignore where nobody answers" in told[f"k8s/MutatingWebhookConfiguration/{name}"]["remarks"]
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

    told = {each["thing"] for each in json.loads(shop.status().stdout)["things"] if "/Pod/" in each["thing"]}

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
        return next(each for each in json.loads(shop.status().stdout)["things"] if each["thing"] == thing)

    assert told()["condition"] == "drifted"
    assert "has not the CA of the certificate that is served" in remarks(told())
    of = f"{path(shop.admin, found(objects(shop.values), 'MutatingWebhookConfiguration'))}/{shop.values.name}"
    bundle = base64.b64encode(reach.authority.pem).decode()
    shop.admin.patch(of, [{"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": bundle} for number in range(3)], "json")
    assert told()["condition"] == "as wanted"


def test_where_no_webhook_is_asked_about_pods_nobody_can_tell(shop: Shop) -> None:
    shop.deployed("web")
    shop.admin.delete(f"{path(shop.admin, found(objects(shop.values), 'MutatingWebhookConfiguration'))}/{shop.values.name}")

    assert "Deployment/web" not in shop.told()
    things = {each["thing"]: each for each in json.loads(shop.status().stdout)["things"]}
    assert things[f"k8s/MutatingWebhookConfiguration/{shop.values.name}"]["condition"] == "missing"


def test_what_belongs_to_a_restart_is_of_no_use_without() -> None:
    for words in (["--dry-run"], ["--yes", "--pods"]):
        with pytest.raises(BadInput, match="of --restart, which is not given"):
            CliRunner().invoke(status, words, catch_exceptions=False)


def test_what_nobody_makes_anew_is_named_and_pods_of_nodes_and_ended_ones_are_not(shop: Shop) -> None:
    shop.pod("alone", plain())
    shop.pod(
        "mirror",
        {"metadata": {"annotations": {**SAYS, "kubernetes.io/config.mirror": "x"}}, "spec": {"nodeName": "n", "containers": plain()["spec"]["containers"]}},
    )
    shop.pod("ended", plain())
    shop.admin.patch(f"{shop.space.path('pods')}/ended/status", {"status": {"phase": "Succeeded"}})

    told = shop.told("--restart", "--dry-run")

    assert set(told) == {"Pod/alone"}
    assert told["Pod/alone"]["condition"] == "missing"
    assert "nobody makes it anew: delete it, and create it again" in remarks(told["Pod/alone"])


def test_what_is_restarted_is_shown_and_then_only_with_a_webhook_that_answers(shop: Shop) -> None:
    shop.deployed("web")
    place = f"{shop.space.path('deployments', 'apps')}/web"

    assert shop.told("--restart", "--dry-run")["Deployment/web"]["condition"] == "to restart"
    refused = shop.status("--restart", "--yes")
    assert f"the webhook {shop.values.name} has no replica that is ready" in refused.stdout
    assert refused.exit_code == 1
    assert "annotations" not in shop.admin.get(place)["spec"]["template"]["metadata"]

    shop.ready()
    assert shop.told("--restart", "--yes")["Deployment/web"]["condition"] == "restarted"
    assert "kubectl.kubernetes.io/restartedAt" in shop.admin.get(place)["spec"]["template"]["metadata"]["annotations"]


def test_whose_pods_would_be_refused_now_is_not_restarted(shop: Shop) -> None:
    """It would lose those that it has."""
    shop.deployed("web")
    shop.ready()
    shop.space.tell({"cwii.dev/aws-role-arn": "no role"})

    told = shop.told("--restart", "--yes")["Deployment/web"]

    assert told["condition"] == "missing"
    assert "pod web-1-0: would be refused now: " in remarks(told)
    assert "it is not restarted: mend what is refused first" in remarks(told)
    assert "annotations" not in shop.admin.get(f"{shop.space.path('deployments', 'apps')}/web")["spec"]["template"]["metadata"]


def test_where_nobody_can_be_asked_nothing_is_restarted(shop: Shop) -> None:
    shop.deployed("web")
    shop.ready()

    with pytest.raises(BadInput, match="nobody can be asked"):
        shop.status("--restart")


def test_who_may_not_list_pods_learns_it(reach: Reach, shop: Shop, tmp_path: Path) -> None:
    rights = [{"apiGroups": ["apps", "admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["list"]}]
    reader = reach.authority.client("reader", "readers")
    role = a_name("reader")
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    shop.admin.create(f"{rbac}/clusterroles", {"metadata": {"name": role}, "rules": [*rights, {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
    bound = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": [{"kind": "User", "name": "reader"}]}
    shop.admin.create(f"{rbac}/clusterrolebindings", {"metadata": {"name": role}, **bound})
    shop.kubeconfig = reach.authority.kubeconfig(tmp_path / "reader", reach.urls[0], reader)

    told = shop.status("--pods")

    assert told.exit_code == 1
    assert "reader may not list" in told.stdout
    assert "which status --pods needs" in told.stdout


def told(shop: Shop, *words: str, user: Path | None = None) -> Result:
    return CliRunner().invoke(explain, ["--kubeconfig", str(user or shop.kubeconfig), "-n", shop.space.name, *words], catch_exceptions=False)


def test_a_pod_is_explained_as_the_installed_webhook_is_told(shop: Shop) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})

    plainly, otherwise = told(shop, "pod/web").stdout, told(shop, "pod/web", "--", "--native-annotations=false").stdout

    by = f"As Deployment {shop.values.namespace}/{shop.values.name} is told to."
    assert by in plainly.splitlines()  # there may be others, which nobody asks about it
    assert "AWS_REGION" in plainly
    assert "As Deployment" not in otherwise
    assert "AWS_ROLE_ARN" in otherwise
    assert "AWS_REGION" not in otherwise
    assert by in json.loads(told(shop, "pod/web", "-o", "json").stdout)["by"]


def test_a_dialect_that_no_installed_webhook_speaks_is_explained_as_it_is_by_default(shop: Shop) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})

    assert told(shop, "pod/web", "--dialect", "gcpwif").stdout.startswith("No webhook that is installed in this cluster answers in the dialect gcpwif: ")


def test_a_pod_that_no_api_server_asks_about_is_given_nothing(shop: Shop, reach: Reach) -> None:
    elsewhere = Space(reach).account(SAYS)
    elsewhere.create({**plain(), "metadata": {"name": "web"}})

    said = told(shop, "pod/web", "-n", elsewhere.name).stdout

    assert "web: nothing" in said
    assert "cwii: not-selected (API servers do not ask about it: " in said


def test_where_a_deployment_has_no_configuration_that_is_said(shop: Shop) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})
    configuration = found(objects(shop.values), "MutatingWebhookConfiguration")
    shop.admin.delete(f"{path(shop.admin, configuration)}/{shop.values.name}")

    said = told(shop, "pod/web").stdout

    assert "cwii: not-configured (API servers do not ask about it: the webhook has no MutatingWebhookConfiguration" in said


def test_conditions_of_ones_own_that_are_not_looked_at_are_named(shop: Shop) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})
    unlooked = f"The matchConditions of {shop.values.name} are not looked at here (not-on-sundays): API servers do not ask about pods that they leave out."
    assert f"The matchConditions of {shop.values.name} " not in told(shop, "pod/web").stdout
    configuration = found(objects(shop.values), "MutatingWebhookConfiguration")
    theirs = [{"op": "add", "path": "/webhooks/0/matchConditions/-", "value": {"name": "not-on-sundays", "expression": "true"}}]
    shop.admin.patch(f"{path(shop.admin, configuration)}/{shop.values.name}", theirs, "json")

    assert unlooked in told(shop, "pod/web").stdout.splitlines()


def test_several_are_asked_in_the_order_of_their_names_and_not_of_their_namespaces(shop: Shop, reach: Reach) -> None:
    """A name that comes before the shop's, in a namespace that comes after."""
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})
    values = some(name=f"a-{shop.values.name}", namespace=f"z-{shop.values.namespace}")
    Space(reach, name=values.namespace)
    bodies = here(values, shop.values.name)
    for body in bodies:
        shop.admin.create(path(shop.admin, body), body)

    by = json.loads(told(shop, "pod/web", "-o", "json").stdout)["by"]

    for body in bodies:
        shop.admin.delete(f"{path(shop.admin, body)}/{values.name}")
    ours = [line.split("/")[1].split()[0] for line in by if shop.values.name in line]
    assert ours == [values.name, shop.values.name]


def test_who_may_not_read_deployments_is_told_so(shop: Shop, reach: Reach, tmp_path: Path) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})
    shop.admin.create(shop.space.path("roles", RBAC), READS)
    shop.admin.create(shop.space.path("rolebindings", RBAC), READER)
    somebody = reach.authority.kubeconfig(tmp_path / "somebody", reach.urls[0], reach.authority.client("somebody"))

    said = told(shop, "pod/web", user=somebody)

    assert said.exit_code == 0
    assert said.stdout.startswith("What webhook is installed in this cluster cannot be read (")
    assert "AWS_ROLE_ARN" in said.stdout

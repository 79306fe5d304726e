"""cwiictl explain, in the words of whatever webhook is installed in a real API server."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from cwiictl.cli.explain import explain
from cwiictl.install.body import Object
from cwiictl.install.objects import objects
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import path
from tests.cluster.shop import SAYS, Shop, here
from tests.cluster.space import Space, plain
from tests.cwiictl.install.installed import found, some

RBAC = "rbac.authorization.k8s.io"
READS: Object = {
    "metadata": {"name": "reads"},
    "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}],
}
READER: Object = {  # of a namespace, and of nothing else
    "metadata": {"name": "reads"},
    "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "reads"},
    "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "somebody"}],
}


def told(shop: Shop, *words: str, user: Path | None = None) -> Result:
    return CliRunner().invoke(
        explain,
        ["--kubeconfig", str(user or shop.kubeconfig), "-n", shop.space.name, *words],
        catch_exceptions=False,
    )


def test_a_pod_is_explained_as_the_installed_webhook_is_told(shop: Shop) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})

    plainly, otherwise = (
        told(shop, "pod/web").stdout,
        told(shop, "pod/web", "--", "--native-annotations=false").stdout,
    )

    by = f"As Deployment {shop.values.namespace}/{shop.values.name} is told to."
    assert by in plainly.splitlines()  # there may be others, which nobody asks about it
    assert "AWS_REGION" in plainly
    assert "As Deployment" not in otherwise
    assert "AWS_ROLE_ARN" in otherwise
    assert "AWS_REGION" not in otherwise
    assert by in json.loads(told(shop, "pod/web", "-o", "json").stdout)["by"]


def test_a_dialect_that_no_installed_webhook_speaks_is_explained_as_it_is_by_default(
    shop: Shop,
) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})

    assert told(shop, "pod/web", "--dialect", "gcpwif").stdout.startswith(
        "No webhook that is installed in this cluster answers in the dialect gcpwif: "
    )


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

    assert (
        "cwii: not-configured (API servers do not ask about it: the webhook has no MutatingWebhookConfiguration"
        in said
    )


def test_conditions_of_ones_own_that_are_not_looked_at_are_named(shop: Shop) -> None:
    shop.pod("web", {"metadata": {}, "spec": plain()["spec"]})
    unlooked = f"The matchConditions of {shop.values.name} are not looked at here (not-on-sundays): API servers do not ask about pods that they leave out."
    assert f"The matchConditions of {shop.values.name} " not in told(shop, "pod/web").stdout
    configuration = found(objects(shop.values), "MutatingWebhookConfiguration")
    theirs = [
        {
            "op": "add",
            "path": "/webhooks/0/matchConditions/-",
            "value": {"name": "not-on-sundays", "expression": "true"},
        }
    ]
    shop.admin.patch(f"{path(shop.admin, configuration)}/{shop.values.name}", theirs, "json")

    assert unlooked in told(shop, "pod/web").stdout.splitlines()


def test_several_are_asked_in_the_order_of_their_names_and_not_of_their_namespaces(
    shop: Shop, reach: Reach
) -> None:
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
    somebody = reach.authority.kubeconfig(
        tmp_path / "somebody", reach.urls[0], reach.authority.client("somebody")
    )

    said = told(shop, "pod/web", user=somebody)

    assert said.exit_code == 0
    assert said.stdout.startswith("What webhook is installed in this cluster cannot be read (")
    assert "AWS_ROLE_ARN" in said.stdout

"""Who may not install it all learns what they lack, before anything is written; and so does who would install it beside another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.kubernetes import connect
from cwiictl.kubernetes.kinds import STAGE
from tests.cluster.kube.client import Object
from tests.cluster.life.user import User
from tests.cluster.space import a_name

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

RBAC = "/apis/rbac.authorization.k8s.io/v1"
VERBS = ("get", "list", "create", "patch", "delete")
GRANTING = {"clusterroles", "roles"}


def rights(user: User, without: tuple[str, str]) -> list[Object]:
    """All that it takes, but for one verb on one kind."""
    place = connect(user.kubeconfig, None)
    kinds = {
        (kind.group, kind.plural)
        for title in (*STAGE, "Pod", "Event")
        if (kind := place.kinds.get(title))
    }
    place.close()
    return [
        {
            "apiGroups": [group],
            "resources": [plural],
            "verbs": [
                *(verb for verb in VERBS if (plural, verb) != without),
                *(("escalate", "bind") if plural in GRANTING else ()),
            ],
        }
        for group, plural in sorted(kinds)
    ]


def somebody(user: User, without: tuple[str, str]) -> User:
    """A ServiceAccount, by its token."""
    name = a_name("nearly")
    admin = user.admin
    admin.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": name}})
    admin.create(
        f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rights(user, without)}
    )
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    admin.create(
        f"{RBAC}/clusterrolebindings",
        {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]},
    )
    token = admin.create(
        f"/api/v1/namespaces/default/serviceaccounts/{name}/token",
        {"spec": {"expirationSeconds": 3600}},
    )["status"]["token"]
    file, reach = user.kubeconfig.parent / f"{name}.kubeconfig", user.cluster.reach
    return replace(
        user,
        kubeconfig=reach.authority.kubeconfig(file, reach.urls[0], token),
        who=f"system:serviceaccount:default:{name}",
    )


@pytest.mark.parametrize(
    "without",
    [
        ("mutatingwebhookconfigurations", "patch"),
        ("secrets", "create"),
        ("jobs", "create"),
        ("namespaces", "get"),
        ("pods", "list"),
        ("daemonsets", "list"),
    ],
    ids="-".join,
)
def test_who_lacks_one_right_is_told_which_and_nothing_is_written(
    user: User, without: tuple[str, str]
) -> None:
    user.has()
    other = somebody(user, without)

    said = other.installs("--set=logLevel=debug")

    assert said.code == 1, said
    assert f"{other.who} may not {without[1]} {without[0]}" in said
    assert other.wrote() == []


@pytest.mark.parametrize("without", [("services", "delete"), ("daemonsets", "list")], ids="-".join)
def test_who_could_not_take_all_of_it_out_takes_nothing_out(
    user: User, without: tuple[str, str]
) -> None:
    user.has()
    other = somebody(user, without)

    said = other.says("uninstall-webhook", "--yes")

    assert said.code == 1, said
    assert f"may not {without[1]} {without[0]}" in said
    assert other.wrote() == []


def test_who_has_them_all_may(user: User) -> None:
    """So that what the others lack is what they are told."""
    user.has()
    other = somebody(user, ("none", "of-them"))

    assert other.installs("--set=logLevel=debug").code == 0
    assert other.says("uninstall-webhook", "--dry-run").code == 0

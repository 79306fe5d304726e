"""Each account's rights, all of them: a right that is added is seen here."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.permissions import READ_VERBS, WRITE_VERBS
from cwii_webhook.kube.resources import CONFIG_MAPS, NAMESPACES, OWNERS, SERVICE_ACCOUNTS

from cwiictl.install.objects import objects
from tests.cwiictl.install.installed import FILES, of, some


def rights(account: str, **said: Any) -> list[str]:
    """As kubectl would say them: where, what, which and how."""
    those = objects(some(**said))
    roles = {
        (each["kind"], each["metadata"]["name"]): each
        for each in those
        if each["kind"] in {"Role", "ClusterRole"}
    }
    bound = [
        each
        for each in those
        if each["kind"].endswith("RoleBinding")
        and account in {subject["name"] for subject in each["subjects"]}
    ]
    return [
        line
        for each in bound
        for line in _lines(roles[each["roleRef"]["kind"], each["roleRef"]["name"]])
    ]


def _lines(role: dict[str, Any]) -> list[str]:
    where = role["metadata"].get("namespace", "everywhere")
    return [
        f"{where}: {','.join(rule['verbs'])} {resource}{f'.{group}' if group else ''}{' ' + ','.join(rule['resourceNames']) if 'resourceNames' in rule else ''}"
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]


READING = [
    "everywhere: get,list,watch serviceaccounts",
    "everywhere: get,list,watch namespaces",
    "everywhere: get,list,watch replicasets.apps",
    "everywhere: get,list,watch deployments.apps",
    "everywhere: get,list,watch statefulsets.apps",
    "everywhere: get,list,watch daemonsets.apps",
    "everywhere: get,list,watch jobs.batch",
    "everywhere: get,list,watch cronjobs.batch",
    "everywhere: get,list,watch rollouts.argoproj.io",
]


def test_who_answers_reviews_only_reads() -> None:
    assert rights("cwii-webhook") == READING


@pytest.mark.parametrize("dialect", ["eks", "azwi", "gcpwif"])
def test_the_others_only_read_service_accounts(dialect: str) -> None:
    assert rights("cwii-webhook", dialects=[dialect], azure={"tenantId": "t"}) == READING[:1]


def test_config_maps_are_written_only_where_they_deliver() -> None:
    assert rights("cwii-webhook", gcp={"delivery": "config-map"}) == [
        *READING,
        "everywhere: get,create,patch configmaps",
    ]
    assert rights("cwii-webhook", gcp={"delivery": "config-map"}, dialects=["eks"]) == READING[:1]


def test_the_renewer_has_its_two_secrets_and_its_configuration() -> None:
    assert rights("cwii-webhook-renewer") == [
        "everywhere: get,patch mutatingwebhookconfigurations.admissionregistration.k8s.io cwii-webhook",
        "cwii-system: get,patch secrets cwii-webhook-serving,cwii-webhook-ca",
        "cwii-system: list endpointslices.discovery.k8s.io",
        "cwii-system: create events",
    ]


@pytest.mark.parametrize("by", ["cert-manager", "service-ca"])
def test_without_a_renewer_there_is_no_account_for_it(by: str) -> None:
    those = objects(some(certificates={"by": by}))

    assert [each["metadata"]["name"] for each in those if each["kind"] == "ServiceAccount"] == [
        "cwii-webhook"
    ]
    assert rights("cwii-webhook-renewer", certificates={"by": by}) == []


@pytest.mark.parametrize("name", FILES)
def test_no_account_may_do_all(name: str) -> None:
    rules = [
        rule
        for each in objects(of(name))
        if each["kind"] in {"Role", "ClusterRole"}
        for rule in each["rules"]
    ]

    assert [
        rule for rule in rules if "*" in [*rule["verbs"], *rule["resources"], *rule["apiGroups"]]
    ] == []
    assert [
        rule for rule in rules if "secrets" in rule["resources"] and not rule.get("resourceNames")
    ] == []


@pytest.mark.parametrize("name", FILES)
def test_the_webhook_itself_asks_for_no_more_and_no_less(name: str) -> None:
    """It looks at what its dialects' kinds are, and does not become ready where it may not."""
    values = of(name)
    kinds = {(kind.group, kind.kind): kind for kind in (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)}
    needed = {
        (kinds[key].group, kinds[key].plural, verb)
        for dialect in values.dialects
        for key in ALL[dialect].kinds
        for verb in READ_VERBS
    }
    if "cwii" in values.dialects and values.gcp.delivery == "config-map":
        needed |= {(CONFIG_MAPS.group, CONFIG_MAPS.plural, verb) for verb in WRITE_VERBS}
    (role,) = [
        each
        for each in objects(values)
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == values.name
    ]

    assert {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    } == needed

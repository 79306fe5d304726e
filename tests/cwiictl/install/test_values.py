"""What people say of an installation: read as helm would, and told in a sentence where it cannot be meant."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.install.given import read, values
from cwiictl.install.values import Values


def told(*sets: str, text: str = "", under: dict[str, Any] | None = None) -> Values:
    return values(read("values.yaml", text.encode()), sets, under=under)


def test_nothing_said_is_what_most_clusters_want() -> None:
    assert told() == told(text="# nothing yet\n") == Values()


def test_what_is_set_goes_before_the_file_and_the_file_before_what_is_known_of_the_clouds() -> None:
    text = "aws: {region: eu-west-2}\nreplicas: 3\n"
    under = {
        "aws": {"region": "eu-west-1", "audience": "a"},
        "azure": {"tenantId": "t"},
        "replicas": 4,
    }

    heard = told("aws.region=eu-west-3", text=text, under=under)

    assert (heard.aws.region, heard.aws.audience, heard.azure.tenant_id, heard.replicas) == (
        "eu-west-3",
        "a",
        "t",
        3,
    )


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("replicas=3", "replicas", 3),
        ("require=true", "require", True),
        ("azure.tenantId=1234", "azure.tenant_id", "1234"),
        ("dialects={cwii,eks}", "dialects", ("cwii", "eks")),
        ("dialects=[cwii, gcpwif]", "dialects", ("cwii", "gcpwif")),
        ("excludedNamespaces={}", "excluded_namespaces", ()),
        (
            r"nodeSelector.example\.com/pool=true",
            "node_selector",
            {"kubernetes.io/os": "linux", "example.com/pool": "true"},
        ),
        (
            "networkPolicy.metricsFrom=[{podSelector: {a: b}}]",
            "network_policy.metrics_from",
            ({"podSelector": {"a": "b"}},),
        ),
        ("resources.requests.cpu=1", "resources.requests", {"cpu": "1", "memory": "128Mi"}),
    ],
)
def test_a_set_value_is_read_as_its_field_has_it(words: str, field: str, value: object) -> None:
    here: Any = told(words)
    for step in field.split("."):
        here = getattr(here, step)

    assert here == value


def test_nothing_takes_away_what_is_there_by_default() -> None:
    assert (
        told(text="resources: {limits: {memory: null}}\nnodeSelector: {a: b}\n").resources.limits
        == {}
    )


@pytest.mark.parametrize(
    ("said", "problem", "remedy"),
    [
        (
            {"sets": ["aws.regoin=x"]},
            "--set aws.regoin=x has the key 'regoin' in aws, which is not known",
            "did you mean region?",
        ),
        (
            {"sets": ["replicas=many"]},
            "replicas in --set replicas=many is a text where a number is needed",
            "correct",
        ),
        ({"sets": ["replicas=0"]}, "replicas in --set replicas=0 is less than 1", "correct"),
        (
            {"sets": ["dialects={cwi}"]},
            "dialects[0] in --set dialects={cwi} is 'cwi', which is not known",
            "did you mean cwii?",
        ),
        ({"sets": ["require"]}, "--set require says nothing", "aws.region=eu-west-1"),
        ({"sets": ["aws..region=x"]}, "--set aws..region=x says nothing", "aws.region=eu-west-1"),
        ({"sets": ["dialects=[cwii"]}, "--set dialects=[cwii:2:1 is not valid YAML", "correct"),
        (
            {"text": "aws:\n  regoin: x\n"},
            "values.yaml:2 has the key 'regoin' in aws, which is not known",
            "did you mean region?",
        ),
        (
            {"text": "certificates:\n  by: certmanager\n"},
            "certificates.by in values.yaml:2 is 'certmanager', which is not known",
            "did you mean cert-manager?",
        ),
        (
            {"text": "replicas: 2\n---\nreplicas: 3\n"},
            "values.yaml:3 begins other values",
            "one object",
        ),
        ({"text": "- replicas\n"}, "values.yaml:1 is no object but a list", "objects"),
        ({"text": "dialects: []\n"}, "dialects in values.yaml:1 is empty", "correct"),
        (
            {"sets": ["name=Webhook"]},
            "name is 'Webhook', which Kubernetes does not take",
            "lower-case",
        ),
        ({"sets": [f"name={'a' * 47}"]}, "which Kubernetes does not take", "a few"),
        ({"sets": ["namespace=cwii_system"]}, "namespace is 'cwii_system'", "lower-case"),
        (
            {"sets": ["excludedNamespaces={team-*}"]},
            "excludedNamespaces has 'team-*', which no namespace is called",
            "whole names",
        ),
        ({"sets": ["dialects={cwii,cwii}"]}, "dialects has one of them twice", "each once"),
        (
            {"sets": ["dialects={azwi}"]},
            "azure.tenantId is empty, and the dialect azwi does not start without",
            "azure.tenantId",
        ),
        (
            {"sets": ["arguments.eks=[--v=4]"]},
            "arguments.eks is said, and dialects has no eks",
            "use one of: cwii",
        ),
        (
            {"sets": ["dialects={azwi}", "azure.tenantId=t", "logLevel=warning"]},
            "azwi alone has no word for it",
            "say info or debug",
        ),
        (
            {"sets": ["dialects={eks}", "require=true"]},
            "require has nothing to look at",
            "add cwii",
        ),
        (
            {"sets": ["certificates.by=files"]},
            "certificates.by is files, and certificates.secret or certificates.ca is empty",
            "name the Secret",
        ),
        (
            {"sets": ["certificates.ca=x"]},
            "are for files, and certificates.by is renewer",
            "certificates.by=files",
        ),
        (
            {"sets": ["certificates.validity=90d"]},
            "certificates.validity is '90d', which is no time",
            "say it as 30s",
        ),
        (
            {"sets": ["certificates.validity=30s"]},
            "certificates.validity is 30s, and certificates.caValidity 87600h",
            "a minute at least",
        ),
        (
            {"sets": ["certificates.caValidity=2161h"]},
            "certificates.validity is 2160h, and certificates.caValidity 2161h",
            "twice as long",
        ),
        (
            {"sets": ["certificates.validity=11h"]},
            "certificates.validity is 11h, and between two looks certificates.schedule, 23 */6 * * *, may leave 6h",
            "let certificates last 12h at least",
        ),
        (
            {"sets": ["certificates.schedule=often"]},
            "certificates.schedule is 'often', which is no schedule",
            "five words",
        ),
        (
            {"sets": ["autoscaling.maxReplicas=1"]},
            "autoscaling.maxReplicas is less than autoscaling.minReplicas",
            "turn them round",
        ),
        (
            {
                "sets": [
                    """matchConditions=[{name: new, expression: "!('cwii.dev/injected' in object.metadata.annotations)"}]"""
                ]
            },
            "matchConditions.new goes by cwii.dev/injected, which anybody can write on a pod",
            "what the webhook itself would heed",
        ),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(
    said: dict[str, Any], problem: str, remedy: str
) -> None:
    with pytest.raises(BadInput) as refused:
        told(*said.get("sets", ()), text=said.get("text", ""))

    assert problem in refused.value.problem
    assert remedy in refused.value.remedy


def test_whoever_renews_by_another_way_has_lives_of_their_own() -> None:
    assert (
        told("certificates.by=cert-manager", "certificates.validity=1h").certificates.validity
        == "1h"
    )
    assert (
        told("certificates.validity=2m", "certificates.schedule=* * * * *").certificates.validity
        == "2m"
    )


def test_a_part_need_not_agree_with_the_rest_before_all_is_said() -> None:
    """A set value is judged by itself for its form, and with all others for its sense."""
    assert told("dialects={azwi}", "azure.tenantId=t").dialects == ("azwi",)
    assert told("azure.tenantId=t", text=json.dumps({"dialects": ["azwi"]})).dialects == ("azwi",)

"""The command line that is installed is one that the webhook understands, by its own reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from cwii_webhook import help as usage
from cwii_webhook.dialects.azwi import settings as azwi
from cwii_webhook.dialects.cwii import settings as cwii
from cwii_webhook.dialects.dialect import Service, build_service
from cwii_webhook.dialects.registry import ALL, routes, split_command_line
from cwii_webhook.renewer import settings as renewing
from cwii_webhook.settings.flags import parse

from cwiictl.errors import BadInput
from cwiictl.install import renewal
from cwiictl.install.command import CERTIFICATES, HTTPS, PLAIN, command, path, understood
from cwiictl.install.objects import objects
from tests.cwiictl.install.installed import FILES, PROVIDER, of, some


def served(words: Sequence[str]) -> list[Service]:
    """As the program takes them apart."""
    (first, *own), *others = split_command_line(words)
    further = [
        build_service(ALL[name], flags, {}, path=f"/{name}{ALL[name].path}")
        for name, *flags in others
    ]
    return [build_service(ALL[first], own, {}), *further]


@pytest.mark.parametrize("name", FILES)
def test_every_dialect_is_served_where_the_configuration_says(name: str) -> None:
    values = of(name)

    offered = served(command(values))

    answered = routes(offered)
    assert [answered[path(dialect).encode()].dialect for dialect in values.served] == list(
        values.served
    )
    assert [warning for each in offered for warning in each.flags.warnings] == []


@pytest.mark.parametrize("name", FILES)
def test_the_first_listens_where_the_service_and_the_probes_look(name: str) -> None:
    serving = served(command(of(name)))[0].serving

    assert serving.listen_address == ("", HTTPS)
    assert serving.plain_addresses == (("", PLAIN),)
    assert serving.certificate_files == (f"{CERTIFICATES}/tls.crt", f"{CERTIFICATES}/tls.key")


@pytest.mark.parametrize("name", FILES)
def test_it_is_understood_here_as_it_is_there(name: str) -> None:
    values = of(name)

    here, there = understood(values), served(command(values))

    assert [(each.route.path, each.serving, each.flags) for each in here] == [
        (each.route.path, each.serving, each.flags) for each in there
    ]


@pytest.mark.parametrize(
    ("said", "problem", "remedy"),
    [
        (
            {"arguments": {"cwii": ["--wrokers=2"]}},
            "there is no flag --wrokers",
            "did you mean --workers?",
        ),
        ({"arguments": {"cwii": ["--workers=0"]}}, "--workers is 0", "one at least"),
        (
            {"aws": {"audience": "of the shop"}},
            "--aws-default-audience is 'of the shop', which is no audience",
            "sts.amazonaws.com",
        ),
        (
            {"dialects": ["cwii", "eks"], "arguments": {"eks": ["--port=443"]}},
            "eks is served where the first dialect is",
            "tell the first one",
        ),
    ],
)
def test_what_the_webhook_would_not_start_with_is_not_installed(
    said: dict[str, Any], problem: str, remedy: str
) -> None:
    with pytest.raises(BadInput) as refused:
        objects(some(**said))

    assert refused.value.problem.startswith(f"the webhook would not start: {problem}")
    assert remedy in refused.value.remedy


def test_the_log_is_as_loud_as_was_said() -> None:
    assert served(command(of("eks-alone")))[0].serving.log_level == "debug"


def test_ids_of_the_clouds_are_what_each_dialect_takes_by_default() -> None:
    told = {each.route.dialect: each.flags.values for each in served(command(of("all-dialects")))}

    assert told["cwii"]["gcp_default_audience"] == f"//iam.googleapis.com/{PROVIDER}"
    assert (
        told["cwii"]["az_default_audience"]
        == told["azwi"]["audience"]
        == "api://AzureADTokenExchangeUSGov"
    )
    assert told["cwii"]["aws_default_audience"] == told["eks"]["audience"] == "sts.amazonaws.com"
    assert told["eks"]["region"] == "eu-west-1"
    assert (told["azwi"]["tenant_id"], told["azwi"]["cloud"]) == (
        "11111111-2222-3333-4444-555555555555",
        "AzureUSGovernmentCloud",
    )
    assert (told["gcpwif"]["audience"], told["gcpwif"]["region"]) == (
        "sts.googleapis.com",
        "europe-west1",
    )


def test_of_what_nothing_is_said_nothing_is_told() -> None:
    (offered,) = served(command(some()))

    assert cwii.parse_settings(offered.flags) == cwii.Settings()


def test_every_cloud_of_azures_is_one_that_the_webhook_knows() -> None:
    for environment in ("AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud"):
        words = command(
            some(dialects=["azwi"], azure={"tenantId": "t", "environment": environment})
        )
        assert (
            azwi.parse_settings(served(words)[0].flags).authority == azwi.AUTHORITIES[environment]
        )


def test_more_words_come_last_so_that_they_count() -> None:
    offered = served(command(some(arguments={"cwii": ["--gcp-delivery=init-container"]})))

    assert offered[0].flags.values["gcp_delivery"] == "init-container"


def test_the_programs_help_knows_the_dialects_that_can_be_said() -> None:
    assert set(ALL) == set(
        some(dialects=["cwii", "eks", "azwi", "gcpwif"], azure={"tenantId": "t"}).dialects
    )
    assert all(dialect in usage.USAGE for dialect in ALL)


def test_the_renewer_understands_what_it_is_told() -> None:
    program, *words = renewal.command(
        some(certificates={"validity": "720h", "caValidity": "8760h"})
    )

    told = renewing.build_renewer_settings(parse(renewing.FLAGS, words, {}))

    assert program == "renew"
    assert (told.namespace, told.service, told.configurations) == (
        "cwii-system",
        "cwii-webhook",
        ("cwii-webhook",),
    )
    assert (told.serving_secret, told.ca_secret) == ("cwii-webhook-serving", "cwii-webhook-ca")
    assert (told.validity, told.ca_validity) == (720 * 3600, 8760 * 3600)

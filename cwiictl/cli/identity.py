"""create-identity: one workload, from options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from cwiictl.actions import identity
from cwiictl.actions.order import Order
from cwiictl.cli import cloud_options, declaring, options
from cwiictl.cli.console import Console
from cwiictl.cli.order import identity as order
from cwiictl.clouds import ALL


@click.command("create-identity", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("create-identity")
@options.issuer
@options.user_tags
@click.option(
    "--namespace", "-n", required=True, metavar="NAME", help="Namespace of the ServiceAccounts."
)
@click.option(
    "--service-account",
    "service_accounts",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Whose tokens are trusted. Repeatable.",
)
@click.option(
    "--identity",
    default="",
    metavar="NAME",
    help="What the identity is called, after cluster and namespace.  [default: the first ServiceAccount]",
)
@cloud_options.wishes
@options.declaring
@options.planning
@options.concurrency
@click.option(
    "--write",
    type=options.PATH,
    metavar="FILE",
    help="Write the annotated ServiceAccounts to this file.",
)
@click.option("--apply", is_flag=True, help="Apply the annotated ServiceAccounts with kubectl.")
@click.option(
    "--output",
    "-o",
    "form",
    type=click.Choice(["text", "json", "yaml"]),
    default="text",
    show_default=True,
    help="yaml: the ServiceAccounts alone.",
)
@options.debug
def create_identity(clouds: tuple[str, ...], write: Path | None, apply: bool, **given: Any) -> None:  # noqa: FBT001 - click's signature
    """Make an identity for one workload, and show the ServiceAccounts that use it.

    \b
    Examples:
      cwiictl create-identity --cloud aws --name prod --region eu-west-1 -n shop --service-account billing \\
        --managed-policy-arn arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess
      cwiictl create-identity ... -o yaml | kubectl apply -f -
    """
    what = declaring.ordered(order(clouds, given), given)
    with Console(given["form"]) as console:
        result = (
            identity.planned(what, console.report)
            if given["dry_run"]
            else identity.create_identity(what, console.report, write=write, apply=apply)
        )
        console.show(cloud_options.told(result, "create-identity", what.clouds))
    for line in _given_nothing(what):
        click.echo(line, err=True)


def _given_nothing(what: Order) -> Iterator[str]:
    """It may be meant, for others can give it something, and it may be forgotten."""
    for asked in what.workloads:
        for cloud, section in asked.asks.items():
            if not section.value and ALL[cloud].WISHES:
                flag = ALL[cloud].WISHES[0].flag
                yield f"{asked.workload.title} is given nothing in {ALL[cloud].title}: say it with {flag}, unless others give it something."

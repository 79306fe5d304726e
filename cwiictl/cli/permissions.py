"""permissions: the least that whoever runs cwiictl must be allowed."""

from __future__ import annotations

import json
from typing import Any

import click

from cwiictl.actions.order import WHOLE
from cwiictl.actions.permissions import least
from cwiictl.cli import cloud_options, options
from cwiictl.cli.order import order


@click.command("permissions", cls=cloud_options.Command)
@click.argument("command", type=click.Choice(["create", "status", "delete", "rotate"]), default="create")
@options.cluster
@cloud_options.of_clouds("permissions")
@options.debug
def permissions(command: str, clouds: tuple[str, ...], **given: Any) -> None:
    """Print the least policy with which COMMAND works, in the cloud's own form. Asks no cloud.

    \b
    Example:
      cwiictl permissions create --cloud aws --name prod --region eu-west-1 > policy.json
    """
    for policy in least(order(WHOLE, clouds, given, "permissions"), command):
        click.echo(json.dumps(policy, indent=2))

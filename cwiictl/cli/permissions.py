"""permissions: the least that whoever runs cwiictl must be allowed."""

from __future__ import annotations

import json
from typing import Any

import click

from cwiictl.actions.order import WHOLE
from cwiictl.actions.permissions import least
from cwiictl.cli import cloud_options, options
from cwiictl.cli.order import order
from cwiictl.errors import BadInput
from cwiictl.shapes import nearest

SAME = {"verify": "status"}  # what is enough for a command that has none of its own


class _Policy(click.Choice[str]):
    """Whoever names a command by its own name is told which policy is its."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            begun = SAME.get(value) or next(
                (choice for choice in self.choices if value.startswith(f"{choice}-")), ""
            )
            raise BadInput(
                f"there is no policy for {value!r}",
                remedy=f"did you mean {begun}?" if begun else nearest(value, tuple(self.choices)),
            )
        return super().convert(value, param, ctx)


@click.command("permissions", cls=cloud_options.Command)
@click.argument("command", type=_Policy(["create", "status", "delete", "rotate"]), default="create")
@options.cluster
@cloud_options.of_clouds("permissions")
@options.debug
def permissions(command: str, clouds: tuple[str, ...], **given: Any) -> None:
    """Print the least policy with which COMMAND works, in the cloud's own form; of several clouds, by their names. Asks no cloud.

    That of status is enough for verify.

    \b
    Example:
      cwiictl permissions create --cloud aws --name prod --region eu-west-1 > policy.json
    """
    policies = least(order(WHOLE, clouds, given, "permissions"), command)
    click.echo(
        json.dumps(policies if len(policies) > 1 else next(iter(policies.values())), indent=2)
    )

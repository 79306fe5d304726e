"""delete: everything that bears the cluster's mark."""

from __future__ import annotations

from typing import Any

import click

from cwiictl.actions import delete as action
from cwiictl.actions.order import WHOLE
from cwiictl.cli import cloud_options, options
from cwiictl.cli.console import Console
from cwiictl.cli.order import order


@click.command("delete", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("delete")
@options.issuer_too
@options.yes
@options.would_drop
@options.expect
@options.running
def delete(clouds: tuple[str, ...], **given: Any) -> None:
    """Take down everything in the clouds that bears the cluster's mark. Needs neither its key nor its requests.

    What was adopted or brought is released and stays. If something lacks or stands against it, nothing is dropped. Keys and manifests on this disk stay too.

    \b
    Example:
      cwiictl delete --cloud aws --name prod --region eu-west-1 --dry-run
    """
    what = order(WHOLE, clouds, given, "delete")
    with Console(given["form"], yes=given["yes"]) as console:
        console.show(
            action.delete(what, console.report, None if given["dry_run"] else console.agreed)
        )

"""status: as wanted, drifted, missing, left over or foreign."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from cwiictl.actions import create
from cwiictl.actions.order import ISSUER, WHOLE
from cwiictl.cli import cloud_options, options, preset
from cwiictl.cli.console import Console
from cwiictl.cli.order import order


@click.command("status", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("status")
@options.issuer
@options.user_tags
@options.asking
@options.output_dir
@options.public_key
@options.preset
@options.variables
@options.running
def status(clouds: tuple[str, ...], **given: Any) -> None:
    """Say whether all is as wanted, and what is not. Changes nothing.

    Without requests and workloads it judges the issuer and the trust in it, and lists what else is there.

    Exit code 0 if all is as wanted; 3 if something has drifted, is missing or left over; 4 if something foreign is in the way;
    1 if something could not be read; 2 if what was asked for cannot be meant.

    \b
    Example:
      cwiictl status --cloud aws --name prod --region eu-west-1 \\
        --credentials-requests-dir requests --public-key-file serviceaccount-signer.public
    """
    preset.judge(given)
    what = preset.ordered(order(WHOLE, clouds, given, "status"), given)
    if not (what.requests or what.workloads):
        what = replace(what, parts=ISSUER)
    with Console(given["form"]) as console:
        console.show(cloud_options.told(create.status(what, console.report), "status", what.clouds))

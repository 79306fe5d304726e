"""rotate-keys: the next signing key, in five stages."""

from __future__ import annotations

from typing import Any

import click

from cwiictl.actions import rotate as action
from cwiictl.actions.order import ISSUER, WHOLE
from cwiictl.actions.running import connecting
from cwiictl.cli import cloud_options, options, preset
from cwiictl.cli.console import Console
from cwiictl.cli.order import order
from cwiictl.issuer.rotation import STAGES
from cwiictl.rotate.waits import SOAK

soak = click.option(
    "--soak",
    default=f"{SOAK // 3600}h",
    show_default=True,
    metavar="TIME",
    callback=options.seconds,
    help="How long a cloud may go on with keys that it has read: before the new one signs, and before the old one goes.",
)
force = click.option(
    "--force",
    is_flag=True,
    help="Of unpublish and forget: go on although tokens of the old key are good yet. What will break is told.",
)


@click.command("rotate-keys", cls=cloud_options.Command)
@click.argument("stage", type=click.Choice(STAGES))
@options.cluster
@cloud_options.of_clouds("rotate-keys")
@options.issuer
@options.user_tags
@options.asking
@options.installer
@options.output_dir
@options.bits
@options.public_key
@options.product
@options.reaching
@options.api_servers
@soak
@force
@options.dry_run
@options.expect
@options.running
def rotate_keys(clouds: tuple[str, ...], **given: Any) -> None:
    """Change the key that signs the cluster's tokens, while nobody notices: one STAGE after the other.

    \b
    add        publish a new key beside the old one
    accept     have every API server accept tokens of both
    sign       have every API server sign with the new one, once every cloud takes that
    unpublish  take the old key out of what is published, once its tokens have expired
    forget     have the API servers accept the new key alone

    Each can be stopped anywhere and run again. What the API servers need is written to the output folder, with the commands; run again,
    a stage asks each API server at its own address, and is done when all of them are there; and, where keys come or go, when everybody can read that.
    sign stays until --soak is over, for it tries the clouds all that time; unpublish and forget have nothing to try: what comes too early is refused, and
    how long it is until then is told.

    \b
    Example:
      cwiictl rotate-keys add --cloud aws --name prod --region eu-west-1 --output-dir out --dry-run
    """
    stage = given["stage"]
    preset.judge(given)
    what = preset.ordered(
        order(WHOLE if stage == "sign" else ISSUER, clouds, given, "rotate-keys"), given
    )
    cluster = connecting(given["kubeconfig"], given["context"] or None, given["api_servers"])
    ask = action.Ask(
        stage, cluster, int(given["soak"]), given["force"], writes=not given["dry_run"]
    )
    with Console(given["form"]) as console:
        console.show(
            cloud_options.told(action.rotate(what, ask, console.report), "rotate-keys", what.clouds)
        )

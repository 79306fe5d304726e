"""create-all and its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwiictl.actions import create, key_pair
from cwiictl.actions.order import ISSUER, WHOLE, Order, Part
from cwiictl.cli import cloud_options, declaring, options, preset
from cwiictl.cli.console import Console
from cwiictl.cli.order import order
from cwiictl.model import Cluster


def _create(
    parts: frozenset[Part], command: str, clouds: tuple[str, ...], given: dict[str, Any]
) -> None:
    preset.judge(given)
    what = declaring.ordered(preset.ordered(order(parts, clouds, given, command), given), given)
    with Console(given["form"], yes=given.get("yes", False)) as console:
        result = (
            create.planned(what, console.report)
            if given["dry_run"]
            else create.create(what, console.report, console.agreed)
        )
        console.show(cloud_options.told(result, command, what.clouds))


@click.command("create-all", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("create-all")
@options.issuer
@options.user_tags
@options.asking
@options.publishing
@options.prune
@options.yes
@options.planning
@options.running
def create_all(clouds: tuple[str, ...], **given: Any) -> None:
    """Make the clouds trust a cluster, before it is installed or later.

    Makes the ServiceAccount signing key, publishes the issuer's two documents, has the clouds trust them, makes an identity for
    each CredentialsRequest, and writes what the installer takes. Run again, it repairs what is not as wanted, and nothing else.

    \b
    Example:
      cwiictl create-all --cloud aws --name prod --region eu-west-1 \\
        --credentials-requests-dir requests --output-dir out --dry-run
    """
    _create(WHOLE, "create-all", clouds, given)


@click.command("create-identity-provider", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("create-identity-provider")
@options.issuer
@options.user_tags
@options.publishing
@options.planning
@options.running
def create_identity_provider(clouds: tuple[str, ...], **given: Any) -> None:
    """Publish the issuer's two documents, and have the clouds trust it.

    \b
    Example:
      cwiictl create-identity-provider --cloud aws --name prod --region eu-west-1 \\
        --public-key-file serviceaccount-signer.public
    """
    _create(ISSUER, "create-identity-provider", clouds, given)


@click.command("create-identities", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("create-identities")
@options.issuer
@options.user_tags
@options.asking
@options.presetting
@options.installer
@options.output_dir
@options.declaring
@options.planning
@options.running
def create_identities(clouds: tuple[str, ...], **given: Any) -> None:
    """Make an identity for each CredentialsRequest, and the Secret that tells its workload.

    \b
    Examples:
      cwiictl create-identities --cloud aws --name prod --region eu-west-1 \\
        --credentials-requests-dir requests --output-dir out
      cwiictl create-identities --cloud azure --name guest --region eastus --subscription-id ID \\
        --preset hypershift-azure --set infraID=guest-x7k2p --set dnsResourceGroup=dns \\
        --issuer-url https://issuer.example.org --issuer-exists --output-file identities.json
    """
    _create(frozenset({"identities"}), "create-identities", clouds, given)


@click.command("create-key-pair")
@options.output_dir
@options.bits
@options.output
@options.debug
def create_key_pair(form: str, **given: Any) -> None:
    """Make the key that signs the cluster's ServiceAccount tokens. A key that is there is kept.

    \b
    Example:
      cwiictl create-key-pair --output-dir out
    """
    what = Order(Cluster("none"), {}, output=given["output_dir"] or Path(), bits=given["bits"])
    with Console(form) as console:
        console.show(key_pair.create_key_pair(what, console.report))

"""verify: whether the clouds believe the cluster's tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cwiictl import files
from cwiictl.actions.exchange import Source, minted, requested
from cwiictl.actions.order import ISSUER, WHOLE
from cwiictl.actions.verify import verify as action
from cwiictl.cli import cloud_options, findings, options, preset
from cwiictl.cli.console import Console
from cwiictl.cli.order import order
from cwiictl.errors import BadInput


@click.command("verify", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("verify")
@options.issuer
@options.user_tags
@options.asking
@options.output_dir
@options.public_key
@options.product
@options.proving
@options.concurrency
@options.verdict
@options.debug
def verify(clouds: tuple[str, ...], junit: Path | None, **given: Any) -> None:
    """Say whether the clouds would believe the cluster's tokens, and why not. Changes nothing.

    Reads the issuer's two documents as a cloud would, compares the published keys with the cluster's, and reads back from each cloud whom it
    believes: of all that is asked for, and of what create-identity has made. With --exchange the cluster is asked for a token of each
    ServiceAccount, and each cloud is shown it as by its pod; what comes of that is thrown away.

    Exit code 0 if nothing stands against it, though there may be warnings; 3 if something does; 1 if something could not be looked at; 2 if what
    was asked for cannot be meant.

    \b
    Examples:
      cwiictl verify --cloud aws --name prod --region eu-west-1 \\
        --credentials-requests-dir requests --output-dir out
      cwiictl verify --file cluster.yaml --exchange --kubeconfig admin.conf --junit verify.xml
      cwiictl verify --file cluster.yaml --exchange --mint
    """
    preset.judge(given)
    source = _source(
        **{word: given.pop(word) for word in ("exchange", "mint", "kubeconfig", "context")}
    )
    what = preset.ordered(order(WHOLE, clouds, given, "verify"), given)
    if not (what.requests or what.workloads):
        what = replace(what, parts=ISSUER)
    if junit:
        files.ready(junit.parent, [junit.name])
    with Console(given["form"]) as console:
        result = cloud_options.told(action(what, console.report, source), "verify", what.clouds)
        if junit:
            files.write(junit.parent, {junit.name: files.Public(findings.junit(result.findings))})
        console.show(result)


def _source(*, exchange: bool, mint: bool, kubeconfig: Path | None, context: str) -> Source | None:
    if mint and not exchange:
        raise BadInput(
            "--mint signs tokens that nobody would be shown",
            remedy="give --exchange too, or leave --mint out",
        )
    if (kubeconfig or context) and (mint or not exchange):
        raise BadInput(
            "no cluster is asked for tokens",
            remedy="give --exchange without --mint, or leave --kubeconfig and --context out",
        )
    return None if not exchange else minted if mint else requested(kubeconfig, context)

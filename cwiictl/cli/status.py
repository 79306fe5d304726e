"""status: as wanted, drifted, missing, left over or foreign; in the clouds, and in the cluster; and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any

import click

from cwiictl import files
from cwiictl.actions import create, servers
from cwiictl.actions.cluster import Installation
from cwiictl.actions.order import ISSUER, WHOLE, Order, Reach
from cwiictl.actions.picture import pictured
from cwiictl.actions.result import Result
from cwiictl.actions.running import connecting
from cwiictl.cli import cloud_options, options, preset
from cwiictl.cli.console import Console
from cwiictl.cli.order import order
from cwiictl.cli.picture import drawn
from cwiictl.engine.resource import Report
from cwiictl.errors import BadInput
from cwiictl.picture.map import Map
from cwiictl.picture.mermaid import mermaid as diagram
from cwiictl.picture.page import page

IN_CLUSTER = ("webhook", "pods", "namespaces", "restart")


@click.command("status", cls=cloud_options.Command)
@options.cluster
@cloud_options.of_clouds("status")
@options.issuer
@options.user_tags
@options.asking
@options.output_dir
@options.public_key
@options.running_already
@options.product
@options.api_servers
@click.option(
    "--former-issuer",
    is_flag=True,
    help="Say whether the API servers can do without the issuer that they had before the one they sign as.",
)
@options.since
@click.option(
    "--webhook", is_flag=True, help="Judge the webhook in the cluster: beside the clouds, or alone."
)
@click.option(
    "--pods",
    is_flag=True,
    help="And name the pods that run without what they ask for, or with other values than they would be given now.",
)
@click.option(
    "--namespace",
    "-n",
    "namespaces",
    multiple=True,
    metavar="NAME",
    help="Namespace of these pods. Repeatable.  [default: all]",
)
@click.option(
    "--restart", is_flag=True, help="And restart whoever made these pods: shows it, and asks."
)
@click.option("--dry-run", is_flag=True, help="Show what --restart would do; change nothing.")
@options.yes
@options.drawing
@options.running
def status(clouds: tuple[str, ...], **given: Any) -> None:
    """Say whether all is as wanted, and what is not. Changes nothing, but where --restart is given.

    Without requests and workloads it judges the issuer and the trust in it, and lists what else is there. With --html or --mermaid it also looks for
    what `verify` finds, and draws who can act as what.

    Exit code 0 if all is as wanted; 3 if something has drifted, is missing or left over, or `verify` finds it wrong; 4 if something foreign is in the way;
    1 if something could not be read, or the webhook does not work; 2 if what was asked for cannot be meant.
    Where a rotation of the signing key stands is told of the keys; with --kubeconfig, --context or --api-server beside a cloud also what each API
    server signs as and with which key, and which it accepts. --former-issuer tells until when pods may have tokens of the issuer before, which API
    servers go on accepting after a move, and ends with 3 until then; it needs no cloud. It counts from when an API server was started last, or was gone
    from the Service kubernetes. Of one that this Service does not name, as with --api-server or behind the one address of a hosted control plane, it
    cannot know when it ended: say that with --since. Without it, it ends with 3 where --api-server is given, or no Lease can be read.

    \b
    Examples:
      cwiictl status --cloud aws --name prod --region eu-west-1 \\
        --credentials-requests-dir requests --public-key-file serviceaccount-signer.public
      cwiictl status --webhook --pods
      cwiictl status --former-issuer --kubeconfig admin.conf
      cwiictl status --file cluster.yaml --html trust.html
    """
    html, mermaid = given["html"], given["mermaid"]
    if mermaid and given["form"] != "text":
        raise BadInput(
            "--mermaid prints the diagram and nothing else",
            remedy="leave --output out, or write a page with --html",
        )
    outside = bool(clouds or given["file"] or html or mermaid)
    alone = _of_each(given) and not outside
    inside = any(given[word] for word in IN_CLUSTER) or (_led(given) and not (outside or alone))
    if (given["dry_run"] or given["yes"]) and not given["restart"]:
        raise BadInput(
            "--dry-run and --yes are of --restart, which is not given",
            remedy="add --restart, or leave them out: status changes nothing by itself",
        )
    if given["since"] is not None and not given["former_issuer"]:
        raise BadInput(
            "--since is of --former-issuer, which is not given",
            remedy="add it, or leave --since out",
        )
    with Console("mermaid" if mermaid else given["form"], yes=given["yes"]) as console:
        results = [_of_clouds(clouds, given, console)] if outside or not (inside or alone) else []
        results += [_of_servers(Result(judged=True), given)] if alone else []
        results += [_of_cluster(given, console)] if inside else []
        console.show(reduce(Result.beside, results))


def _of_clouds(clouds: tuple[str, ...], given: dict[str, Any], console: Console) -> Result:
    preset.judge(given)
    what = preset.ordered(order(WHOLE, clouds, given, "status"), given)
    if not (what.requests or what.workloads):
        what = replace(what, parts=ISSUER)
    html, mermaid = given["html"], given["mermaid"]
    if html:
        files.ready(html.parent, [html.name])
    result = (
        _drawn(what, given, console.report)
        if html or mermaid
        else create.status(what, console.report)
    )
    result = _of_servers(result, given) if _led(given) or _of_each(given) else result
    return _shown(cloud_options.told(result, "status", what.clouds), html, mermaid=mermaid)


def _led(given: Mapping[str, Any]) -> bool:
    """To a cluster."""
    return bool(given["kubeconfig"] or given["context"])


def _of_each(given: Mapping[str, Any]) -> bool:
    """API server: who asks for this needs no cloud."""
    return bool(given["api_servers"] or given["former_issuer"])


def _of_servers(result: Result, given: Mapping[str, Any]) -> Result:
    cluster = connecting(given["kubeconfig"], given["context"] or None, given["api_servers"])
    return (
        servers.outliving(result, cluster, given["since"])
        if given["former_issuer"]
        else servers.beside(result, cluster)
    )


def _of_cluster(given: dict[str, Any], console: Console) -> Result:
    from cwiictl.actions import webhook  # noqa: PLC0415 - who asks of clouds alone needs nothing of the webhook's deciding

    where = Installation(
        kubeconfig=given["kubeconfig"], context=given["context"], width=given["width"]
    )
    about_pods = given["pods"] or given["restart"] or bool(given["namespaces"])
    question = webhook.Question(where, about_pods, given["restart"], given["namespaces"])
    return webhook.status(question, None if given["dry_run"] else console.agreed)


def _drawn(what: Order, given: Mapping[str, Any], report: Report) -> Result:
    """With the pods, where it is said how the cluster is reached."""
    reach = Reach(given["kubeconfig"], given["context"]) if _led(given) else what.from_cluster
    return pictured(what, report, reach)


def _shown(result: Result, html: Path | None, *, mermaid: bool) -> Result:
    """Drawn is all; told beside it is what is not as it should be."""
    if result.sight is None or not (html or mermaid):
        return result
    map_ = drawn(
        result, result.sight, f"Read {datetime.now(UTC):%Y-%m-%d %H:%M} UTC by cwiictl status."
    )
    result = replace(
        result, findings=tuple(each for each in result.findings if each.severity != "ok")
    )
    if html:
        wrote = files.write(html.parent, {html.name: _page(map_)})
        result = replace(
            result,
            files=(*result.files, str(html)),
            written=frozenset({str(html)} if wrote else ()),
            taker="a browser",
        )
    return replace(result, manifest=diagram(map_) if mermaid else result.manifest)


def _page(map_: Map) -> bytes:
    return page(map_, files.template("picture/page.css"), files.template("picture/page.js"))

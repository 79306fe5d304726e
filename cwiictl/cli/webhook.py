"""install-webhook, uninstall-webhook, renew-certificates: the webhook in a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwiictl.actions import install, renewal, sidecar, sidecar_files, uninstall
from cwiictl.actions.cluster import Installation
from cwiictl.actions.result import Result
from cwiictl.cli import options
from cwiictl.cli import sidecar as beside
from cwiictl.cli.console import Console

name = click.option(
    "--name",
    default="cwii-webhook",
    show_default=True,
    metavar="NAME",
    help="What the installation is called.",
)
timeout = click.option(
    "--timeout",
    default="5m",
    show_default=True,
    callback=options.seconds,
    metavar="TIME",
    help="How long to wait for each step.",
)


@click.command("install-webhook")
@options.reaching
@beside.mode
@click.option(
    "--output-dir",
    type=options.PATH,
    default=Path(),
    metavar="DIR",
    help="Where create-all has left its ids, in webhook.yaml.  [default: this one]",
)
@click.option(
    "--values",
    "-f",
    "file",
    type=options.PATH,
    metavar="FILE",
    help="Values, as the chart takes them; they go before those ids.",
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY=VALUE",
    help="One value, such as replicas=3; it goes before the file's. Repeatable.",
)
@click.option(
    "--image",
    default="",
    metavar="REF",
    help="The image, best with its digest: cwiictl image push makes one, and prints it.",
)
@click.option(
    "--image-pull-secret",
    "pull_secrets",
    multiple=True,
    metavar="SECRET",
    help="Secret of its namespace to pull it with. Repeatable.",
)
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    type=click.Choice(["cwii", "eks", "azwi", "gcpwif"]),
    help="Whose annotations are heard. Repeatable.  [default: cwii]",
)
@click.option(
    "--require",
    is_flag=True,
    help="Refuse pods that ask for an identity themselves, or whose namespace asks, and were given no token.",
)
@click.option(
    "--beside",
    is_flag=True,
    help="Install it beside another webhook that hears the same annotations; beside one of this name, with --set name=NAME --set namespace=NAMESPACE.",
)
@click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="Follow it until every replica is ready, and show with a dry-run pod that it works.",
)
@timeout
@beside.beside
@options.planning
@options.prune
@options.yes
@options.concurrency
@click.option(
    "--output",
    "-o",
    "form",
    type=click.Choice(["text", "json", "yaml"]),
    default="text",
    show_default=True,
    help="yaml: the objects.",
)
@options.debug
def install_webhook(**given: Any) -> None:
    """Install the webhook in a running cluster, with the ids that create-all has left; or change what is installed, for it may be run again at any time.

    \b
    Examples:
      cwiictl install-webhook --output-dir out --image registry.example.org/cwii-webhook@sha256:...
      cwiictl install-webhook --output-dir out -f values.yaml --set replicas=3 --dry-run
    """
    order = Installation(
        kubeconfig=given["kubeconfig"],
        context=given["context"],
        output=given["output_dir"],
        file=given["file"],
        sets=(*_sets(given), *given["sets"]),
        adopt=frozenset(given["adopt"]),
        expect=given["expect"],
        prune=given["prune"],
        wait=given["wait"],
        timeout=given["timeout"],
        width=given["width"],
    )
    with Console(given["form"], yes=given["yes"]) as console:
        console.show(_installed(order, given, console))


def _installed(order: Installation, given: dict[str, Any], console: Console) -> Result:
    dry = given["dry_run"]
    if given["mode"] == "deployment":
        return (
            install.planned(order, console.report)
            if dry
            else install.install(order, console.report, console.agreed)
        )
    asked = beside.order(order, given)
    if not given["apply"]:
        return sidecar_files.written(asked, dry=dry)
    return (
        sidecar.planned(asked, console.report)
        if dry
        else sidecar.install(asked, console.report, console.agreed)
    )


@click.command("uninstall-webhook")
@options.reaching
@name
@beside.removed
@beside.flavour
@beside.namespace
@beside.guest
@options.yes
@options.would_drop
@options.expect
@options.running
def uninstall_webhook(name: str, **given: Any) -> None:
    """Take the webhook out of a cluster: first its configuration, then the rest. What does not bear its mark stays.

    \b
    Example:
      cwiictl uninstall-webhook --dry-run
    """
    order = Installation(
        kubeconfig=given["kubeconfig"],
        context=given["context"],
        expect=given["expect"],
        width=given["width"],
    )
    with Console(given["form"], yes=given["yes"]) as console:
        agreed = None if given["dry_run"] else console.agreed
        if given["mode"] == "sidecar":
            console.show(
                uninstall.uninstall_sidecar(beside.removal(order, given), console.report, agreed)
            )
        else:
            console.show(uninstall.uninstall(order, name, console.report, agreed))


@click.command("renew-certificates")
@options.reaching
@name
@click.option(
    "--namespace",
    "-n",
    default="cwii-system",
    show_default=True,
    metavar="NAME",
    help="Where the webhook runs.",
)
@timeout
@options.output
@options.debug
def renew_certificates(name: str, namespace: str, **given: Any) -> None:
    """Have the webhook's certificates looked at now, and renewed if it is time, as its CronJob does every few hours.

    \b
    Example:
      cwiictl renew-certificates
    """
    order = Installation(
        kubeconfig=given["kubeconfig"], context=given["context"], timeout=given["timeout"]
    )
    with Console(given["form"]) as console:
        console.show(renewal.renew(order, name, namespace, console.report))


def _sets(given: dict[str, Any]) -> list[str]:
    """Flags are short for values."""
    told = {
        "image": given["image"],
        "imagePullSecrets": _listed(given["pull_secrets"]),
        "dialects": _listed(given["dialects"]),
    }
    switches = [f"{word}=true" for word in ("require", "beside") if given[word]]
    return [*(f"{word}={text}" for word, text in told.items() if text), *switches]


def _listed(words: tuple[str, ...]) -> str:
    return f"{{{','.join(words)}}}" if words else ""

"""What `scripts/demo` shows on a machine that can run a node: from nothing to pods that are somebody in three clouds, and back to nothing.

It is the journey of the tests, told step by step; every command is the one that is shown.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from cwiictl.sandbox import Sandbox, Settings
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.cluster import Settings as ClusterSettings
from tests.cluster.kube.missing import Missing
from tests.federation import images
from tests.federation.world import PROGRAM, STRANGERS, WORKLOADS, Pods, World

IMAGE = "localhost/cwii-webhook:0.1.0"
LINES = 14  # of what a command says, that are shown


def main() -> None:
    began = time.monotonic()
    try:
        with ExitStack() as stack:
            _story(stack, Path(stack.enter_context(tempfile.TemporaryDirectory())))
    except Missing as missing:
        sys.exit(f"scripts/demo: {missing}")
    _say(f"That was all of it, in {time.monotonic() - began:.0f} s.")


def _story(stack: ExitStack, folder: Path) -> None:
    sandbox = stack.enter_context(Sandbox(Settings(deploy=0.2)))
    world = World(sandbox, folder)
    world.asked()
    _say(
        "Three clouds, played by processes on this machine, are to trust a cluster that is not there yet: key, issuer, an identity for each workload."
    )
    _run(world, "create-all", *world.where)
    _say(
        "A real cluster, with the key and the flags that came out: API server, kubelet, containerd. And the images that it needs."
    )
    with _patiently("starting it"):
        cluster = stack.enter_context(
            Cluster(
                ClusterSettings(node=True, flags=world.flags, signing_key=world.key),
                tell=lambda _line: None,
            )
        )
    with _patiently("making the webhook's image, and one of the clouds' SDKs"):
        for image in images.made(folder):
            cluster.node.load(image)
    _say("The webhook, with the ids that create-all has left, in four dialects:")
    dialects = [
        word for dialect in ("cwii", "eks", "azwi", "gcpwif") for word in ("--dialect", dialect)
    ]
    kubeconfig = str(cluster.kubeconfig)
    _run(
        world,
        "install-webhook",
        "--output-dir",
        "out",
        "--image",
        IMAGE,
        *dialects,
        KUBECONFIG=kubeconfig,
    )
    pods = Pods(
        cluster,
        cluster.node.lend(int(sandbox.proxy.rpartition(":")[2])),
        sandbox.ca_file.read_text(),
    )
    _say(
        "Deployments of annotated ServiceAccounts. In their pods run boto3, azure-identity and google-auth, with what the webhook and the kubelet gave them:"
    )
    pods.prepared(world.accounts)
    for namespace, account in WORKLOADS:
        pods.deploy(namespace, account)
    _table(("pod", "cloud", "answer", "who it is there"), _told(pods))
    _say("And whoever is not meant gets nothing, in the clouds' own words:")
    pods.strangers()
    _table(("pod", "cloud", "", "what its SDK says"), _refused(pods))
    _say("All of it away again, out of the cluster and out of the clouds.")
    _run(world, "uninstall-webhook", "--yes", KUBECONFIG=kubeconfig)
    _run(world, "delete", *world.where, "--yes")


def _told(pods: Pods) -> Iterator[Sequence[str]]:
    for (namespace, account), clouds in WORKLOADS.items():
        said = pods.said(namespace, account, len(clouds))
        yield from (
            (f"{namespace}/{account}", cloud, str(said[cloud].get("answer", "")), _who(said[cloud]))
            for cloud in clouds
        )


def _refused(pods: Pods) -> Iterator[Sequence[str]]:
    for name, cloud in STRANGERS.items():
        said = pods.said("cwii", name, 1)[cloud]
        yield f"cwii/{name}", cloud, "refused" if "error" in said else "LET IN", _who(said)


def _who(line: dict[str, Any]) -> str:
    return " ".join(str(line.get("error") or line["who"]).split())[:110]


def _run(world: World, *words: str, **environ: str) -> None:
    click.secho(f"$ cwiictl {shlex.join(words)}", bold=True)
    command = [str(PROGRAM), *words]
    done = subprocess.run(
        command,
        cwd=world.folder,
        env={**world.sandbox.environment(), **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    shown = (
        [*lines[: LINES // 2], f"  ... {len(lines) - LINES} lines more ...", *lines[-LINES // 2 :]]
        if len(lines) > LINES + 1
        else lines
    )
    click.echo("\n".join(shown))
    if done.returncode:
        sys.exit(f"scripts/demo: this ended with {done.returncode}:\n{done.stderr}")


@contextmanager
def _patiently(what: str) -> Generator[None]:
    before = time.monotonic()
    click.echo(f"  {what} ...", nl=False)
    sys.stdout.flush()
    yield
    click.echo(f" {time.monotonic() - before:.0f} s")


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    found = [head, *rows]
    widths = [max(len(row[column]) for row in found) for column in range(len(head))]
    for row in found:
        click.echo(
            "  "
            + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _say(text: str) -> None:
    click.echo()
    click.echo(click.wrap_text(f"# {text}", 110, subsequent_indent="# "))


if __name__ == "__main__":
    main()

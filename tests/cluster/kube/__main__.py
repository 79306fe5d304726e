"""What `scripts/cluster` does; its words are explained there."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import click

from cwiictl.errors import BadInput
from cwiictl.sandbox.launch import Launch
from tests.cluster.kube.build import say
from tests.cluster.kube.cluster import Cluster, Settings, ready_made
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.processes import Broken

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(add_help_option=False)
@click.argument("words", nargs=-1, type=click.Choice(["run", "build", "node"]), metavar="WORD")
@click.option("--dir", "folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--servers", type=click.IntRange(1, 2), default=1)
@click.option("--flag", "flags", multiple=True)
@click.option("--controller-flag", "controller_flags", multiple=True)
@click.option("--image", "images", type=_FILE, multiple=True)
@click.option("--signing-key", type=_FILE)
def parse(
    words: tuple[str, ...], folder: Path | None, signing_key: Path | None, **settings: object
) -> tuple[set[str], Callable[[], Cluster]]:
    if settings["images"] and "node" not in words:
        raise click.UsageError("`--image` is for a node: scripts/cluster node --image FILE")
    asked = Settings(
        node="node" in words,
        signing_key=signing_key.read_bytes() if signing_key else None,
        **settings,  # pyright: ignore[reportArgumentType]  # click has checked them
    )
    return set(words), lambda: Cluster(asked, folder)


def main() -> None:
    before, after = _split(sys.argv[1:])
    try:
        words, make = parse.main(before, "scripts/cluster", standalone_mode=False)
        if ("run" in words) != bool(after):
            raise click.UsageError(
                "`run` and a command go together: scripts/cluster run [node] -- COMMAND"
            )
        sys.exit(_build(words) if "build" in words else _live(make, after))
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except BadInput as error:
        _fail(f"{error.problem}: {error.remedy}", 2)
    except Missing as error:
        _fail(str(error), 2)
    except Broken as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    words = list(arguments)
    return (
        (words[: words.index("--")], words[words.index("--") + 1 :])
        if "--" in words
        else (words, [])
    )


def _build(words: set[str]) -> int:
    ready_made("node" in words)
    return 0


def _live(make: Callable[[], Cluster], command: Sequence[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    before = time.monotonic()
    with make() as cluster:
        say(f"ready after {time.monotonic() - before:.1f} s")
        if command:
            with Launch(command, {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}) as launch:
                return launch.wait()
        return _stay(cluster)


def _stay(cluster: Cluster) -> int:
    for line in [
        f"logs are in {cluster.folder}",
        *(
            [f"to be in the node's network: {' '.join(cluster.node.enter)} COMMAND"]
            if cluster.settings.node
            else []
        ),
    ]:
        say(line)
    say("Ctrl-C ends it")
    click.echo(cluster.kubeconfig)
    try:
        signal.pause()
    except KeyboardInterrupt:
        say("ending")
    return 0


def _fail(sentence: str, code: int) -> NoReturn:
    say(sentence)
    sys.exit(code)


if __name__ == "__main__":
    main()

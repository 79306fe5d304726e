"""explain: a pod as it would be, and whose word each value of it is."""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import yaml
from cwii_webhook.dialects.registry import ALL

from cwiictl import files
from cwiictl.actions.explain import Answer, Question
from cwiictl.actions.explain import explain as ask
from cwiictl.cli import options
from cwiictl.cli.wording import coloured, shown
from cwiictl.engine.plain import plain
from cwiictl.explain import Explanation

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command("explain", context_settings={"ignore_unknown_options": True})
@click.option(
    "--filename",
    "-f",
    "paths",
    multiple=True,
    type=options.PATH,
    metavar="FILE",
    help="Pods, workloads, and what they refer to. - is standard input. Repeatable.",
)
@click.option(
    "--namespace",
    "-n",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Namespace of what names none.",
)
@click.option(
    "--dialect",
    type=click.Choice(list(ALL)),
    help="Which webhook: ours in its own words, or as one that it replaces.  [default: what the cluster's webhook speaks, or cwii]",
)
@options.reaching
@options.output
@options.debug
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[KIND/NAME]... [-- FLAG...]")
def explain(
    paths: tuple[Path, ...],
    namespace: str,
    dialect: str | None,
    form: str,
    words: tuple[str, ...],
    **cluster: Any,
) -> None:
    """Show what the webhook would make of a pod, and why. Flags behind -- are the webhook's own.

    With KIND/NAME, such as pod/web or deployment/web, it looks at the cluster of the kubeconfig, and decides as the webhook is told to that is
    installed there, unless flags are given. With files alone, what is in none of them, such as the ServiceAccount, is taken for something that
    is not there, and named.

    The exit code is 0 whether or not a pod is given something, 1 where one would be refused, and 2 where what was asked for cannot be meant.

    \b
    Examples:
      cwiictl explain deployment/web -n shop
      cwiictl explain -f pod.yaml -f serviceaccount.yaml
      kubectl get sa,deployment -n shop -o yaml | cwiictl explain -f - --dialect eks -- --aws-default-region=eu-west-1
    """
    things = list(takewhile(lambda word: not word.startswith("-"), words))
    texts = {_name(path): _text(path) for path in paths}
    answer = ask(
        Question(
            texts, things, namespace, dialect or "", words[len(things) :], os.environ, **cluster
        )
    )
    if form == "json":
        click.echo(json.dumps(_data(answer), indent=2, ensure_ascii=True))
    else:
        for line in _lines(answer):
            click.echo(line)
    if any(each.outcome == "refused" for each in answer.explanations):
        sys.exit(1)


def _name(path: Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


def _text(path: Path) -> bytes:
    return (
        sys.stdin.buffer.read(files.MAX_SIZE + 1)
        if str(path) == "-"
        else files.read(path, "the file")
    )


def _data(answer: Answer) -> dict[str, Any]:
    unseen = [{"object": ref, "near": near} for ref, near in answer.unseen.items()]
    by = {"by": list(answer.by)} if answer.by else {}
    return {
        **by,
        "pods": [plain(each) for each in answer.explanations],
        "unseen": unseen,
        "warnings": list(answer.warnings),
    }


def _lines(answer: Answer) -> Iterator[str]:
    yield from map(shown, answer.by)
    several = len({each.dialect for each in answer.explanations}) > 1
    for each in answer.explanations:
        yield f"{shown(each.pod)}{f' ({each.dialect})' if several else ''}: {each.outcome}"
        yield from _difference(each)
        yield from _values(each)
        for absence in each.absences:
            yield f"  {absence.gives}: {absence.reason}{f' ({shown(absence.text)})' if absence.text else ''}"
        yield from (f"  {_warning(warning)}" for warning in each.warnings)
        if each.refusal:
            yield f"{click.style('Error:', fg='red')} {shown(each.refusal)}"  # word for word: users know their webhook's
    yield from map(_warning, answer.warnings)
    if answer.unseen:
        yield f"Looked for, and not there: {', '.join(shown(f'{ref} (did you mean {near}?)' if near else ref) for ref, near in answer.unseen.items())}"


def _warning(text: str) -> str:
    return f"{click.style('Warning:', fg='yellow')} {shown(text)}"


def _difference(each: Explanation) -> Iterator[str]:
    before, after = _yaml(each.before), _yaml(each.after)
    for line in list(difflib.unified_diff(before, after, lineterm="", n=2))[2:]:
        yield f"  {coloured(shown(line), COLOURS.get(line[:1]))}"


def _yaml(body: Mapping[str, Any]) -> list[str]:
    return yaml.safe_dump(plain(body), sort_keys=False, width=1000).splitlines()


def _values(each: Explanation) -> Iterator[str]:
    """A table: what, and whose word it is."""
    width = max((len(value.what) for value in each.values), default=0)
    for value in each.values:
        whose = f"{shown(value.key)} of {shown(value.whose)}" if value.whose else "by default"
        yield f"  {value.gives:<4} {value.what:<{width}}  {shown(value.value)}  ({whose})"

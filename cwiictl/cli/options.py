"""Every option, once. A command stacks those that it takes, and `order` makes of what was given what the actions want."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from cwiictl.clouds import ALL, formats
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS

C = TypeVar("C", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
_TIME = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


def _debug(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if wanted:
        logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
        logging.getLogger("cwiictl").setLevel(logging.DEBUG)


def _cloud(
    _context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    for name in names:
        if "," in name:
            raise BadInput(
                f"--cloud {name} is no cloud",
                remedy=f"give it once for each: {' '.join(f'--cloud {each}' for each in name.split(','))}",
            )
        if name not in ALL:
            near = difflib.get_close_matches(name, ALL, 1)
            raise BadInput(
                f"there is no cloud {name!r}",
                remedy=f"did you mean --cloud {near[0]}?"
                if near
                else f"give --cloud {', '.join(ALL)}",
            )
    return tuple(dict.fromkeys(names))


def _tags(_context: click.Context, _parameter: click.Parameter, text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    if not all(key.strip() and equals for key, equals, _ in pairs):
        raise BadInput(
            f"--user-tags {text} is no list of tags",
            remedy="write it like team=payments,stage=prod",
        )
    return {key.strip(): value.strip() for key, _, value in pairs}


def _moment(_context: click.Context, _parameter: click.Parameter, text: str) -> float | None:
    if not text:
        return None
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        if moment.tzinfo:
            return moment.timestamp()
    raise BadInput(
        f"--since {text} is no moment", remedy="write it with its zone, like 2026-01-31T15:04:05Z"
    )


def _variables(
    _context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (key, equals, _) in zip(texts, pairs, strict=True):
        if not (key.strip() and equals):
            raise BadInput(
                f"--set {text} sets nothing", remedy="write it like --set infraID=prod-x7k2p"
            )
    return {key.strip(): value.strip() for key, _, value in pairs}


def seconds(_context: click.Context, _parameter: click.Parameter, text: str) -> float:
    """As kubectl and helm have it: 90s, 5m, 1h30m."""
    found = _TIME.fullmatch(text)
    if not text or not found:
        raise BadInput(f"{text!r} is no time", remedy="write it like 90s, 5m or 1h30m")
    return float(
        sum(
            int(number or 0) * size
            for number, size in zip(found.groups(), (3600, 60, 1), strict=True)
        )
    )


def _begun(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    return [name for name in ALL if name.startswith(begun)]


cloud = click.option(
    "--cloud",
    "clouds",
    multiple=True,
    callback=_cloud,
    shell_complete=_begun,
    metavar=f"[{'|'.join(ALL)}]",
    help="Cloud that is to trust the cluster. Repeatable.  [required]",
)
file = click.option(
    "--file",
    "-f",
    type=PATH,
    metavar="FILE",
    help="A cluster.yaml that says all this. Options say it anew.",
)
name = click.option(
    "--name",
    default="",
    metavar="NAME",
    help="The cluster's name: the beginning of the names of all that is made for it.  [required]",
)
requests = click.option(
    "--credentials-requests-dir",
    "requests",
    type=PATH,
    metavar="DIR",
    help="Folder of the CredentialsRequests, as YAML or JSON.",
)
tech_preview = click.option(
    "--enable-tech-preview",
    "tech_preview",
    is_flag=True,
    help="Follow requests of the feature set TechPreviewNoUpgrade too.",
)
installer = click.option(
    "--installer",
    "installers",
    multiple=True,
    type=click.Choice(list(INSTALLERS)),
    help="Whom to write files for. Repeatable.  [default: openshift]",
)
output_dir = click.option(
    "--output-dir",
    type=PATH,
    metavar="DIR",
    help="Folder of the key pair, and of what the installer takes.  [default: this one]",
)
public_key = click.option(
    "--public-key-file",
    "public_key",
    type=PATH,
    metavar="FILE",
    help="The public key of a cluster that has one: no key is made.  [default: the output folder's]",
)
bits = click.option(
    "--bits",
    type=click.IntRange(2048, 8192),
    default=4096,
    show_default=True,
    help="Size of the RSA key.",
)
add_key = click.option(
    "--add-key",
    is_flag=True,
    help="Publish the key beside those that are published: tokens of all of them are believed.",
)
replace_keys = click.option(
    "--replace-keys",
    is_flag=True,
    help="Publish the key instead of those that are published: their tokens are refused from then on.",
)
issuer_in = click.option(
    "--issuer-in",
    default="",
    metavar="CLOUD",
    help="Cloud that hosts the issuer's documents.  [default: the first --cloud]",
)
issuer_url = click.option(
    "--issuer-url",
    default="",
    metavar="URL",
    help="Host of your own for the documents: they are written to files for you to serve.",
)
issuer_exists = click.option(
    "--issuer-exists",
    is_flag=True,
    help="The issuer at --issuer-url is only to be trusted: publish nothing.",
)
move_issuer = click.option(
    "--move-issuer",
    is_flag=True,
    help="The cluster gets another issuer than it has: tokens of the old one are refused once it goes.",
)
from_cluster = click.option(
    "--issuer-from-cluster",
    "from_cluster",
    is_flag=True,
    help="The cluster runs: trust the keys that it has. No key is made; where nobody outside can read its issuer, it gets another.",
)
issuer_too = click.option(
    "--issuer",
    "issuer_too",
    is_flag=True,
    help="Take down the issuer, though another cloud may still trust it.",
)
user_tags = click.option(
    "--user-tags",
    default="",
    metavar="KEY=VALUE,...",
    callback=_tags,
    help="Tags for all that bears tags.",
)
adopt = click.option(
    "--adopt",
    multiple=True,
    metavar="THING",
    help="Take over this thing, which bears no mark of ours, such as aws/role/NAME. Repeatable.",
)
exchange = click.option(
    "--exchange",
    is_flag=True,
    help="Show a token of each ServiceAccount to each cloud, as its pod would.",
)
mint = click.option(
    "--mint",
    is_flag=True,
    help="Sign these tokens here, with the private key in the output folder, instead of asking the cluster for them.",
)
kubeconfig = click.option(
    "--kubeconfig",
    type=PATH,
    metavar="FILE",
    help="Of the cluster.  [default: KUBECONFIG, ~/.kube/config, or the pod's own]",
)
context = click.option(
    "--context",
    default="",
    metavar="NAME",
    help="Which of its contexts.  [default: the current one]",
)
api_servers = click.option(
    "--api-server",
    "api_servers",
    multiple=True,
    metavar="URL",
    help="Own address of an API server, where the Service kubernetes does not name each, as behind a balancer. Repeatable: all are to be given.",
)
since = click.option(
    "--since",
    default="",
    callback=_moment,
    metavar="TIME",
    help="For --former-issuer: when the last API server was stopped that signed as another, where the Service kubernetes cannot tell.",
)
junit = click.option(
    "--junit",
    type=PATH,
    metavar="FILE",
    help="Write what was found to this file too, as JUnit's XML.",
)
html = click.option(
    "--html",
    type=PATH,
    metavar="FILE",
    help="Draw who can act as what, and what is wrong with it: one page that needs nothing else.",
)
mermaid = click.option(
    "--mermaid",
    is_flag=True,
    help="Print the same as a diagram of Mermaid's, as README files and tickets show it, and nothing else.",
)
prune = click.option(
    "--prune", is_flag=True, help="Drop what is left over: ours, and no longer asked for."
)
yes = click.option(
    "--yes", "-y", is_flag=True, help="Do not ask before anything is dropped or restarted."
)
dry_run = click.option(
    "--dry-run", is_flag=True, help="Show the plan and its checksum; write nothing anywhere."
)
would_drop = click.option(
    "--dry-run", is_flag=True, help="Show what would go, and its checksum; change nothing."
)
expect = click.option(
    "--expect",
    default="",
    metavar="CHECKSUM",
    help="Act only on the plan of this checksum, as --dry-run has shown it.",
)
concurrency = click.option(
    "--concurrency",
    "width",
    type=click.IntRange(1, 256),
    default=16,
    show_default=True,
    help="Calls at once. Lowered by itself when a cloud asks for patience.",
)
output = click.option(
    "--output",
    "-o",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for machines.",
)
verdict = click.option(
    "--output",
    "-o",
    "form",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    show_default=True,
    help="For people, or for machines.",
)
debug = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_debug,
    is_eager=True,
    help="Show every call to a cloud, and where errors come from.",
)


def stacked(*stack: Callable[[C], C]) -> Callable[[C], C]:
    """Several options as one decorator, shown in this order."""

    def wrap(command: C) -> C:
        for option in reversed(stack):
            command = option(command)
        return command

    return wrap


preset = click.option(
    "--preset",
    default="",
    metavar="NAME",
    help="Ask for what a product needs, instead of CredentialsRequests, such as hypershift-azure.",
)
variables = click.option(
    "--set",
    "variables",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_variables,
    help="A variable of the preset. Repeatable: the last one counts.",
)
output_file = click.option(
    "--output-file",
    "output_file",
    type=PATH,
    metavar="FILE",
    help="The file that the preset's product takes.",
)


output_format = click.option(
    "--output-format",
    "declare",
    type=click.Choice(list(formats())),
    default=None,
    help=" ".join(
        f"Make nothing in {cloud.title}: say it as resources of {form.operator}."
        for cloud, form in formats().values()
    ),
)
credential_from = click.option(
    "--credential-from",
    default="",
    metavar="SECRET",
    help=f"The Secret that {' or '.join(form.operator for _, form in formats().values())} acts with for these resources.  [default: the operator's own]",
)


cluster = stacked(file, cloud, name)
issuer = stacked(issuer_in, issuer_url, issuer_exists)
key = stacked(public_key, add_key, replace_keys, move_issuer)
product = stacked(preset, variables)
presetting = stacked(product, output_file)
declaring = stacked(output_format, credential_from)
asking = stacked(requests, tech_preview)
reaching = stacked(kubeconfig, context)
running_already = stacked(from_cluster, reaching)
publishing = stacked(installer, output_dir, bits, key, running_already)
planning = stacked(adopt, dry_run, expect)
drawing = stacked(html, mermaid)
proving = stacked(exchange, reaching, mint, junit)
running = stacked(concurrency, output, debug)

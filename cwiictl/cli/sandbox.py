"""`cwiictl sandbox`: the clouds on loopback, for a first run, a rehearsal, and tests."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cwiictl.errors import BadInput

if TYPE_CHECKING:  # its imports are slow, and --help needs none of them
    from cwiictl.sandbox import Settings

F = TypeVar("F", bound=Callable[..., Any])
_SECONDS = click.FloatRange(min=0)


@click.group()
def sandbox() -> None:
    """The clouds on this machine: real SDKs and tools run against it unmodified, and cannot reach a real account.

    \b
    Example:
      cwiictl sandbox run -- aws sts get-caller-identity
    """


def _hosts(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, Path]:
    del context, parameter
    pairs = {host: Path(folder) for host, _, folder in (value.partition("=") for value in values)}
    for host, folder in pairs.items():
        if not host or str(folder) in {"", "."}:
            raise BadInput(
                f"--serve {host} names no folder",
                remedy="write --serve HOST=FOLDER, such as --serve oidc.example.org=./public",
            )
    return pairs


def _set_of(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> frozenset[str]:
    del context, parameter
    return frozenset(values)


_OPTIONS = (
    click.option(
        "--address",
        default="127.0.0.1",
        show_default=True,
        help="Where to listen. Other machines can use the sandbox when it is not loopback.",
    ),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        help="The door's port. Any free one when it is not given.",
    ),
    click.option(
        "--serve",
        multiple=True,
        metavar="HOST=FOLDER",
        callback=_hosts,
        help="Be this https host too, with the files of a folder. Repeatable.",
    ),
    click.option(
        "--let",
        multiple=True,
        metavar="ADDRESS",
        help="Let this private address or network be reached: that of a cluster of your own, by its IP. Repeatable.",
    ),
    click.option(
        "--record",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write every request to this file, a JSON object per line.",
    ),
    click.option(
        "--latency",
        type=_SECONDS,
        default=0.0,
        metavar="SECONDS",
        help="Wait this long before every request.",
    ),
    click.option(
        "--failures",
        type=click.FloatRange(0, 1),
        default=0.0,
        metavar="RATE",
        help="Throttle or fail this part of all requests, 0 to 1.",
    ),
    click.option(
        "--seed", type=int, default=0, help="Which requests fail: the same seed, the same ones."
    ),
    click.option(
        "--lag",
        type=_SECONDS,
        default=0.0,
        metavar="SECONDS",
        help="Show what was written only after this time, as IAM does.",
    ),
    click.option(
        "--deny",
        multiple=True,
        metavar="ACTION",
        callback=_set_of,
        help="Refuse what needs this permission, such as iam:Get*. Repeatable.",
    ),
    click.option(
        "--deploy",
        type=_SECONDS,
        default=2.0,
        show_default=True,
        metavar="SECONDS",
        help="How long takes what takes long: a distribution of CloudFront, an operation in Azure.",
    ),
    click.option("--expired", is_flag=True, help="Answer as if all credentials had expired."),
    click.option(
        "--taken",
        "strangers",
        multiple=True,
        metavar="NAME",
        callback=_set_of,
        help="This name of a bucket or a storage account is somebody else's. Repeatable.",
    ),
    click.option(
        "--jwks-cache",
        type=_SECONDS,
        default=0.0,
        metavar="SECONDS",
        help="Keep an issuer's keys this long before they are read again.",
    ),
    click.option(
        "--jwks-refetch/--no-jwks-refetch",
        default=True,
        help="Read an issuer's keys again when a token names an unknown one.",
    ),
)


def _options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _check_installed() -> None:
    missing = [name for name in ("h11", "jwt", "moto") if find_spec(name) is None]
    if missing:
        raise BadInput(
            f"the sandbox needs {' and '.join(missing)}, which this installation does not have",
            remedy='pip install "cwiictl[sandbox]"',
        )


def _settings(**options: Any) -> Settings:
    _check_installed()
    from cwiictl.sandbox import Settings  # noqa: PLC0415 - help is quick without it

    return Settings(**options)


@sandbox.command(context_settings={"ignore_unknown_options": True})
@_options
@click.option(
    "--end-after",
    type=click.IntRange(min=1),
    metavar="N",
    help="Kill the command after its Nth write was carried out, before it hears so.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(command: tuple[str, ...], **options: Any) -> None:
    """Run COMMAND in a fresh sandbox that ends with it.

    The command's environment is built from a list: no credentials, configuration files or proxies of yours are in it. The exit code is the command's.

    \b
    Examples:
      cwiictl sandbox run -- aws iam list-roles
      cwiictl sandbox run --failures 0.2 --lag 2 --record seen.jsonl -- bash rehearsal.sh
      cwiictl sandbox run --serve oidc.example.org=./public -- bash
    """
    settings = _settings(**options)
    from cwiictl.sandbox import Sandbox  # noqa: PLC0415 - help is quick without it
    from cwiictl.sandbox.launch import Launch  # noqa: PLC0415 - help is quick without it

    with Sandbox(settings) as running, Launch(command, running.environment()) as launch:
        running.faults.on_end = launch.end
        code = launch.wait()
        ended = running.faults.end_after == 0
    if ended:
        click.echo(
            f"The sandbox ended the command after its write number {options['end_after']}, as it was told.",
            err=True,
        )
    sys.exit(code)


@sandbox.command()
@_options
def start(**options: Any) -> None:
    """Keep a sandbox in the foreground until Ctrl-C.

    \b
    Example:
      cwiictl sandbox start --port 8888
      eval "$(cwiictl sandbox env)"          in another terminal
    """
    settings = _settings(**options)
    from cwiictl.sandbox import Sandbox  # noqa: PLC0415 - help is quick without it
    from cwiictl.sandbox.whereabouts import told  # noqa: PLC0415 - help is quick without it

    over = _interruption()
    with Sandbox(settings) as running, told(running.variables()):
        click.echo(
            f"The sandbox's door is {running.proxy}; its certificate authority is {running.ca_file}"
        )
        click.echo('In another terminal:  eval "$(cwiictl sandbox env)"')
        click.echo("Ctrl-C ends it.")
        sys.stdout.flush()
        over.wait()


def _home() -> str:
    """As the system has it: the shell's own HOME is the sandbox's."""
    import pwd  # noqa: PLC0415 - not on Windows, where the rest of this file works

    return pwd.getpwuid(os.getuid()).pw_dir


def _interruption() -> threading.Event:
    over = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        over.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    return over


@sandbox.command()
@click.option("--unset", is_flag=True, help="Print what takes a shell out of the sandbox again.")
def env(unset: bool) -> None:  # noqa: FBT001 - an option of the command line
    """Print what puts a shell into the sandbox that runs.

    Credentials that the shell has are unset. They do not come back with --unset: start a new shell for that.

    \b
    Example:
      eval "$(cwiictl sandbox env)"
      eval "$(cwiictl sandbox env --unset)"
    """
    _check_installed()
    from cwiictl.sandbox.environment import SET, dangerous  # noqa: PLC0415 - help is quick without it
    from cwiictl.sandbox.whereabouts import running  # noqa: PLC0415 - help is quick without it

    if unset:
        return click.echo(
            "\n".join(
                [
                    *(f"unset {name}" for name in SET if name != "HOME"),
                    f"export HOME={shlex.quote(_home())}",
                ]
            )
        )
    try:
        variables = running()
    except BadInput:
        click.echo("false")  # so that whoever evaluates this hears that it is in no sandbox
        raise
    click.echo(
        "\n".join(f"unset {name}" for name in dangerous(os.environ) if name not in variables)
    )
    return click.echo(
        "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    )


@sandbox.command()
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The private key that create-key-pair has made.",
)
@click.option(
    "--issuer",
    required=True,
    metavar="URL",
    help="The issuer, as the Authentication resource names it.",
)
@click.option(
    "--service-account", required=True, metavar="NAMESPACE/NAME", help="Whose token it is."
)
@click.option(
    "--audience",
    default="sts.amazonaws.com",
    show_default=True,
    metavar="TEXT",
    help="Whom it is meant for.",
)
@click.option(
    "--seconds",
    type=click.IntRange(min=-86400),
    default=3600,
    show_default=True,
    help="How long it is good for. Below 0, it has expired already.",
)
def token(key: Path, issuer: str, service_account: str, audience: str, seconds: int) -> None:
    """Print a ServiceAccount token as the cluster's API server would sign it.

    For trying, before there is a cluster, what the clouds make of it. A real cloud believes it too: do not leave it lying about.

    \b
    Example:
      cwiictl sandbox token --key out/serviceaccount-signer.private --issuer https://prod-oidc.s3.eu-west-1.amazonaws.com \\
        --service-account openshift-ingress-operator/ingress-operator > token
    """
    from cwiictl import files  # noqa: PLC0415 - help is quick without it
    from cwiictl.issuer.stores.mint import Mint  # noqa: PLC0415 - help is quick without it

    namespace, _, name = service_account.partition("/")
    if not (namespace and name):
        raise BadInput(
            f"--service-account {service_account} is not NAMESPACE/NAME",
            remedy="write it like openshift-ingress-operator/ingress-operator",
        )
    mint = Mint(files.read(key, "the private key"), "the file that --key names", issuer)
    click.echo(
        mint.token(namespace, name, audience, seconds), nl=sys.stdout.isatty()
    )  # the kubelet's files end without a new line, too

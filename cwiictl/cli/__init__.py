"""The command line: parse, act, show. The commands are loaded when they are used, so that help is quick."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from importlib import import_module
from types import FrameType

import click

from cwiictl.errors import Problem

COMMANDS = {
    "create-all": (
        "cwiictl.cli.create:create_all",
        "Make the clouds trust a cluster: key, issuer and identities.",
    ),
    "create-key-pair": (
        "cwiictl.cli.create:create_key_pair",
        "Make the key that signs the cluster's ServiceAccount tokens.",
    ),
    "create-identity-provider": (
        "cwiictl.cli.create:create_identity_provider",
        "Publish the issuer's documents and have them trusted.",
    ),
    "create-identities": (
        "cwiictl.cli.create:create_identities",
        "Make an identity for each CredentialsRequest.",
    ),
    "create-identity": (
        "cwiictl.cli.identity:create_identity",
        "Make an identity for one workload.",
    ),
    "rotate-keys": (
        "cwiictl.cli.rotate:rotate_keys",
        "Change the key that signs the cluster's tokens, in stages that nobody notices.",
    ),
    "status": ("cwiictl.cli.status:status", "Say whether all is as wanted, and what is not."),
    "verify": (
        "cwiictl.cli.verify:verify",
        "Say whether the clouds would believe the cluster's tokens, and why not.",
    ),
    "delete": ("cwiictl.cli.delete:delete", "Take down everything that bears the cluster's mark."),
    "install-webhook": (
        "cwiictl.cli.webhook:install_webhook",
        "Install the webhook in a cluster, or change what is installed.",
    ),
    "uninstall-webhook": (
        "cwiictl.cli.webhook:uninstall_webhook",
        "Take the webhook out of a cluster.",
    ),
    "renew-certificates": (
        "cwiictl.cli.webhook:renew_certificates",
        "Have the webhook's certificates renewed, if it is time.",
    ),
    "explain": (
        "cwiictl.cli.explain:explain",
        "Show what the webhook would make of a pod, and why.",
    ),
    "image": ("cwiictl.cli.image:image", "Make the webhook's image, as a file or in a registry."),
    "permissions": (
        "cwiictl.cli.permissions:permissions",
        "Print the least policy with which a command works.",
    ),
    "sandbox": (
        "cwiictl.cli.sandbox:sandbox",
        "The clouds on loopback, to try all of it without an account.",
    ),
}


CCOCTLS = {
    "create-iam-roles": "create-identities",
    "create-managed-identities": "create-identities",
    "create-oidc-issuer": "create-identity-provider",
}


class Commands(click.Group):
    """Its help is written from the table: nothing is imported to show it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return self._unknown(ctx, cmd_name)
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(import_module(module), attribute)

    @staticmethod
    def _unknown(ctx: click.Context, name: str) -> None:
        import difflib  # noqa: PLC0415 - who spells right does not pay for it

        from cwiictl.clouds import ALL  # noqa: PLC0415 - help is quick without them

        ours = CCOCTLS.get(name, f"--cloud {name}, after the command," if name in ALL else "")
        if ours:
            ctx.fail(f"There is no command {name!r}. What ccoctl calls so is {ours} here.")
        near = difflib.get_close_matches(name, COMMANDS, 1)
        ctx.fail(f"There is no command {name!r}.{f' Did you mean {near[0]}?' if near else ''}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(
    None, "-V", "--version", package_name="cwiictl", message="%(prog)s %(version)s"
)
def cwiictl() -> None:
    """Make AWS, Azure and Google Cloud trust a Kubernetes cluster that you run yourself, with no long-lived key anywhere.

    \b
    Try it without an account:
      cwiictl sandbox run -- sh
    Shell completion, for bash (zsh and fish alike):
      eval "$(_CWIICTL_COMPLETE=bash_source cwiictl)"
    """


def main() -> None:
    """Mistakes of the user's are told in two sentences; only an error of our own shows where it was made, and only on request."""
    signal.signal(signal.SIGTERM, _stop)
    warnings.filterwarnings(
        "ignore", "SOCKS support in urllib3"
    )  # two SDKs that are loaded at once undo each other's silence
    gc.set_threshold(
        50_000, 20, 100
    )  # of all that is loaded to begin with nothing is ever thrown away: looking for that takes a tenth of the time
    try:
        sys.exit(cwiictl.main(prog_name="cwiictl", standalone_mode=False, color=_colour()))
    except click.ClickException as e:
        e.show()
        sys.exit(e.exit_code)
    except click.Abort as e:
        _besides(e.__cause__ or e.__context__)
        _end()
    except Problem as e:
        _fail(e.problem, e.remedy, e.code, e)
    except Exception as e:  # noqa: BLE001 - the last place where anything can be told
        _fail(
            f"cwiictl itself has failed: {type(e).__name__}: {e}",
            "run it again with --debug and report what it shows",
            1,
            e,
        )


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end() -> None:
    """Who asked twice does not wait for the calls under way."""
    click.echo("Interrupted: run the same command again to go on.", err=True)
    os._exit(130)


def _colour() -> bool | None:
    """None lets the terminal decide."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def _wants_json(arguments: list[str]) -> bool:
    """Asked of the words themselves: what went wrong may be that they could not be read."""
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(
        word in {"--output=json", "-ojson"} or (word in {"--output", "-o"} and value == "json")
        for word, value in pairs
    )


def _fail(problem: str, remedy: str, code: int, e: BaseException) -> None:
    import json  # noqa: PLC0415 - help is quick without these
    import logging  # noqa: PLC0415 - help is quick without it

    from cwiictl.cli.wording import error  # noqa: PLC0415 - help is quick without it

    logging.getLogger("cwiictl").debug("failed", exc_info=e)
    if _wants_json(sys.argv[1:]):
        click.echo(json.dumps({"exitCode": code, "problem": problem, "remedy": remedy}, indent=2))
    for line in error(problem, remedy):
        click.echo(line, err=True)
    _besides(e)
    sys.exit(code)


def _besides(e: BaseException | None) -> None:
    """What went wrong on the way out."""
    for note in getattr(e, "__notes__", ()):
        click.echo(f"Besides, {note}", err=True)

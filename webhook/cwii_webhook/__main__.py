"""Entry point of cwii-webhook: a server with the command line of a dialect, or the renewer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cwii_webhook.dialects.dialect import Dialect, ServerVersion, Service, build_service
from cwii_webhook.dialects.registry import ALL, split_command_line
from cwii_webhook.help import USAGE, dialect_help
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.renewer import settings as renewer_settings
from cwii_webhook.server import workers
from cwii_webhook.server.health import package_version
from cwii_webhook.server.tls import InvalidTlsConfig
from cwii_webhook.settings.flags import BadFlag, OnBadFlag, parse, raise_bad_flag

if TYPE_CHECKING:
    from cwii_webhook.worker import BuildServices

PROGRAMS = {program: dialect for dialect in ALL.values() for program in dialect.program_names}
# OpenShift starts these beside a hosted kube-apiserver, with flags that users cannot extend.
SIDECAR_PROGRAMS = frozenset({"aws-pod-identity-webhook", "azure-workload-identity-webhook"})
HELP_FLAGS = frozenset({"--help", "-h", "-help"})
VERSION_FLAGS = frozenset({"--version", "-version"})


def main() -> None:
    workers.install_signal_handlers()
    try:
        sys.exit(run(sys.argv, os.environ))
    except (BadFlag, BadAccess, InvalidTlsConfig) as e:
        print(f"cwii-webhook: {e}", file=sys.stderr)
        sys.exit(2)


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Runs one command, and returns the exit code."""
    program, arguments = Path(argv[0]).name, list(argv[1:])
    command = "" if program in PROGRAMS or not arguments else arguments[0]
    if not VERSION_FLAGS.isdisjoint(arguments):
        print(f"cwii-webhook {package_version()}")
        return 0
    if command in HELP_FLAGS:
        print(USAGE)
        return 0
    if command == "renew":
        return _renew(arguments[1:], environ)
    dialect = PROGRAMS.get(program) or _take_dialect(arguments)
    if not HELP_FLAGS.isdisjoint(arguments):
        print(dialect_help(dialect))
        return 0
    return _serve(program, dialect, arguments, environ)


def _serve(
    program: str, dialect: Dialect, arguments: Sequence[str], environ: Mapping[str, str]
) -> int:
    """Imports the server late: without the extra, help and error messages still work."""
    build_services = _services_builder(program, dialect, arguments, environ)
    sidecar = _is_sidecar(program, dialect, arguments, environ)
    try:
        from cwii_webhook.program import serve  # noqa: PLC0415
    except ModuleNotFoundError as e:
        raise BadFlag(
            f"what serves is not installed: there is no module {e.name}",
            "install it with the extra server, as in pip install './webhook[server]'",
        ) from e
    return serve(build_services, environ, sidecar=sidecar)


def _services_builder(
    program: str, dialect: Dialect, arguments: Sequence[str], environ: Mapping[str, str]
) -> BuildServices:
    """Returns a function that builds the services of the first dialect and of further ones."""
    first, *further = split_command_line(arguments)

    def build_services(
        server_version: ServerVersion = (), on_bad_flag: OnBadFlag = raise_bad_flag
    ) -> list[Service]:
        services = [
            build_service(
                dialect,
                first,
                environ,
                program=program,
                on_bad_flag=on_bad_flag,
                server_version=server_version,
            )
        ]
        named = [(_find_dialect(part, on_bad_flag), part[1:]) for part in further]
        return services + [
            build_service(
                each,
                part,
                environ,
                path=f"/{each.name}{each.path}",
                on_bad_flag=on_bad_flag,
                server_version=server_version,
            )
            for each, part in named
            if each
        ]

    return build_services


def _renew(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    if not HELP_FLAGS.isdisjoint(arguments):
        print(renewer_settings.help_text())
        return 0
    try:
        from cwii_webhook.renewer.program import renew  # noqa: PLC0415 - needs both extras
    except ModuleNotFoundError as e:
        raise BadFlag(
            f"what renews is not installed: there is no module {e.name}",
            "install it with both extras, as in pip install './webhook[certificates,server]'",
        ) from e
    return renew(arguments, environ)


def _is_sidecar(
    program: str, dialect: Dialect, arguments: Sequence[str], environ: Mapping[str, str]
) -> bool:
    """Reads one flag before all others, because it decides how errors in others are handled."""
    first = split_command_line(arguments)[0]
    values = parse(dialect.flags, first, environ, lambda _: None).values
    return bool(values.get("serving.sidecar", program in SIDECAR_PROGRAMS))


def _take_dialect(arguments: list[str]) -> Dialect:
    """Removes the name of the dialect from the arguments, and returns the dialect."""
    name = arguments.pop(0) if arguments else ""
    if name not in ALL:
        raise BadFlag(
            f"{name!r} is no dialect" if name else "it is not said whose words are spoken", USAGE
        )
    return ALL[name]


def _find_dialect(arguments: Sequence[str], on_bad_flag: OnBadFlag) -> Dialect | None:
    try:
        return _take_dialect(list(arguments))
    except BadFlag as e:
        on_bad_flag(e)
        return None


if __name__ == "__main__":
    main()

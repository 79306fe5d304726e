"""cwii-webhook: a command line in the words of the webhook that it stands in for, and then a server until it is told to end.

Or, once and for a moment, whoever looks after its certificates.
"""

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
    from cwii_webhook.program import Offered

PROGRAMS = {program: dialect for dialect in ALL.values() for program in dialect.program_names}
# As OpenShift starts them beside a hosted kube-apiserver, with flags that nobody can add to.
BESIDE = frozenset({"aws-pod-identity-webhook", "azure-workload-identity-webhook"})
HELP = (["--help"], ["-h"], ["-help"])
VERSION = frozenset({"--version", "-version"})


def main() -> None:
    workers.install_signal_handlers()
    try:
        sys.exit(run(sys.argv, os.environ))
    except (BadFlag, BadAccess, InvalidTlsConfig) as e:
        print(f"cwii-webhook: {e}", file=sys.stderr)
        sys.exit(2)


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    program, words = Path(argv[0]).name, list(argv[1:])
    if not VERSION.isdisjoint(words):
        print(f"cwii-webhook {package_version()}")
        return 0
    if words[:1] in HELP and program not in PROGRAMS:
        print(USAGE)
        return 0
    if words[:1] == ["renew"] and program not in PROGRAMS:
        return _renew(words[1:], environ)
    first = PROGRAMS.get(program) or _named(words)
    if any([word] in HELP for word in words):
        print(dialect_help(first))
        return 0
    own, *others = split_command_line(words)

    def offered(version: ServerVersion = (), refuse: OnBadFlag = raise_bad_flag) -> list[Service]:
        made = [
            build_service(
                first, own, environ, program=program, on_bad_flag=refuse, server_version=version
            )
        ]
        further = [(dialect, more[1:]) for more in others if (dialect := _further(more, refuse))]
        return made + [
            build_service(
                more,
                said,
                environ,
                path=f"/{more.name}{more.path}",
                on_bad_flag=refuse,
                server_version=version,
            )
            for more, said in further
        ]

    return _serve(offered, environ, sidecar=_sidecar(first, own, environ, program))


def _serve(offered: Offered, environ: Mapping[str, str], *, sidecar: bool) -> int:
    """Help is told, and mistakes are, where nothing is installed that serves."""
    try:
        from cwii_webhook.program import serve  # noqa: PLC0415 - it needs the extra
    except ModuleNotFoundError as e:
        raise BadFlag(
            f"what serves is not installed: there is no module {e.name}",
            "install it with the extra server, as in pip install './webhook[server]'",
        ) from e
    return serve(offered, environ, sidecar=sidecar)


def _renew(words: Sequence[str], environ: Mapping[str, str]) -> int:
    if any([word] in HELP for word in words):
        print(renewer_settings.help_text())
        return 0
    try:
        from cwii_webhook.renewer.program import renew  # noqa: PLC0415 - it needs the extra
    except ModuleNotFoundError as e:
        raise BadFlag(
            f"what renews is not installed: there is no module {e.name}",
            "install it with both extras, as in pip install './webhook[certificates,server]'",
        ) from e
    return renew(words, environ)


def _sidecar(
    dialect: Dialect, words: Sequence[str], environ: Mapping[str, str], program: str
) -> bool:
    """Known before anything else: whether what cannot be meant ends us depends on it."""
    return bool(
        parse(dialect.flags, words, environ, lambda _: None).values.get(
            "serving.sidecar", program in BESIDE
        )
    )


def _named(words: list[str]) -> Dialect:
    """Takes the name away."""
    name = words.pop(0) if words else ""
    if name not in ALL:
        raise BadFlag(
            f"{name!r} is no dialect" if name else "it is not said whose words are spoken", USAGE
        )
    return ALL[name]


def _further(words: Sequence[str], refuse: OnBadFlag) -> Dialect | None:
    try:
        return _named(list(words))
    except BadFlag as e:
        refuse(e)
        return None


if __name__ == "__main__":
    main()

"""The tables of README.md, from the code. `python tests/readme/tables.py` writes them; a test compares."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

import click
from cwii_webhook.dialects.common.annotations import EVERYWHERE
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.dialects.dialect import Dialect
from cwii_webhook.dialects.registry import ALL as DIALECTS
from cwii_webhook.settings.serving import ServingSettings
from msgspec import UnsetType

from cwiictl import errors, names
from cwiictl.actions.result import INTERRUPTED
from cwiictl.cli import COMMANDS, cwiictl
from cwiictl.clouds import ALL
from cwiictl.cluster_file.preset import PresetShape
from cwiictl.documents import documents
from cwiictl.engine.resource import Resource
from cwiictl.files import template, templates
from cwiictl.install import handover
from cwiictl.installers import INSTALLERS
from cwiictl.issuer.documents import DiscoveryDocument, Issuer, KeySet
from cwiictl.issuer.key import SigningKey
from cwiictl.shapes import told

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"(<!-- table: (?P<name>[\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
CREATING = (
    "create-all",
    "create-identity-provider",
    "create-identities",
    "create-identity",
    "create-key-pair",
    "rotate-keys",
    "status",
    "verify",
    "delete",
)
INSTALLING = ("install-webhook", "uninstall-webhook", "renew-certificates")


def commands() -> Iterator[str]:
    yield from ("| command | what it does |", "| --- | --- |")
    yield from (f"| `{name}` | {text} |" for name, (_, text) in COMMANDS.items())


def options(commands: tuple[str, ...] = CREATING) -> Iterator[str]:
    """A row an option, and which commands take it: one that does something else in another command has a row more."""
    taken: dict[tuple[str, str], tuple[click.Option, list[str]]] = {}
    for command in commands:
        for option in _options(_command(command)):
            taken.setdefault((_flag(option), option.help or ""), (option, []))[1].append(command)
    yield from ("| option | of | meaning |", "| --- | --- | --- |")
    for (flag, _), (option, of) in taken.items():
        yield f"| {flag} | {_of(of, commands)} | {_cell(option.help or '')}{_default(option)} |"


def sandbox() -> Iterator[str]:
    group: Any = _command("sandbox")
    yield from ("| option | meaning |", "| --- | --- |")
    yield from (
        f"| {_flag(option)} | {_cell(option.help or '')} |"
        for option in _options(group.commands["run"])
    )


def things() -> Iterator[str]:
    """Each kind, with the fields of its State that are compared."""
    yield from ("| thing | what it is | compared, and repaired |", "| --- | --- | --- |")
    for resource, what in _resources():
        (state,) = get_args(resource.__orig_bases__[0])
        compared = ", ".join(
            f"`{field.name}`" for field in dataclasses.fields(state) if field.compare
        )
        yield f"| {_words(resource.__name__)} | {_cell(_first(what))} | {compared} |"


def codes() -> Iterator[str]:
    yield from ("| exit code | meaning |", "| --- | --- |")
    rows = {
        0: "as wanted, or done",
        errors.Failed.code: "something failed, or was left, or could not be looked at; `explain`: a pod would be refused",
        errors.BadInput.code: "what was asked for cannot be meant: nothing was done",
        3: "`status`: something has drifted, is missing or left over; `verify`: something stands against it that tokens are believed;"
        " `rotate-keys`: it is the turn of the API servers, or of who serves the issuer, and then to be run again",
        errors.Conflict.code: "something foreign is in the way: nothing was done",
        INTERRUPTED: "interrupted: run the same command again to go on",
    }
    yield from (f"| {code} | {text} |" for code, text in rows.items())


def files() -> Iterator[str]:
    yield from ("| file in `--output-dir` | what it is |", "| --- | --- |")
    yield f"| `{names.PRIVATE_KEY}` | the key that signs ServiceAccount tokens (PKCS#1 PEM, 0600) |"
    yield f"| `{names.PUBLIC_KEY}` | its public half (PEM) |"
    yield f"| `{names.INSTALLER_KEY}` | the private key once more, where openshift-install looks for it (0600) |"
    yield "| `manifests/cluster-authentication-02-config.yaml` | the issuer, as the Authentication resource `cluster` |"
    yield "| `manifests/NAMESPACE-NAME-credentials.yaml` | for each CredentialsRequest, the Secret that tells its workload |"
    yield "| `manifests/azure-ad-pod-identity-webhook-config.yaml` | in Azure, the tenant, for the webhook that OpenShift runs |"
    yield f"| `{handover.FILE}` | the ids that came out, for `install-webhook`; what you write into it stays |"
    taken = "the flags of kube-apiserver in its own words, the key where it looks for it, annotated ServiceAccounts, Google's credentials files"
    yield f"| `INSTALLER/` | for every other `--installer`, {taken}, and a README.txt that says what to do |"
    yield f"| `{names.AFTER}KEY/` | the pair that comes after the key whose id begins so, made by `rotate-keys add` |"
    yield "| `INSTALLER/rotation/STAGE/` | what API servers need for a stage of a rotation, and a README.txt that says what to do |"
    yield "| `issuer/` | with a host of your own, the two documents for it to serve |"


def installers() -> Iterator[str]:
    """What each is given, and how far that was tried."""
    yield from ("| `--installer` | files | how they were tried |", "| --- | --- | --- |")
    for name, installer in INSTALLERS.items():
        yield f"| `{name}` | {', '.join(f'`{path}`' for path in sorted(installer.paths(())))} | {TRIED[name]} |"


def presets() -> Iterator[str]:
    """The variables of each."""
    yield from ("| preset | `--set` | meaning |", "| --- | --- | --- |")
    for file in templates("presets"):
        (document,) = documents(file, template(f"presets/{file}").encode())
        for name, variable in told(document, PresetShape).variables.items():
            default = (
                "required where it is needed"
                if isinstance(variable.default, UnsetType)
                else f"default `{variable.default}`"
            )
            yield f"| `{file.removesuffix('.yaml')}` | `{name}` | {_cell(variable.help)} ({default.replace('True', 'true').replace('False', 'false')}) |"


def words(dialect: Dialect) -> Iterator[str]:
    yield from ("| annotation | heard on | meaning | default |", "| --- | --- | --- | --- |")
    for word in dialect.annotations:
        label = " (label)" if word.place == "label" else ""
        heard = (
            f"written on the {word.sources[0]}"
            if word.is_output
            else "everywhere"
            if word.sources == EVERYWHERE
            else ", ".join(SCOPES[scope] for scope in word.sources)
        )
        yield f"| `{word.key}`{label} | {heard} | {_cell(word.meaning)} | {_code(word.default)} |"


def flags(dialect: Dialect) -> Iterator[str]:
    """Those that mean something."""
    yield from ("| flag | environment | meaning |", "| --- | --- | --- |")
    for flag in dialect.flags:
        if flag.field:
            default = (
                _told(dialect.serving, flag.field.removeprefix("serving."))
                if flag.field.startswith("serving.")
                else _told(Settings(), flag.field)
            )
            yield f"| `--{flag.name}` | {_code(flag.env)} | {_cell(flag.help)}{f' (default {default})' if default else ''} |"


_STARTED = "a real kube-apiserver starts with the flags that"
_SOURCE = f"{_STARTED}, by its source, it makes of them, for a new cluster and for one that runs; itself it was not at hand"
TRIED = {
    "openshift": "compared with ccoctl's; a real API server takes the Authentication by OpenShift's own definition; the issuer and the key start a real"
    " kube-apiserver; openshift-install itself was not at hand",
    "kubeadm": "kubeadm 1.36 itself takes them, in both dialects, and the flags that it writes start a real kube-apiserver,"
    " of a new cluster and of one that runs",
    "kops": f"a real API server takes the Cluster by kOps 1.36's own definition; {_SOURCE}",
    "k3s": f"k3s' own code (of 1.25) reads them; {_SOURCE}",
    "rke2": "as those of k3s, whose code reads them",
    "k0s": "a real API server takes the ClusterConfig by k0s 1.27's own definition, which does not know the `rawArgs` of a cluster that runs yet;"
    f" {_SOURCE}, nor the definition of a later one",
    "talos": "Talos 1.14's own code makes and patches a machine's configuration with them, of a new cluster and of one that runs, and takes what comes of it;"
    f" the schema of 1.12 takes the file for that; {_STARTED}, by its source, it makes of them; no machine was started",
    "cluster-api": "a real API server takes them by Cluster API 1.13's own definition, in both dialects, and the flags that kubeadm makes of them start a real"
    " kube-apiserver, of a new cluster and of one that runs; no machine was made",
    "kind": "kind 0.32 itself reads and patches by them, in both dialects of kubeadm, and the flags that kubeadm makes of that start a real kube-apiserver;"
    " no container was started",
}
SCOPES = {"pod": "pod", "owner": "owner", "account": "ServiceAccount", "namespace": "namespace"}
TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "commands": commands,
    "options": options,
    "options of installing": partial(options, INSTALLING),
    "things": things,
    "exit codes": codes,
    "files": files,
    "installers": installers,
    "sandbox": sandbox,
    "presets": presets,
    "flags of cwii": partial(flags, DIALECTS["cwii"]),
    **{f"words of {name}": partial(words, dialect) for name, dialect in DIALECTS.items()},
}


def rendered(text: str) -> str:
    return BLOCK.sub(
        lambda block: block[1] + "\n".join(TABLES[block["name"]]()) + "\n" + block[3], text
    )


def _command(name: str) -> click.Command:
    command = cwiictl.get_command(click.Context(cwiictl), name)
    if command is None:
        raise KeyError(name)
    return command


def _options(command: click.Command) -> list[click.Option]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Option)]


def _flag(option: click.Option) -> str:
    metavar = (
        ""
        if option.is_flag
        else f" {option.make_metavar(click.Context(cwiictl)).split(' RANGE')[0]}"
    )
    spelled = ", ".join(sorted(option.opts, key=len))
    no = "".join(f" / {other}" for other in option.secondary_opts)
    return _cell(f"`{spelled}{metavar}{no}`")


def _default(option: click.Option) -> str:
    return f" (default {option.default})" if option.show_default else ""


def _code(text: str) -> str:
    return text if "`" in text or not text else f"`{text}`"


def _told(settings: ServingSettings | Settings, field: str) -> str:
    match getattr(settings, field):
        case (str(host), int(port)):
            return f"{host}:{port}"
        case True:
            return "true"
        case None | False | () | "":
            return ""
        case float(seconds):
            return f"{seconds:g}s"
        case value:
            return str(value)


def _of(taking: list[str], commands: tuple[str, ...]) -> str:
    lacking = [command for command in commands if command not in taking]
    if not lacking:
        return "all"
    return (
        "all but `create-key-pair`"
        if lacking == ["create-key-pair"]
        else ", ".join(f"`{command}`" for command in taking)
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _first(documentation: str | None) -> str:
    return (documentation or "").strip().split("\n\n")[0].removesuffix(".")


def _resources() -> Iterator[tuple[Any, str | None]]:
    """What all clouds share says itself what it is; a cloud has a file for each kind, and the file says it."""
    yield from (
        (resource, resource.__doc__) for resource in (SigningKey, DiscoveryDocument, KeySet, Issuer)
    )
    for cloud in ALL:
        folder = Path(importlib.import_module(f"cwiictl.clouds.{cloud}.resources").__path__[0])
        for path in sorted(folder.glob("[a-z]*.py")):
            module = importlib.import_module(f"cwiictl.clouds.{cloud}.resources.{path.stem}")
            yield from (
                (value, module.__doc__)
                for value in vars(module).values()
                if _is_resource(value, module)
            )


def _is_resource(value: object, module: Any) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, Resource)
        and value.__module__ == module.__name__
    )


def _words(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r" \1", name).lower().replace("oidc", "OIDC")


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))

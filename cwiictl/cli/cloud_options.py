"""What the clouds must be told, as options: from their Specs, in a section of the help for each cloud.

Where clouds share a flag, each has its own spelling too (`--aws-region`), and the bare one is for whoever has given one of these clouds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import click

from cwiictl.actions.result import Result, Row
from cwiictl.cli.options import PATH, stacked
from cwiictl.clouds import ALL
from cwiictl.clouds.spec import Option, Wish, options
from cwiictl.cluster_file.words import key
from cwiictl.errors import BadInput
from cwiictl.verify.finding import Finding

C = TypeVar("C", bound=Callable[..., Any])
R = TypeVar("R", Row, Finding)


class Command(click.Command):
    """Shows the options of each cloud by themselves, after those of all clouds."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                sections.setdefault(
                    parameter.section if isinstance(parameter, CloudOption) else "Options", []
                ).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class CloudOption(click.Option):
    def __init__(self, *arguments: Any, section: str, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.section = section


def of_clouds(command: str) -> Callable[[C], C]:
    bare = (_bare(flag, clouds) for flag, clouds in _sharing(command).items())
    return stacked(
        *bare,
        *(_of_cloud(command, cloud, option, flag) for cloud, option, flag in spelled(command)),
    )


def spelled(command: str) -> Iterator[tuple[str, Option, str]]:
    """Each option of each cloud that a command takes, and the flag that is this cloud's alone."""
    shared = _sharing(command)
    for name, cloud in ALL.items():
        for option in options(cloud.Spec).values():
            if taken(option, command):
                yield (
                    name,
                    option,
                    _own(name, option.flag) if option.flag in shared else option.flag,
                )


def taken(option: Option, command: str) -> bool:
    return not option.of or command in option.of


def spec(
    cloud: str,
    command: str,
    chosen: Collection[str],
    given: Mapping[str, Any],
    file: Mapping[str, Any],
) -> dict[str, Any]:
    """The fields of a cloud's Spec, from the command line or else from the file."""
    flags = _flags(command, cloud)
    asked = {
        field: option for field, option in options(ALL[cloud].Spec).items() if option.flag in flags
    }
    said = {
        field: _said(option, flags[option.flag], given)
        or _bare_value(option, command, chosen, given)
        for field, option in asked.items()
    }
    filled = {
        field: said[field] or file.get(field) or (False if option.switch else "")
        for field, option in asked.items()
    }
    for field, option in asked.items():
        if option.required and command not in option.spared and not filled[field]:
            told = option.flag if len(chosen) == 1 else flags[option.flag]
            besides = (
                f", or write {_word(cloud, option)} in {given['file']}" if given.get("file") else ""
            )
            raise BadInput(
                f"{ALL[cloud].title} needs {told}", remedy=f"give {told} {option.metavar}{besides}"
            )
    read = {
        option.flag: _word(cloud, option)
        for field, option in asked.items()
        if filled[field] and not said[field]
    }
    _judged(cloud, filled, {**(flags if len(chosen) > 1 else {}), **read})
    return filled


def _word(cloud: str, option: Option) -> str:
    """As the cluster's file says it."""
    return f"clouds.{cloud}.{key(cloud, option)}"


def _judged(cloud: str, filled: Mapping[str, Any], flags: Mapping[str, str]) -> None:
    """A cloud names its options as they are where it is alone: here they are said as the user has to spell them, or has."""
    try:
        ALL[cloud].Spec(**filled)
    except BadInput as e:
        raise BadInput(_respelled(e.problem, flags), remedy=_respelled(e.remedy, flags)) from e


def told(result: Result, command: str, chosen: Collection[str]) -> Result:
    """The same of what only came to light there."""
    flags = {cloud: _flags(command, cloud) for cloud in chosen} if len(chosen) > 1 else {}

    def of(row: R) -> R:
        own = flags.get(row.thing.partition("/")[0], {})
        return (
            replace(row, problem=_respelled(row.problem, own), remedy=_respelled(row.remedy, own))
            if row.remedy
            else row
        )

    return replace(
        result, rows=tuple(map(of, result.rows)), findings=tuple(map(of, result.findings))
    )


def _flags(command: str, cloud: str) -> dict[str, str]:
    return {option.flag: flag for name, option, flag in spelled(command) if name == cloud}


def _respelled(text: str, flags: Mapping[str, str]) -> str:
    for flag, own in flags.items():
        text = re.sub(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", own, text)
    return text


def _said(option: Option, flag: str, given: Mapping[str, Any]) -> Any:
    """With the flag that is this cloud's own. Whoever gives the bare one beside it, and says something else, has mistaken one of the two."""
    value, bare = given[_parameter(flag)], given[option.parameter] if flag != option.flag else ""
    if value and bare and value != bare:
        raise BadInput(
            f"{option.flag} says {bare}, and {flag} says {value}", remedy=f"leave {option.flag} out"
        )
    return value


def judge(command: str, chosen: Collection[str], given: Mapping[str, Any]) -> None:
    """What is said to a cloud that is not there is a mistake, and not to be passed over."""
    told = [(name, flag) for name, _, flag in spelled(command)] + [
        (name, wish.flag) for name, cloud in ALL.items() for wish in cloud.WISHES
    ]
    for name, flag in told:
        if name not in chosen and given.get(_parameter(flag)):
            raise BadInput(
                f"{flag} is for {ALL[name].title}, which is not among the clouds",
                remedy=f"add --cloud {name}, or leave {flag} out",
            )


def _bare_value(
    option: Option, command: str, chosen: Collection[str], given: Mapping[str, Any]
) -> Any:
    """What could be meant for several of the clouds is meant for none."""
    value = given[option.parameter]
    meant = [name for name in _sharing(command).get(option.flag, ()) if name in chosen]
    if value and len(meant) > 1:
        raise BadInput(
            f"{option.flag} {value} does not say for which cloud",
            remedy=f"give {' and '.join(_own(name, option.flag) for name in meant)}",
        )
    return value


def _sharing(command: str) -> dict[str, list[str]]:
    """The flags that several clouds have, and these clouds."""
    clouds: dict[str, list[str]] = {}
    for name, cloud in ALL.items():
        for option in options(cloud.Spec).values():
            if taken(option, command):
                clouds.setdefault(option.flag, []).append(name)
    return {flag: of for flag, of in clouds.items() if len(of) > 1}


def _bare(flag: str, clouds: list[str]) -> Callable[[C], C]:
    each = [_own(name, flag) for name in clouds]
    text = f"{', '.join(each[:-1])} or {each[-1]}, where one cloud is given."
    option = next(option for option in options(ALL[clouds[0]].Spec).values() if option.flag == flag)
    return click.option(flag, option.parameter, default="", metavar=option.metavar, help=text)


def _of_cloud(command: str, cloud: str, option: Option, flag: str) -> Callable[[C], C]:
    section = f"Options of {ALL[cloud].title}"
    if option.switch:
        return click.option(
            flag, _parameter(flag), cls=CloudOption, section=section, is_flag=True, help=option.help
        )
    text = option.help + (
        "  [required]" if option.required and command not in option.spared else ""
    )
    return click.option(
        flag,
        _parameter(flag),
        cls=CloudOption,
        section=section,
        default="",
        metavar=option.metavar,
        help=text,
    )


def _own(cloud: str, flag: str) -> str:
    """`--region` is `--aws-region` where it could be another cloud's."""
    return f"--{cloud}-{flag.removeprefix('--')}"


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _wish(cloud: str, wish: Wish) -> Callable[[C], C]:
    shape: Any = {"type": PATH} if wish.file else {"multiple": True}
    kind: Any = shape | ({"metavar": wish.metavar} if wish.metavar else {})
    return click.option(
        wish.flag,
        wish.parameter,
        cls=CloudOption,
        section=f"Options of {ALL[cloud].title}",
        help=wish.help,
        **kind,
    )


wishes = stacked(*(_wish(name, wish) for name, cloud in ALL.items() for wish in cloud.WISHES))

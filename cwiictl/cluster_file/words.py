"""The words of cluster.yaml: reading it, what its mistakes are told with, and the JSON schema for editors all follow from these shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Annotated, Any, Literal, Protocol, TypeAlias, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cwiictl.model import CLUSTER, LABEL, SUBDOMAIN
from cwiictl.shapes import Strict

VERSION, KIND = "cwii.dev/v1", "Cluster"


class Option(Protocol):
    """What a cloud must be told, as its Spec says it."""

    @property
    def flag(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def metavar(self) -> str: ...
    @property
    def switch(self) -> bool: ...


@dataclass(frozen=True)
class CloudWords:
    """Of one cloud. `section` is the shape of what a workload asks of it."""

    title: str
    options: Mapping[str, Option]  # by the field of its Spec
    section: type[msgspec.Struct]


@dataclass(frozen=True)
class Words:
    """All that a file may speak of: handed in, since the clouds and the installers know this room, and not the other way round."""

    clouds: Mapping[str, CloudWords]
    installers: tuple[str, ...]

    def fields(self, cloud: str) -> Mapping[str, str]:
        """The fields of a cloud's Spec, by their keys in the file."""
        return {key(cloud, option): field for field, option in self.clouds[cloud].options.items()}

    def given(self, cloud: str, section: Mapping[str, object]) -> dict[str, Any]:
        """As its Spec takes it from the command line, where a number is a text."""
        fields = self.fields(cloud)
        return {
            fields[word]: value if isinstance(value, bool) else str(value)
            for word, value in section.items()
        }


def key(cloud: str, option: Option) -> str:
    """`--permissions-boundary-arn` is permissionsBoundaryArn. Below the cloud's own name its prefix says nothing: `--aws-account` is account."""
    first, *others = option.flag.removeprefix("--").removeprefix(f"{cloud}-").split("-")
    return first + "".join(word.capitalize() for word in others)


# --- shapes ---


def _meta(text: str) -> Meta:
    return Meta(description=text)


def _written(pattern: re.Pattern[str], text: str) -> Meta:
    """Editors check how it is written; here `model` does, in better words."""
    return Meta(
        description=text,
        extra_json_schema={"pattern": f"^({pattern.pattern.replace(chr(92) + 'Z', '$')})$"},
    )


Text: TypeAlias = Annotated[str, Meta(min_length=1)]


class IssuerShape(Strict):
    in_: str = msgspec.field(name="in", default="")
    url: Annotated[
        Text,
        _meta("A host of one's own, https: it must serve the documents, and tokens say this URL."),
    ] = ""
    exists: Annotated[
        bool,
        _meta(
            "The issuer of the url is served already: nothing is published, the clouds only trust it."
        ),
    ] = False
    from_cluster: Annotated[
        bool, _meta("The cluster runs: its own keys are trusted, and none is made.")
    ] = False


class RequestsShape(Strict):
    dir: Annotated[
        Text, _meta("Folder of the CredentialsRequests, as YAML or JSON, seen from this file.")
    ]
    tech_preview: Annotated[
        bool, _meta("Follow requests of the feature set TechPreviewNoUpgrade too.")
    ] = False


class WorkloadShape(Strict):
    name: Annotated[
        Text,
        _written(SUBDOMAIN, "What its identities are called, after the cluster and the namespace."),
    ]
    namespace: Annotated[Text, _written(LABEL, "The namespace of its ServiceAccounts.")]
    service_accounts: Annotated[
        list[Annotated[Text, _written(SUBDOMAIN, "A ServiceAccount.")]],
        Meta(
            description="The ServiceAccounts whose tokens are trusted.",
            min_length=1,
            extra_json_schema={"uniqueItems": True},
        ),
    ]


class AskingShape(Strict):
    workloads: list[WorkloadShape] = msgspec.field(default_factory=list[WorkloadShape])


class FileShape(Strict):
    api_version: Annotated[Literal["cwii.dev/v1"], _meta("The version of these words.")]
    kind: Annotated[Literal["Cluster"], _meta("A cluster that clouds are to trust.")]
    name: Annotated[
        Text,
        _written(
            CLUSTER, "The cluster's name: the beginning of the names of all that is made for it."
        ),
    ]
    tags: Annotated[
        dict[str, str], _meta("Tags for all that bears tags, beside those of cwiictl.")
    ] = msgspec.field(default_factory=dict[str, str])
    credentials_requests: (
        Annotated[RequestsShape, _meta("OpenShift's requests for identities.")] | UnsetType
    ) = UNSET
    output_dir: Annotated[
        Text, _meta("Folder of the key pair, and of what the installer takes, seen from this file.")
    ] = ""
    public_key_file: Annotated[
        Text,
        _meta("The public key of a cluster that has one, seen from this file: no key is made."),
    ] = ""
    issuer: IssuerShape = msgspec.field(default_factory=IssuerShape)
    installer: list[str] = msgspec.field(default_factory=list[str])
    workloads: list[WorkloadShape] = msgspec.field(default_factory=list[WorkloadShape])


Field: TypeAlias = tuple[Any, dict[str, Any]]


# --- the shapes above, with the words of the clouds and installers that there are ---


def shape(words: Words) -> type[FileShape]:
    every = tuple(words.clouds)
    issuer = _defined(
        "Issuer",
        IssuerShape,
        {
            "in": _word(
                _one_of(every),
                "The cloud that hosts its two documents.  [default: the first of clouds]",
                str,
            )
        },
    )
    clouds = {
        "clouds": _word(
            _clouds(words),
            "The clouds that trust the cluster. The first hosts the issuer, if nothing else is said under issuer.",
        ),
        "issuer": _word(issuer, "Who the cluster's tokens say that they are from.", issuer),
        "installer": _word(_list(_one_of(words.installers)), "What to write files for.", list),
        **_asking(words),
    }
    return _defined("Cluster", FileShape, clouds)


def asking(words: Words) -> type[AskingShape]:
    """Of who asks for identities, and nothing else."""
    return _defined("Asking", AskingShape, _asking(words))


def _asking(words: Words) -> dict[str, Field]:
    return {
        "workloads": _word(
            _list(_workload(words)),
            "Who is to be trusted as one identity, and what it may do.",
            list,
        )
    }


def _clouds(words: Words) -> Any:
    return _defined(
        "Clouds",
        Strict,
        {
            name: _may_be(_cloud(words, name), f"What {cloud.title} must be told.")
            for name, cloud in words.clouds.items()
        },
    )


def _cloud(words: Words, name: str) -> Any:
    options = words.clouds[name].options.values()
    return _defined(
        name.capitalize(),
        Strict,
        {key(name, option): _may_be(_kind(option), option.help) for option in options},
    )


def _kind(option: Option) -> Any:
    """An account is a text, whatever it looks like; only of what is counted would nobody think that it must be quoted."""
    return bool if option.switch else int if option.metavar == "SECONDS" else Text


def _workload(words: Words) -> Any:
    return _defined(
        "Workload",
        WorkloadShape,
        {
            name: _may_be(cloud.section, f"What it may do in {cloud.title}.")
            for name, cloud in words.clouds.items()
        },
    )


def _word(kind: Any, text: str, default: Callable[[], object] | None = None) -> Field:
    return cast("Any", Annotated)[kind, _meta(text)], {
        "default_factory": default
    } if default else {}


def _may_be(kind: Any, text: str) -> Field:
    return cast("Any", Annotated)[kind, _meta(text)] | UnsetType, {"default": UNSET}


def _one_of(words: tuple[str, ...]) -> Any:
    return cast("Any", Literal)[words]


def _list(item: Any) -> Any:
    return list[item]


def _defined(name: str, base: type[msgspec.Struct], fields: Mapping[str, Field]) -> Any:
    """`base` with these keys. A key is no name of ours: it may be Python's own word, such as `in`."""
    named = [
        (f"{word}_" if iskeyword(word) else word, kind, msgspec.field(name=word, **default))
        for word, (kind, default) in fields.items()
    ]
    return msgspec.defstruct(name, named, bases=(base,), kw_only=True)

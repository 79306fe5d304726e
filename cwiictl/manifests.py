"""Bindings and template text → Kubernetes objects, and objects → YAML. A template is the constant part of an object: it is read and filled as data."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import yaml

from cwiictl.model import Binding

Template: TypeAlias = Callable[
    [str], str
]  # the text of a template by its name: reading it is the caller's

_NUMBERLIKE = re.compile(r"[-+.]?[0-9.]|[yYnN]\Z")
_LINES = re.compile(
    r"[!-~][ -~\n]*"
)  # what a block gives back as it was: no carriage return, no space before all else


def secret(text: str, bindings: Sequence[Binding]) -> dict[str, Any]:
    """Whose it is, and what its workload must be told, by each cloud that it has an identity in."""
    filled = template(text)
    filled["metadata"] |= {
        "name": bindings[0].workload.name,
        "namespace": bindings[0].workload.namespace,
    }
    texts = {key: text for binding in bindings for key, text in binding.texts.items()}
    coded = {
        key: base64.b64encode(file).decode()
        for binding in bindings
        for key, file in binding.files.items()
    }
    del filled["stringData"]
    return (
        filled
        | ({"data": coded} if coded else {})
        | ({"stringData": texts} if texts or not coded else {})
    )


def told(text: str, fact: str, value: str) -> dict[str, Any]:
    """A Secret of one fact."""
    filled = template(text)
    filled["stringData"][fact] = value
    return filled


def authentication(text: str, issuer: str) -> dict[str, Any]:
    """OpenShift's word for the issuer of the tokens that its API server signs."""
    filled = template(text)
    filled["spec"]["serviceAccountIssuer"] = issuer
    return filled


def service_accounts(text: str, bindings: Iterable[Binding]) -> list[dict[str, Any]]:
    """Each once, however many clouds its workload has an identity in, with the words that the webhook reads."""
    words: dict[tuple[str, str], tuple[dict[str, str], dict[str, str]]] = {}
    for binding in bindings:
        for account in binding.workload.service_accounts:
            annotations, labels = words.setdefault((binding.workload.namespace, account), ({}, {}))
            annotations.update(binding.annotations)
            labels.update(binding.labels)
    return [
        _service_account(text, namespace, name, *said) for (namespace, name), said in words.items()
    ]


def _service_account(
    text: str, namespace: str, name: str, annotations: Mapping[str, str], labels: Mapping[str, str]
) -> dict[str, Any]:
    filled = template(text)
    labelled = {"labels": dict(labels)} if labels else {}
    filled["metadata"] |= {
        "name": name,
        "namespace": namespace,
        **labelled,
        "annotations": dict(annotations),
    }
    return filled


def template(text: str) -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.load(text, Loader=yaml.CSafeLoader))


def dump(document: Mapping[str, object] | list[Any]) -> bytes:
    """As a person would write it: in the given order, without aliases, a text of several lines as a block."""
    plain = document if isinstance(document, list) else dict(document)
    return yaml.dump(
        plain,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=4096,
        encoding="utf-8",
    )


def dump_all(documents: Iterable[Mapping[str, object]]) -> bytes:
    """One file of several objects."""
    return b"---\n".join(dump(document) for document in documents)


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - PyYAML's signature
        return True


def _text(_: _Dumper, value: str) -> yaml.ScalarNode:
    """What YAML 1.2 takes for a number and PyYAML does not (1e3, 0o7, 1_0) is quoted: Kubernetes reads it with a parser of its own."""
    style = (
        "|"
        if "\n" in value and _LINES.fullmatch(value)
        else "'"
        if _NUMBERLIKE.match(value)
        else None
    )
    return yaml.ScalarNode("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)

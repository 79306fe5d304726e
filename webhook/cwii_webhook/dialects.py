"""The table of dialects: whose words are understood, under which path and names, and what is made of their flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from cwii_webhook import differences, vocabulary
from cwii_webhook.admit import Mutator, Route
from cwii_webhook.differences import eks as eks_differences
from cwii_webhook.mutators.eks import Eks
from cwii_webhook.settings import eks
from cwii_webhook.settings.flags import Flag, Told, made, parse
from cwii_webhook.vocabulary import eks as eks_words


class Dialect(Struct, frozen=True):
    name: str
    path: str
    flags: tuple[Flag, ...]
    mutators: Callable[[Told], tuple[Mutator, ...]]
    words: tuple[vocabulary.Word, ...]
    differences: tuple[differences.Difference, ...]
    programs: tuple[str, ...] = ()  # what it is called where it is called by its file's name
    marker: str = ""
    ephemeral: bool = True


def _eks(told: Told) -> tuple[Mutator, ...]:
    return (Eks(made(told, eks.Settings)),)


ALL: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("eks", "/mutate", eks.FLAGS, _eks, eks_words.ALL, eks_differences.ALL, ("aws-pod-identity-webhook", "pod-identity-webhook")),
    )
}


def route(dialect: Dialect, words: Sequence[str], environ: Mapping[str, str], *, path: str = "") -> Route:
    """As it was told; raises BadFlag."""
    told = parse(dialect.flags, words, environ)
    return Route(dialect.name, path or dialect.path, dialect.mutators(told), dialect.ephemeral, dialect.marker)

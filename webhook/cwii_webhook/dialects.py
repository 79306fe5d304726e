"""The table of dialects: whose words are understood, at which path, by which names it is called, and what is made of its command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from cwii_webhook import differences, vocabulary
from cwii_webhook.admit import Mutator, Route
from cwii_webhook.differences import azwi as azwi_differences
from cwii_webhook.differences import cwii as cwii_differences
from cwii_webhook.differences import eks as eks_differences
from cwii_webhook.differences import gcpwif as gcpwif_differences
from cwii_webhook.mutators.azwi import Azwi
from cwii_webhook.mutators.cwii import clouds
from cwii_webhook.mutators.eks import Eks
from cwii_webhook.mutators.gcpwif import Gcpwif
from cwii_webhook.owners import ABOVE, OWNERS
from cwii_webhook.settings import azwi, cwii, eks, gcpwif
from cwii_webhook.settings.flags import BadFlag, Flag, Told, made, parse
from cwii_webhook.settings.serving import Serving, serving
from cwii_webhook.source import Source, Sourced
from cwii_webhook.vocabulary import azwi as azwi_words
from cwii_webhook.vocabulary import cwii as cwii_words
from cwii_webhook.vocabulary import eks as eks_words
from cwii_webhook.vocabulary import gcpwif as gcpwif_words

Kind = tuple[str, str]  # group and kind

ACCOUNTS: frozenset[Kind] = frozenset({("", "ServiceAccount")})
EVERYBODY: frozenset[Kind] = ACCOUNTS | {("", "Namespace")} | OWNERS | frozenset[Kind]().union(*ABOVE.values())


class Dialect(Struct, frozen=True):
    name: str
    path: str
    flags: tuple[Flag, ...]
    serving: Serving
    mutators: Callable[[Told, str], tuple[Mutator, ...]]
    words: tuple[vocabulary.Word, ...]
    differences: tuple[differences.Difference, ...]
    domain: str  # of its annotations, where no flag says another
    programs: tuple[str, ...] = ()  # the names of files by which it is called, OpenShift's among them
    kinds: frozenset[Kind] = ACCOUNTS  # of objects that it asks the picture for
    selecting: tuple[str, ...] = ()  # flags with which it heeds by itself what selectors in its webhook configuration heed elsewhere
    marker: str = ""


class Service(Struct, frozen=True):
    """One command line, understood: what is given where, what has to be known for it, and how it is served."""

    route: Route
    serving: Serving
    kinds: frozenset[Kind]
    domains: frozenset[str]
    sources: tuple[Source, ...] = ()
    warnings: tuple[str, ...] = ()


def _cwii(told: Told, _program: str) -> tuple[Mutator, ...]:
    return clouds(cwii.settings(told))


def _eks(told: Told, _program: str) -> tuple[Mutator, ...]:
    return (Eks(made(told, eks.Settings)),)


def _azwi(told: Told, program: str) -> tuple[Mutator, ...]:
    return (Azwi(azwi.settings(told, program)),)


def _gcpwif(told: Told, _program: str) -> tuple[Mutator, ...]:
    return (Gcpwif(gcpwif.settings(told)),)


ALL: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "cwii",
            "/mutate",
            cwii.FLAGS,
            cwii.SERVING,
            _cwii,
            cwii_words.ALL,
            cwii_differences.ALL,
            cwii_words.DOMAIN,
            ("cwii",),
            EVERYBODY,
            marker=cwii_words.INJECTED.key,
        ),
        Dialect(
            "eks",
            "/mutate",
            eks.FLAGS,
            eks.SERVING,
            _eks,
            eks_words.ALL,
            eks_differences.ALL,
            eks_words.DOMAIN,
            ("aws-pod-identity-webhook", "amazon-eks-pod-identity-webhook"),
        ),
        Dialect(
            "azwi",
            "/mutate-v1-pod",
            azwi.FLAGS,
            azwi.SERVING,
            _azwi,
            azwi_words.ALL,
            azwi_differences.ALL,
            azwi_words.DOMAIN,
            (azwi.HOSTED,),
            selecting=("--check-label=true",),
        ),
        Dialect(
            "gcpwif",
            "/mutate-v1-pod",
            gcpwif.FLAGS,
            gcpwif.SERVING,
            _gcpwif,
            gcpwif_words.ALL,
            gcpwif_differences.ALL,
            gcpwif_words.DOMAIN,
            ("gcp-workload-identity-federation-webhook",),
        ),
    )
}


def service(dialect: Dialect, words: Sequence[str], environ: Mapping[str, str], *, path: str = "", program: str = "") -> Service:
    """As it was told; raises BadFlag. One that is served beside another, at a path of its own, has no say in how."""
    told = parse(dialect.flags, words, environ)
    if path and (spoken := [f for f in parse(dialect.flags, words, {}).values if f.startswith("serving.")]):
        raise BadFlag(f"{dialect.name} is served where the first dialect is, and is told its {spoken[0].removeprefix('serving.')}", "tell the first one")
    route = Route(dialect.name, path or dialect.path, dialect.mutators(told, program), marker=dialect.marker)
    domain = str(told.values.get("domain", dialect.domain))
    sources = tuple([source for mutator in route.mutators if isinstance(mutator, Sourced) for source in mutator.sources])
    return Service(route, serving(told, dialect.serving), dialect.kinds, frozenset({domain}), sources, told.warnings)

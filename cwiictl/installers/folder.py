"""The folder that an installer is given: files of its own, what tells the workloads, and a README.txt with the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from cwiictl import manifests
from cwiictl.errors import BadInput
from cwiictl.manifests import Template
from cwiictl.model import Binding, Handover, Succession, Workload

Files: TypeAlias = Iterator[tuple[str, bytes]]
Own: TypeAlias = Callable[[Handover, Template], Files]
NOTHING: Mapping[str, Own] = {}


def folders(name: str) -> tuple[str, ...]:
    return (name, f"{name}/credentials")


def paths(
    name: str, workloads: Iterable[Workload], own: Iterable[str], first: Iterable[str] = ()
) -> tuple[str, ...]:
    """All that `rendered` could make for these. The webhook serves a ServiceAccount as one identity."""
    claimed: dict[str, Workload] = {}
    for workload in workloads:
        for subject in workload.subjects:
            other = claimed.setdefault(subject, workload)
            if other != workload:
                raise BadInput(
                    f"{other.title} and {workload.title} both want the ServiceAccount {subject.removeprefix('system:serviceaccount:')}",
                    remedy="give each of the two a ServiceAccount of its own: it is annotated with one identity",
                )
    files = {_credentials(name, workload) for workload in claimed.values()}
    return (
        *((_accounts(name),) if claimed else ()),
        *sorted(files),
        *own,
        *(_before(name, path) for path in first),
        _readme(name),
    )


def rendered(
    name: str, handover: Handover, template: Template, own: Own, first: Mapping[str, Own] = NOTHING
) -> dict[str, bytes]:
    """Without an issuer, only what tells the workloads. `first` are the files of which several API servers need another before, and who makes that."""
    paths(name, (binding.workload for binding in handover.bindings), ())
    tree = dict(_told(name, handover.bindings, template))
    if not handover.issuer:
        return tree
    mounted = any(path.startswith(f"{name}/credentials/") for path in tree)
    text = template(f"{name}/{'existing' if handover.runs else 'new'}.txt")
    more = template("kubernetes/credentials.txt").format(folder=name) if mounted else ""
    return {
        **tree,
        **dict(own(handover, template)),
        **_first(name, handover, template, first),
        _readme(name): (text + more).encode(),
    }


def _first(
    name: str, handover: Handover, template: Template, first: Mapping[str, Own]
) -> dict[str, bytes]:
    """Whom to believe, as long as they sign as they did: in one step, whoever is not changed yet would refuse what the others sign."""
    if not (handover.runs and handover.former):
        return {}
    round_ = replace(handover, issuer=handover.former, former=handover.issuer, jwks_uri="")
    return {_before(name, path): dict(make(round_, template))[path] for path, make in first.items()}


def _before(name: str, path: str) -> str:
    return f"{name}/first/{path.removeprefix(f'{name}/')}"


def pair(handover: Handover, private: str, public: str = "") -> Files:
    """A cluster that has its own key is not given it."""
    if public and handover.public_key is not None:
        yield public, handover.public_key
    if handover.private_key is not None:
        yield private, handover.private_key


def succeeded(
    name: str, succession: Succession, template: Template, own: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Of a stage of a rotation. What is empty is not for it."""
    place, said = (
        f"{name}/rotation/{succession.stage}",
        template(f"kubernetes/rotate-{succession.stage}.txt"),
    )
    text = said.format(told=template(f"{name}/rotate-{succession.stage}.txt").rstrip("\n"))
    return {
        f"{place}/README.txt": text.encode(),
        **{f"{place}/{file}": content for file, content in own.items() if content},
    }


def successors(succession: Succession) -> dict[str, bytes]:
    """Under the names that kubeadm gave them, and others after it: the flags name them already, and one file may hold several public keys."""
    return {"sa.pub": succession.accepted, "sa.key": succession.private_key}


def _told(name: str, bindings: tuple[Binding, ...], template: Template) -> Files:
    accounts = manifests.service_accounts(template("kubernetes/service-account.yaml"), bindings)
    if accounts:
        yield _accounts(name), manifests.dump_all(accounts)
    yield from (
        (_credentials(name, binding.workload), file)
        for binding in bindings
        for file in binding.files.values()
    )


def _accounts(name: str) -> str:
    return f"{name}/serviceaccounts.yaml"


def _credentials(name: str, workload: Workload) -> str:
    """For whoever mounts them without the webhook."""
    return f"{name}/credentials/{workload.namespace}-{workload.name}.json"


def _readme(name: str) -> str:
    return f"{name}/README.txt"

"""What was given, on the command line and in a cluster.yaml, as one frozen order. The command line has the last word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cwiictl import files
from cwiictl.actions.order import IDENTITY, Order, Part, Reach
from cwiictl.cli.cloud_options import judge, spec
from cwiictl.clouds import ALL
from cwiictl.clouds.spec import options
from cwiictl.cluster_file import CloudWords, ClusterFile, Words, WorkloadAsk, load
from cwiictl.documents import Document, documents
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS
from cwiictl.model import Cluster, Workload

WORDS = Words(
    {
        name: CloudWords(cloud.title, options(cloud.Spec), cloud.Section)
        for name, cloud in ALL.items()
    },
    tuple(INSTALLERS),
)
NOTHING = ClusterFile(Cluster("nothing"), {})
PLAIN = ("tech_preview", "bits", "expect", "prune", "width", "issuer_too", "move_issuer")


def order(
    parts: frozenset[Part], clouds: tuple[str, ...], given: Mapping[str, Any], command: str
) -> Order:
    path: Path | None = given.get("file")
    file = (
        load(str(path), files.read(path, "the cluster's file"), WORDS).seen_from(path.parent)
        if path
        else NOTHING
    )
    chosen = clouds or tuple(file.clouds)
    if not chosen:
        raise BadInput(
            "no cloud is given",
            remedy=f"give --cloud {' or '.join(ALL)}, or a cluster.yaml with --file",
        )
    _judge_issuer(given, file, chosen, asks_anyway=command in {"status", "verify", "rotate-keys"})
    judge(command, chosen, given)
    plain: dict[str, Any] = {key: given[key] for key in PLAIN if key in given}
    plain["tech_preview"] = plain.get("tech_preview") or file.tech_preview
    return Order(
        cluster=_cluster(given, file),
        clouds={
            cloud: spec(cloud, command, chosen, given, file.clouds.get(cloud, {}))
            for cloud in chosen
        },
        parts=parts,
        requests=_requests(given, file, needed=command not in {"status", "verify", "rotate-keys"}),
        workloads=tuple(ask for ask in file.workloads if "identities" in parts),
        output=given.get("output_dir") or file.output or Path(),
        public_key=given.get("public_key") or file.public_key,
        keys=_keys(given),
        adopt=frozenset(given.get("adopt", ())),
        installers=given.get("installers") or file.installers or ("openshift",),
        issuer_in=given.get("issuer_in") or file.host,
        issuer_url=given.get("issuer_url") or file.url,
        issuer_exists=given.get("issuer_exists") or file.exists,
        from_cluster=Reach(given["kubeconfig"], given["context"])
        if _from_cluster(given, file)
        else None,
        **plain,
    )


def identity(clouds: tuple[str, ...], given: Mapping[str, Any]) -> Order:
    """For one workload, whose wishes are options."""
    what = order(frozenset({"identities"}), clouds, given, IDENTITY)
    accounts: tuple[str, ...] = given["service_accounts"]
    workload = Workload(
        given["namespace"],
        given["identity"] or accounts[0],
        accounts,
        asker="webhook",
        source="the command line",
    )
    asks = {cloud: _wishes(cloud, given) for cloud in what.clouds}
    return replace(
        what,
        workloads=(WorkloadAsk(workload, asks),),
        origin=IDENTITY,
        installers=(),
        requests=None,
    )


def _wishes(cloud: str, given: Mapping[str, Any]) -> Document:
    """As its section in a cluster.yaml would say it."""
    section: dict[str, Any] = {}
    for wish in ALL[cloud].WISHES:
        value = given[wish.parameter]
        if value and wish.file:
            section[wish.key] = next(
                iter(documents(str(value), files.read(value, "the policy")))
            ).value
        elif value:
            section[wish.key] = list(value)
    return next(iter(documents("the command line", json.dumps(section).encode())))


def _cluster(given: Mapping[str, Any], file: ClusterFile) -> Cluster:
    name = given["name"] or ("" if file is NOTHING else file.cluster.name)
    if not name:
        raise BadInput(
            "the cluster has no name", remedy="give it with --name, or a cluster.yaml with --file"
        )
    return Cluster(name, {**file.cluster.tags, **given.get("user_tags", {})})


def _requests(given: Mapping[str, Any], file: ClusterFile, *, needed: bool) -> Path | None:
    found: Path | None = given.get("requests") or file.requests
    if needed and "requests" in given and not (found or file.workloads or given.get("preset")):
        raise BadInput(
            "nobody asks for an identity",
            remedy="give --credentials-requests-dir DIR, or a cluster.yaml with workloads",
        )
    return found


def _judge_issuer(
    given: Mapping[str, Any], file: ClusterFile, clouds: tuple[str, ...], *, asks_anyway: bool
) -> None:
    """Some commands ask the cluster for something else than its issuer."""
    url = given.get("issuer_url") or file.url
    if _from_cluster(given, file):
        _judge_cluster(given, file, url)
    elif not asks_anyway and (given.get("kubeconfig") or given.get("context")):
        raise BadInput(
            "--kubeconfig and --context lead to a cluster that nobody asks",
            remedy="give --issuer-from-cluster too, or leave them out",
        )
    elif given.get("issuer_exists") and not url:
        raise BadInput(
            "--issuer-exists does not say which issuer", remedy="give it with --issuer-url"
        )
    host = given.get("issuer_in")
    if host and host not in clouds:
        raise BadInput(
            f"--issuer-in {host} is not among the clouds",
            remedy="name one that is given with --cloud",
        )


def _from_cluster(given: Mapping[str, Any], file: ClusterFile) -> bool:
    """Asked of commands that have to do with the issuer."""
    return "from_cluster" in given and bool(given["from_cluster"] or file.from_cluster)


def _judge_cluster(given: Mapping[str, Any], file: ClusterFile, url: str) -> None:
    """It says itself what its issuer and keys are."""
    exists = given.get("issuer_exists") or file.exists
    key = given.get("public_key") or file.public_key
    if key or (exists and url):
        told = f"--public-key-file {key}" if key else f"--issuer-url {url} --issuer-exists"
        raise BadInput(
            f"--issuer-from-cluster and {told} both say what the clouds are to trust",
            remedy="give one of the two",
        )


def _keys(given: Mapping[str, Any]) -> Any:
    add, replace = given.get("add_key"), given.get("replace_keys")
    if add and replace:
        raise BadInput(
            "--add-key and --replace-keys exclude one another", remedy="give the one that you mean"
        )
    return "add" if add else "replace" if replace else "published"

"""What `--mode sidecar` and `--mode static-pod` of install-webhook are told: beside which kube-apiserver, and by whom it is known there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwiictl.actions.authorities import Source
from cwiictl.actions.beside import Beside
from cwiictl.actions.cluster import Installation
from cwiictl.cli import options
from cwiictl.errors import BadInput
from cwiictl.install.sidecar.flavours import FLAVOURS, PROFILES
from cwiictl.install.sidecar.sidecar import KUBE_APISERVER, PORT

MODES = ("deployment", "sidecar", "static-pod")
_KUBEADM = Path("/etc/kubernetes/pki/ca.crt")
_PORT = click.IntRange(0, 65535)
_ROOT, _CLIENT = "root-ca", "cluster-signer-ca"  # HyperShift's

mode = click.option(
    "--mode",
    type=click.Choice(MODES),
    default="deployment",
    show_default=True,
    help="By itself, or beside kube-apiserver in one pod with it.",
)
removed = click.option(
    "--mode",
    type=click.Choice(MODES[:2]),
    default="deployment",
    show_default=True,
    help="As it was installed.",
)
flavour = click.option(
    "--flavour",
    "--flavor",
    "flavour",
    type=click.Choice(list(FLAVOURS)),
    default="cwii",
    show_default=True,
    help="A sidecar's names, ports and dialect: HyperShift's, or ours.",
)
namespace = click.option(
    "--namespace",
    "-n",
    default="",
    metavar="NAME",
    help="Of a sidecar: the hosted control plane's, in the cluster of --kubeconfig.",
)
guest = options.stacked(
    click.option(
        "--guest-kubeconfig",
        type=options.PATH,
        metavar="FILE",
        help="Of a sidecar: of the hosted cluster.",
    ),
    click.option(
        "--guest-context",
        default="",
        metavar="NAME",
        help="Which of its contexts.  [default: the current one]",
    ),
)
beside = options.stacked(
    flavour,
    namespace,
    guest,
    click.option(
        "--apply",
        is_flag=True,
        help="Of a sidecar: put it into both clusters. Without, it is written as files to --output-dir.",
    ),
    click.option(
        "--root-ca",
        type=options.PATH,
        metavar="FILE",
        help="CA of what a sidecar shows, and of what the API server shows it; its key lies beside it as .key.",
    ),
    click.option(
        "--root-ca-secret",
        default=_ROOT,
        show_default=True,
        metavar="SECRET",
        help="Or a Secret of --namespace.",
    ),
    click.option(
        "--client-ca",
        type=options.PATH,
        metavar="FILE",
        help="CA of clients that the API server takes; its key lies beside it as .key.",
    ),
    click.option(
        "--client-ca-secret",
        default=_CLIENT,
        show_default=True,
        metavar="SECRET",
        help="Or a Secret of --namespace.",
    ),
    click.option(
        "--deployment",
        default=KUBE_APISERVER,
        show_default=True,
        metavar="NAME",
        help="The kube-apiserver's.",
    ),
    click.option(
        "--deployment-file",
        type=options.PATH,
        metavar="FILE",
        help="Write that Deployment, with the sidecar in it, among the files.",
    ),
    click.option(
        "--kas-port",
        type=click.IntRange(1, 65535),
        default=PORT,
        show_default=True,
        help="Port of kube-apiserver in its pod.",
    ),
    click.option(
        "--port",
        type=_PORT,
        default=0,
        metavar="PORT",
        help="Of a sidecar, for reviews.  [default: its flavour's]",
    ),
    click.option(
        "--health-port",
        type=_PORT,
        default=0,
        metavar="PORT",
        help="Of a sidecar, for health and metrics.  [default: its flavour's]",
    ),
    click.option(
        "--tls-profile",
        type=click.Choice(list(PROFILES)),
        default="intermediate",
        show_default=True,
        help="What OpenShift calls a tlsSecurityProfile.",
    ),
    click.option(
        "--readiness",
        is_flag=True,
        help="Have the API server's pod ready only if its sidecar is. By default it never waits for it.",
    ),
)


def order(installation: Installation, given: dict[str, Any]) -> Beside:
    static = given["mode"] == "static-pod"
    if static and given["apply"]:
        raise BadInput(
            "static pods are in files of their nodes, which --apply cannot reach",
            remedy="leave --apply out, and follow the README.txt that is written",
        )
    if not static and not given["namespace"]:
        raise BadInput(
            "it is not said in which namespace the kube-apiserver runs",
            remedy="say --namespace, that of the hosted control plane",
        )
    if given["apply"] and not (given["guest_kubeconfig"] or given["guest_context"]):
        raise BadInput(
            "it is not said which the hosted cluster is",
            remedy="give its --guest-kubeconfig, or --guest-context",
        )
    return Beside(
        installation,
        flavour=given["flavour"],
        namespace=given["namespace"] or "kube-system",
        deployment=given["deployment"],
        port=given["kas_port"],
        ports=(given["port"], given["health_port"]),
        profile=given["tls_profile"],
        readiness=given["readiness"],
        static=static,
        root=_source(given["root_ca"], given["root_ca_secret"], static=static),
        client=_source(given["client_ca"], given["client_ca_secret"], static=static),
        guest_kubeconfig=given["guest_kubeconfig"],
        guest_context=given["guest_context"],
        whole=given["deployment_file"],
    )


def removal(installation: Installation, given: dict[str, Any]) -> Beside:
    if not given["namespace"]:
        raise BadInput(
            "it is not said in which namespace the kube-apiserver runs",
            remedy="say --namespace, that of the hosted control plane",
        )
    if not (given["guest_kubeconfig"] or given["guest_context"]):
        raise BadInput(
            "it is not said which the hosted cluster is",
            remedy="give its --guest-kubeconfig, or --guest-context",
        )
    return Beside(
        installation,
        given["flavour"],
        given["namespace"],
        guest_kubeconfig=given["guest_kubeconfig"],
        guest_context=given["guest_context"],
    )


def _source(file: Path | None, secret: str, *, static: bool) -> Source:
    return Source(file or (_KUBEADM if static else None), secret)

"""Reads the access to an API server from a kubeconfig.

kubeadm and other tools write kubeconfigs as YAML, so a sidecar must read YAML. JSON is YAML too,
and is parsed without PyYAML: PyYAML is imported only for a kubeconfig that needs it.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.exec_plugin import ExecConfig, ExecPlugin
from cwii_webhook.kube.identity import (
    ClientCertificateFiles,
    Credential,
    Identity,
    StaticIdentity,
    TokenFile,
)


class Cluster(Struct, rename="kebab"):
    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""


class User(Struct, rename="kebab"):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    exec: ExecConfig | None = None


class Context(Struct):
    cluster: str = ""
    user: str = ""


class NamedCluster(Struct):
    name: str
    cluster: Cluster


class NamedUser(Struct):
    name: str
    user: User


class NamedContext(Struct):
    name: str
    context: Context


class Kubeconfig(Struct, rename="kebab"):
    clusters: list[NamedCluster] | None = None
    users: list[NamedUser] | None = None
    contexts: list[NamedContext] | None = None
    current_context: str = ""


_NamedEntry = TypeVar("_NamedEntry", NamedCluster, NamedUser, NamedContext)


def from_kubeconfig(path: Path, clock: Clock, context: str = "") -> Access:
    """Returns the access of a context. Relative paths are relative to the kubeconfig."""
    config = _read(path)
    name = context or config.current_context
    if not name:
        raise BadAccess(f"{path} has no current-context", remedy="set one, or name a context")
    selected = _find(path, "context", name, config.contexts).context
    cluster = _find(path, "cluster", selected.cluster, config.clusters).cluster
    user = _find(path, "user", selected.user, config.users).user if selected.user else User()
    server = _build_server(path, cluster)
    return Access(server, _build_identity(path, user, server, clock), clock)


def _read(path: Path) -> Kubeconfig:
    try:
        content = path.read_bytes()
    except OSError as e:
        raise BadAccess(f"the kubeconfig {path} cannot be read ({e.strerror})") from None
    try:
        return msgspec.convert(_parse(path, content), Kubeconfig)
    except msgspec.ValidationError as e:
        raise BadAccess(f"{path} is no kubeconfig ({e})") from None


def _parse(path: Path, content: bytes) -> object:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        import yaml  # noqa: PLC0415 - costs 15 ms and 3 MB, which a pod saves
    except ImportError:
        raise BadAccess(
            f"{path} is YAML, and PyYAML is not installed",
            remedy="write it as JSON: kubectl config view --raw -o json",
        ) from None
    try:
        return yaml.safe_load(content)
    # PyYAML raises the builtin errors for a tagged date or number with an invalid value.
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as e:
        raise BadAccess(
            f"{path} is neither JSON nor YAML ({(str(e) or type(e).__name__).splitlines()[0]})"
        ) from None


def _find(path: Path, section: str, name: str, entries: list[_NamedEntry] | None) -> _NamedEntry:
    for entry in entries or []:
        if entry.name == name:
            return entry
    raise BadAccess(
        f"{path} has no {section} {name!r}",
        remedy=f"it has: {', '.join(entry.name for entry in entries or []) or 'none'}",
    )


def _build_server(path: Path, cluster: Cluster) -> ApiServer:
    if cluster.proxy_url:
        raise BadAccess(
            f"{path} has a proxy-url, which is not supported",
            remedy="reach the API server directly",
        )
    ca = _decode_base64(path, "certificate-authority-data", cluster.certificate_authority_data)
    file = path.parent / cluster.certificate_authority if cluster.certificate_authority else None
    return ApiServer.from_url(
        cluster.server,
        tls_server_name=cluster.tls_server_name,
        ca=ca or file,
        verify=not cluster.insecure_skip_tls_verify,
    )


def _build_identity(path: Path, user: User, server: ApiServer, clock: Clock) -> Identity:
    """Selects the identity in kubectl's order.

    A token file takes precedence over a token. A plugin is used only without other credentials.
    """
    key_pair = _read_key_pair(path, user)
    if user.token_file:
        return TokenFile(path.parent / user.token_file, clock)
    if user.token:
        return StaticIdentity(Credential(user.token, key_pair))
    if key_pair:
        return StaticIdentity(Credential(key_pair=key_pair))
    if user.client_certificate and user.client_key:
        return ClientCertificateFiles(
            path.parent / user.client_certificate, path.parent / user.client_key, clock
        )
    return (
        ExecPlugin(user.exec, server, path.parent, clock)
        if user.exec
        else StaticIdentity(Credential())
    )


def _read_key_pair(path: Path, user: User) -> KeyPair | None:
    certificate = _decode_base64(path, "client-certificate-data", user.client_certificate_data)
    key = _decode_base64(path, "client-key-data", user.client_key_data)
    if bool(certificate) != bool(key) or bool(user.client_certificate) != bool(user.client_key):
        raise BadAccess(
            f"{path} has a client certificate without its key, or a key without its certificate",
            remedy="give both as data, or both as files",
        )
    return KeyPair(certificate, key) if certificate and key else None


def _decode_base64(path: Path, key: str, text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) or None
    except ValueError:  # also for characters outside ASCII
        raise BadAccess(f"{path}: {key} is not base64") from None

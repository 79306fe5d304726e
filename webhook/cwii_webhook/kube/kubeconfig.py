"""A kubeconfig → how to reach the API server.

Kubeconfigs are YAML, kubeadm's and everybody's, so a sidecar must read YAML. What is JSON, which is YAML too, is read without PyYAML: it is
imported only for a kubeconfig that needs it.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.exec_plugin import Exec, Plugin
from cwii_webhook.kube.identity import Credential, Identity, PairFiles, Same, TokenFile


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
    exec: Exec | None = None


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


_Named = TypeVar("_Named", NamedCluster, NamedUser, NamedContext)


def from_kubeconfig(path: Path, clock: Clock, context: str = "") -> Access:
    """Files named in it are beside it, if their paths are relative."""
    config = _read(path)
    name = context or config.current_context
    if not name:
        raise BadAccess(f"{path} has no current-context", remedy="set one, or name a context")
    chosen = _one(path, "context", name, config.contexts).context
    cluster = _one(path, "cluster", chosen.cluster, config.clusters).cluster
    user = _one(path, "user", chosen.user, config.users).user if chosen.user else User()
    server = _server(path, cluster)
    return Access(server, _identity(path, user, server, clock), clock)


def _read(path: Path) -> Kubeconfig:
    try:
        content = path.read_bytes()
    except OSError as e:
        raise BadAccess(f"the kubeconfig {path} cannot be read ({e.strerror})") from None
    try:
        return msgspec.convert(_values(path, content), Kubeconfig)
    except msgspec.ValidationError as e:
        raise BadAccess(f"{path} is no kubeconfig ({e})") from None


def _values(path: Path, content: bytes) -> object:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        import yaml  # noqa: PLC0415 - 15 ms and 3 MB that a pod does without
    except ImportError:
        raise BadAccess(
            f"{path} is YAML, and PyYAML is not installed",
            remedy="write it as JSON: kubectl config view --raw -o json",
        ) from None
    try:
        return yaml.safe_load(content)
    except (
        yaml.YAMLError,
        ValueError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as e:  # of what is tagged as a date, a number or the like, and is none
        raise BadAccess(
            f"{path} is neither JSON nor YAML ({(str(e) or type(e).__name__).splitlines()[0]})"
        ) from None


def _one(path: Path, what: str, name: str, found: list[_Named] | None) -> _Named:
    for each in found or []:
        if each.name == name:
            return each
    raise BadAccess(
        f"{path} has no {what} {name!r}",
        remedy=f"it has: {', '.join(each.name for each in found or []) or 'none'}",
    )


def _server(path: Path, cluster: Cluster) -> Server:
    if cluster.proxy_url:
        raise BadAccess(
            f"{path} has a proxy-url, which is not supported",
            remedy="reach the API server directly",
        )
    ca = _data(path, "certificate-authority-data", cluster.certificate_authority_data)
    file = path.parent / cluster.certificate_authority if cluster.certificate_authority else None
    return Server.at(
        cluster.server,
        name=cluster.tls_server_name,
        ca=ca or file,
        verify=not cluster.insecure_skip_tls_verify,
    )


def _identity(path: Path, user: User, server: Server, clock: Clock) -> Identity:
    """In kubectl's order: a plugin is asked only where nothing else is given; a token's file is newer than the token beside it."""
    pair = _pair(path, user)
    if user.token_file:
        return TokenFile(path.parent / user.token_file, clock)
    if user.token:
        return Same(Credential(user.token, pair))
    if pair:
        return Same(Credential(pair=pair))
    if user.client_certificate and user.client_key:
        return PairFiles(
            path.parent / user.client_certificate, path.parent / user.client_key, clock
        )
    return Plugin(user.exec, server, path.parent, clock) if user.exec else Same(Credential())


def _pair(path: Path, user: User) -> KeyPair | None:
    certificate = _data(path, "client-certificate-data", user.client_certificate_data)
    key = _data(path, "client-key-data", user.client_key_data)
    if bool(certificate) != bool(key) or bool(user.client_certificate) != bool(user.client_key):
        raise BadAccess(
            f"{path} has a client certificate without its key, or a key without its certificate",
            remedy="give both as data, or both as files",
        )
    return KeyPair(certificate, key) if certificate and key else None


def _data(path: Path, key: str, text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) or None
    except ValueError:  # of letters that are not ASCII too
        raise BadAccess(f"{path}: {key} is not base64") from None

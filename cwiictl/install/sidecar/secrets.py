"""What it shows and what it asks with: a serving certificate for the loopback, and a kubeconfig for the API server beside it."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass

from cwii_webhook.certificates.pem import KeyPair

from cwiictl.install.body import CORE, Object, body
from cwiictl.install.sidecar.sidecar import Sidecar

CRT, KEY, CA, KUBECONFIG = "tls.crt", "tls.key", "ca.crt", "kubeconfig"


@dataclass(frozen=True)
class Certified:
    """Two pairs, and the certificates of the CA that whoever asks believes, and whoever answers is of."""

    serving: KeyPair
    client: KeyPair
    authority: bytes


def secrets(sidecar: Sidecar, certified: Certified) -> list[Object]:
    """As HyperShift has them."""
    kubeconfig = access(sidecar.flavour.server.format(port=sidecar.port), certified)
    return [
        _secret(sidecar, sidecar.serving, {**_files(certified.serving), CA: certified.authority}),
        _secret(
            sidecar,
            sidecar.kubeconfig,
            {KUBECONFIG: kubeconfig, **_files(certified.client), CA: certified.authority},
        ),
    ]


def access(server: str, certified: Certified, name: str = "") -> bytes:
    """As JSON, which is YAML, and which the webhook reads without a parser for that. `name` is another that the server's certificate has."""
    cluster = {
        "server": server,
        "certificate-authority-data": _coded(certified.authority),
        **({"tls-server-name": name} if name else {}),
    }
    user = {
        "client-certificate-data": _coded(certified.client.certificate),
        "client-key-data": _coded(certified.client.key),
    }
    told = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": "admin", "user": user}],
        "contexts": [
            {
                "name": "admin",
                "context": {"cluster": "cluster", "user": "admin", "namespace": "default"},
            }
        ],
        "current-context": "admin",
    }
    return json.dumps(told, indent=2).encode() + b"\n"


def pair(files: Mapping[str, bytes]) -> KeyPair:
    return KeyPair(files.get(CRT, b""), files.get(KEY, b""))


def read(secret: Mapping[str, Mapping[str, str]] | None) -> dict[str, bytes]:
    """Its files, as they are in a cluster."""
    return {key: base64.b64decode(text) for key, text in ((secret or {}).get("data") or {}).items()}


def _secret(sidecar: Sidecar, name: str, files: Mapping[str, bytes]) -> Object:
    return body(
        sidecar.management,
        CORE,
        "Secret",
        name,
        type="Opaque",
        data={key: _coded(content) for key, content in files.items()},
    )


def _files(pair: KeyPair) -> dict[str, bytes]:
    return {CRT: pair.certificate, KEY: pair.key}


def _coded(content: bytes) -> str:
    return base64.b64encode(content).decode()

"""Whom a kubeconfig lets us be, in the client's own configuration. A plugin that fails says why: the client would go on as nobody."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from cryptography import x509
from kubernetes import config
from kubernetes.client import Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.exec_provider import ExecProvider
from kubernetes.config.kube_config import ConfigNode

from cwiictl import files
from cwiictl.errors import BadInput
from cwiictl.kubernetes.kubeconfig import Access, access

IN_CLUSTER = "in-cluster"
LOADING: Any = config  # its types say too little
EARLY = timedelta(minutes=1)  # before it ends, a token is asked for again


def configured(kubeconfig: Path | None, context: str | None) -> tuple[Configuration, str]:
    """With the name of the context."""
    found = _files(kubeconfig)
    if found:
        return _of(
            access({path: files.read(path, "the kubeconfig") for path in found}, context or "")
        )
    if os.environ.get("KUBERNETES_SERVICE_HOST") and not context:
        return _in_cluster(), IN_CLUSTER
    looked = os.environ.get("KUBECONFIG") or "~/.kube/config"
    raise BadInput(
        f"there is no kubeconfig: {looked} is not there",
        remedy="give --kubeconfig, or set KUBECONFIG",
    )


def _files(kubeconfig: Path | None) -> list[Path]:
    """What was asked for by name must be there; of several in KUBECONFIG those that are."""
    if kubeconfig:
        return [kubeconfig]
    named = [
        Path(name).expanduser()
        for name in os.environ.get("KUBECONFIG", "").split(os.pathsep)
        if name
    ]
    return [path for path in named or [Path.home() / ".kube" / "config"] if path.exists()]


def _in_cluster() -> Configuration:
    configuration = Configuration()
    try:
        LOADING.load_incluster_config(configuration)
    except ConfigException as e:
        raise BadInput(
            f"this pod has no ServiceAccount to act as: {e}",
            remedy="give it one with automountServiceAccountToken, or give --kubeconfig",
        ) from e
    return configuration


def _of(access: Access) -> tuple[Configuration, str]:
    plugin = (
        Plugin(access)
        if "exec" in access.user
        and not {"token", "tokenFile", "client-certificate", "client-certificate-data"}
        & access.user.keys()
        else None
    )
    user = plugin.asked() if plugin else dict(access.user)
    named = {
        "clusters": [{"name": "it", "cluster": dict(access.cluster)}],
        "users": [{"name": "it", "user": user}],
    }
    contexts = [{"name": "it", "context": {"cluster": "it", "user": "it"}}]
    configuration: Any = Configuration()
    try:
        LOADING.load_kube_config_from_dict(
            {**named, "contexts": contexts, "current-context": "it"},
            client_configuration=configuration,
            persist_config=False,
        )
    except (ConfigException, ValueError, OSError, TypeError) as e:
        raise BadInput(
            f"the context {access.context} cannot be used: {_first(e)}",
            remedy="mend the kubeconfig, or choose another --context",
        ) from e
    if plugin:
        configuration.refresh_api_key_hook = plugin.refresh
    return configuration, access.context


class Plugin:
    """A program of the user's that knows who they are. It is asked once, and again when what it gave runs out."""

    def __init__(self, access: Access) -> None:
        self.access, self.lock = access, threading.Lock()
        self.spec: dict[str, Any] = dict(access.user["exec"])
        self.until: datetime | None = None

    def asked(self) -> dict[str, str]:
        """As the user of a kubeconfig who needs no plugin."""
        status = self._status()
        self.until = _time(str(status.get("expirationTimestamp") or ""))
        if token := status.get("token"):
            return {"token": str(token)}
        pair = {
            f"client-{half}-data": status.get(f"client{half.capitalize()}Data")
            for half in ("certificate", "key")
        }
        if not all(pair.values()):
            raise self._failed("it gave neither a token nor a certificate with its key")
        return {key: base64.b64encode(str(pem).encode()).decode() for key, pem in pair.items()}

    def refresh(self, configuration: Any) -> None:
        with self.lock:
            if (
                self.until
                and self.until - EARLY <= datetime.now(UTC)
                and (token := self.asked().get("token"))
            ):
                configuration.api_key["BearerToken"] = f"Bearer {token}"

    def _status(self) -> Mapping[str, Any]:
        try:
            provider: Any = ExecProvider(
                ConfigNode("exec", self.spec),
                None,
                ConfigNode("cluster", dict(self.access.cluster)),
            )
            status = provider.run()
        except (ConfigException, ValueError, TypeError, KeyError) as e:
            raise self._failed(_first(e).removeprefix("exec: ")) from e
        except OSError as e:
            hint = " ".join(str(self.spec.get("installHint") or "").split())
            raise self._failed(e.strerror or str(e), hint) from e
        return cast("dict[str, Any]", status) if isinstance(status, dict) else {}

    def _failed(self, why: str, hint: str = "") -> BadInput:
        said = f"the plugin {self.spec.get('command')} of the context {self.access.context} does not say who you are: {why}"
        return BadInput(
            said, remedy=hint or "run what the kubeconfig says under exec by hand, or log in again"
        )


def expired(configuration: Any) -> str:
    """When the certificate of whoever asks has ended, if it has."""
    with suppress(OSError, ValueError, TypeError):
        ends = x509.load_pem_x509_certificate(
            Path(configuration.cert_file).read_bytes()
        ).not_valid_after_utc
        return ends.isoformat() if ends < datetime.now(UTC) else ""
    return ""


def _time(text: str) -> datetime | None:
    with suppress(ValueError):
        read = datetime.fromisoformat(text)
        return read if read.tzinfo else read.replace(tzinfo=UTC)
    return None


def _first(e: Exception) -> str:
    return " ".join(str(e).split()).rstrip(".") or type(e).__name__

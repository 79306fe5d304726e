"""The whole environment of a child: built from a list, so that no credential and no other way out comes along.

What is set instead are credentials that open the sandbox and nothing else: an AWS key, the key file of a service account of Google's, and for Azure an
application's secret, under the names of Azure's SDKs (AZURE_…) and under those of Terraform's kin (ARM_…). `az` itself takes none from its environment:
`az login --service-principal` with the three, once.
With AZURE_TOKEN_CREDENTIALS=prod, `DefaultAzureCredential` tries the secret, then a workload's federated token, and never what some tool keeps of a person;
the metadata service it may try last is not behind the door, which says so at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .aws import keyring
from .azure.world import CLIENT, SECRET, SUBSCRIPTION, TENANT
from .gcp.keys import FILE
from .gcp.world import PROJECT

_KEPT = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "COLORTERM",
    "NO_COLOR",
    "COLUMNS",
    "LINES",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
)
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "GRPC_PROXY")
_LOOPBACK = "127.0.0.1,localhost,::1"
_CA_FILES = (
    "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "GIT_SSL_CAINFO",
    "PIP_CERT", "HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "DENO_CERT", "CARGO_HTTP_CAINFO", "NIX_SSL_CERT_FILE",
)  # fmt: skip
_OFF = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_PAGER": "",
    "NO_GCE_CHECK": "true",
    "GCE_METADATA_HOST": "metadata.invalid",
    "GCE_METADATA_IP": "192.0.2.1",
    "METADATA_SERVER_DETECTION": "none",
    "AZURE_CORE_COLLECT_TELEMETRY": "false",
    "AZURE_TOKEN_CREDENTIALS": "prod",
    "ARM_USE_CLI": "false",
    "ARM_USE_MSI": "false",
    "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
}
_HOME = {
    "HOME": "",
    "USERPROFILE": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "AWS_CONFIG_FILE": ".aws/config",
    "AWS_SHARED_CREDENTIALS_FILE": ".aws/credentials",
    "AZURE_CONFIG_DIR": ".azure",
    "CLOUDSDK_CONFIG": ".config/gcloud",
    "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE": FILE,
    "GOOGLE_APPLICATION_CREDENTIALS": FILE,
    "KUBECONFIG": ".kube/config",
}
_OWN = {
    "AWS_ACCESS_KEY_ID": keyring.KEY,
    "AWS_SECRET_ACCESS_KEY": keyring.SECRET,
    "GOOGLE_CLOUD_PROJECT": PROJECT,
    "CLOUDSDK_CORE_PROJECT": PROJECT,
    **{
        f"{tools}_{name}": value
        for tools in ("AZURE", "ARM")
        for name, value in (
            ("TENANT_ID", TENANT),
            ("SUBSCRIPTION_ID", SUBSCRIPTION),
            ("CLIENT_ID", CLIENT),
            ("CLIENT_SECRET", SECRET),
        )
    },
}
_CREDENTIALS = (
    "AWS_",
    "AZURE_",
    "ARM_",
    "GOOGLE_",
    "GCLOUD_",
    "GCE_",
    "GCP_",
    "CLOUDSDK_",
    "BOTO_",
    "IDENTITY_",
    "MSI_",
    "IMDS_",
)


@dataclass(frozen=True)
class Surroundings:
    """Where the door is, and the folder that is the child's home."""

    proxy: str
    ca_file: Path
    home: Path
    let: tuple[str, ...] = ()  # addresses that are reached as if there were no sandbox


def variables(around: Surroundings) -> dict[str, str]:
    """What the sandbox sets, and nothing of the caller's."""
    proxies = {spelling: around.proxy for name in _PROXIES for spelling in (name, name.lower())}
    loopback = dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join((_LOOPBACK, *around.let)))
    files = dict.fromkeys(_CA_FILES, str(around.ca_file))
    homes = {name: str(around.home / inside) for name, inside in _HOME.items()}
    return {**proxies, **loopback, **files, **homes, **_OFF, **_OWN}


SET = tuple(variables(Surroundings("", Path(), Path())))


def dangerous(base: Mapping[str, str]) -> list[str]:
    """What a shell must forget before it may call itself in the sandbox: whatever leads to real credentials or past the door."""
    return sorted(name for name in base if name.startswith(_CREDENTIALS))


def build(around: Surroundings, base: Mapping[str, str] | None = None) -> dict[str, str]:
    caller = os.environ if base is None else base
    kept = {
        name: value for name, value in caller.items() if name in _KEPT or name.startswith("LC_")
    }
    return {**kept, **variables(around)}

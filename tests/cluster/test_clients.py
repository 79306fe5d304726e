"""Where the webhook answers API servers alone: one that shows its certificate as README says, and whoever else the same authority has signed for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster.calling import called
from tests.cluster.conftest import started
from tests.cluster.kube.client import Refused
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.pki import Authority, write
from tests.cluster.space import Space, plain, volumes
from tests.cluster.webhook import running
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, make_review

NAME = "the-api-server"
GROUP = "apiserver.config.k8s.io/v1"


def showing(authority: Authority, folder: Path) -> str:
    """The flag of an API server that shows every webhook its certificate."""
    mine = authority.write(NAME, authority.client(NAME))
    user = {
        "name": "*",
        "user": {"client-certificate": str(mine.certificate), "client-key": str(mine.key)},
    }
    kubeconfig = write(
        folder / "shown.json",
        json.dumps({"apiVersion": "v1", "kind": "Config", "users": [user]}).encode(),
    )
    webhooks = {
        "apiVersion": GROUP,
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(kubeconfig),
    }
    plugins = [{"name": "MutatingAdmissionWebhook", "configuration": webhooks}]
    whole = {"apiVersion": GROUP, "kind": "AdmissionConfiguration", "plugins": plugins}
    return f"--admission-control-config-file={write(folder / 'admission.json', json.dumps(whole).encode())}"


def again(cluster: Cluster, *flags: str) -> None:
    (server,) = cluster.servers
    server.stop()
    server.start(flags)
    server.wait()


@pytest.mark.soak
def test_only_an_api_server_that_shows_its_certificate_is_answered(tmp_path: Path) -> None:
    with started(Settings()) as cluster:
        reach = cluster.reach
        again(cluster, showing(reach.authority, tmp_path))
        line = (
            "cwii",
            f"--client-ca={reach.authority.files.certificate}",
            f"--client-names={NAME}",
        )
        with running(reach, tmp_path, line) as webhook, called(webhook, "cwii") as hook:
            space = Space(reach, hook=hook).account(ACCOUNT_ANNOTATIONS["cwii"])
            assert volumes(space.tried(plain()))
            code, told = webhook.text(webhook.paths["cwii"], make_review(plain()))
            assert (code, "the client certificate bears the name of none" in told) == (403, True)

            again(cluster)
            with pytest.raises(Refused, match="failed calling webhook"):
                space.tried(plain())

"""The whole chain, once for all tests of it: clouds that trust a cluster, the cluster as their outputs prescribe it, the webhook in it, and pods."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.azure.world import SUBSCRIPTION
from cwiictl.sandbox.gcp.world import PROJECT
from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import Cluster
from tests.cluster.traces import seen_within
from tests.federation.sdks import NAME as SDKS

PROGRAM = Path(sysconfig.get_path("scripts")) / "cwiictl"
NAME = "demo"
OUT = "out"
# For each dialect the words that only it hears: of a ServiceAccount that has the words of all, these are left.
WORDS: Mapping[str, tuple[str, ...]] = {
    "cwii": ("cwii.dev/",),
    "eks": ("eks.amazonaws.com/",),
    "azwi": ("azure.workload.identity/",),
    "gcpwif": ("cloud.google.com/",),
}
MORE: Mapping[str, Mapping[str, str]] = {
    "gcpwif": {"cloud.google.com/injection-mode": "direct"}
}  # without gcloud, which is no SDK of ours
SPECS: Mapping[str, Object] = {
    "gcpwif": {"securityContext": {"fsGroup": 65532}}
}  # whose files are their group's alone, as those of its peer
ASKS: Mapping[str, Any] = {
    "aws": {"managedPolicyArns": ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]},
    "azure": {"roleAssignments": [{"role": "Reader"}]},
    "gcp": {"predefinedRoles": ["roles/dns.admin"]},
}
# Who asks for what: namespaces are dialects, and their ServiceAccounts clouds.
WORKLOADS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("cwii", "all"): ("aws", "azure", "gcp"),
    **{("cwii", cloud): (cloud,) for cloud in ASKS},
    ("eks", "aws"): ("aws",),
    ("azwi", "azure"): ("azure",),
    ("gcpwif", "gcp"): ("gcp",),
}
ASKING = {  # what the program calls in each cloud
    "ASK_AZURE": f"https://management.azure.com/subscriptions/{SUBSCRIPTION}/resourceGroups/{NAME}?api-version=2025-04-01",
    "ASK_GCP": f"https://cloudresourcemanager.googleapis.com/v3/projects/{PROJECT}:testIamPermissions",
}
# Pods whose ServiceAccount nobody was asked to trust, each with the words of one that is trusted in that cloud.
STRANGERS: Mapping[str, str] = {
    "stranger-in-aws": "aws",
    "stranger-in-azure": "azure",
    "stranger-in-gcp": "gcp",
}


@dataclass
class World:
    sandbox: Sandbox
    folder: Path
    told: list[str] = field(default_factory=list[str])

    def cwiictl(self, *words: str | Path, **environ: str) -> str:
        """As its user, in the sandbox."""
        command = [str(PROGRAM), *map(str, words)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self.sandbox.environment(), **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def outside(self) -> dict[str, str]:
        """The way to the clouds, and nothing with which one is anybody there."""
        theirs = ("AWS_ACCESS", "AWS_SECRET", "AZURE_", "ARM_", "GOOGLE_", "CLOUDSDK_")
        return {
            name: value
            for name, value in self.sandbox.environment().items()
            if not name.startswith(theirs)
        }

    @property
    def where(self) -> tuple[str, ...]:
        return ("--file", "cluster.yaml")

    def asked(self) -> None:
        clouds = {
            "aws": {"region": "us-east-1"},
            "azure": {"region": "eastus", "subscriptionId": SUBSCRIPTION},
            "gcp": {"project": PROJECT},
        }
        workloads = [
            {
                "name": f"{namespace}-{name}",
                "namespace": namespace,
                "serviceAccounts": [name],
                **{cloud: ASKS[cloud] for cloud in of},
            }
            for (namespace, name), of in WORKLOADS.items()
        ]
        cluster = {
            "apiVersion": "cwii.dev/v1",
            "kind": "Cluster",
            "name": NAME,
            "clouds": clouds,
            "outputDir": OUT,
            "installer": ["kubeadm"],
        }
        (self.folder / "cluster.yaml").write_text(
            yaml.safe_dump({**cluster, "workloads": workloads})
        )

    # --- what create-all has left for the cluster ---

    @property
    def flags(self) -> tuple[str, ...]:
        """Those that kubeadm would give to the API server, but for where its files are."""
        (configuration, *_) = yaml.safe_load_all(
            (self.folder / OUT / "kubeadm" / "cluster-configuration-v1beta4.yaml").read_text()
        )
        arguments = configuration["apiServer"]["extraArgs"]
        return tuple(
            f"--{each['name']}={each['value']}"
            for each in arguments
            if not each["name"].endswith("-file")
        )

    @property
    def issuer(self) -> str:
        return next(
            flag.partition("=")[2]
            for flag in self.flags
            if flag.startswith("--service-account-issuer=")
        )

    @property
    def key(self) -> bytes:
        return (self.folder / OUT / "kubeadm" / "pki" / "sa.key").read_bytes()

    @property
    def accounts(self) -> list[Object]:
        """The annotated ServiceAccounts, each with the words of its namespace's dialect alone."""
        found = list(
            yaml.safe_load_all((self.folder / OUT / "kubeadm" / "serviceaccounts.yaml").read_text())
        )
        for account in found:
            about = account["metadata"]
            about["annotations"] = {
                key: word
                for key, word in about["annotations"].items()
                if key.startswith(WORDS[about["namespace"]])
            }
            about["annotations"] |= MORE.get(about["namespace"], {})
        return found


@dataclass(frozen=True)
class Pods:
    """Deployments of the SDKs' image, each as a ServiceAccount, and what they say."""

    cluster: Cluster
    door: str  # as pods reach it
    ca: str

    def prepared(self, accounts: Sequence[Object]) -> None:
        """Namespaces, ServiceAccounts, and the way to the clouds, which in the world outside is simply there."""
        admin = self.cluster.admin
        for namespace in WORDS:
            admin.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
            admin.create(
                f"/api/v1/namespaces/{namespace}/configmaps",
                {"metadata": {"name": "door"}, "data": {"ca.pem": self.ca}},
            )
        for account in accounts:
            admin.create(
                f"/api/v1/namespaces/{account['metadata']['namespace']}/serviceaccounts", account
            )

    def strangers(self) -> None:
        accounts = "/api/v1/namespaces/cwii/serviceaccounts"
        for name, cloud in STRANGERS.items():
            words = self.cluster.admin.get(f"{accounts}/{cloud}")["metadata"]["annotations"]
            self.cluster.admin.create(accounts, {"metadata": {"name": name, "annotations": words}})
            self.deploy("cwii", name)

    def deploy(
        self,
        namespace: str,
        account: str,
        name: str = "",
        *,
        rounds: int = 100_000,
        **annotations: str,
    ) -> str:
        name = name or account
        labels = (
            {"app": name, "azure.workload.identity/use": "true"}
            if namespace == "azwi"
            else {"app": name}
        )
        template = {
            "metadata": {"labels": labels, "annotations": annotations},
            "spec": {**self._spec(account, rounds), **SPECS.get(namespace, {})},
        }
        body = {
            "metadata": {"name": name},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"app": name}},
                "template": template,
            },
        }
        self.cluster.admin.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", body)
        return name

    def pod(self, namespace: str, name: str) -> Object:
        found: list[Object] = []

        def running() -> bool:
            found[:] = [
                pod
                for pod in self._all(namespace)
                if pod["metadata"]["labels"].get("app") == name
                and pod["status"]["phase"] == "Running"
            ]
            return bool(found)

        assert seen_within(90, running), [pod["status"] for pod in self._all(namespace)]
        return found[0]

    def said(self, namespace: str, name: str, clouds: int) -> dict[str, Any]:
        """The first word about each cloud."""
        pod, said = self.pod(namespace, name)["metadata"]["name"], dict[str, Any]()

        def all_of_them() -> bool:
            for line in self._log(namespace, pod):
                said.setdefault(line["cloud"], line)
            return len(said) >= clouds

        assert seen_within(60, all_of_them), (said, self._text(namespace, pod))
        return said

    def since(self, namespace: str, name: str, moment: float) -> list[dict[str, Any]]:
        return [
            line
            for line in self._log(namespace, self.pod(namespace, name)["metadata"]["name"])
            if line["at"] >= moment
        ]

    def _all(self, namespace: str) -> list[Object]:
        return self.cluster.admin.list(f"/api/v1/namespaces/{namespace}/pods")

    def _text(self, namespace: str, pod: str) -> str:
        return self.cluster.admin.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log")

    def _log(self, namespace: str, pod: str) -> list[dict[str, Any]]:
        return [
            json.loads(line)
            for line in self._text(namespace, pod).splitlines()
            if line.startswith("{")
        ]

    def _spec(self, account: str, rounds: int) -> Object:
        ca = "/door/ca.pem"
        given = {
            "HTTPS_PROXY": f"http://{self.door}",
            **dict.fromkeys(("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"), ca),
            **ASKING,
            "ROUNDS": str(rounds),
            "PAUSE": "2",
        }
        container = {
            "name": "sdks",
            "image": SDKS,
            "imagePullPolicy": "Never",
            "env": [{"name": name, "value": value} for name, value in given.items()],
            "volumeMounts": [{"name": "door", "mountPath": "/door"}],
        }
        volume = {"name": "door", "configMap": {"name": "door"}}
        return {
            "serviceAccountName": account,
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            "volumes": [volume],
        }


def token(admin: Client, namespace: str, account: str, audience: str, seconds: int = 600) -> str:
    spec = {"audiences": [audience], "expirationSeconds": seconds}
    made = admin.create(
        f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", {"spec": spec}
    )
    return made["status"]["token"]

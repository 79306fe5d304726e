"""A namespace with Deployments, and a webhook that is asked about its pods and does not run."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from cwiictl.cli.status import status
from cwiictl.explain import explained
from cwiictl.explain.installed import services
from cwiictl.explain.objects import Objects, Pod
from cwiictl.install.body import Object
from cwiictl.install.command import command
from cwiictl.install.objects import objects
from cwiictl.install.values import Values
from tests.cluster.kube.client import Client
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import path
from tests.cluster.space import ACCOUNT, HOOK, Space, a_name, plain
from tests.cwiictl.install.installed import found, some

ROLE = "arn:aws:iam::123456789012:role/shop"
SAYS = {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}


@dataclass
class Shop:
    """A namespace that a webhook is asked about, which is installed and does not run: nobody runs pods here."""

    space: Space
    values: Values
    kubeconfig: Path
    pem: bytes

    @property
    def admin(self) -> Client:
        return self.space.admin

    def status(self, *words: str) -> Result:
        return CliRunner().invoke(
            status,
            ["--kubeconfig", str(self.kubeconfig), "-n", self.space.name, "-o", "json", *words],
            catch_exceptions=False,
        )

    def told(self, *words: str) -> dict[str, dict[str, Any]]:
        """Of this namespace, by kind and name."""
        things = json.loads(self.status("--pods", *words).stdout)["things"]
        begins = f"/{self.space.name}/"
        return {
            each["thing"].removeprefix("k8s/").replace(begins, "/"): each
            for each in things
            if begins in each["thing"]
        }

    def ready(self) -> None:
        """As its kubelet and controllers would say."""
        of = path(self.admin, found(objects(self.values), "Deployment"))
        self.admin.patch(
            f"{of}/{self.values.name}/status", {"status": {"replicas": 2, "readyReplicas": 2}}
        )
        configuration = found(objects(self.values), "MutatingWebhookConfiguration")
        believed = f"{path(self.admin, configuration)}/{self.values.name}"
        bundle = base64.b64encode(self.pem).decode()
        ops = [
            {"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": bundle}
            for number in range(len(configuration["webhooks"]))
        ]
        self.admin.patch(believed, ops, "json")

    def deployed(self, name: str, pods: int = 1, *, given: bool = False, **spec: Any) -> None:
        """A Deployment with the ReplicaSet and the pods that its controllers would make."""
        labels = {"app": name}
        template: Object = {"metadata": {"labels": labels}, "spec": {**plain()["spec"], **spec}}
        wanted = {"selector": {"matchLabels": labels}, "template": template}
        deployment = self.made("deployments", name, wanted)
        between = self.made("replicasets", f"{name}-1", wanted, owner(deployment, "Deployment"))
        for number in range(pods):
            self.pod(
                f"{name}-1-{number}",
                injected(self, template) if given else template,
                owner(between, "ReplicaSet"),
            )

    @property
    def host(self) -> str:
        """What API servers call the webhook's Service."""
        return f"{self.values.name}.{self.values.namespace}.svc"

    def answered(self, port: int) -> None:
        """By a process of this machine, in place of pods that the Service has not."""
        service = {
            "metadata": {"name": self.values.name},
            "spec": {
                "type": "ExternalName",
                "externalName": "localhost",
                "ports": [{"port": port}],
            },
        }
        self.admin.create(f"/api/v1/namespaces/{self.values.namespace}/services", service)
        configuration = found(objects(self.values), "MutatingWebhookConfiguration")
        ops = [
            {"op": "add", "path": f"/webhooks/{number}/clientConfig/service/port", "value": port}
            for number in range(len(configuration["webhooks"]))
        ]
        self.admin.patch(f"{path(self.admin, configuration)}/{self.values.name}", ops, "json")

    def made(self, plural: str, name: str, spec: Object, *owners: Object) -> Object:
        return self.admin.create(
            self.space.path(plural, "apps"),
            {"metadata": {"name": name, "ownerReferences": list(owners)}, "spec": spec},
        )

    def pod(self, name: str, template: Object, *owners: Object) -> Object:
        about = {**template["metadata"], "name": name, "ownerReferences": list(owners)}
        return self.space.create({"metadata": about, "spec": template["spec"]})


def owner(body: Object, kind: str) -> Object:
    about = body["metadata"]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": about["name"],
        "uid": about["uid"],
        "controller": True,
    }


def here(values: Values, hook: str) -> list[Object]:
    """What is asked about this namespace alone, and never answered: reviews are let through."""
    body = found(objects(values), "MutatingWebhookConfiguration")
    for entry in body["webhooks"]:
        entry["namespaceSelector"]["matchExpressions"].append(
            {"key": HOOK, "operator": "In", "values": [hook]}
        )
        entry |= {"failurePolicy": "Ignore", "timeoutSeconds": 1}
    return [body, found(objects(values), "Deployment")]


def injected(shop: Shop, template: Object) -> Object:
    """As the webhook would have it."""
    objects = Objects(shop.space.name)
    objects.hold(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "annotations": SAYS},
        }
    )
    (service,) = services(
        {
            "metadata": {"name": ""},
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "webhook", "args": command(shop.values)}]}
                }
            },
        },
        (),
    )
    after = explained(
        Pod(shop.space.name, {"kind": "Pod", **template}), service.route, objects
    ).after
    return {"metadata": dict(after["metadata"]), "spec": after["spec"]}


def remarks(row: dict[str, Any]) -> str:
    return "\n".join(row["remarks"])


@contextmanager
def opened(reach: Reach, folder: Path) -> Generator[Shop]:
    values = some(name=a_name("webhook"), namespace=a_name("space"), aws={"region": "eu-west-1"})
    Space(reach, name=values.namespace)
    bodies = here(values, values.name)
    for body in bodies:
        reach.admin.create(path(reach.admin, body), body)
    kubeconfig = reach.authority.kubeconfig(
        folder / "kubeconfig", reach.urls[0], reach.authority.client("admin", "system:masters")
    )
    yield Shop(
        Space(reach, hook=values.name).account(SAYS), values, kubeconfig, reach.authority.pem
    )
    for body in bodies:
        if reach.admin.exists(f"{path(reach.admin, body)}/{body['metadata']['name']}"):
            reach.admin.delete(f"{path(reach.admin, body)}/{body['metadata']['name']}")

"""Pods of all four dialects on a real API server: each webhook with its users' own command line, and the pods as they are after defaulting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cwii_webhook.dialects.azwi.annotations import PROXY

from tests.cluster.calling import called
from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.space import Space, Words, first, mounts, plain, variables, volumes
from tests.cluster.webhook import Line, beside, running
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, PROVIDER, ROLE

SMALL = {"cpu": "10m", "memory": "16Mi"}
REQUESTS = {"requests.cpu": "10", "requests.memory": "10Gi"}
LIMITS = {"limits.cpu": "10", "limits.memory": "10Gi"}
CWII = "/var/run/secrets/cwii.dev"


def made(
    reach: Reach, folder: Path, line: Line, *, delivers: bool = False, **environ: str
) -> tuple[Space, Object]:
    """A pod as the API server keeps it, where nothing was asked of it that would change it."""
    with (
        running(reach, folder, line, delivers=delivers, **environ) as webhook,
        called(webhook, line[0]) as hook,
    ):
        space = Space(reach, hook=hook).account(ACCOUNT_ANNOTATIONS[line[0]])
        tried = space.tried(plain())
        assert reach.admin.list(space.path("configmaps")) == []
        name = space.create(plain())["metadata"]["name"]
        pod = reach.admin.get(f"{space.path('pods')}/{name}")
    assert volumes(tried) == volumes(pod)
    assert shape(pod) == shape(Space(reach).account({}).tried(plain()))
    return space, pod


def shape(pod: Object) -> Object:
    """What is nobody's but its user's and the API server's."""
    ours = {"volumes", "containers", "initContainers"}
    container = {
        key: value for key, value in first(pod).items() if key not in {"env", "volumeMounts"}
    }
    return {
        **{key: value for key, value in pod["spec"].items() if key not in ours},
        "containers": [container],
    }


def token(pod: Object, volume: str) -> tuple[str, int, str, int]:
    """Of a projected one: for whom, for how long, the file and its mode."""
    projected = volumes(pod)[volume]["projected"]
    (source,) = projected["sources"]
    said = source["serviceAccountToken"]
    return said["audience"], said["expirationSeconds"], said["path"], projected["defaultMode"]


def guests(pod: Object) -> list[str]:
    return [container["name"] for container in pod["spec"].get("initContainers", [])]


def test_eks(reach: Reach, tmp_path: Path) -> None:
    _, pod = made(
        reach, tmp_path, ("eks", "--aws-default-region=eu-west-1", "--sts-regional-endpoint")
    )

    folder = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
    assert token(pod, "aws-iam-token") == ("sts.amazonaws.com", 86400, "token", 0o644)
    assert mounts(first(pod)) == {folder: "aws-iam-token"}
    assert variables(first(pod)) == {
        "AWS_STS_REGIONAL_ENDPOINTS": "regional",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_REGION": "eu-west-1",
        "AWS_ROLE_ARN": ROLE,
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{folder}/token",
    }


def test_azwi(reach: Reach, tmp_path: Path) -> None:
    _, pod = made(
        reach, tmp_path, ("azwi",), AZURE_TENANT_ID="tenant", AZURE_ENVIRONMENT="AzurePublicCloud"
    )

    (volume,) = volumes(pod)
    assert token(pod, volume) == (
        "api://AzureADTokenExchange",
        3600,
        "token/azure-identity-token",
        0o644,
    )
    assert mounts(first(pod)) == {"/var/run/secrets/azure/wi": volume}
    assert variables(first(pod)) == {
        "AZURE_CLIENT_ID": ACCOUNT_ANNOTATIONS["azwi"]["azure.workload.identity/client-id"],
        "AZURE_TENANT_ID": "tenant",
        "AZURE_FEDERATED_TOKEN_FILE": "/var/run/secrets/azure/wi/token/azure-identity-token",
        "AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com/",
    }


def test_gcpwif(reach: Reach, tmp_path: Path) -> None:
    _, pod = made(reach, tmp_path, ("gcpwif", "--gcp-default-region=europe-west1"))

    assert token(pod, "gcp-iam-token") == ("sts.googleapis.com", 86400, "token", 0o440)
    assert mounts(first(pod)) == {
        "/var/run/secrets/sts.googleapis.com/serviceaccount": "gcp-iam-token",
        "/var/run/secrets/gcloud/config": "gcloud-config",
    }
    assert guests(pod) == ["gcloud-setup"]
    assert variables(first(pod)) == {
        "GOOGLE_APPLICATION_CREDENTIALS": "/var/run/secrets/gcloud/config/federation.json",
        "CLOUDSDK_CONFIG": "/var/run/secrets/gcloud/config",
        "CLOUDSDK_COMPUTE_REGION": "europe-west1",
        "CLOUDSDK_CORE_PROJECT": "project",
    }
    assert pod["metadata"]["annotations"]["cloud.google.com/workload-identity-provider"] == PROVIDER


def test_cwii(reach: Reach, tmp_path: Path) -> None:
    _, pod = made(reach, tmp_path, ("cwii",))

    assert token(pod, "cwii-aws-token") == ("sts.amazonaws.com", 3600, "token", 0o644)
    assert token(pod, "cwii-az-token") == ("api://AzureADTokenExchange", 3600, "token", 0o644)
    assert token(pod, "cwii-gcp-token") == (
        f"//iam.googleapis.com/{PROVIDER}",
        3600,
        "token",
        0o644,
    )
    assert mounts(first(pod)) == {
        f"{CWII}/{cloud}": f"cwii-{cloud}-token" for cloud in ("aws", "az", "gcp")
    } | {f"{CWII}/gcp-creds": "cwii-gcp-creds"}
    assert guests(pod) == ["cwii-gcp-verify", "cwii-aws-verify", "cwii-az-verify"]
    assert variables(first(pod)) == {
        "GOOGLE_APPLICATION_CREDENTIALS": f"{CWII}/gcp-creds/credentials.json",
        "AWS_ROLE_ARN": ROLE,
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{CWII}/aws/token",
        "AZURE_CLIENT_ID": ACCOUNT_ANNOTATIONS["cwii"]["cwii.dev/az-client-id"],
        "AZURE_TENANT_ID": ACCOUNT_ANNOTATIONS["cwii"]["cwii.dev/az-tenant-id"],
        "AZURE_FEDERATED_TOKEN_FILE": f"{CWII}/az/token",
    }
    assert pod["metadata"]["annotations"]["cwii.dev/injected"] == "aws,az,gcp"
    assert json.loads(pod["metadata"]["annotations"]["cwii.dev/gcp-credentials"])[
        "credential_source"
    ] == {"file": f"{CWII}/gcp/token"}


@pytest.mark.parametrize(
    ("hard", "resources"),
    [
        (REQUESTS, {"requests": SMALL}),
        (LIMITS, {"requests": SMALL, "limits": SMALL | {"cpu": "20m"}}),
    ],
)
@pytest.mark.parametrize("line", [("cwii",), ("azwi",), ("gcpwif",)], ids=" ".join)
def test_under_a_quota_pods_are_taken_with_containers_of_ours(
    reach: Reach, tmp_path: Path, line: Line, hard: Words, resources: Object
) -> None:
    with (
        running(reach, tmp_path, line, AZURE_TENANT_ID="tenant") as webhook,
        called(webhook, line[0]) as hook,
    ):
        space = Space(reach, hook=hook).account(ACCOUNT_ANNOTATIONS[line[0]]).quota(hard)
        pod = plain(containers=[{"name": "c", "image": "c", "resources": resources}])
        pod["metadata"]["annotations"] = {PROXY.key: "true"}

        taken = space.tried(pod)

    assert guests(taken)
    assert taken["status"]["qosClass"] == "Burstable"


def test_a_pods_config_map_is_there_with_it_but_not_for_a_dry_run(
    reach: Reach, tmp_path: Path
) -> None:
    space, pod = made(reach, tmp_path, ("cwii", "--gcp-delivery=config-map"), delivers=True)

    name = volumes(pod)["cwii-gcp-creds"]["configMap"]["name"]
    (written,) = reach.admin.list(space.path("configmaps"))
    assert written["metadata"]["name"] == name
    assert written["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "cwii"}
    assert json.loads(written["data"]["credentials.json"])["credential_source"] == {
        "file": f"{CWII}/gcp/token"
    }


def test_what_it_may_not_read_it_names_and_it_is_ready_as_soon_as_it_may(
    reach: Reach, tmp_path: Path
) -> None:
    with beside(reach, tmp_path, ("eks",)) as webhook:
        role = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{webhook.told.who.name}"
        rules = reach.admin.get(role)["rules"]
        reach.admin.patch(role, {"rules": [{**rules[0], "verbs": ["get", "list"]}]})
        webhook.start()

        webhook.processes.until(
            lambda: (
                "the ServiceAccount may not watch serviceaccounts: give it that in a ClusterRole"
                in webhook.lacks()
            ),
            "its reason",
        )
        reach.admin.patch(role, {"rules": rules})
        webhook.wait()

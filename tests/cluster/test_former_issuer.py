"""When API servers can do without the issuer that they had before: asked of two of them that are brought to another, and of pods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.conftest import skipped_where_missing
from tests.cluster.kube.client import Client
from tests.cluster.objects import PODS, named
from tests.cluster.rotating import Rotating, rotating
from tests.journeys.ground import ISSUER, Done

pytestmark = pytest.mark.timeout(300)
BEFORE = "https://kubernetes.default.svc.cluster.local"
RIGHTS = "/apis/rbac.authorization.k8s.io/v1"
HOUR, DAY, YEAR = 3600, 86400, 365 * 86400


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Rotating]:
    with skipped_where_missing(), rotating(tmp_path) as found:
        yield found


def told(running: Rotating, later: int = 0) -> Done:
    return running.cwiictl("status", "--former-issuer", "--kubeconfig", str(running.cluster.kubeconfig), "-o", "json", later=later)


def remarks(done: Done) -> str:
    (row,) = [row for row in done.data["things"] if row["thing"] == "k8s/former-issuer"]
    assert (done.code, row["condition"]) == (3, "incomplete"), done.out
    return "; ".join(row["remarks"])


def a_pod(admin: Client, name: str, seconds: int, **audience: str) -> None:
    """That runs, as a kubelet would say."""
    source: dict[str, Any] = {"serviceAccountToken": {"expirationSeconds": seconds, "path": "token", **audience}}
    spec = {
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": "any"}],
        "volumes": [{"name": "token", "projected": {"sources": [source]}}],
    }
    made = admin.create(PODS, named(name, spec=spec))
    status = {"phase": "Running", "startTime": made["metadata"]["creationTimestamp"]}
    admin.patch(f"{PODS}/{name}/status", {"status": status}, "merge")


def test_the_issuer_before_is_needed_until_no_pod_can_have_a_token_of_it(running: Rotating) -> None:
    admin = running.cluster.admin
    running.restart(0, BEFORE)
    running.restart(1, BEFORE)
    a_pod(admin, "patient", DAY, audience="sts.amazonaws.com")
    a_pod(admin, "reader", 3607)
    running.restart(0, ISSUER, BEFORE)
    divided = told(running)
    assert f"the API servers sign as {ISSUER} and {BEFORE}: bring the last of them" in remarks(divided)
    assert sorted(row["problem"].partition(" with ")[0] for row in divided.data["things"] if "api-server" in row["thing"]) == [
        f"signs as {ISSUER}",
        f"signs as {BEFORE}",
    ]
    running.restart(1, ISSUER, BEFORE)

    assert "default/patient has tokens that live 86400 seconds" in remarks(told(running, 2 * HOUR))
    read_once = remarks(told(running, DAY + HOUR))
    assert "default/patient" not in read_once
    assert "it may be one of default/reader; a pod that is restarted after " in read_once
    assert told(running, YEAR + HOUR).code == 0

    admin.delete(f"{PODS}/reader?gracePeriodSeconds=0")
    done = told(running, DAY + HOUR)
    assert done.code == 0, done.out
    assert f"no pod has a token of an issuer before {ISSUER}" in done.out


def test_of_what_may_not_be_read_nothing_is_said_to_be_over(running: Rotating) -> None:
    """All but since when the API servers have signed as they do."""
    admin, authority = running.cluster.admin, running.cluster.reach.authority
    rules = [
        {"apiGroups": ["discovery.k8s.io", "coordination.k8s.io", "storage.k8s.io", ""], "resources": ["*"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]},
        {"nonResourceURLs": ["/openid/v1/jwks"], "verbs": ["get"]},
    ]
    admin.create(f"{RIGHTS}/clusterroles", named("looker", rules=rules))
    role, group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "looker"}, {"kind": "Group", "name": "lookers"}
    admin.create(f"{RIGHTS}/clusterrolebindings", named("looker", roleRef=role, subjects=[group]))
    looker = authority.kubeconfig(running.cluster.folder / "looker", running.cluster.servers[0].place.url, authority.client("looker", "lookers"))

    done = running.cwiictl("status", "--former-issuer", "--kubeconfig", str(looker), "-o", "json", later=YEAR)

    assert remarks(done).startswith("until when tokens of the issuer before are good is not known: the cluster does not allow it"), done.out

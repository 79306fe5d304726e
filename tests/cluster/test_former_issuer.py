"""When API servers can do without the issuer that they had before: asked of two of them that are brought to another, and of pods."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from cwiictl.actions.running import LEAVING
from tests.cluster.conftest import skipped_where_missing
from tests.cluster.kube.client import Client
from tests.cluster.objects import PODS, named
from tests.cluster.rotating import SLICES, Rotating, rotating
from tests.cluster.traces import seen_within
from tests.journeys.ground import ISSUER, Done

pytestmark = pytest.mark.timeout(300)
BEFORE = "https://kubernetes.default.svc.cluster.local"
RIGHTS = "/apis/rbac.authorization.k8s.io/v1"
ELSEWHERE = "10.255.0.2"  # where nobody is asked
HOUR, DAY, YEAR = 3600, 86400, 365 * 86400


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Rotating]:
    with skipped_where_missing(), rotating(tmp_path) as found:
        yield found


def told(running: Rotating, *more: str, later: int = 0) -> Done:
    return running.cwiictl(
        "status",
        "--former-issuer",
        "--kubeconfig",
        str(running.cluster.kubeconfig),
        "-o",
        "json",
        *more,
        later=later,
    )


def remarks(done: Done) -> str:
    (row,) = [row for row in done.data["things"] if row["thing"] == "k8s/former-issuer"]
    assert (done.code, row["condition"]) == (3, "incomplete"), done.out
    return "; ".join(row["remarks"])


def until(done: Done) -> float:
    """The last moment at which one may have signed as the issuer before."""
    found = re.search(r"one may have been signed until (.* GMT), and", remarks(done))
    assert found, done.out
    return parsedate_to_datetime(found[1]).timestamp()


def noting(running: Rotating, number: int, address: str, *issuers: str) -> None:
    """It notes itself in the endpoints, and who is gone, as where it may be known by an address of its own."""
    running.restart(
        number,
        *issuers,
        flags=("--endpoint-reconciler-type=lease", f"--advertise-address={address}"),
    )


def addresses(admin: Client) -> set[str]:
    return {
        address
        for each in admin.list(SLICES)
        for endpoint in each["endpoints"]
        for address in endpoint["addresses"]
    }


def a_pod(admin: Client, name: str, seconds: int, **audience: str) -> None:
    """That runs, as a kubelet would say."""
    source: dict[str, Any] = {
        "serviceAccountToken": {"expirationSeconds": seconds, "path": "token", **audience}
    }
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
    assert f"the API servers sign as {ISSUER} and {BEFORE}: bring the last of them" in remarks(
        divided
    )
    assert sorted(
        row["problem"].partition(" with ")[0]
        for row in divided.data["things"]
        if "api-server" in row["thing"]
    ) == [
        f"signs as {ISSUER}",
        f"signs as {BEFORE}",
    ]
    running.restart(1, ISSUER, BEFORE)

    assert "default/patient has tokens that live 86400 seconds" in remarks(
        told(running, later=2 * HOUR)
    )
    read_once = remarks(told(running, later=DAY + HOUR))
    assert "default/patient" not in read_once
    assert "it may be one of default/reader; a pod that is restarted after " in read_once
    assert told(running, later=YEAR + HOUR).code == 0

    admin.delete(f"{PODS}/reader?gracePeriodSeconds=0")
    done = told(running, later=DAY + HOUR)
    assert done.code == 0, done.out
    assert f"no pod has a token of an issuer before {ISSUER}" in done.out


def test_it_counts_from_when_the_last_api_server_of_the_issuer_before_was_gone(
    running: Rotating,
) -> None:
    """Which goes on signing when the others have been started with the new one, and is killed."""
    admin, last = running.cluster.admin, running.cluster.servers[1]
    for each in admin.list(SLICES):
        admin.delete(f"{SLICES}/{each['metadata']['name']}")  # which nobody keeps
    noting(running, 0, running.address, ISSUER, BEFORE)
    assert seen_within(
        30, lambda: addresses(admin) == {running.address}
    )  # with its port, which is that of both from now on
    noting(running, 1, ELSEWHERE, BEFORE)
    assert seen_within(30, lambda: addresses(admin) == {running.address, ELSEWHERE})
    time.sleep(3)

    killed = time.time()
    last.kill()
    assert seen_within(60, lambda: addresses(admin) == {running.address})

    assert killed - 1 <= until(told(running)) - LEAVING <= time.time()
    assert told(running, later=HOUR + LEAVING + 60).code == 0


def test_of_api_servers_of_which_nothing_is_noted_one_says_when_the_last_was_stopped(
    running: Rotating,
) -> None:
    admin = running.cluster.admin
    given = [
        f"--api-server=https://{running.address}:{server.place.port}"
        for server in running.cluster.servers
    ]
    past = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - DAY))

    assert "give as --since when the last was stopped" in remarks(told(running, *given, later=YEAR))
    assert until(told(running, *given, "--since", "2100-01-01T01:00:00+01:00")) == 4102444800
    assert (
        until(told(running, *given, "--since", past)) > time.time() - HOUR
    )  # when they were started, which is seen
    assert told(running, *given, "--since", past, later=2 * HOUR).code == 0

    assert told(running, later=YEAR).code == 0
    for each in admin.list(SLICES):
        admin.patch(f"{SLICES}/{each['metadata']['name']}", {"metadata": {"managedFields": [{}]}})
    assert "give as --since when the last was stopped" in remarks(told(running, later=YEAR))


RULES: Mapping[str, Mapping[str, Any]] = {
    "leases": {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["list"]},
    "endpointslices": {
        "apiGroups": ["discovery.k8s.io"],
        "resources": ["endpointslices"],
        "verbs": ["list"],
    },
    "pods": {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    "csidrivers": {"apiGroups": ["storage.k8s.io"], "resources": ["csidrivers"], "verbs": ["list"]},
    "serviceaccounts": {
        "apiGroups": [""],
        "resources": ["serviceaccounts/token"],
        "verbs": ["create"],
    },
    "metrics": {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    "jwks": {"nonResourceURLs": ["/openid/v1/jwks"], "verbs": ["get"]},
}


def seen_by(
    running: Rotating, name: str, rules: Mapping[str, Mapping[str, Any]], *more: str
) -> Done:
    """A year later, by somebody who may do this, and no more."""
    admin, authority = running.cluster.admin, running.cluster.reach.authority
    role, group = (
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        {"kind": "Group", "name": name},
    )
    admin.create(f"{RIGHTS}/clusterroles", named(name, rules=list(rules.values())))
    admin.create(f"{RIGHTS}/clusterrolebindings", named(name, roleRef=role, subjects=[group]))
    looker = authority.kubeconfig(
        running.cluster.folder / name,
        running.cluster.servers[0].place.url,
        authority.client(name, name),
    )
    return running.cwiictl(
        "status", "--former-issuer", "--kubeconfig", str(looker), "-o", "json", *more, later=YEAR
    )


def test_of_what_may_not_be_read_nothing_is_said_to_be_over(running: Rotating) -> None:
    assert seen_by(running, "all", RULES).code == 0
    done = {
        denied: seen_by(
            running, f"no-{denied}", {key: rule for key, rule in RULES.items() if key != denied}
        )
        for denied in RULES
    }

    assert done.pop("endpointslices").code == 1
    for denied in ("pods", "csidrivers", "metrics"):
        told_ = remarks(done.pop(denied))
        assert told_.startswith(
            "until when tokens of the issuer before are good is not known: the cluster does not allow it"
        ), told_
        assert "; have that granted to who runs this" in told_
    for denied in ("serviceaccounts", "jwks"):
        assert (
            remarks(done[denied]).count(
                "signs as is not known: it cannot be asked: the cluster does not allow it"
            )
            == 2
        ), done[denied].out
    assert remarks(done["leases"]).startswith(
        "until when an API server that was not asked has signed, and as what, is not known: give as --since"
    )
    assert "does not name is not known: the cluster does not allow it: leases" in "".join(
        done["leases"].data["hints"]
    )

    rest = {key: rule for key, rule in RULES.items() if key != "leases"}
    assert seen_by(running, "knows", rest, "--since", "2026-01-31T15:04:05Z").code == 0

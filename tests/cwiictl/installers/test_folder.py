"""What holds for the folder of every installer but OpenShift's: golden files, and what tells the workloads.

GOLDEN=renew scripts/test tests/cwiictl/installers

writes the golden files anew; read the difference before it is committed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cwiictl import files
from cwiictl.actions.folder import ISSUER as TOLD
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS, kubeadm
from cwiictl.model import Handover
from tests.cwiictl.installers.handovers import ISSUER, a_binding, a_file, a_handover
from tests.journeys.goldens import compared

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(INSTALLERS.keys() - {"openshift"})
FORMER = "https://10.0.0.1:6443"
ours = pytest.mark.parametrize("name", NAMES)


def render(name: str, handover: Handover) -> dict[str, bytes]:
    return INSTALLERS[name].render(handover, files.template)


@pytest.mark.parametrize(("cluster", "private"), [("new", b"private"), ("existing", None)])
@ours
def test_its_files_are_these(name: str, cluster: str, private: bytes | None):
    found = render(name, a_handover(a_binding(), private=private))

    compared(
        f"{name}/{cluster}",
        {path.removeprefix(f"{name}/"): text for path, text in found.items()},
        GOLDEN,
    )


@ours
def test_without_an_issuer_only_the_workloads_are_told(name: str):
    assert set(render(name, Handover(bindings=(a_binding(),)))) == {f"{name}/serviceaccounts.yaml"}
    assert render(name, Handover()) == {}


@ours
def test_a_file_of_a_workload_is_written_for_who_mounts_it_without_the_webhook(name: str):
    path = f"{name}/credentials/shop-billing.json"

    assert render(name, Handover(bindings=(a_file(),)))[path] == b"{}"
    assert path in INSTALLERS[name].paths([a_file().workload])


@pytest.mark.parametrize("private", [b"private", None])
@ours
def test_such_files_are_told_of_where_they_are_written(name: str, private: bytes | None):
    told = render(name, a_handover(a_file(), private=private))[f"{name}/README.txt"].decode()

    assert f"{name}/credentials has a file NAMESPACE-NAME.json" in told
    assert (
        "NAMESPACE-NAME.json"
        not in render(name, a_handover(a_binding(), private=private))[f"{name}/README.txt"].decode()
    )


@ours
def test_where_the_keys_are_is_not_said_if_it_is_not_known(name: str):
    written = render(name, a_handover(jwks_uri=""))
    del written[f"{name}/README.txt"]

    assert b"jwks" not in b"".join(written.values()).lower()
    assert f"{name}/serviceaccounts.yaml" not in written


@ours
def test_the_paths_are_known_before_anything_is_rendered(name: str):
    google = replace(a_binding(), data={"service_account.json": b"{}"})
    both = {
        path
        for private in (b"private", None)
        for path in render(name, a_handover(google, private=private, former=FORMER))
    }

    assert set(INSTALLERS[name].paths([a_binding().workload, a_binding().workload])) == both


@ours
def test_all_its_files_are_in_its_folders(name: str):
    """Where they are looked for when what they tell of is gone."""
    found = {
        path for path in render(name, a_handover(a_file())) if path.endswith((".yaml", ".json"))
    }

    assert {path.rpartition("/")[0] for path in found} <= set(INSTALLERS[name].folders)


@ours
def test_who_the_issuer_is_can_be_read_from_its_file_again(name: str):
    for private in (b"private", None):
        told = TOLD.search(
            render(name, a_handover(private=private, former=FORMER))[INSTALLERS[name].issuer_in]
        )

        assert told
        assert told[1].decode() == ISSUER


@ours
def test_two_workloads_cannot_share_a_service_account(name: str):
    with pytest.raises(
        BadInput, match="shop/a and shop/b both want the ServiceAccount shop:x"
    ) as told:
        render(name, a_handover(a_binding("a", "x"), a_binding("b", "x")))

    assert told.value.remedy


@ours
def test_a_cluster_that_runs_is_given_no_private_key(name: str):
    """Nor a place for one."""
    key = re.compile(rb"private|cHJpdmF0ZQ==")
    new, runs = (
        {
            path
            for path, text in render(name, a_handover(private=private)).items()
            if key.search(text)
        }
        for private in (b"private", None)
    )

    assert new - {f"{name}/README.txt"}
    assert runs <= {f"{name}/README.txt"}


@ours
def test_what_it_writes_is_its_owners_alone(name: str, tmp_path: Path):
    found = render(name, a_handover(a_binding()))
    files.write(tmp_path, found)

    assert {(tmp_path / path).stat().st_mode & 0o777 for path in found} == {0o600}


def test_the_private_key_is_in_no_message():
    assert "private'" not in repr(a_handover())


@ours
def test_before_the_old_issuer_goes_one_is_told_who_would_be_refused(name: str):
    """kind makes a new cluster."""
    told = render(name, a_handover(private=None, former=FORMER))[f"{name}/README.txt"].decode()

    words = (
        "cwiictl status --former-issuer asks",
        "serviceaccount_stale_tokens_total",
        "kubectl create token --duration",
    )
    assert [word in told for word in words] == [name != "kind"] * 3


@pytest.mark.parametrize("path", [kubeadm.OLD, kubeadm.NEW])
def test_a_cluster_that_runs_is_not_told_where_its_keys_are(path: str):
    new, runs = (
        render("kubeadm", a_handover(private=private))[path].decode()
        for private in (b"private", None)
    )

    assert (new.count("-key-file"), runs.count("-key-file")) == (2, 0)


@ours
def test_what_several_api_servers_are_told_first_is_written_of_a_cluster_that_was_asked(name: str):
    """And no second copy of anything else."""
    asked, unasked = (
        render(name, a_handover(private=None, former=former)) for former in (FORMER, "")
    )
    first = {path: text for path, text in asked.items() if path.startswith(f"{name}/first/")}

    assert bool(first) == (name != "kind")
    assert not any("/first/" in path for path in unasked)
    assert all(
        path.replace("/first/", "/") in asked and text != asked[path.replace("/first/", "/")]
        for path, text in first.items()
    )

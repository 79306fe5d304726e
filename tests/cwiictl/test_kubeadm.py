"""kubeadm's files: flags in both of its dialects, the key pair under its own names, ServiceAccounts for the webhook."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cwiictl import files
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS, kubeadm
from cwiictl.model import Binding, Handover, Workload

GOLDEN = Path(__file__).parent / "golden" / "kubeadm"
ISSUER = "https://prod-oidc.s3.eu-west-1.amazonaws.com"
ROLE = "arn:aws:iam::123456789012:role/prod-shop-billing"
WORDS = {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE, "cwii.dev/aws-audience": "sts.amazonaws.com"}


def a_binding(name: str = "billing", *accounts: str) -> Binding:
    return Binding(Workload("shop", name, accounts or ("billing", "billing-jobs"), asker="webhook"), "aws", {"credentials": "x"}, WORDS)


def a_handover(*bindings: Binding, private: bytes | None = b"private", jwks_uri: str = f"{ISSUER}/keys.json") -> Handover:
    return Handover(ISSUER, jwks_uri, bindings, b"public", private)


def render(handover: Handover) -> dict[str, bytes]:
    return kubeadm.render(handover, files.template)


def golden(name: str) -> dict[str, str]:
    return {f"kubeadm/{path.relative_to(GOLDEN / name)}": path.read_text() for path in (GOLDEN / name).rglob("*") if path.is_file()}


def test_the_table_finds_it_by_name():
    assert INSTALLERS["kubeadm"] is kubeadm


@pytest.mark.parametrize(("name", "private"), [("new", b"private"), ("existing", None)])
def test_its_files_are_these(name: str, private: bytes | None):
    assert {path: text.decode() for path, text in render(a_handover(a_binding(), private=private)).items()} == golden(name)


@pytest.mark.skipif(not shutil.which("kubeadm"), reason="kubeadm is not installed")
@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("cluster-configuration-*.yaml")), ids=lambda path: f"{path.parent.name} {path.stem}")
def test_kubeadm_itself_takes_them(path: Path):
    """Its reading is strict: it knows every key."""
    subprocess.run(["kubeadm", "config", "validate", "--config", path], check=True)


def test_without_an_issuer_only_the_workloads_are_told():
    assert set(render(Handover(bindings=(a_binding(),)))) == {"kubeadm/serviceaccounts.yaml"}
    assert render(Handover()) == {}


def test_a_file_of_a_workload_is_written_for_who_mounts_it_without_the_webhook():
    google = Binding(Workload("shop", "billing", ("billing",), asker="webhook"), "gcp", {"service_account.json": b"{}"})
    path = "kubeadm/credentials/shop-billing.json"

    assert render(Handover(bindings=(google,)))[path] == b"{}"
    assert path in kubeadm.paths([google.workload])


@pytest.mark.parametrize("private", [b"private", None])
def test_such_files_are_told_of_where_they_are_written(private: bytes | None):
    google = Binding(Workload("shop", "billing", ("billing",), asker="webhook"), "gcp", {"service_account.json": b"{}"})

    told = render(a_handover(google, private=private))["kubeadm/README.txt"].decode()

    assert "kubeadm/credentials has a file NAMESPACE-NAME.json" in told
    assert "credentials" not in render(a_handover(a_binding(), private=private))["kubeadm/README.txt"].decode()


def test_where_the_keys_are_is_not_said_if_it_is_not_known():
    written = render(a_handover(jwks_uri=""))

    assert b"jwks" not in written["kubeadm/cluster-configuration-v1beta3.yaml"] + written["kubeadm/cluster-configuration-v1beta4.yaml"]
    assert "kubeadm/serviceaccounts.yaml" not in written


def test_the_paths_are_known_before_anything_is_rendered():
    google = replace(a_binding(), data={"service_account.json": b"{}"})
    both = {path for private in (b"private", None) for path in render(a_handover(google, private=private))}

    assert set(kubeadm.paths([a_binding().workload, a_binding().workload])) == both


def test_two_workloads_cannot_share_a_service_account():
    with pytest.raises(BadInput, match="shop/a and shop/b both want the ServiceAccount shop:x") as told:
        render(a_handover(a_binding("a", "x"), a_binding("b", "x")))

    assert told.value.remedy


def test_the_private_key_is_in_no_message():
    assert "private'" not in repr(a_handover())

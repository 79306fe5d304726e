"""A sidecar as files: whole, for their owner alone, and the same again as long as nothing is due."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.kubeconfig import from_kubeconfig

from cwiictl.cli.webhook import install_webhook, uninstall_webhook
from cwiictl.errors import BadInput
from tests.cwiictl.install.installed import IMAGE
from tests.webhook.certificates.hypershift import rsa_authority

ROOT, CLIENT = rsa_authority(), rsa_authority()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, pair in (("root", ROOT), ("client", CLIENT)):
        (tmp_path / f"{name}.crt").write_bytes(pair.certificate)
        (tmp_path / f"{name}.key").write_bytes(pair.key)
    return tmp_path


def install(folder: Path, *words: str, command: Any = install_webhook) -> str:
    """In two steps a person would take them: the same command twice writes nothing the second time."""
    known = [
        "--root-ca",
        f"{folder}/root.crt",
        "--client-ca",
        f"{folder}/client.crt",
        "--image",
        IMAGE,
        "--output-dir",
        f"{folder}/out",
    ]
    done = CliRunner().invoke(
        command,
        [*(known if command is install_webhook else ()), *words],
        catch_exceptions=False,
        standalone_mode=False,
    )
    return done.output


def written(folder: Path) -> dict[str, bytes]:
    out = folder / "out"
    return {
        str(file.relative_to(out)): file.read_bytes()
        for file in sorted(out.rglob("*"))
        if file.is_file()
    }


SIDECAR = ("--mode", "sidecar", "--namespace", "clusters-shop")
STATIC = ("--mode", "static-pod")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (
            SIDECAR,
            {
                f"sidecar/{name}"
                for name in (
                    "README.txt",
                    "guest.yaml",
                    "kube-apiserver-patch.yaml",
                    "kube-apiserver-removal.yaml",
                    "secrets.yaml",
                )
            },
        ),
        (
            STATIC,
            {
                *(
                    f"static-pod/{name}"
                    for name in (
                        "README.txt",
                        "guest.yaml",
                        "patches/kube-apiserver-webhook+strategic.yaml",
                    )
                ),
                *(
                    f"static-pod/files/{name}"
                    for name in ("ca.crt", "kubeconfig", "tls.crt", "tls.key")
                ),
            },
        ),
    ],
)
def test_a_second_run_writes_nothing_and_nobody_else_may_read_what_the_first_wrote(
    folder: Path, words: tuple[str, ...], names: set[str]
) -> None:
    install(folder, *words)
    first = written(folder)

    again = install(folder, *words)

    assert first.keys() == names
    assert {line.split()[-1] for line in again.splitlines() if "as it was" in line} == {
        f"{folder}/out/{name}" for name in names
    }
    assert written(folder) == first
    assert "written" not in again
    assert {
        file.stat().st_mode & 0o777 for file in (folder / "out").rglob("*") if file.is_file()
    } == {0o600}


def test_a_dry_run_writes_nothing(folder: Path) -> None:
    assert f"  {folder}/out/sidecar/secrets.yaml\n" in install(folder, *SIDECAR, "--dry-run")
    assert not (folder / "out").exists()


def test_of_another_ca_all_that_is_of_it_is_made_anew(folder: Path) -> None:
    install(folder, *SIDECAR)
    first = written(folder)
    other = rsa_authority()
    (folder / "root.crt").write_bytes(other.certificate)
    (folder / "root.key").write_bytes(other.key)

    told = install(folder, *SIDECAR)

    assert "the certificate that it shows is made anew: it is of another authority" in told
    changed = {name for name, content in written(folder).items() if content != first[name]}
    assert changed == {"sidecar/guest.yaml", "sidecar/secrets.yaml"}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no: kubeconfig",
        "[",
        "users: [{}]",
        "users: [{user: {client-certificate-data: '*', client-key-data: '*'}}]",
    ],
)
def test_what_lies_there_and_cannot_be_read_is_as_good_as_nothing(
    folder: Path, content: str
) -> None:
    install(folder, *STATIC)
    (folder / "out" / "static-pod" / "files" / "kubeconfig").write_text(content)

    install(folder, *STATIC)

    access = from_kubeconfig(folder / "out" / "static-pod" / "files" / "kubeconfig", RealClock())
    assert (access.server.host, access.server.port) == ("127.0.0.1", 6443)


def test_a_deployment_in_a_file_is_written_with_the_sidecar_in_it_and_what_that_was_given(
    folder: Path,
) -> None:
    given = {"requests": {"cpu": "200m"}}
    pod = {
        "containers": [
            {"name": "kube-apiserver", "image": "a"},
            {"name": "aws-pod-identity-webhook", "image": "b", "resources": given},
        ]
    }
    file = folder / "kas.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "kas"},
                "spec": {"template": {"spec": pod}},
            }
        )
    )

    install(folder, *SIDECAR, "--deployment-file", str(file), "--flavour", "aws")

    whole = yaml.safe_load(written(folder)["sidecar/kube-apiserver.yaml"])
    containers = whole["spec"]["template"]["spec"]["containers"]
    assert [(each["name"], each["image"]) for each in containers] == [
        ("kube-apiserver", "a"),
        ("aws-pod-identity-webhook", IMAGE),
    ]
    assert containers[1]["resources"] == given


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--mode", "sidecar"), "in which namespace the kube-apiserver runs"),
        ((*STATIC, "--apply"), "which --apply cannot reach"),
        ((*SIDECAR, "--apply"), "which the hosted cluster is"),
        ((*SIDECAR, "--flavour", "azure"), "azure.tenantId is empty"),
        ((*SIDECAR, "--flavour", "azure", "--dialect", "cwii"), "serves the dialect azwi alone"),
        ((*SIDECAR, "--require"), "nobody is refused"),
    ],
)
def test_what_cannot_be_meant_is_said(folder: Path, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        install(folder, *words)

    assert not (folder / "out").exists()


def test_who_takes_it_out_says_of_which_two_clusters(folder: Path) -> None:
    with pytest.raises(BadInput, match="in which namespace"):
        install(folder, "--mode", "sidecar", command=uninstall_webhook)
    with pytest.raises(BadInput, match="which the hosted cluster is"):
        install(folder, *SIDECAR, command=uninstall_webhook)

"""What installers are given: each takes it by its own definition in a real API server, or by its own code, and not with a word in it that it does not know."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cwiictl import files
from cwiictl.installers import cluster_api, k0s, k3s, kind, kops, kubeadm, openshift, rke2, talos
from tests.cluster.conftest import BUILDING, skipped_where_missing, started
from tests.cluster.installers import modules, talosctl
from tests.cluster.installers.command_lines import k3s_arguments
from tests.cluster.installers.given import ISSUER, given
from tests.cluster.installers.modules import Pinned
from tests.cluster.kube.client import Client, Refused
from tests.cluster.kube.cluster import Settings
from tests.cluster.kube.recipe import KUBERNETES
from tests.cluster.objects import SECRETS, named
from tests.cluster.traces import seen_within

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(BUILDING),
]  # what installers are made of may have to be built
STATES = pytest.mark.parametrize("state", ["new", "existing"])
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLANES = "/apis/controlplane.cluster.x-k8s.io/{version}/namespaces/default/kubeadmcontrolplanes"
STRICT = "?dryRun=All&fieldValidation=Strict"


@dataclass(frozen=True)
class Defined:
    """By a definition that the installer has of its objects, rules and all."""

    module: Pinned
    definition: str
    path: str  # of its objects
    file: str = ""
    word: str = ""  # in that

    def listed(self, client: Client) -> bool:
        """Their storage is made while they are asked for the first time."""
        try:
            return client.exists(self.path)
        except Refused:
            return False


DEFINED = {
    "cluster-api": Defined(
        modules.CLUSTER_API,
        "controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml",
        PLANES.format(version="v1beta2"),
    ),
    "kops": Defined(
        modules.KOPS,
        "k8s/crds/kops.k8s.io_clusters.yaml",
        "/apis/kops.k8s.io/v1alpha2/namespaces/default/clusters",
        kops.CLUSTER,
        "serviceAccountIssuer",
    ),
    "k0s": Defined(
        modules.K0S,
        "static/manifests/v1beta1/CustomResourceDefinition/k0s.k0sproject.io_clusterconfigs.yaml",
        "/apis/k0s.k0sproject.io/v1beta1/namespaces/default/clusterconfigs",
        k0s.CONFIG,
        "extraArgs",
    ),
    "openshift": Defined(
        modules.OPENSHIFT,
        "payload-manifests/crds/0000_10_config-operator_01_authentications-Default.crd.yaml",
        "/apis/config.openshift.io/v1/authentications",
        openshift.AUTHENTICATION,
        "serviceAccountIssuer",
    ),
}


@pytest.fixture(scope="module")
def knowing() -> Iterator[Client]:
    """An API server that knows them all."""
    with skipped_where_missing():
        definitions = [
            yaml.safe_load((modules.source(each.module) / each.definition).read_text())
            for each in DEFINED.values()
        ]
    with started(Settings()) as cluster:
        for definition in definitions:
            definition["metadata"]["annotations"]["api-approved.kubernetes.io"] = (
                "unapproved"  # kOps has a name of Kubernetes' own, and no word of that
            )
            cluster.admin.create(DEFINITIONS, definition)
        assert seen_within(20, lambda: all(each.listed(cluster.admin) for each in DEFINED.values()))
        yield cluster.admin


@pytest.mark.parametrize(
    ("name", "state"), [("kops", "new"), ("kops", "existing"), ("k0s", "new"), ("openshift", "new")]
)
def test_an_api_server_takes_it_by_the_definition_that_the_installer_has(
    knowing: Client, name: str, state: str
) -> None:
    defined = DEFINED[name]
    texts = [
        text.decode()
        for path, text in given(name, runs=state == "existing").items()
        if path.endswith(Path(defined.file).name)
    ]
    assert len(texts) == (2 if state == "existing" else 1)  # of which one comes first

    for text in texts:
        knowing.create(f"{defined.path}{STRICT}", named("prod") | yaml.safe_load(text))
        with pytest.raises(Refused, match=f'unknown field "spec.*{defined.word}z"'):
            knowing.create(
                f"{defined.path}{STRICT}",
                named("prod")
                | yaml.safe_load(text.replace(f"{defined.word}:", f"{defined.word}z:")),
            )


def test_a_k0s_from_before_raw_arguments_takes_all_else(knowing: Client) -> None:
    """Which is what can be had of it."""
    config: dict[str, Any] = yaml.safe_load(given("k0s", runs=True)[k0s.CONFIG])
    path = f"{DEFINED['k0s'].path}{STRICT}"

    with pytest.raises(Refused, match=r'unknown field "spec\.api\.rawArgs"$'):
        knowing.create(path, config)
    del config["spec"]["api"]["rawArgs"]
    knowing.create(path, config)


@STATES
def test_cluster_api_takes_its_control_plane(knowing: Client, state: str) -> None:
    found = given("cluster-api", runs=state == "existing")
    machine = {"kind": "DockerMachineTemplate", "name": "prod"}
    templates = {
        cluster_api.NEW: {
            "spec": {
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", **machine}
            }
        },
        cluster_api.OLD: {
            "infrastructureRef": {
                "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
                "namespace": "default",
                **machine,
            }
        },
    }

    for (path, template), other in zip(
        templates.items(), (cluster_api.OLD, cluster_api.NEW), strict=True
    ):
        patch, of_other = yaml.safe_load(found[path]), yaml.safe_load(found[other])
        where = PLANES.format(version=patch["apiVersion"].partition("/")[2]) + STRICT
        plane = patch | named(
            "prod", spec={"version": "v1.36.0", "machineTemplate": template, **patch["spec"]}
        )

        knowing.create(where, plane)
        with pytest.raises(Refused, match=r"apiServer\.extraArgs"):
            knowing.create(where, plane | {"spec": plane["spec"] | of_other["spec"]})


def test_cluster_api_is_given_a_secret(knowing: Client) -> None:
    secret: dict[str, Any] = yaml.safe_load(given("cluster-api")[cluster_api.SECRET])

    assert knowing.create(f"{SECRETS}{STRICT}", secret)["metadata"]["name"] == "prod-sa"


@STATES
def test_kubeadm_itself_takes_its_files(tmp_path: Path, state: str) -> None:
    """Its reading is strict: it knows every key."""
    files.write(tmp_path, given("kubeadm", runs=state == "existing"))
    with skipped_where_missing():
        program = modules.kubeadm()

    for path in (kubeadm.OLD, kubeadm.NEW):
        config = tmp_path / path
        validate = (program, "config", "validate", "--config", config)
        subprocess.run(validate, check=True)
        config.write_text(config.read_text().replace("extraArgs:", "extraArg:"))
        assert (
            'unknown field "apiServer.extraArg"'
            in subprocess.run(validate, capture_output=True, text=True, check=False).stderr
        )


def test_kind_itself_takes_its_cluster() -> None:
    with skipped_where_missing():
        reading = (modules.kind(), f"v{KUBERNETES}")
    text = given("kind")[kind.CLUSTER].decode()

    subprocess.run(reading, input=text, capture_output=True, text=True, check=True)
    done = subprocess.run(
        reading,
        input=text.replace("extraMounts:", "extraMount:"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "field extraMount not found" in done.stderr


@STATES
@pytest.mark.parametrize(
    ("version", "file", "word"),
    [("v1.14", talos.NEW, "issuerURL"), ("v1.12", talos.OLD, "extraArgs")],
)
def test_talos_itself_takes_its_documents(version: str, file: str, word: str, state: str) -> None:
    """In the machine configuration that it makes, which it judges then."""
    found = {path: text.decode() for path, text in given("talos", runs=state == "existing").items()}
    with skipped_where_missing():
        modules.talos()

    paths = [path for path in found if Path(path).name == Path(file).name]
    assert len(paths) == (
        2 if (file, state) == (talos.NEW, "existing") else 1
    )  # of which one comes first
    for path in paths:
        assert ISSUER in talosctl.generated(version, found[path])
        with pytest.raises(talosctl.NotTaken, match=f"(?s)unknown keys found.*{word}z"):
            talosctl.generated(version, found[path].replace(f"{word}:", f"{word}z:"))


def test_a_talos_of_another_version_wants_the_other_file() -> None:
    """As it says in README.txt: the one or the other, never both."""
    found = {path: text.decode() for path, text in given("talos").items()}
    with skipped_where_missing():
        modules.talos()

    for version, file in (("v1.12", talos.NEW), ("v1.14", talos.OLD)):
        with pytest.raises(
            talosctl.NotTaken, match="service account is already set in v1alpha1 config"
        ):
            talosctl.generated(version, found[file])


def test_a_machine_from_before_the_documents_is_moved_to_them_as_it_says_in_readme_txt() -> None:
    with skipped_where_missing():
        have = talosctl.generated("v1.12")
    cluster = next(iter(yaml.safe_load_all(have)))["cluster"]
    server, key = cluster["apiServer"], base64.b64decode(cluster["serviceAccount"]["key"]).decode()
    moved = [
        {"cluster": {field: {"$patch": "delete"} for field in ("apiServer", "serviceAccount")}},
        _document("KubeServiceAccountConfig", issuer={"privateKey": key}),
        _document("KubeAPIServerConfig", image=server.pop("image")),
        *(
            _document("KubeAdmissionControlConfig", **plugin)
            for plugin in server.pop("admissionControl")
        ),
        _document("KubeAuditPolicyConfig", configuration=server.pop("auditPolicy")),
    ]
    assert not server

    told = talosctl.told(
        talosctl.patched(
            have, yaml.safe_dump_all(moved), given("talos", runs=True)[talos.NEW].decode()
        )
    )

    assert (told.issuers, told.audiences, told.signs) == (
        [ISSUER, talosctl.ENDPOINT],
        [talosctl.ENDPOINT, ISSUER],
        key,
    )


def _document(kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1alpha1", "kind": kind, **fields}


@STATES
def test_talos_from_before_its_documents_takes_its_file_by_its_own_schema(state: str) -> None:
    with skipped_where_missing():
        schema = json.loads(
            (
                modules.source(modules.TALOS_BEFORE) / "config/schemas/v1alpha1_config.schema.json"
            ).read_text()
        )
    text = given("talos", runs=state == "existing")[talos.OLD].decode()
    judge: Any = jsonschema.Draft202012Validator(schema)

    judge.validate(yaml.safe_load(text))
    assert not judge.is_valid(yaml.safe_load(text.replace("extraArgs:", "extraArg:")))


@STATES
@pytest.mark.parametrize(("name", "file"), [("k3s", k3s.CONFIG), ("rke2", rke2.CONFIG)])
def test_k3s_itself_reads_its_arguments_and_leaves_out_what_it_does_not_know(
    tmp_path: Path, name: str, file: str, state: str
) -> None:
    text = given(name, runs=state == "existing")[file].decode()
    config = tmp_path / "config.yaml"
    config.write_text("kube-apiserver-arg:\n- v=2\n")
    (tmp_path / "config.yaml.d").mkdir()
    (tmp_path / "config.yaml.d" / "cwiictl.yaml").write_text(text)
    with skipped_where_missing():
        modules.k3s()

    assert k3s_arguments(config) == ["v=2", *yaml.safe_load(text)["kube-apiserver-arg+"]]
    (tmp_path / "config.yaml.d" / "cwiictl.yaml").write_text(
        text.replace("kube-apiserver-arg+", "kube-apiserver-args+")
    )
    assert k3s_arguments(config) == ["v=2"]

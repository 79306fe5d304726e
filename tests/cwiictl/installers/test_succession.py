"""What each installer is given for a stage of a rotation: a README with commands that name only files which are there, and no private key too early."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl import files
from cwiictl.installers import INSTALLERS
from cwiictl.model import Succession
from tests.contracts.keys import key

OLD, NEW = key(0).pem.encode(), key(1).pem.encode()
PRIVATE = b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"
STAGES = ("accept", "sign", "forget")


def a_succession(stage: str) -> Succession:
    accepted = NEW if stage == "forget" else OLD + NEW
    return Succession(stage, accepted, OLD, key(1).kid[:12], NEW, PRIVATE)


def tree(installer: str, stage: str) -> dict[str, bytes]:
    return INSTALLERS[installer].succeeded(a_succession(stage), files.template)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("installer", INSTALLERS)
def test_its_readme_names_the_files_that_are_there_and_says_how_to_go_on(
    installer: str, stage: str
) -> None:
    made = tree(installer, stage)
    text = made.pop(f"{installer}/rotation/{stage}/README.txt").decode()

    named = {word.strip("@") for word in re.findall(rf"@?{installer}/rotation/[\w./-]+", text)}
    assert {path.rstrip(".") for path in named} == set(made)
    assert f"cwiictl rotate-keys {stage} again" in text
    assert all(len(line) <= 150 for line in text.splitlines())


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("installer", ["kubeadm", "kind"])
def test_an_api_server_is_given_the_time_that_it_needs_to_end(installer: str, stage: str) -> None:
    """Unasked, crictl kills at once what it stops: requests that are under way would be cut."""
    text = tree(installer, stage)[f"{installer}/rotation/{stage}/README.txt"].decode()
    stops = [line for line in text.splitlines() if "crictl stop" in line]

    assert stops
    assert all("crictl stop --timeout 90 " in line for line in stops)
    assert installer != "kubeadm" or "ready before you go on to the next node" in text


@pytest.mark.parametrize("installer", INSTALLERS)
def test_only_who_takes_whole_pairs_gets_the_private_key_before_it_is_to_sign(
    installer: str,
) -> None:
    def shown(stage: str) -> bool:
        text = b"".join(tree(installer, stage).values())
        return b"PRIVATE KEY" in text or base64.b64encode(PRIVATE) in text

    assert [shown(stage) for stage in STAGES] == (
        [True, False, False] if installer == "kops" else [False, True, False]
    )


def test_a_second_rotation_on_k3s_does_not_bring_back_the_first_key() -> None:
    """What names the signing key is a file of its own, which only the stage that changes it writes."""
    accept, sign = tree("k3s", "accept"), tree("k3s", "sign")

    assert set(sign) - {path.replace("accept/", "sign/") for path in accept} == {
        "k3s/rotation/sign/signs.yaml",
        "k3s/rotation/sign/next.key",
    }
    told: Any = yaml.safe_load(sign["k3s/rotation/sign/signs.yaml"])
    assert told == {
        "kube-apiserver-arg+": [
            "service-account-signing-key-file=/var/lib/rancher/k3s/server/tls/cwiictl-next.key"
        ],
        "kube-controller-manager-arg+": [
            "service-account-private-key-file=/var/lib/rancher/k3s/server/tls/cwiictl-next.key"
        ],
    }


def test_openshifts_operator_is_told_of_both_halves_under_its_own_names() -> None:
    secret: Any = yaml.safe_load(
        tree("openshift", "sign")["openshift/rotation/sign/next-signing-key.yaml"]
    )

    assert secret["metadata"] == {
        "name": "next-bound-service-account-signing-key",
        "namespace": "openshift-kube-apiserver-operator",
    }
    assert secret["stringData"] == {
        "service-account.key": PRIVATE.decode(),
        "service-account.pub": NEW.decode(),
    }
    patch = json.loads(tree("openshift", "accept")["openshift/rotation/accept/accepted.json"])
    assert patch == {"data": {f"service-account-{key(1).kid[:12]}.pub": NEW.decode()}}
    assert tree("openshift", "forget")["openshift/rotation/forget/old.pub"] == OLD


def test_talos_is_told_each_key_by_itself() -> None:
    told: Any = yaml.safe_load(
        tree("talos", "accept")["talos/rotation/accept/machine-config-1.14.yaml"]
    )

    assert told == {
        "apiVersion": "v1alpha1",
        "kind": "KubeServiceAccountConfig",
        "accepted": {"publicKeys": [OLD.decode(), NEW.decode()]},
    }
    signs: Any = yaml.safe_load(
        tree("talos", "sign")["talos/rotation/sign/machine-config-1.14.yaml"]
    )
    assert signs["issuer"] == {"privateKey": PRIVATE.decode()}


def test_of_talos_a_key_is_taken_by_hand_because_no_patch_can() -> None:
    assert {
        path: text for path, text in tree("talos", "forget").items() if not path.endswith(".txt")
    } == {"talos/rotation/forget/old.pub": OLD}


def test_cluster_apis_secret_has_all_keys_where_one_is_usual() -> None:
    patch = json.loads(tree("cluster-api", "sign")["cluster-api/rotation/sign/secret.json"])

    assert {key: base64.b64decode(value) for key, value in patch["data"].items()} == {
        "tls.crt": OLD + NEW,
        "tls.key": PRIVATE,
    }


def test_every_text_is_somebodys() -> None:
    texts = {
        path.parent.name
        for path in (Path(__file__).parents[3] / "templates").glob("*/rotate-*.txt")
    }

    assert texts == {*INSTALLERS, "kubernetes"}

"""status --html and --mermaid: what status and verify say of real things, drawn where it belongs."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import ACCOUNT
from tests.journeys import ground as aws
from tests.journeys.asked import BILLING, MANAGED
from tests.journeys.ground import NAME, Done, a_key, kid_of
from tests.journeys.three import All, all_requests
from tests.picture.reading import Line, lines

INGRESS = ("openshift-ingress-operator", "ingress-operator")
REGISTRY = "openshift-image-registry"
ARN = f"arn:aws:iam::{ACCOUNT}:role/"


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[All]:
    with ExitStack() as stack:
        ground = All(stack.enter_context(Sandbox(Settings(deploy=0.0))), tmp_path)
        ground.requests(all_requests())
        ground.keys()
        yield ground


def pictured(ground: All, *arguments: str) -> tuple[Done, list[Line]]:
    done = ground.status("--html", "trust.html", "-o", "text", *arguments)
    return done, lines((ground.folder / "trust.html").read_bytes())


def told(found: list[Line]) -> dict[tuple[str, str], str]:
    return {
        (line.cloud, line.account): line.condition
        for line in found
        if line.condition != "as wanted"
    }


def test_who_can_act_as_what_is_drawn_of_all_clouds_and_nothing_is_written_in_any(
    ground: All,
) -> None:
    assert ground.create_all().code == 0
    ground.fresh()

    done, found = pictured(ground)

    assert (done.code, done.err, ground.mutating()) == (0, "", [])
    assert "written     trust.html" in done.out
    assert {(line.namespace, line.account) for line in found} == {
        INGRESS,
        (REGISTRY, "cluster-image-registry-operator"),
        (REGISTRY, "registry"),
    }
    assert [line.cloud for line in found] == ["AWS", "Azure", "Google Cloud"] * 3
    assert {line.condition for line in found} == {"as wanted"}
    assert {line.acts_as for line in found if line.cloud == "AWS"} == {
        f"{ARN}{aws.INGRESS}",
        f"{ARN}{aws.REGISTRY}",
    }
    page = (ground.folder / "trust.html").read_text().replace("<wbr>", "")
    assert all(
        html.escape(word) in page
        for word in (
            aws.ISSUER,
            kid_of(a_key(0)),
            "route53:ListHostedZones on *",
            f"roles/dns.admin in {PROJECT}",
            "Contributor on ",
        )
    )
    assert (ground.folder / "trust.html").stat().st_mode & 0o077 == 0 or os.name != "posix"


def test_who_has_roles_without_a_service_account_acts_as_itself(ground: All) -> None:
    asked = {"predefinedRoles": ["roles/dns.admin"], "serviceAccount": False}
    workload = {
        "name": "billing",
        "namespace": "shop",
        "serviceAccounts": ["billing", "jobs"],
        "gcp": asked,
    }
    told = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": {"gcp": {"project": PROJECT}},
        "outputDir": "out",
        "workloads": [workload],
    }
    ground.write("cluster.yaml", yaml.safe_dump(told))
    assert ground.cwiictl("create-all", "--file", "cluster.yaml").code == 0

    done = ground.cwiictl("status", "--file", "cluster.yaml", "--html", "trust.html")

    found = lines((ground.folder / "trust.html").read_bytes())
    assert (done.code, [(line.account, line.condition) for line in found]) == (
        0,
        [("billing", "as wanted"), ("jobs", "as wanted")],
    ), done.err
    assert [line.acts_as.rpartition("/")[2] for line in found] == [
        "system:serviceaccount:shop:billing",
        "system:serviceaccount:shop:jobs",
    ]


def test_what_create_identity_has_made_is_drawn_beside_what_is_asked_for(ground: All) -> None:
    assert ground.create_all().code == 0
    words = ("-n", "shop", "--service-account", "billing", "--managed-policy-arn", MANAGED)
    assert ground.cwiictl("create-identity", *ground.where, *words, "-o", "json").code == 0

    done, found = pictured(ground)

    shop = [line for line in found if line.namespace == "shop"]
    assert (done.code, len(found)) == (0, 12)
    assert [(line.cloud, line.account, line.condition) for line in shop] == [
        (cloud, "billing", "present") for cloud in ("AWS", "Azure", "Google Cloud")
    ]
    assert shop[0].acts_as == f"{ARN}{BILLING}"
    page = (ground.folder / "trust.html").read_text().replace("<wbr>", "")
    assert f"<li>{MANAGED}</li>" in page
    assert 'id="others"' not in page  # nobody is left who is only listed


def test_before_anything_is_made_all_is_drawn_as_missing(ground: All) -> None:
    done, found = pictured(ground)

    assert done.code == 3, done.err
    assert len(found) == 9
    assert {line.condition for line in found} == {"missing"}


def test_what_has_drifted_and_what_verify_finds_stand_at_the_thing_they_are_of(ground: All) -> None:
    assert ground.create_all().code == 0
    with ground.aws("iam") as iam:
        iam.delete_role_policy(RoleName=aws.INGRESS, PolicyName=aws.INGRESS)
        trust = iam.get_role(RoleName=aws.REGISTRY)["Role"]["AssumeRolePolicyDocument"]
        trust["Statement"][0]["Condition"]["StringEquals"][f"{aws.HOST}:sub"] = (
            "system:serviceaccount:shop:other"
        )
        iam.update_assume_role_policy(RoleName=aws.REGISTRY, PolicyDocument=json.dumps(trust))

    done, found = pictured(ground)

    assert done.code == 3
    assert told(found) == {
        ("AWS", "ingress-operator"): "drifted",
        ("AWS", "registry"): "not believed",
        ("AWS", "cluster-image-registry-operator"): "not believed",
    }
    (policy,) = {line.wrong for line in found if line.condition == "drifted"}
    assert policy.startswith("policy: nothing -> ")
    (trusts,) = {line.wrong for line in found if line.condition == "not believed"}
    assert (
        "The role trusts system:serviceaccount:shop:other, and not system:serviceaccount:" in trusts
    )
    assert "1 failed" in done.out
    assert "2 drifted" in done.out, "the trust is another than was asked for, too"


def test_what_could_not_be_read_is_drawn_all_the_same_and_said_so(ground: All) -> None:
    assert ground.create_all().code == 0
    ground.sandbox.faults.deny = {"iam:GetRole", "iam:GetAccountAuthorizationDetails"}

    done, found = pictured(ground)

    assert done.code == 1
    assert len(found) == 9
    assert {line.condition for line in found if line.cloud == "AWS"} == {"failed"}
    assert {line.condition for line in found if line.cloud != "AWS"} == {"as wanted"}


def test_it_takes_few_calls_beyond_those_of_status(ground: All) -> None:
    """Nothing is read again for what verify finds but the issuer, as a cloud would."""
    assert ground.create_all().code == 0
    ground.fresh()
    assert ground.status().code == 0
    alone = Counter(ground.asked())
    ground.fresh()

    pictured(ground)

    more = Counter(ground.asked()) - alone
    assert more["s3:GetObject"] == 2
    assert more.total() < alone.total() / 8, more


def test_the_diagram_is_all_that_is_printed(ground: All) -> None:
    assert ground.create_all().code == 0

    done = ground.status("--mermaid", "-o", "text")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("flowchart LR\n")
    assert f'["AWS<br/>{aws.INGRESS}"]' in done.out
    assert all(line.startswith("  ") for line in done.out.splitlines()[1:])

    with ground.aws("iam") as iam:
        iam.delete_role_policy(RoleName=aws.INGRESS, PolicyName=aws.INGRESS)
    done = ground.status("--mermaid", "-o", "text")
    assert done.code == 3
    assert f'["AWS<br/>{aws.INGRESS}<br/>drifted"]:::warning' in done.out
    assert f"drifted     aws/role/{aws.INGRESS}" in done.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--mermaid", "-o", "json"), "--mermaid prints the diagram and nothing else"),
        (("--html", "requests"), "is to be written, and is no file"),
        (("--html", "trust.html", "--kubeconfig", "nowhere.conf"), "nowhere.conf"),
    ],
    ids=["two forms", "a folder", "no cluster"],
)
def test_what_cannot_be_drawn_is_refused_before_any_call(
    ground: All, words: tuple[str, ...], problem: str
) -> None:
    done = ground.cwiictl("status", *ground.where, *ground.asking, *words)

    assert (done.code, problem in done.err) == (2, True), done.err
    assert ground.asked() == []

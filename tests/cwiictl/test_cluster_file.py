"""cluster.yaml: all that options say, and who is to be trusted; and for each mistake a sentence with its line and the right word."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl import files
from cwiictl.cluster_file import ClusterFile, load
from cwiictl.errors import BadInput
from cwiictl.model import Cluster, Workload
from tests.cwiictl.cluster_schema import WORDS

TEXT = """apiVersion: cwii.dev/v1
kind: Cluster
name: prod
tags: {team: shop}
clouds:
  aws:
    region: eu-west-1
    account: "123456789012"
    createPrivateS3Bucket: true
    maxSessionDuration: 7200
issuer:
  in: aws
credentialsRequests:
  dir: requests
  techPreview: true
outputDir: out
publicKeyFile: /keys/sa.pub
installer: [openshift, kubeadm]
workloads:
  - name: billing
    namespace: shop
    serviceAccounts: [billing, billing-jobs]
    aws:
      managedPolicyArns:
        - arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess
      maxSessionDuration: 3600
  - name: mail
    namespace: shop
    serviceAccounts: [mail]
    aws:
      policy:
        Version: "2012-10-17"
        Statement:
          - {Effect: Allow, Action: "ses:SendEmail", Resource: "*"}
"""


def read(text: str = TEXT) -> ClusterFile:
    return load("cluster.yaml", text.encode(), WORDS)


def refusal(old: str, new: str) -> tuple[str, str]:
    assert old in TEXT
    with pytest.raises(BadInput) as told:
        read(TEXT.replace(old, new, 1))
    return told.value.problem, told.value.remedy


def test_it_says_all_that_options_say():
    file = read()

    assert file.cluster == Cluster("prod", {"team": "shop"})
    assert file.clouds == {
        "aws": {
            "region": "eu-west-1",
            "account": "123456789012",
            "private": True,
            "session": "7200",
        }
    }
    assert (file.host, file.url, file.exists) == ("aws", "", False)
    assert (file.requests, file.tech_preview, file.output, file.public_key) == (
        Path("requests"),
        True,
        Path("out"),
        Path("/keys/sa.pub"),
    )
    assert file.installers == ("openshift", "kubeadm")


def test_a_workload_is_asked_for_by_cloud():
    billing, mail = read().workloads

    assert billing.workload == Workload(
        "shop", "billing", ("billing", "billing-jobs"), asker="webhook"
    )
    assert billing.asks["aws"].value == {
        "managedPolicyArns": ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"],
        "maxSessionDuration": 3600,
    }
    assert (mail.workload.source, mail.asks["aws"].source) == ("cluster.yaml:27", "cluster.yaml:31")
    assert mail.asks["aws"].where("policy", "Statement", 0, "Effect") == "cluster.yaml:34"


def test_what_is_not_said_is_empty():
    file = read("apiVersion: cwii.dev/v1\nkind: Cluster\nname: prod\nclouds: {aws: {}}\n")

    assert file == ClusterFile(Cluster("prod"), {"aws": {}})


def test_a_cluster_that_runs_is_asked_for_its_own_keys():
    assert read(TEXT.replace("in: aws", "fromCluster: true")).from_cluster
    assert not read().from_cluster


def test_paths_are_seen_from_the_folder_of_the_file():
    seen = read().seen_from(Path("clusters"))

    assert (seen.requests, seen.output, seen.public_key) == (
        Path("clusters/requests"),
        Path("clusters/out"),
        Path("/keys/sa.pub"),
    )
    assert read(TEXT.replace("outputDir: out\n", "")).seen_from(Path("clusters")).output is None


def test_the_example_that_is_shipped_is_read():
    file = load("cluster.example.yaml", files.template("cluster.example.yaml").encode(), WORDS)

    assert [each.workload.title for each in file.workloads] == ["shop/billing", "shop/invoices"]


@pytest.mark.parametrize(
    ("old", "new", "problem", "right"),
    [
        (
            "outputDir",
            "outputDirectory",
            "cluster.yaml:16 has the key 'outputDirectory', which is not known",
            "outputDir",
        ),
        (
            "    region",
            "    regoin",
            "cluster.yaml:7 has the key 'regoin' in clouds.aws, which is not known",
            "region",
        ),
        (
            "  aws:\n",
            "  awz:\n",
            "cluster.yaml:6 has the key 'awz' in clouds, which is not known",
            "aws",
        ),
        (
            "    aws:\n      man",
            "    asw:\n      man",
            "cluster.yaml:23 has the key 'asw' in workloads[0], which is not known",
            "aws",
        ),
        (
            "PolicyArns",
            "Policies",
            "cluster.yaml:24 has the key 'managedPolicies' in workloads[0].aws, which is not known",
            "managedPolicyArns",
        ),
        (
            "Effect",
            "effect",
            "cluster.yaml:34 has the key 'effect' in workloads[1].aws.policy.Statement[0], which is not known",
            "Effect",
        ),
        (
            "techPreview",
            "techPreviews",
            "cluster.yaml:15 has the key 'techPreviews' in credentialsRequests, which is not known",
            "techPreview",
        ),
        (
            "kubeadm]",
            "kubeadmin]",
            "installer[1] in cluster.yaml:18 is 'kubeadmin', which is not known",
            "kubeadm",
        ),
        ("in: aws", "in: awz", "issuer.in in cluster.yaml:12 is 'awz', which is not known", "aws"),
    ],
)
def test_a_misspelt_word_is_told_with_its_line_and_the_right_one(
    old: str, new: str, problem: str, right: str
):
    assert refusal(old, new) == (problem, f"did you mean {right}?")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"123456789012"',
            "123456789012",
            "clouds.aws.account in cluster.yaml:8 is a number where a text is needed",
        ),
        (
            "true",
            "'true'",
            "clouds.aws.createPrivateS3Bucket in cluster.yaml:9 is a text where true or false is needed",
        ),
        (
            "7200",
            "'7200'",
            "clouds.aws.maxSessionDuration in cluster.yaml:10 is a text where a number is needed",
        ),
        (
            "[openshift, kubeadm]",
            "openshift",
            "installer in cluster.yaml:18 is a text where a list is needed",
        ),
        (
            "[mail]",
            "[7]",
            "workloads[1].serviceAccounts[0] in cluster.yaml:29 is a number where a text is needed",
        ),
        ("[mail]", "[]", "workloads[1].serviceAccounts in cluster.yaml:29 is empty"),
        ("region: eu-west-1", "region: ''", "clouds.aws.region in cluster.yaml:7 is empty"),
        (
            "Duration: 3600",
            "Duration: 60",
            "workloads[0].aws.maxSessionDuration in cluster.yaml:26 is less than 3600",
        ),
        ("  dir: requests\n", "", "cluster.yaml:14 lacks credentialsRequests.dir"),
        ("name: prod\n", "", "cluster.yaml:1 lacks name"),
        ("team: shop", "team: 1", "tags[...] in cluster.yaml:4 is a number where a text is needed"),
        (
            "name: prod",
            "name: Prod",
            "cluster.yaml:3: the cluster name 'Prod' cannot be part of every name that is made from it",
        ),
        ("team: shop", "Name: shop", "cluster.yaml:3: the tag Name is not the user's to set"),
        (
            "namespace: shop",
            "namespace: Shop",
            "the namespace 'Shop' in cluster.yaml:20 is not a Kubernetes name",
        ),
        ("[mail]", "[mail, mail]", "cluster.yaml:27 names a ServiceAccount twice"),
    ],
)
def test_what_does_not_fit_is_told_by_field_and_line(old: str, new: str, problem: str):
    told, remedy = refusal(old, new)

    assert told == problem
    assert remedy


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("in: aws", "url: http://x", "issuer.url in cluster.yaml:12 is not https"),
        ("in: aws", "exists: true", "cluster.yaml:12 says that the issuer exists, and not where"),
        (
            "in: aws",
            "in: aws\n  url: https://x",
            "cluster.yaml:13 names a host of your own, and issuer.in a cloud",
        ),
        (
            "name: mail",
            "name: billing",
            "the workload shop/billing is asked for twice, in cluster.yaml:20 and in cluster.yaml:27",
        ),
        (
            "[mail]",
            "[billing]",
            "an identity in aws for the ServiceAccount shop/billing is asked for twice, in cluster.yaml:20 and in cluster.yaml:27",
        ),
        (
            "kind: Cluster",
            "kind: Deployment",
            "cluster.yaml:1 is a 'Deployment' of 'cwii.dev/v1', and no Cluster of cwii.dev/v1",
        ),
        (
            "cwii.dev/v1",
            "cwii.dev/v2",
            "cluster.yaml:1 is a 'Cluster' of 'cwii.dev/v2', and no Cluster of cwii.dev/v1",
        ),
        ("kind: Cluster\n", "", "cluster.yaml:1 lacks kind"),
        ("workloads:", "---\na: b\n---\nworkloads:", "cluster.yaml:20 begins another object"),
        (
            "name: prod",
            "name: prod\nname: prod",
            "cluster.yaml:4 has the key 'name' again, which is there already in line 3",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(old: str, new: str, problem: str):
    told, remedy = refusal(old, new)

    assert told == problem
    assert remedy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "cluster.yaml is empty"),
        ("- a\n", "cluster.yaml:1 is no object but a list"),
        (
            "apiVersion: cwii.dev/v1\nkind: Cluster\nname: x\nclouds: {}\n",
            "clouds in cluster.yaml:4 names no cloud",
        ),
        (
            TEXT[: TEXT.index("    aws:\n      managed")],
            "cluster.yaml:20: shop/billing asks no cloud for anything",
        ),
    ],
)
def test_what_asks_for_nothing_is_refused(text: str, problem: str):
    with pytest.raises(BadInput, match=problem) as told:
        read(text)

    assert told.value.remedy


# --- laws ---

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(["aws", "name", "in"]), below, max_size=3
        )
    ),
    max_leaves=5,
)
fields = st.sampled_from(
    [
        "apiVersion",
        "kind",
        "name",
        "clouds",
        "issuer",
        "credentialsRequests",
        "installer",
        "workloads",
        "tags",
        "outputDir",
    ]
)


@given(st.dictionaries(fields, values, max_size=3))
def test_no_file_is_too_strange_for_a_sentence(change: dict[str, Any]):
    plain: dict[str, Any] = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": "prod",
        "clouds": {"aws": {}},
    }
    with contextlib.suppress(BadInput):
        read(json.dumps({**plain, **change}))

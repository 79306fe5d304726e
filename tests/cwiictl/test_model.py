"""What the user asks for is valid from birth, and what is not is refused with a way on."""

from __future__ import annotations

import pytest

from cwiictl.errors import BadInput
from cwiictl.model import Binding, Cluster, Handover, Workload
from tests.examples import a_workload


@pytest.mark.parametrize("name", ["a", "7", "a-b", "a" * 50, "a--b"])
def test_a_cluster_may_have_such_a_name(name: str) -> None:
    assert Cluster(name).name == name


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a.b", "a_b", "a" * 51, "ccoctl/a", "a\n"])
def test_a_cluster_whose_name_would_not_fit_into_others_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as told:
        Cluster(name)

    assert (
        told.value.problem
        == f"the cluster name {name!r} cannot be part of every name that is made from it"
    )
    assert (
        told.value.remedy
        == "use at most 50 lower-case letters, digits and '-', beginning and ending with a letter or digit"
    )


@pytest.mark.parametrize(
    "key", ["Name", "cwii.dev/cluster/x", "openshift.io/cloud-credential-operator/x"]
)
def test_a_tag_that_would_be_taken_for_ours_is_refused(key: str) -> None:
    with pytest.raises(BadInput) as told:
        Cluster("demo", {"team": "a", key: "x"})

    assert (told.value.problem, told.value.remedy) == (
        f"the tag {key} is not the user's to set",
        "choose another key",
    )


def test_any_other_tag_is_the_users_to_set() -> None:
    tags = {"name": "x", "team": "a", "openshift.io/x": "y", "my-aws:": "z"}

    assert Cluster("demo", tags).tags == tags


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"namespace": "a.b"}, "the namespace 'a.b' in a file is not a Kubernetes name"),
        ({"namespace": "a" * 64}, f"the namespace '{'a' * 64}' in a file is not a Kubernetes name"),
        ({"name": "A"}, "the name 'A' in a file is not a Kubernetes name"),
        ({"name": "a..b"}, "the name 'a..b' in a file is not a Kubernetes name"),
        ({"name": "a" * 254}, f"the name '{'a' * 254}' in a file is not a Kubernetes name"),
        (
            {"service_accounts": ("one", "-two")},
            "the ServiceAccount '-two' in a file is not a Kubernetes name",
        ),
        ({"name": "A", "source": ""}, "the name 'A' is not a Kubernetes name"),
    ],
)
def test_what_is_no_name_in_kubernetes_is_refused(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(BadInput) as told:
        a_workload(**changes)

    assert told.value.problem == problem
    assert (
        told.value.remedy
        == "use lower-case letters, digits and '-', beginning and ending with a letter or digit"
    )


def test_the_longest_names_of_kubernetes_are_taken() -> None:
    assert a_workload(
        namespace="a" * 63,
        name=".".join(["a" * 63] * 3) + "." + "b" * 61,
        service_accounts=("x.y-z",),
    )


@pytest.mark.parametrize(
    ("source", "where"),
    [("requests.yaml:7", "requests.yaml:7"), ("", "kube-system/cloud-credentials")],
)
def test_a_workload_that_names_nobody_or_one_twice_is_refused(source: str, where: str) -> None:
    with pytest.raises(BadInput) as nobody:
        a_workload(service_accounts=(), source=source)
    with pytest.raises(BadInput) as twice:
        a_workload(service_accounts=("one", "two", "one"), source=source)

    assert nobody.value.problem == f"{where} names no ServiceAccount, so nobody would be trusted"
    assert (
        nobody.value.remedy
        == "list the ServiceAccounts that use it (in a CredentialsRequest under spec.serviceAccountNames)"
    )
    assert (twice.value.problem, twice.value.remedy) == (
        f"{where} names a ServiceAccount twice",
        "list each ServiceAccount once",
    )


def test_the_subjects_are_what_kubernetes_writes_into_tokens_in_the_order_asked_for() -> None:
    assert a_workload(service_accounts=("two", "one")).subjects == (
        "system:serviceaccount:kube-system:two",
        "system:serviceaccount:kube-system:one",
    )


def test_a_workload_is_asked_for_by_a_request_and_its_token_is_where_openshift_puts_it_unless_it_says_otherwise() -> (
    None
):
    workload = Workload("kube-system", "cloud-credentials", ("operator",))

    assert (workload.asker, workload.token_path, workload.source) == (
        "request",
        "/var/run/secrets/openshift/serviceaccount/token",
        "",
    )
    assert workload == a_workload(source="another file"), "wherever it was read"


def test_a_binding_tells_texts_and_files_apart() -> None:
    binding = Binding(a_workload(), "aws", {"role_arn": "arn", "credentials": b"[default]"})

    assert (binding.texts, binding.files) == ({"role_arn": "arn"}, {"credentials": b"[default]"})


def test_a_handover_of_nothing_names_nothing_and_no_private_key_is_ever_shown() -> None:
    assert (Handover().issuer, Handover().jwks_uri, Handover().facts) == ("", "", {})
    assert "hush" not in repr(Handover(private_key=b"hush"))

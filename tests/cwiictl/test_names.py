"""Names fit where they must, and never become one another's."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl import names
from cwiictl.model import Cluster
from tests.examples import a_cluster, a_workload

LETTERS = st.characters(codec="ascii", categories=["Ll", "Nd"], include_characters="-.")
CLUSTERS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?", fullmatch=True)


@given(st.text(LETTERS, min_size=1, max_size=200), st.integers(20, 128))
def test_a_name_that_fits_stays_and_no_other_is_longer_than_the_limit(
    name: str, limit: int
) -> None:
    fitted = names.fit(name, limit)

    assert len(fitted) <= limit
    assert (fitted == name) == (len(name) <= limit)
    assert names.fit(fitted, limit) == fitted


@given(
    st.text(LETTERS, min_size=60, max_size=100),
    st.text(LETTERS, max_size=40),
    st.text(LETTERS, max_size=40),
)
def test_names_that_differ_only_beyond_the_limit_stay_different(
    begin: str, one: str, two: str
) -> None:
    if one != two:
        assert names.fit(begin + one, 64) != names.fit(begin + two, 64)


@given(CLUSTERS, st.uuids())
def test_the_address_of_an_issuer_that_we_name_says_whose_it_is(
    name: str, subscription: uuid.UUID
) -> None:
    cluster = Cluster(name)
    account, container = names.account(cluster, str(subscription)), names.container(cluster)

    assert names.cluster_of(f"https://{names.bucket(cluster)}.s3.eu-west-1.amazonaws.com") == name
    assert names.cluster_of(f"https://storage.googleapis.com/{names.bucket(cluster)}") == name
    if container == name:
        assert names.cluster_of(f"https://{account}.blob.core.windows.net/{container}") == name


@pytest.mark.parametrize(
    "issuer",
    [
        "https://oidc.example.org",
        "https://d0123456789abc.cloudfront.net",
        "https://house.s3.eu-west-1.amazonaws.com",
        "https://house-oidc.s3.eu-west-1.amazonaws.com/clusters/demo",
        "https://storage.googleapis.com/house",
        "https://house.blob.core.windows.net/issuers",
    ],
)
def test_the_address_of_any_other_host_does_not(issuer: str) -> None:
    assert names.cluster_of(issuer) == ""


@given(
    CLUSTERS,
    st.from_regex(r"[a-z]{1,63}", fullmatch=True),
    st.from_regex(r"[a-z]{1,200}", fullmatch=True),
)
def test_the_name_of_every_role_begins_with_its_clusters_prefix_and_fits_iam(
    cluster: str, namespace: str, name: str
) -> None:
    """`owned` looks for it by that prefix, so shortening must leave it whole."""
    role = names.role(a_cluster(cluster), a_workload(namespace=namespace, name=name))

    assert role.startswith(names.role_prefix(cluster))
    assert len(role) <= 64


def test_the_names_are_those_of_ccoctl_as_long_as_they_fit() -> None:
    assert names.role(
        a_cluster("prod"),
        a_workload(namespace="openshift-ingress-operator", name="cloud-credentials"),
    ) == ("prod-openshift-ingress-operator-cloud-credentials")
    assert names.bucket(a_cluster("prod")) == "prod-oidc"


@given(
    CLUSTERS,
    st.from_regex(r"[a-z]{1,63}", fullmatch=True),
    st.from_regex(r"[a-z]{1,200}", fullmatch=True),
    st.integers(1, 10),
    st.integers(1, 10),
)
def test_the_parts_of_a_policy_have_names_of_their_own_that_begin_with_the_clusters_prefix(
    cluster: str, namespace: str, name: str, one: int, other: int
) -> None:
    workload = a_workload(namespace=namespace, name=name)
    part = names.part(a_cluster(cluster), workload, one)

    assert part.startswith(names.role_prefix(cluster))
    assert len(part) <= 128
    assert (part == names.part(a_cluster(cluster), workload, other)) == (one == other)


# --- Azure's ---

SUBDOMAINS = st.from_regex(
    r"[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?){0,3}", fullmatch=True
)


@given(CLUSTERS, st.uuids().map(str))
def test_every_cluster_has_a_storage_account_and_a_container_that_azure_takes(
    cluster: str, subscription: str
) -> None:
    account, container = (
        names.account(a_cluster(cluster), subscription),
        names.container(a_cluster(cluster)),
    )

    assert re.fullmatch(r"[a-z0-9]{3,24}", account)
    assert re.fullmatch(r"(?=.{3,63}\Z)[a-z0-9]+(-[a-z0-9]+)*", container)
    assert (account == cluster) == bool(re.fullmatch(r"[a-z0-9]{3,24}", cluster))
    assert (container == cluster) == bool(
        re.fullmatch(r"(?=.{3,63}\Z)[a-z0-9]+(-[a-z0-9]+)*", cluster)
    )


@given(CLUSTERS, CLUSTERS)
def test_two_clusters_have_neither_account_nor_container_in_common(one: str, other: str) -> None:
    if one != other:
        assert names.account(a_cluster(one), "s") != names.account(a_cluster(other), "s")
        assert names.container(a_cluster(one)) != names.container(a_cluster(other))


def test_a_derived_account_is_told_apart_by_its_subscription() -> None:
    """Its name is the world's, and many call a cluster prod-1."""
    assert names.account(a_cluster("prod-1"), "one") != names.account(a_cluster("prod-1"), "two")
    assert names.account(a_cluster("prod"), "one") == "prod"


@given(CLUSTERS, st.from_regex(r"[a-z]{1,63}", fullmatch=True), SUBDOMAINS)
def test_every_workload_has_an_identity_that_azure_takes(
    cluster: str, namespace: str, name: str
) -> None:
    identity = names.identity(a_cluster(cluster), a_workload(namespace=namespace, name=name))

    assert re.fullmatch(r"[a-z0-9][-a-z0-9]{2,127}", identity)
    assert identity.startswith(names.role_prefix(cluster))


@given(SUBDOMAINS, SUBDOMAINS)
def test_names_that_differ_only_in_dots_stay_different(one: str, other: str) -> None:
    if one != other:
        cluster = a_cluster()
        assert names.identity(cluster, a_workload(name=one)) != names.identity(
            cluster, a_workload(name=other)
        )
        assert names.credential(one) != names.credential(other)
        assert names.credential(one.replace(".", "-")) != names.credential(f"{one}.x")


@given(SUBDOMAINS)
def test_every_service_account_has_a_credential_that_azure_takes_by_ccoctls_name_where_it_can(
    name: str,
) -> None:
    credential = names.credential(name)

    assert re.fullmatch(r"[a-z0-9][-a-z0-9]{2,119}", credential)
    assert (credential == name) == (3 <= len(name) <= 120 and "." not in name)


@pytest.mark.parametrize(
    "cluster",
    [
        "azure",
        "windows",
        "windows-prod",
        "win-dows",
        "my-microsoft",
        "login-1",
        "windows-login",
        "micromicrosoftsoft",
    ],
)
def test_no_name_holds_a_word_that_azure_keeps_for_itself(cluster: str) -> None:
    for workload in (
        a_workload(namespace="windows", name="windows"),
        a_workload(namespace="openshift-windows-machine-config-operator", name="login"),
    ):
        found = (
            names.account(a_cluster(cluster), "s"),
            names.identity(a_cluster(cluster), workload),
            names.credential(f"{cluster}-windows"),
        )

        assert not any(names.withheld(name) for name in found), found
        assert re.fullmatch(r"[a-z0-9]{3,24}", found[0])
        assert all(re.fullmatch(r"[a-z0-9][-a-z0-9]{2,119}", name) for name in found[1:])


def test_what_is_only_like_such_a_word_is_a_name_like_others() -> None:
    for cluster in ("azured", "blogin", "plumbing", "window"):
        assert names.account(a_cluster(cluster), "s") == cluster


def test_azures_names_are_those_of_ccoctl_as_long_as_azure_takes_them() -> None:
    cluster, workload = (
        a_cluster("prod"),
        a_workload(namespace="openshift-ingress-operator", name="cloud-credentials"),
    )

    assert names.identity(cluster, workload) == "prod-openshift-ingress-operator-cloud-credentials"
    assert (names.group(cluster), names.installation(cluster), names.container(cluster)) == (
        "prod-oidc",
        "prod",
        "prod",
    )


def test_a_guid_is_the_same_in_every_run_and_does_not_look_at_case() -> None:
    assert names.assignment("/Scope", "role", "identity") == names.assignment(
        "/scope", "ROLE", "Identity"
    )
    assert names.assignment("/scope", "role", "one") != names.assignment("/scope", "role", "two")
    assert names.custom_role("S", "Title") == names.custom_role("s", "title")
    assert names.custom_role("s", "one") != names.custom_role("s", "two")
    assert str(uuid.UUID(names.custom_role("s", "one"))) == names.custom_role("s", "one")


# --- Google's ---

KEYS = st.from_regex(
    r"[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?(/[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?)?", fullmatch=True
)


@given(CLUSTERS, KEYS, KEYS)
def test_google_takes_every_id_of_a_service_account_and_of_a_role_and_none_is_anothers(
    cluster: str, key: str, other: str
) -> None:
    account, role = (
        names.service_account(a_cluster(cluster), key),
        names.own_role(a_cluster(cluster), key),
    )

    assert re.fullmatch(r"[a-z][-a-z0-9]{4,28}[a-z0-9]", account)
    assert re.fullmatch(r"[a-z0-9_]{3,64}", role)
    assert (account == names.service_account(a_cluster(cluster), other)) == (key == other)
    assert (role == names.own_role(a_cluster(cluster), other)) == (key == other)


def test_a_shared_role_is_called_by_what_it_allows_in_whatever_order() -> None:
    assert names.shared_role(["a.b.c", "d.e.f"]) == names.shared_role({"d.e.f", "a.b.c"})
    assert names.shared_role(["a.b.c"]) != names.shared_role(["a.b.d"])
    assert re.fullmatch(r"cwii_[0-9a-f]{12}", names.shared_role(["a.b.c"]))


@given(CLUSTERS, KEYS)
def test_the_title_of_a_service_account_fits_and_is_ccoctls_where_a_request_asks(
    cluster: str, key: str
) -> None:
    title = names.account_title(a_cluster(cluster), key)

    assert len(title) <= 100
    assert ("/" in key) == (" " in title), "no workload is taken for a request"
    if "/" not in key:
        assert title == f"{cluster[:50]}-{key[:49]}"


# --- what may never change ---

LONG = a_workload(
    namespace="openshift-cluster-csi-drivers",
    name="shared.resource-csi-driver-operator-cloud-credentials",
)


def test_a_name_that_was_given_once_is_given_for_ever() -> None:
    """Things are found by their names: by another one a run would make a second thing, and the first would be nobody's."""
    prod, wide = a_cluster("prod-1"), a_workload(namespace="a" * 40, name="b" * 80)
    assert (names.fit("a" * 20, 20), names.fit("a" * 21, 20), names.fit("a" * 10 + "-." + "a" * 10, 20)) == (
        "a" * 20, "aaaaaaaaaaa-7df8e299", "aaaaaaaaaa-2cbc337d",
    )  # fmt: skip
    assert (
        names.role(prod, LONG) == "prod-1-openshift-cluster-csi-drivers-shared.resource-cs-1accea4f"
    )
    assert names.part(prod, wide, 2) == f"prod-1-{'a' * 40}-{'b' * 71}-9d08a3a0"
    assert (
        names.identity(prod, LONG)
        == "prod-1-openshift-cluster-csi-drivers-shared-resource-csi-driver-operator-cloud-credentials-1accea4f"
    )
    assert names.identity(prod, wide) == names.fit(f"prod-1-{'a' * 40}-{'b' * 80}", 128)
    assert (names.account(prod, "s"), names.account(a_cluster("windows-prod"), "s")) == (
        "prod12e355925",
        "prodc0c5c8b9",
    )
    assert names.account(a_cluster(f"a-{'b' * 30}"), "s") == f"a{'b' * 15}3b841724"
    assert (names.container(a_cluster("a--b")), names.container(a_cluster("ab"))) == (
        "a-b-90827a2e",
        "ab-fb8e20fc",
    )
    assert (names.credential("a.b"), names.credential("x"), names.credential("Guest_Disk-x7")) == (
        "a-b-2e7336dc",
        "x-2d711642",
        "Guest_Disk-x7",
    )
    assert names.credential(f"a.{'b' * 130}") == f"a-{'b' * 109}-b6dc3fd8", "120 characters"
    assert (
        names.identity(prod, a_workload(namespace="a" * 40, name=f"{'b' * 90}.c"))
        == f"prod-1-{'a' * 40}-{'b' * 71}-08155123"
    ), "128 characters"
    assert names.role_prefix("prod") == "prod-", "with which no name of the cluster prod2 begins"
    assert (names.kubernetes("A_b/c.D"), names.kubernetes("_a"), names.kubernetes("a.b-c")) == (
        "a-b-c-d-6b4edc22",
        "a-34fb7160",
        "a.b-c",
    )
    assert names.custom_role("s", "t") == "2531cef8-b3a5-5cce-b9ed-eaae941b974a"
    assert names.assignment("s", "r", "g") == "e6d00cad-9911-5c16-a3ab-65806c7d022d"
    assert names.service_account(a_cluster("9-prod"), "kube-system/x") == "prod-kube-syste-be25fe6e"
    assert names.service_account(a_cluster("9"), "8") == "cwii-e001785b"
    assert (
        names.own_role(a_cluster("p-rod"), "kube-system/x") == "cwii_p_rod_kube_system_x_05ec2248"
    )
    assert names.account_title(prod, "kube-system/x") == "prod-1 kube-system/x"
    assert names.account_title(a_cluster("p" * 50), "k" * 60) == f"{'p' * 50}-{'k' * 49}"
    assert names.shared_role(["b", "a"]) == "cwii_c8687a08aa5d"


def test_an_object_of_kubernetes_has_a_name_that_kubernetes_takes() -> None:
    assert len(names.kubernetes("A" * 300)) == 253
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", names.kubernetes("/Subscriptions/_x_/"))


def test_files_have_the_names_under_which_ccoctl_and_the_installer_look_for_them() -> None:
    assert (names.PRIVATE_KEY, names.PUBLIC_KEY) == (
        "serviceaccount-signer.private",
        "serviceaccount-signer.public",
    )
    assert names.INSTALLER_KEY == "tls/bound-service-account-signing-key.key"
    assert names.DISCOVERY == ".well-known/openid-configuration"


def test_every_word_that_azure_reserves_is_withheld_as_a_whole_and_no_longer_one() -> None:
    """As Azure's page on reserved resource names has them."""
    reserved = (
        "ACCESS AZURE BING BIZSPARK BIZTALK CORTANA DIRECTX DOTNET DYNAMICS EXCEL EXCHANGE FOREFRONT GROOVE HOLOLENS HYPERV KINECT LYNC MSDN O365 OFFICE "
        "OFFICE365 ONEDRIVE ONENOTE OUTLOOK POWERPOINT SHAREPOINT SKYPE VISIO VISUALSTUDIO"
    )
    for word in (*reserved.split(), "XBOX"):
        assert names.withheld(word), word
        assert not names.withheld(f"{word}-x"), word
    assert names.withheld("my-Microsoft-x")
    assert names.withheld("Login-x")
    assert not names.withheld("my-login")


def test_the_clusters_own_name_is_the_same_by_ccoctls_and_by_ours() -> None:
    assert (names.own("ccoctl/demo"), names.own("demo"), names.own("demo-ccoctl/")) == (
        "demo",
        "demo",
        "demo-ccoctl/",
    )

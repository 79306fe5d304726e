"""openshift-install's files: the names and contents that ccoctl's users know."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
import yaml

from cwiictl import files
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS, openshift
from cwiictl.model import Binding, Handover, Workload

CREDENTIALS = "[default]\nsts_regional_endpoints = regional\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token"


def a_binding(
    namespace: str = "openshift-ingress-operator", name: str = "cloud-credentials"
) -> Binding:
    return Binding(
        Workload(namespace, name, ("ingress-operator",)), "aws", {"credentials": CREDENTIALS}
    )


def render(bindings: Iterable[Binding]) -> dict[str, bytes]:
    return openshift.render(Handover("https://issuer", bindings=tuple(bindings)), files.template)


def test_the_table_finds_it_by_name():
    assert INSTALLERS["openshift"] is openshift


def test_a_secret_tells_the_workload_its_role():
    assert render([a_binding()])[
        "manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml"
    ].decode() == (
        """apiVersion: v1
kind: Secret
metadata:
  name: cloud-credentials
  namespace: openshift-ingress-operator
type: Opaque
stringData:
  credentials: |-
    [default]
    sts_regional_endpoints = regional
    role_arn = arn:aws:iam::1:role/x
    web_identity_token_file = /var/run/secrets/openshift/serviceaccount/token
"""
    )


def test_the_cluster_is_told_its_issuer():
    assert render([]) == {
        "manifests/cluster-authentication-02-config.yaml": b"""apiVersion: config.openshift.io/v1
kind: Authentication
metadata:
  name: cluster
spec:
  serviceAccountIssuer: https://issuer
"""
    }


def test_the_paths_are_known_before_anything_is_rendered():
    bindings = [a_binding(), a_binding("a", "b")]

    handover = Handover("https://issuer", bindings=tuple(bindings), facts={"azure_tenant_id": "t"})
    assert openshift.paths(binding.workload for binding in bindings) == tuple(
        openshift.render(handover, files.template)
    )


def test_two_secrets_for_one_file_are_refused():
    with pytest.raises(BadInput, match="would both be written to") as told:
        render([a_binding("a-b", "c"), a_binding("a", "b-c")])

    assert told.value.remedy


def test_what_two_clouds_tell_a_workload_is_in_one_secret():
    azure = replace(a_binding(), cloud="azure", data={"azure_client_id": "c"})

    (text, _) = render([a_binding(), azure]).values()

    assert yaml.safe_load(text)["stringData"].keys() == {"credentials", "azure_client_id"}


def test_the_webhook_that_openshift_runs_on_azure_is_told_the_tenant():
    tree = openshift.render(
        Handover("https://issuer", facts={"azure_tenant_id": "72f988bf", "another": "fact"}),
        files.template,
    )

    secret = yaml.safe_load(tree["manifests/azure-ad-pod-identity-webhook-config.yaml"])
    assert secret["metadata"] == {
        "name": "azure-credentials",
        "namespace": "openshift-cloud-credential-operator",
    }
    assert secret["stringData"] == {"azure_tenant_id": "72f988bf"}


def test_a_name_that_no_disk_can_hold_is_refused():
    with pytest.raises(BadInput, match="too long for a file"):
        render([a_binding("a" * 63, "b" * 200)])

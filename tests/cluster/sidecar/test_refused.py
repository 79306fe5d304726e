"""What stands against it is said before anything is written, in either cluster."""

from __future__ import annotations

import pytest

from cwiictl.errors import BadInput, Conflict
from tests.cluster.hosted import Hosted

pytestmark = pytest.mark.timeout(180)
azure = pytest.mark.parametrize("flavour", ["azure"])


@azure
def test_a_container_of_that_name_that_is_another_s_is_left_alone(hosted: Hosted) -> None:
    theirs = {"name": "azure-workload-identity-webhook", "image": "example.org/payload:1"}
    hosted.admin.patch(f"{hosted.deployments}/kube-apiserver", {"spec": {"template": {"spec": {"containers": [theirs]}}}}, "strategic")
    before = hosted.deployment()

    with pytest.raises(Conflict, match="has a container azure-workload-identity-webhook already, which is not ours") as refused:
        hosted.install()

    assert "--flavour cwii" in refused.value.remedy
    assert hosted.deployment() == before


@azure
def test_what_is_not_there_is_said_before_anything_is_written(hosted: Hosted) -> None:
    with pytest.raises(BadInput, match=r"there is no Deployment .*/another"):
        hosted.install(deployment="another")
    hosted.admin.delete(f"/api/v1/namespaces/{hosted.namespace}/secrets/root-ca")
    with pytest.raises(BadInput, match=r"there is no Secret .*/root-ca with a CA"):
        hosted.install()

    assert [each["metadata"]["name"] for each in hosted.admin.list(f"/api/v1/namespaces/{hosted.namespace}/secrets")] == ["cluster-signer-ca"]

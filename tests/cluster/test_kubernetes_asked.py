"""What is asked of a cluster by who is connected to it: rights, readings, tokens, and answers of its pods."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cwiictl.errors import Denied, Failed
from cwiictl.kubernetes.rights import Right, denied, needed
from tests.cluster.installation import an_installation, connected
from tests.cluster.kube.reach import Reach
from tests.cluster.space import Space, plain

pytestmark = pytest.mark.timeout(60)


def test_who_lacks_rights_learns_which_before_anything_is_written(
    reach: Reach, tmp_path: Path
) -> None:
    with connected(reach, tmp_path) as admin:
        bodies = an_installation(admin).bodies
    with connected(reach, tmp_path, "viewer", "viewers") as place:
        asked = needed(bodies, place.kinds)
        lacking = place.api.lacking(asked)

        assert set(lacking) == set(asked)
        assert Right("patch", "deployments", "apps", bodies[0]["metadata"]["name"]) in lacking
        problem = denied(place.caller, lacking, "installing the webhook")
        assert isinstance(problem, Denied)
        told = problem.problem.splitlines()
        assert told[0] == f"viewer lacks {len(lacking)} rights, which installing the webhook needs:"
        assert "clusterrolebindings.rbac.authorization.k8s.io: create, get, patch" in told
    with connected(reach, tmp_path) as admin:
        assert admin.api.lacking(asked) == ()
        assert admin.api.lacking(asked, "viewer") == tuple(sorted(set(asked)))
        assert (
            admin.api.lacking(
                [Right("create", "selfsubjectreviews", "authentication.k8s.io")],
                "system:serviceaccount:a:b",
            )
            == ()
        )
    assert denied("admin", (), "anything") is None


def test_what_a_pod_would_answer_and_cannot_is_told_in_its_place(
    reach: Reach, tmp_path: Path
) -> None:
    """No pod runs here: it is the API server that says so, and who may not have it passed on learns that."""
    space = Space(reach).account({})
    name = space.create(plain())["metadata"]["name"]
    with connected(reach, tmp_path) as place:
        answer = place.api.through(space.name, name, 8080, "/readyz")

        assert answer.status >= 400
        assert answer.text
        assert "apiserver_request_total" in place.api.text("/metrics")
    with connected(reach, tmp_path, "viewer", "viewers") as place:
        with pytest.raises(Denied, match="pods/proxy"):
            place.api.through(space.name, name, 8080, "/readyz")
        with pytest.raises(Denied, match="/metrics"):
            place.api.text("/metrics")


def test_a_patch_says_one_thing_and_leaves_the_rest(reach: Reach, tmp_path: Path) -> None:
    space = Space(reach).account({"a": "1"})
    with connected(reach, tmp_path) as place:
        place.api.patch(
            "ServiceAccount", space.name, "worker", {"metadata": {"annotations": {"b": "2"}}}
        )

        found = place.api.get("ServiceAccount", space.name, "worker")

    assert found
    assert found["metadata"]["annotations"] == {"a": "1", "b": "2"}


def test_tokens_objects_and_dry_runs_are_had_by_the_same_connection(
    reach: Reach, tmp_path: Path
) -> None:
    space = Space(reach).account({})
    with connected(reach, tmp_path) as place:
        claims = place.api.token(space.name, "worker", "sts.amazonaws.com").split(".")[1]
        assert json.loads(base64.urlsafe_b64decode(claims + "==="))["aud"] == ["sts.amazonaws.com"]
        with pytest.raises(Failed, match=f"there is no ServiceAccount {space.name}/nobody"):
            place.api.token(space.name, "nobody", "a")

        pod: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": space.name, "generateName": "p-", "labels": {"a": "b"}},
        }
        pod["spec"] = {"serviceAccountName": "worker", "containers": [{"name": "c", "image": "c"}]}
        assert place.api.create(pod, dry=True)["metadata"]["name"].startswith("p-")
        assert place.api.list("Pod", space.name) == []
        made = place.api.create(pod)["metadata"]["name"]
        assert [each["kind"] for each in place.api.list("Pod", space.name, "a=b")] == ["Pod"]
        assert place.api.get("Pod", space.name, made)
        place.api.delete("Pod", space.name, made)
        assert place.api.get("Pod", space.name, "nothing") is None
        assert place.api.document("/openid/v1/jwks")["keys"]

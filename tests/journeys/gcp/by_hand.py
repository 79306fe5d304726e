"""What others make in Google Cloud by hand, in the console, or with another tool."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from requests import Response

from cwiictl.clouds.gcp.stores import labels as ours
from cwiictl.engine.resource import Mark
from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys.gcp.ground import (
    ACCOUNTS,
    AUDIENCE,
    BUCKETS,
    ISSUER,
    POOL,
    POOLS,
    PROVIDER,
    ROLES,
    GcpGround,
)

READER = "roles/storage.legacyObjectReader"
IMPERSONATE = "roles/iam.workloadIdentityUser"
EVERYBODY = [{"role": READER, "members": ["allUsers"]}]
CCOCTLS = "Created by OpenShift ccoctl"  # what it says of pools and providers


class _Labelled:
    def __init__(self, owner: Mark | None, labels: dict[str, str]) -> None:
        self.owner, self.labels = owner, labels


def labels(cluster: str = "", hold: Any = "owned", **further: str) -> dict[str, str]:
    """Those of a cluster of ours, or of nobody."""
    return ours.written(
        _Labelled(
            Mark(cluster, hold) if cluster else None, further or {"Name": cluster or "theirs"}
        ),
        None,
    )


# --- Cloud Storage ---


def a_bucket(
    ground: GcpGround,
    name: str,
    told: dict[str, str] | None = None,
    project: str = PROJECT,
    *,
    public: bool = False,
    **settings: Any,
) -> None:
    """As the console makes it: uniform access, and nobody from outside."""
    configuration = {
        "uniformBucketLevelAccess": {"enabled": True},
        "publicAccessPrevention": "inherited",
        **settings,
    }
    body = {
        "name": name,
        "location": "US",
        "labels": labels() if told is None else told,
        "iamConfiguration": configuration,
    }
    ground.rest("POST", "storage", f"{BUCKETS}?project={project}", body)
    if public:
        may(ground, name, *EVERYBODY)


def bucket(ground: GcpGround, name: str, **changes: Any) -> None:
    ground.rest("PATCH", "storage", f"{BUCKETS}/{name}", changes)


def access(ground: GcpGround, name: str) -> list[Any]:
    """The bindings of a bucket's policy."""
    return list(
        ground.rest("GET", "storage", f"{BUCKETS}/{name}/iam?optionsRequestedPolicyVersion=3")[
            "bindings"
        ]
    )


def may(ground: GcpGround, name: str, *bindings: Any) -> None:
    """Besides what anybody may already."""
    set_access(ground, name, [*access(ground, name), *bindings])


def set_access(ground: GcpGround, name: str, bindings: list[Any]) -> None:
    ground.rest("PUT", "storage", f"{BUCKETS}/{name}/iam", {"version": 3, "bindings": bindings})


def upload(
    ground: GcpGround,
    bucket: str,
    name: str,
    body: bytes | str,
    content_type: str = "text/plain",
    **said: Any,
) -> None:
    """`said` is of the object: cacheControl, metadata."""
    head = json.dumps({"name": name, "contentType": content_type, **said})
    content = body.encode() if isinstance(body, str) else body
    whole = (
        f"--cut\r\nContent-Type: application/json\r\n\r\n{head}\r\n--cut\r\nContent-Type: {content_type}\r\n\r\n".encode()
        + content
        + b"\r\n--cut--\r\n"
    )
    headers = {"Authorization": ground.bearer(), "Content-Type": "multipart/related; boundary=cut"}
    url = f"https://storage.googleapis.com/upload{BUCKETS}/{bucket}/o?uploadType=multipart"
    answer = ground.session.post(url, data=whole, headers=headers, timeout=30)
    assert answer.ok, answer.text


def object_(ground: GcpGround, bucket: str, name: str, **changes: Any) -> None:
    ground.rest("PATCH", "storage", f"{BUCKETS}/{bucket}/o/{quote(name, safe='')}", changes)


def remove(ground: GcpGround, bucket: str, name: str) -> None:
    ground.rest("DELETE", "storage", f"{BUCKETS}/{bucket}/o/{quote(name, safe='')}")


def content(ground: GcpGround, bucket: str, name: str) -> bytes:
    """As its owner reads it."""
    url = f"https://storage.googleapis.com{BUCKETS}/{bucket}/o/{quote(name, safe='')}?alt=media"
    answer = ground.session.get(url, headers={"Authorization": ground.bearer()}, timeout=30)
    assert answer.ok, answer.text
    return answer.content


# --- workload identity pools ---


def a_pool(ground: GcpGround, pool: str = POOL, description: str = "theirs", **said: Any) -> None:
    ground.iam(
        "POST",
        f"{POOLS}?workloadIdentityPoolId={pool}",
        {"displayName": pool, "description": description, **said},
    )


def a_provider(
    ground: GcpGround,
    provider: str = PROVIDER,
    pool: str = POOL,
    description: str = "theirs",
    **said: Any,
) -> None:
    oidc = {"issuerUri": ISSUER, "allowedAudiences": ["openshift"], **said.pop("oidc", {})}
    body = {
        "displayName": provider,
        "description": description,
        "oidc": oidc,
        "attributeMapping": {"google.subject": "assertion.sub"},
        **said,
    }
    ground.iam("POST", f"{POOLS}/{pool}/providers?workloadIdentityPoolProviderId={provider}", body)


def pool(ground: GcpGround, name: str = POOL, **changes: Any) -> None:
    ground.iam("PATCH", f"{POOLS}/{name}?updateMask={','.join(changes)}", changes)


def provider(
    ground: GcpGround, name: str = PROVIDER, pool: str = POOL, mask: str = "", **changes: Any
) -> None:
    ground.iam(
        "PATCH", f"{POOLS}/{pool}/providers/{name}?updateMask={mask or ','.join(changes)}", changes
    )


def gone(ground: GcpGround, path: str) -> None:
    """A pool, a provider, a service account or a role, by its path after the version."""
    ground.iam("DELETE", path)


# --- service accounts, and custom roles ---


def an_account(
    ground: GcpGround,
    id_: str,
    title: str = "theirs",
    description: str = "theirs",
    project: str = PROJECT,
) -> str:
    """Returns its e-mail."""
    body = {"accountId": id_, "serviceAccount": {"displayName": title, "description": description}}
    return str(ground.rest("POST", "iam", f"/v1/projects/{project}/serviceAccounts", body)["email"])


def account(ground: GcpGround, email: str, **changes: Any) -> None:
    ground.rest(
        "PATCH",
        "iam",
        f"{ACCOUNTS}/{email}",
        {"serviceAccount": changes, "updateMask": ",".join(changes)},
    )


def trusted(ground: GcpGround, email: str) -> list[Any]:
    """The bindings of its policy."""
    return list(
        ground.rest(
            "POST", "iam", f"{ACCOUNTS}/{email}:getIamPolicy?options.requestedPolicyVersion=3", {}
        ).get("bindings", ())
    )


def trust(ground: GcpGround, email: str, bindings: list[Any]) -> None:
    """From now on these and no others."""
    ground.rest(
        "POST",
        "iam",
        f"{ACCOUNTS}/{email}:setIamPolicy",
        {"policy": {"version": 3, "bindings": bindings}},
    )


def a_role(
    ground: GcpGround, id_: str, permissions: tuple[str, ...] = ("compute.disks.get",), **said: str
) -> str:
    """Returns its name."""
    told = {
        "title": id_,
        "description": "theirs",
        "stage": "GA",
        "includedPermissions": list(permissions),
        **said,
    }
    return str(ground.rest("POST", "iam", ROLES, {"roleId": id_, "role": told})["name"])


def role(ground: GcpGround, id_: str, **changes: Any) -> None:
    ground.rest("PATCH", "iam", f"{ROLES}/{id_}?updateMask={','.join(changes)}", changes)


# --- policies of projects ---


def granted(
    ground: GcpGround, role: str, member: str, project: str = PROJECT, **condition: str
) -> None:
    """As `gcloud projects add-iam-policy-binding` does it. A condition has title and expression."""
    policy = ground.policy(project)
    bound = {"role": role, "members": [member], **({"condition": condition} if condition else {})}
    set_policy(ground, {**policy, "bindings": [*policy.get("bindings", ()), bound]}, project)


def revoked(ground: GcpGround, role: str, member: str, project: str = PROJECT) -> None:
    policy = ground.policy(project)
    kept = [
        {
            **each,
            "members": [one for one in each["members"] if (each["role"], one) != (role, member)],
        }
        for each in policy.get("bindings", ())
    ]
    set_policy(ground, {**policy, "bindings": kept}, project)


def set_policy(ground: GcpGround, policy: Any, project: str = PROJECT) -> None:
    """Under its etag."""
    ground.rest(
        "POST",
        "cloudresourcemanager",
        f"/v1/projects/{project}:setIamPolicy",
        {"policy": {**policy, "version": 3}},
    )


# --- tokens ---


def exchanged(ground: GcpGround, token: str, audience: str = AUDIENCE) -> Response:
    """At Google's STS, as a client library does it."""
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "audience": audience,
        "scope": "https://www.googleapis.com/auth/cloud-platform",
        "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "subject_token": token,
    }
    return ground.session.post("https://sts.googleapis.com/v1/token", data=form, timeout=30)

"""The same ground for journeys in Google Cloud: what the commands are told there, and what Google itself says is there."""

from __future__ import annotations

import json
import re
import time
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jwt
import requests

from cwiictl.sandbox.gcp.world import NUMBER, OPERATOR, PROJECT, SECOND
from tests.journeys.ground import NAME, Ground, a_key, kid_of

BUCKET = f"{NAME}-oidc"
POOL = PROVIDER = NAME
ISSUER = f"https://storage.googleapis.com/{BUCKET}"
DISCOVERY, JWKS = ".well-known/openid-configuration", "keys.json"
POOLS = f"/v1/projects/{PROJECT}/locations/global/workloadIdentityPools"
WHOLE = f"projects/{NUMBER}/locations/global/workloadIdentityPools/{POOL}"  # as members are told
AUDIENCE = f"//iam.googleapis.com/{WHOLE}/providers/{PROVIDER}"
ACCOUNTS = f"/v1/projects/{PROJECT}/serviceAccounts"
ROLES = f"/v1/projects/{PROJECT}/roles"
BUCKETS = "/storage/v1/b"
SUBJECT = "system:serviceaccount:openshift-ingress-operator:ingress-operator"
INGRESS = f"{NAME}-openshift-ingress-gcp"  # as its service account is entitled
REGISTRY = f"{NAME}-openshift-image-registry-gcs"
NOTHING: dict[str, Any] = {
    "policies": {PROJECT: [], SECOND: []},
    "buckets": {},
    "pools": {},
    "accounts": {},
    "roles": {},
}
SHARED = "cwii_420a67fd3863"  # the custom role of the second of the two requests, which stays when a cluster goes
LEFT: dict[str, Any] = {
    **NOTHING,
    "roles": {
        SHARED: {
            "title": f"cwiictl {SHARED}",
            "stage": "GA",
            "description": "Permissions of all who ask for just these. cwii.dev/shared-role",
            "includedPermissions": [
                "storage.buckets.create",
                "storage.buckets.get",
                "storage.objects.get",
            ],
        }
    },
}
PERMISSIONS = f"gcp/permissions/{OPERATOR}"
OWNER = ("roles/owner", f"serviceAccount:{OPERATOR}")  # by which all is done


class GcpGround(Ground):
    where = ("--cloud", "gcp", "--name", NAME, "--project", PROJECT)

    # --- behind the door, as the operator ---

    @cached_property
    def session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False
        session.proxies = {"https": self.sandbox.proxy}
        session.verify = str(self.sandbox.ca_file)
        return session

    @cached_property
    def operators(self) -> dict[str, str]:
        """The operator's file."""
        return dict(
            json.loads(
                Path(self.sandbox.variables()["GOOGLE_APPLICATION_CREDENTIALS"]).read_text(
                    encoding="utf-8"
                )
            )
        )

    def bearer(self) -> str:
        """A token that the operator has signed, which every API of Google's takes."""
        now = int(time.time())
        claims = {
            "iss": OPERATOR,
            "sub": OPERATOR,
            "aud": "https://iam.googleapis.com/",
            "iat": now - 5,
            "exp": now + 600,
        }
        return f"Bearer {jwt.encode(claims, self.operators['private_key'], algorithm='RS256', headers={'kid': self.operators['private_key_id']})}"

    def rest(self, method: str, host: str, path: str, body: Any = None) -> Any:
        """The host without `.googleapis.com`. None where there is nothing."""
        answer = self.session.request(
            method,
            f"https://{host}.googleapis.com{path}",
            json=body,
            headers={"Authorization": self.bearer()},
            timeout=30,
        )
        if answer.status_code == 404:
            return None
        assert answer.ok, answer.text
        return answer.json() if answer.content else {}

    def iam(self, method: str, path: str, body: Any = None) -> Any:
        """What lasts is waited for."""
        found = self.rest(method, "iam", path, body)
        while found and "/operations/" in found.get("name", "") and not found.get("done"):
            time.sleep(0.05)
            found = self.rest("GET", "iam", f"/v1/{found['name']}")
        assert found is None or "error" not in found, found
        return found

    def listed(self, path: str, key: str) -> list[Any]:
        found = self.rest("GET", "iam", path)
        return list(found.get(key, ())) if found else []

    def pools(self, *, deleted: bool = False) -> list[Any]:
        """Those that are there, or those that are deleted and can come back."""
        return [
            each
            for each in self.listed(f"{POOLS}?showDeleted=true", "workloadIdentityPools")
            if (each["state"] == "DELETED") is deleted
        ]

    def providers(self, pool: str = POOL, *, deleted: bool = False) -> list[Any]:
        found = self.listed(
            f"{POOLS}/{pool}/providers?showDeleted=true", "workloadIdentityPoolProviders"
        )
        return [each for each in found if (each["state"] == "DELETED") is deleted]

    def accounts(self) -> list[Any]:
        """But for the operator."""
        return [
            each
            for each in self.listed(f"{ACCOUNTS}?pageSize=100", "accounts")
            if each["email"] != OPERATOR
        ]

    def account(self, title: str) -> str:
        """The e-mail of the one that is so entitled."""
        return next(
            str(each["email"]) for each in self.accounts() if each.get("displayName") == title
        )

    def custom_roles(self, *, deleted: bool = False) -> list[Any]:
        found = self.listed(f"{ROLES}?view=FULL&showDeleted=true&pageSize=1000", "roles")
        return [each for each in found if bool(each.get("deleted")) is deleted]

    def policy(self, project: str = PROJECT) -> Any:
        return self.rest(
            "POST",
            "cloudresourcemanager",
            f"/v1/projects/{project}:getIamPolicy",
            {"options": {"requestedPolicyVersion": 3}},
        )

    def bindings(self, project: str = PROJECT) -> list[Any]:
        """But for the operator's own."""
        return sorted(
            (
                each
                for each in self.policy(project).get("bindings", ())
                if (each["role"], *each["members"]) != OWNER
            ),
            key=lambda each: json.dumps(each, sort_keys=True),
        )

    def clouds(self) -> dict[str, Any]:
        """All that is in both projects, without what is different each time: ids, etags, dates. What is deleted and can come back is not there."""
        buckets = self.rest("GET", "storage", f"{BUCKETS}?project={PROJECT}").get("items", ())
        found = {
            "policies": {project: self.bindings(project) for project in (PROJECT, SECOND)},
            "buckets": {each["name"]: self._bucket(each) for each in buckets},
            "pools": {_last(each): self._pool(each) for each in self.pools()},
            "accounts": {each["email"]: self._account(each) for each in self.accounts()},
            "roles": {_last(each): _but(each, "name", "etag") for each in self.custom_roles()},
        }
        return dict(json.loads(re.sub(r"\?uid=\d+", "?uid=ID", json.dumps(found))))

    def given(self) -> dict[str, str]:
        """Google gives no id that anybody is told."""
        return {}

    def _bucket(self, found: Any) -> dict[str, Any]:
        policy = self.rest(
            "GET", "storage", f"{BUCKETS}/{found['name']}/iam?optionsRequestedPolicyVersion=3"
        )
        objects = self.rest("GET", "storage", f"{BUCKETS}/{found['name']}/o").get("items", ())
        settings = found["iamConfiguration"]
        return {
            "location": found["location"],
            "labels": found.get("labels", {}),
            "uniform": settings["uniformBucketLevelAccess"]["enabled"],
            "prevention": settings["publicAccessPrevention"],
            "policy": sorted(
                ({**each, "members": sorted(each["members"])} for each in policy["bindings"]),
                key=lambda each: str(each["role"]),
            ),
            "objects": {each["name"]: self._object(found["name"], each) for each in objects},
        }

    def _object(self, bucket: str, found: Any) -> dict[str, Any]:
        """Its text as everybody reads it, if everybody may."""
        answer = self.session.get(
            f"https://storage.googleapis.com/{bucket}/{quote(found['name'])}", timeout=30
        )
        kept = {key: found.get(key) for key in ("contentType", "cacheControl", "metadata")}
        return {**kept, "body": answer.text if answer.ok else None}

    def _pool(self, found: Any) -> dict[str, Any]:
        providers = self.providers(_last(found))
        return {
            **_but(found, "name", "state"),
            "providers": {_last(each): _but(each, "name", "state") for each in providers},
        }

    def _account(self, found: Any) -> dict[str, Any]:
        policy = self.rest(
            "POST",
            "iam",
            f"{ACCOUNTS}/{found['email']}:getIamPolicy?options.requestedPolicyVersion=3",
            {},
        )
        bindings = [
            {**each, "members": sorted(each["members"])} for each in policy.get("bindings", ())
        ]
        return {
            **{
                key: found[key]
                for key in ("displayName", "description", "disabled")
                if key in found
            },
            "bindings": bindings,
        }

    def token(self, number: int = 0, **claims: Any) -> str:
        """As the cluster would sign it with its key."""
        now = int(time.time())
        body = {
            "iss": ISSUER,
            "sub": SUBJECT,
            "aud": ["openshift"],
            "iat": now - 5,
            "exp": now + 600,
            **claims,
        }
        kid = claims.get("kid") or kid_of(a_key(number))
        told = {name: value for name, value in body.items() if name != "kid"}
        return jwt.encode(told, a_key(number), algorithm="RS256", headers={"kid": kid})


def principal(subject: str = SUBJECT, pool: str = POOL) -> str:
    """A ServiceAccount of the cluster, as policies name it."""
    return f"principal://iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/{pool}/subject/{subject}"


def _last(found: Any) -> str:
    return str(found["name"]).rpartition("/")[2]


def _but(found: Any, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in keys}

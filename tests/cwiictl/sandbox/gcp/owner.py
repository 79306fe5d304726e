"""Somebody who owns a project, behind the door: the real SDKs with the operator's key, and requests to the letter.

The SDKs are Any here: they tell too little of their types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import google.auth.transport.grpc
import google.auth.transport.requests
import grpc
import requests
from google.auth import identity_pool
from google.auth.credentials import Credentials
from google.cloud import storage  # pyright: ignore[reportMissingTypeStubs] - it has none
from google.cloud.iam_admin_v1 import IAMClient
from google.cloud.iam_admin_v1.services.iam.transports.grpc import IAMGrpcTransport
from google.oauth2 import service_account

from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.gcp import GOOGLE, Gcp, Realm
from cwiictl.sandbox.gcp.tokens import Caller, Tokens
from cwiictl.sandbox.gcp.world import NUMBER, PROJECT, Project, World
from tests.cwiictl.sandbox.visitor import Answer, Visitor, discovery, key_set, token

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
BUCKET = "cwii-oidc"
ISSUER = f"https://storage.googleapis.com/{BUCKET}"
SUBJECT = "system:serviceaccount:kube-system:csi"
POOL = f"projects/{NUMBER}/locations/global/workloadIdentityPools/cluster"
PROVIDER = f"{POOL}/providers/oidc"
AUDIENCE = f"//iam.googleapis.com/{PROVIDER}"
PRINCIPAL = f"principal://iam.googleapis.com/{POOL}/subject/{SUBJECT}"
ACCOUNT = f"csi-driver@{PROJECT}.iam.gserviceaccount.com"
IAM = f"https://iam.googleapis.com/v1/projects/{PROJECT}"
STORAGE = "https://storage.googleapis.com/storage/v1/b"


@dataclass
class Owner:
    sandbox: Sandbox

    @cached_property
    def _realm(self) -> Realm:
        place = self.sandbox._places.find("iam.googleapis.com")  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone
        assert isinstance(place, Gcp)
        return place._realms[GOOGLE]  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone

    @property
    def world(self) -> World:
        return self._realm.world

    @property
    def tokens(self) -> Tokens:
        return self._realm.tokens

    @property
    def project(self) -> Project:
        return self.world.projects[PROJECT]

    @cached_property
    def key(self) -> dict[str, str]:
        return self.tokens.keys.document()

    @cached_property
    def credentials(self) -> Any:
        untyped: Any = service_account.Credentials
        return untyped.from_service_account_info(self.key, scopes=SCOPES)

    @cached_property
    def plain(self) -> requests.Session:
        """Without credentials, and for asking for some."""
        session = requests.Session()
        session.trust_env = False
        session.proxies = {"https": self.sandbox.proxy}
        session.verify = str(self.sandbox.ca_file)
        return session

    @cached_property
    def session(self) -> requests.Session:
        return self.session_of(self.credentials)

    def session_of(self, credentials: Credentials) -> requests.Session:
        untyped: Any = google.auth.transport.requests
        session = untyped.AuthorizedSession(credentials, auth_request=untyped.Request(self.plain))
        session.trust_env, session.proxies, session.verify = (
            False,
            self.plain.proxies,
            self.plain.verify,
        )
        return session

    @property
    def storage(self) -> Any:
        return self.storage_of(self.credentials)

    def storage_of(self, credentials: Credentials) -> Any:
        return storage.Client(PROJECT, credentials, _http=self.session_of(credentials))

    @cached_property
    def iam(self) -> Any:
        untyped: Any = google.auth.transport.grpc
        tls = grpc.ssl_channel_credentials(self.sandbox.ca_file.read_bytes())
        options = [("grpc.http_proxy", self.sandbox.proxy), ("grpc.enable_retries", 0)]
        asked: Any = google.auth.transport.requests
        channel = untyped.secure_authorized_channel(
            self.credentials,
            asked.Request(self.plain),
            "iam.googleapis.com:443",
            ssl_credentials=tls,
            options=options,
        )
        return IAMClient(transport=IAMGrpcTransport(channel=channel))

    def ask(
        self,
        method: str,
        url: str,
        body: bytes | Mapping[str, Any] = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request of nobody, to the letter."""
        parts = urlsplit(url)
        connection = Visitor(self.sandbox).connection(parts.netloc)
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(
                method,
                (parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
                sent or None,
                dict(headers or {}),
            )
            answer = connection.getresponse()
            return Answer(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()

    def issue(self, email: str) -> dict[str, str]:
        """The header of a service account that has proven itself."""
        caller = self.tokens.account(email)
        assert caller is not None
        return bearer(self.tokens, caller)

    def account(self, name: str = "csi-driver") -> str:
        made = self.session.post(f"{IAM}/serviceAccounts", json={"accountId": name})
        assert made.status_code == 200, made.text
        return str(made.json()["email"])

    def allow(self, email: str, role: str, *members: str) -> None:
        policy = {"bindings": [{"role": role, "members": list(members)}]}
        done = self.session.post(
            f"{IAM}/serviceAccounts/{email}:setIamPolicy", json={"policy": policy}
        )
        assert done.status_code == 200, done.text

    def grant(self, role: str, *members: str) -> None:
        """In the project, besides what is granted there already."""
        where = f"https://cloudresourcemanager.googleapis.com/v3/projects/{PROJECT}"
        policy = self.session.post(f"{where}:getIamPolicy").json()
        policy["bindings"].append({"role": role, "members": list(members)})
        done = self.session.post(f"{where}:setIamPolicy", json={"policy": policy})
        assert done.status_code == 200, done.text

    def publish(self, **keys: int) -> None:
        """The issuer's bucket, which everybody may read, with its documents."""
        bucket: Any = self.storage.bucket(BUCKET)
        bucket.iam_configuration.uniform_bucket_level_access_enabled = True
        bucket.create()
        policy = bucket.get_iam_policy(requested_policy_version=3)
        policy.bindings.append({"role": "roles/storage.objectViewer", "members": {"allUsers"}})
        bucket.set_iam_policy(policy)
        bucket.blob(".well-known/openid-configuration").upload_from_string(
            discovery(ISSUER), "application/json"
        )
        bucket.blob("keys.json").upload_from_string(
            key_set(**(keys or {"k1": 0})), "application/json"
        )

    def trust(self, **changes: Any) -> None:
        """A pool, and a provider in it that believes our issuer."""
        made = self.session.post(
            f"{IAM}/locations/global/workloadIdentityPools?workloadIdentityPoolId=cluster",
            json={"displayName": "cluster"},
        )
        assert made.status_code == 200, made.text
        wish = {
            "oidc": {"issuerUri": ISSUER},
            "attributeMapping": {"google.subject": "assertion.sub"},
            **changes,
        }
        made = self.session.post(
            f"{IAM}/locations/global/workloadIdentityPools/cluster/providers?workloadIdentityPoolProviderId=oidc",
            json=wish,
        )
        assert made.status_code == 200, made.text

    def exchange(self, assertion: str, **changes: str) -> tuple[int, dict[str, Any]]:
        """A token of the issuer's for one of Google's; status and body."""
        fields = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "audience": AUDIENCE,
            "scope": SCOPES[0],
            "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "subject_token": assertion,
            **changes,
        }
        answer = self.plain.post("https://sts.googleapis.com/v1/token", data=fields)
        return answer.status_code, answer.json()

    def workload(self, folder: Path, assertion: str = "", email: str = "", **changes: Any) -> Any:
        """What google-auth makes of a file of credentials, in a pod that has a token."""
        (folder / "token").write_text(assertion or claimed(), encoding="ascii")
        told: dict[str, Any] = {
            "type": "external_account",
            "audience": AUDIENCE,
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": "https://sts.googleapis.com/v1/token",
            "credential_source": {"file": str(folder / "token")},
        }
        if email:
            told["service_account_impersonation_url"] = impersonation(email)
        untyped: Any = identity_pool.Credentials
        return untyped.from_info({**told, **changes}, scopes=SCOPES)

    def refresh(self, credentials: Any) -> str:
        untyped: Any = google.auth.transport.requests
        credentials.refresh(untyped.Request(self.plain))
        return str(credentials.token)


Begin = Callable[..., Owner]


def claimed(key: int = 0, kid: str = "k1", **claims: Any) -> str:
    """A token of the cluster's."""
    return token(
        key, kid, **{"iss": ISSUER, "sub": SUBJECT, "aud": [f"https:{AUDIENCE}"], **claims}
    )


def bearer(tokens: Tokens, caller: Caller) -> dict[str, str]:
    return {"Authorization": f"Bearer {tokens.issue(caller, 600)}"}


def impersonation(email: str) -> str:
    return f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{email}:generateAccessToken"

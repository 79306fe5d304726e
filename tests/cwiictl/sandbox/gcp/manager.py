"""Somebody who manages a project over REST with google-auth's session, and what they hear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT
from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.gcp.owner import Begin, Owner

HERE = f"projects/{PROJECT}"
POOLS = f"{HERE}/locations/global/workloadIdentityPools"
IAM = "iam.googleapis.com/v1"
MANAGER = "cloudresourcemanager.googleapis.com/v3"
USAGE = "serviceusage.googleapis.com/v1"
OPERATORS = {"role": "roles/owner", "members": [f"serviceAccount:{OPERATOR}"]}

Body = dict[str, Any]


@dataclass
class Manager:
    owner: Owner
    headers: dict[str, str] | None = None  # of somebody else than the operator
    by: str = ""  # whose token is made anew for each request: google-auth knows no clock but the machine's

    def ask(self, method: str, where: str, body: Body | None = None) -> tuple[int, Body]:
        headers = self.owner.issue(self.by) if self.by else self.headers
        session = self.owner.plain if headers else self.owner.session
        answer = session.request(method, f"https://{where}", json=body, headers=headers)
        return answer.status_code, answer.json()

    def done(self, method: str, where: str, body: Body | None = None) -> Body:
        status, told = self.ask(method, where, body)
        assert status == 200, told
        return told

    def refused(self, method: str, where: str, body: Body | None = None) -> tuple[int, str, str]:
        """Status, Google's word for it, and the sentence."""
        status, told = self.ask(method, where, body)
        assert status >= 400, told
        return status, told["error"]["status"], told["error"]["message"]

    def account(self, name: str = "cwii-one", **more: str) -> Body:
        return self.done(
            "POST", f"{IAM}/{HERE}/serviceAccounts", {"accountId": name, "serviceAccount": more}
        )

    def role(self, name: str = "cwii_one", *permissions: str, **more: str) -> Body:
        own = {
            "title": "cwii",
            "includedPermissions": list(permissions or ("compute.disks.get",)),
            **more,
        }
        return self.done("POST", f"{IAM}/{HERE}/roles", {"roleId": name, "role": own})

    def pool(self, name: str = "cluster", **more: Any) -> Body:
        return self.done("POST", f"{IAM}/{POOLS}?workloadIdentityPoolId={name}", more)

    def provider(self, name: str = "oidc", pool: str = "cluster", **more: Any) -> Body:
        return self.done(
            "POST",
            f"{IAM}/{POOLS}/{pool}/providers?workloadIdentityPoolProviderId={name}",
            trust(**more),
        )

    def policy(self, where: str = f"{MANAGER}/{HERE}", version: int = 3) -> Body:
        if where.startswith("iam."):
            return self.done(
                "POST", f"{where}:getIamPolicy?options.requestedPolicyVersion={version}"
            )
        return self.done(
            "POST", f"{where}:getIamPolicy", {"options": {"requestedPolicyVersion": version}}
        )

    def set(self, *bindings: Body, where: str = f"{MANAGER}/{HERE}", **more: Any) -> Body:
        return self.done("POST", f"{where}:setIamPolicy", wish(*bindings, **more))

    def unset(
        self, *bindings: Body, where: str = f"{MANAGER}/{HERE}", **more: Any
    ) -> tuple[int, str, str]:
        """What is heard instead."""
        return self.refused("POST", f"{where}:setIamPolicy", wish(*bindings, **more))

    def tested(self, *permissions: str, where: str = f"{MANAGER}/{HERE}") -> list[str]:
        return self.done(
            "POST", f"{where}:testIamPermissions", {"permissions": list(permissions)}
        ).get("permissions", [])

    def other(self, email: str) -> Manager:
        return Manager(self.owner, self.owner.issue(email))


def timed(begin: Begin, clock: Clock, **settings: Any) -> Manager:
    """Where the clock is the test's."""
    return Manager(begin(clock=clock, **{"deploy": 0, **settings}), by=OPERATOR)


def wish(*bindings: Body, **more: Any) -> Body:
    """The operator stays the owner."""
    return {"policy": {"bindings": [OPERATORS, *bindings], **more}}


def binding(role: str, *members: str, condition: str = "") -> Body:
    own: Body = {"role": role, "members": list(members)}
    return {**own, "condition": {"title": "some", "expression": condition}} if condition else own


def trust(**more: Any) -> Body:
    return {
        "oidc": {"issuerUri": "https://issuer.example.org"},
        "attributeMapping": {"google.subject": "assertion.sub"},
        **more,
    }

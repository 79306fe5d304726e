"""Managed policies and boundaries: how long, how many, and which there are. moto has them without these limits."""

from __future__ import annotations

from collections.abc import Mapping

from .answers import Refusal
from .documents import check_inline, size
from .limits import Form, check_name
from .memory import Memory
from .things import Policy, Role

POLICY_LIMIT = 6144
ATTACHED = 10


class Managed:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def make_known(self, action: str, form: Form, partition: str) -> None:
        """AWS's own policies that this request is about."""
        if action == "ListPolicies" and form.get("Scope") != "Local":
            self._memory.know_all(partition)
        for field in ("PolicyArn", "PermissionsBoundary"):
            if form.get(field):
                self._memory.know(form[field], partition)

    def check(
        self,
        action: str,
        form: Form,
        policies: Mapping[str, Policy],
        role: Role | None,
        roles: Mapping[str, Role],
    ) -> None:
        arn = form.get("PolicyArn", "")
        if action in {"CreatePolicy", "CreatePolicyVersion"}:
            _check_document(action, form)
        if form.get("PermissionsBoundary") and form["PermissionsBoundary"] not in policies:
            raise Refusal(
                404,
                "NoSuchEntity",
                f"Scope ARN: {form['PermissionsBoundary']} does not exist or is not attachable.",
            )
        if arn and arn not in policies:
            raise Refusal(404, "NoSuchEntity", f"Policy {arn} does not exist or is not attachable.")
        if (
            action == "AttachRolePolicy"
            and role
            and arn not in role.managed_policies
            and len(role.managed_policies) >= ATTACHED
        ):
            raise Refusal(
                409, "LimitExceeded", f"Cannot exceed quota for PoliciesPerRole: {ATTACHED}"
            )
        if (
            action in {"DeletePolicy", "CreatePolicyVersion", "DeletePolicyVersion", "TagPolicy"}
            and ":iam::aws:" in arn
        ):
            raise Refusal(
                403, "AccessDenied", f"Policy {arn} is managed by AWS and cannot be changed."
            )
        if action == "DeletePolicy":
            _check_unused(policies[arn], roles)

    def attached(self, action: str, form: Form, role: Role | None) -> bool:
        """Attaching again what is attached is fine, and changes nothing."""
        return (
            action == "AttachRolePolicy"
            and role is not None
            and form.get("PolicyArn") in role.managed_policies
        )


def _check_unused(policy: Policy, roles: Mapping[str, Role]) -> None:
    if policy.attachment_count or any(
        role.permissions_boundary_arn == policy.arn for role in roles.values()
    ):
        raise Refusal(409, "DeleteConflict", "Cannot delete a policy attached to entities.")
    if len(policy.versions) > 1:
        told = "Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy."
        raise Refusal(409, "DeleteConflict", f"This policy has more than one version. {told}")


def _check_document(action: str, form: Form) -> None:
    document = form.get("PolicyDocument", "")
    if action == "CreatePolicy":
        check_name(form.get("PolicyName", ""), "policyName")
    check_inline(document)
    if size(document) > POLICY_LIMIT:
        raise Refusal(409, "LimitExceeded", f"Cannot exceed quota for PolicySize: {POLICY_LIMIT}")

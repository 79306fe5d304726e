"""IAM: OIDC providers and roles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.oidc_provider import OidcProviderState
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.stores.errors import absent, gone, told
from cwiictl.clouds.aws.stores.tags import Tags, apart, listed, read, retagged
from cwiictl.engine.resource import Mark, changed

if TYPE_CHECKING:
    from types_boto3_iam import IAMClient

PATIENCE = 120.0


class OidcProviders:
    """Addressed by host and path of the issuer, as in their ARNs."""

    kind, bulk, patience = "aws/oidc-provider", False, PATIENCE

    def __init__(self, iam: IAMClient, cluster: str, arn: str) -> None:
        self.iam, self.cluster, self.arn = iam, cluster, arn  # the ARN of every provider up to its name
        self.tags = Tags("iam", self._places, lambda place: iam.list_open_id_connect_provider_tags(OpenIDConnectProviderArn=arn + place)["Tags"])

    @told("iam")
    def get(self, places: Collection[str], /) -> Mapping[str, OidcProviderState]:
        found = {place: self._read(place) for place in places}
        return {place: state for place, state in found.items() if state}

    @told("iam")
    def put(self, place: str, want: OidcProviderState, have: OidcProviderState | None, /) -> OidcProviderState:
        if have is None:
            self.iam.create_open_id_connect_provider(Url=want.url, ClientIDList=sorted(want.audiences), Tags=listed(want))
            return want
        for audience in sorted(want.audiences - have.audiences):
            self.iam.add_client_id_to_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place, ClientID=audience)
        for audience in sorted(have.audiences - want.audiences):
            self.iam.remove_client_id_from_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place, ClientID=audience)
        add, take = retagged(want, have)
        if add:
            self.iam.tag_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place, Tags=add)
        if take:
            self.iam.untag_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place, TagKeys=take)
        return want

    @told("iam")
    def drop(self, place: str, /) -> None:
        with gone():
            self.iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return self.tags.owned(cluster)

    def _places(self, _cluster: str) -> Iterator[str]:
        for provider in self.iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
            yield provider.get("Arn", "").removeprefix(self.arn)

    def _read(self, place: str) -> OidcProviderState | None:
        try:
            found = self.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place)
        except ClientError as e:
            if absent(e):
                return None
            raise
        tags = read(found.get("Tags", []))
        owner = names.mark(tags, self.cluster)
        return OidcProviderState(url=f"https://{found['Url']}", audiences=frozenset(found["ClientIDList"]), tags=apart(tags, owner), owner=owner)


class Roles:
    """A role with the inline policy that bears its name: born together, gone together."""

    kind, bulk, patience = "aws/role", False, PATIENCE

    def __init__(self, iam: IAMClient, cluster: str) -> None:
        self.iam, self.cluster = iam, cluster
        self.tags = Tags("iam", self._candidates, lambda role: iam.list_role_tags(RoleName=role)["Tags"])

    @told("iam")
    def get(self, roles: Collection[str], /) -> Mapping[str, RoleState]:
        found = {role: self._read(role) for role in roles}
        return {role: state for role, state in found.items() if state}

    @told("iam")
    def put(self, role: str, want: RoleState, have: RoleState | None, /) -> RoleState:
        if have is None:
            boundary: Any = {"PermissionsBoundary": want.boundary} if want.boundary else {}
            trust = policy.dump(want.trust)
            self.iam.create_role(RoleName=role, AssumeRolePolicyDocument=trust, Description=want.description, Tags=listed(want), **boundary)
        else:
            self._mend(role, want, have)
        if have is None or want.policy != have.policy:
            self._grant(role, want.policy)
        return want

    @told("iam")
    def drop(self, role: str, /) -> None:
        """Whoever attached something to it: a role of ours goes with all that hangs on it.

        IAM lists for a while what has gone already, so that a policy that is not there says nothing of the role.
        """
        with gone():
            for name in self.iam.list_role_policies(RoleName=role)["PolicyNames"]:
                with gone():
                    self.iam.delete_role_policy(RoleName=role, PolicyName=name)
            for attached in self.iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]:
                with gone():
                    self.iam.detach_role_policy(RoleName=role, PolicyArn=attached.get("PolicyArn", ""))
            for profile in self.iam.list_instance_profiles_for_role(RoleName=role)["InstanceProfiles"]:
                with gone():
                    self.iam.remove_role_from_instance_profile(RoleName=role, InstanceProfileName=profile["InstanceProfileName"])
            self.iam.delete_role(RoleName=role)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return self.tags.owned(cluster)

    def _candidates(self, cluster: str) -> Iterator[str]:
        """By name first: who has a thousand roles is not asked for the tags of all."""
        for page in self.iam.get_paginator("list_roles").paginate():
            for role in page["Roles"]:
                if role["RoleName"].startswith(names.role_prefix(cluster)):
                    yield role["RoleName"]

    def _read(self, name: str) -> RoleState | None:
        try:
            role: Any = self.iam.get_role(RoleName=name)["Role"]
        except ClientError as e:
            if absent(e):
                return None
            raise
        tags = read(role.get("Tags", []))
        owner = names.mark(tags, self.cluster)
        return RoleState(
            arn=role["Arn"],
            description=role.get("Description", ""),
            trust=policy.read(role["AssumeRolePolicyDocument"]),
            policy=self._granted(name),
            boundary=role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ""),
            tags=apart(tags, owner),
            owner=owner,
        )

    def _granted(self, role: str) -> Policy | None:
        try:
            return policy.read(self.iam.get_role_policy(RoleName=role, PolicyName=role)["PolicyDocument"])
        except ClientError as e:
            if absent(e):
                return None
            raise

    def _mend(self, role: str, want: RoleState, have: RoleState) -> None:
        fields = changed(want, have)
        if "trust" in fields:
            self.iam.update_assume_role_policy(RoleName=role, PolicyDocument=policy.dump(want.trust))
        if "description" in fields:
            self.iam.update_role_description(RoleName=role, Description=want.description)
        if "boundary" in fields and want.boundary:
            self.iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=want.boundary)
        if "boundary" in fields and not want.boundary:
            self.iam.delete_role_permissions_boundary(RoleName=role)
        add, take = retagged(want, have)
        if add:
            self.iam.tag_role(RoleName=role, Tags=add)
        if take:
            self.iam.untag_role(RoleName=role, TagKeys=take)

    def _grant(self, role: str, wanted: Policy | None) -> None:
        if wanted is None:
            self.iam.delete_role_policy(RoleName=role, PolicyName=role)
        else:
            self.iam.put_role_policy(RoleName=role, PolicyName=role, PolicyDocument=policy.dump(wanted))

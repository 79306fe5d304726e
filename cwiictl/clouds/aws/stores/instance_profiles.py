"""IAM's instance profiles: each has room for one role."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws.resources.instance_profile import InstanceProfileState
from cwiictl.clouds.aws.stores.errors import absent, gone, told
from cwiictl.clouds.aws.stores.tags import Tags, listed, read, retag
from cwiictl.engine.resource import Mark

if TYPE_CHECKING:
    from types_boto3_iam import IAMClient

PATIENCE = 120.0


class InstanceProfiles:
    kind, bulk, patience = "aws/instance-profile", False, PATIENCE

    def __init__(self, iam: IAMClient, cluster: str) -> None:
        self.iam, self.cluster = iam, cluster
        self.tags = Tags("iam", self._candidates, lambda name: self._asked(name).get("Tags", []))

    @told("iam")
    def get(self, profiles: Collection[str], /) -> Mapping[str, InstanceProfileState]:
        found = {name: self._read(name) for name in profiles}
        return {name: state for name, state in found.items() if state}

    @told("iam")
    def put(
        self, name: str, want: InstanceProfileState, have: InstanceProfileState | None, /
    ) -> InstanceProfileState:
        if have is None:
            self.iam.create_instance_profile(InstanceProfileName=name, Tags=listed(want))
        else:
            profile = {"InstanceProfileName": name}
            retag(
                want,
                have,
                partial(self.iam.tag_instance_profile, **profile),
                partial(self.iam.untag_instance_profile, **profile),
            )
        self._fill(name, want.role, have.role if have else "")
        return want

    @told("iam")
    def drop(self, name: str, /) -> None:
        with gone():
            for role in self._asked(name)["Roles"]:
                with gone():
                    self.iam.remove_role_from_instance_profile(
                        InstanceProfileName=name, RoleName=role["RoleName"]
                    )
            self.iam.delete_instance_profile(InstanceProfileName=name)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return self.tags.owned(cluster)

    def _candidates(self, cluster: str) -> Iterator[str]:
        prefix = names.role_prefix(names.own(cluster))
        for page in self.iam.get_paginator("list_instance_profiles").paginate():
            yield from (
                each["InstanceProfileName"]
                for each in page["InstanceProfiles"]
                if each["InstanceProfileName"].startswith(prefix)
            )

    def _fill(self, name: str, want: str, have: str) -> None:
        if have and have != want:
            self.iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName=have)
        if want and have != want:
            self.iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=want)

    def _asked(self, name: str) -> dict[str, Any]:
        return {**self.iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]}

    def _read(self, name: str) -> InstanceProfileState | None:
        try:
            found = self._asked(name)
        except ClientError as e:
            if absent(e):
                return None
            raise
        tags = read(found.get("Tags", []))
        owner = names.mark(tags, self.cluster)
        role = next((each["RoleName"] for each in found["Roles"]), "")
        return InstanceProfileState(
            arn=found["Arn"], role=role, tags=names.apart(tags, owner), owner=owner
        )

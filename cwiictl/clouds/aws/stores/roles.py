"""IAM roles. Many are read at once where IAM lets us, one by one where it does not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.stores.errors import absent, denied, gone, told
from cwiictl.clouds.aws.stores.tags import Tags, listed, read, retag
from cwiictl.engine.resource import Mark, changed

if TYPE_CHECKING:
    from types_boto3_iam import IAMClient

PATIENCE = 120.0
UNKNOWN: dict[str, Any] = {}
PAGE: Any = {"PageSize": 1000}
FRESH = (
    5.0  # seconds that a reading of all is believed: not as long as it takes to answer a question
)


class Roles:
    """A role with the inline policy that bears its name: born together, gone together."""

    kind, bulk, patience = "aws/role", False, PATIENCE

    def __init__(self, iam: IAMClient, cluster: str) -> None:
        self.iam, self.cluster = iam, cluster
        self.crowd = _Crowd(iam)
        self.tags = Tags(
            "iam", self._candidates, lambda role: iam.list_role_tags(RoleName=role)["Tags"]
        )

    @told("iam")
    def get(self, roles: Collection[str], /) -> Mapping[str, RoleState]:
        found = {
            role: self._read(role) if (seen := self.crowd.seen(role)) is UNKNOWN else seen
            for role in roles
        }
        return {role: self._state(role, seen) for role, seen in found.items() if seen}

    @told("iam")
    def put(self, role: str, want: RoleState, have: RoleState | None, /) -> RoleState:
        if have and have.owner and want.owner is None:
            want = self._without_ours(want)
        if have is None:
            self._create(role, want)
        else:
            self._mend(role, want, have)
        if have is None or want.policy != have.policy:
            self._grant(role, want.policy, there=have is not None)
        others: frozenset[str] = have.others if have else frozenset()
        for name in sorted(others - want.others):
            self.iam.delete_role_policy(RoleName=role, PolicyName=name)
        attached: frozenset[str] = have.managed if have else frozenset()
        for arn in sorted(want.managed - attached):
            self.iam.attach_role_policy(RoleName=role, PolicyArn=arn)
        for arn in sorted(attached - want.managed):
            self.iam.detach_role_policy(RoleName=role, PolicyArn=arn)
        return want

    def _without_ours(self, want: RoleState) -> RoleState:
        """What is let go keeps no policy of ours: as long as it did, that could not go."""
        prefix = f":policy/{names.role_prefix(self.cluster)}"
        marks = {
            arn: names.mark(read(self.iam.list_policy_tags(PolicyArn=arn)["Tags"]), self.cluster)
            for arn in want.managed
            if prefix in arn
        }
        return replace(
            want,
            managed=want.managed
            - {
                arn
                for arn, mark in marks.items()
                if mark and mark.cluster == self.cluster and mark.hold == "owned"
            },
        )

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
                    self.iam.detach_role_policy(
                        RoleName=role, PolicyArn=attached.get("PolicyArn", "")
                    )
            for profile in self.iam.list_instance_profiles_for_role(RoleName=role)[
                "InstanceProfiles"
            ]:
                with gone():
                    self.iam.remove_role_from_instance_profile(
                        RoleName=role, InstanceProfileName=profile["InstanceProfileName"]
                    )
            self.iam.delete_role(RoleName=role)

    @told("iam")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """By name first, then by tag."""
        tagged = self.crowd.tagged(names.role_prefix(names.own(cluster)))
        if tagged is None:
            return self.tags.owned(cluster)
        found = {name: names.mark(tags, cluster) for name, tags in tagged.items()}
        return {name: mark for name, mark in found.items() if mark and mark.cluster == cluster}

    def _candidates(self, cluster: str) -> Iterator[str]:
        prefix = names.role_prefix(names.own(cluster))
        yield from (
            role["RoleName"] for role in self.crowd.listed() if role["RoleName"].startswith(prefix)
        )

    def _create(self, role: str, want: RoleState) -> None:
        boundary: Any = {"PermissionsBoundary": want.boundary} if want.boundary else {}
        self.iam.create_role(
            RoleName=role,
            Path=_path(want.arn),
            AssumeRolePolicyDocument=policy.dump(want.trust),
            Description=want.description,
            MaxSessionDuration=want.session,
            Tags=listed(want),
            **boundary,
        )

    def _mend(self, role: str, want: RoleState, have: RoleState) -> None:
        fields = changed(want, have)
        if "trust" in fields:
            self.iam.update_assume_role_policy(
                RoleName=role, PolicyDocument=policy.dump(want.trust)
            )
        if fields & {"description", "session"}:
            self.iam.update_role(
                RoleName=role, Description=want.description, MaxSessionDuration=want.session
            )
        if "boundary" in fields and want.boundary:
            self.iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=want.boundary)
        if retag(
            want,
            have,
            partial(self.iam.tag_role, RoleName=role),
            partial(self.iam.untag_role, RoleName=role),
        ):
            self.crowd.retold(role, listed(want))

    def _grant(self, role: str, wanted: Policy | None, *, there: bool) -> None:
        if wanted is not None:
            self.iam.put_role_policy(
                RoleName=role, PolicyName=role, PolicyDocument=policy.dump(wanted)
            )
        elif there:
            self.iam.delete_role_policy(RoleName=role, PolicyName=role)

    def _read(self, role: str) -> dict[str, Any] | None:
        """As the bulk reading shows it, asked for piece by piece; or from there, if in the meantime many others were asked for."""
        try:
            seen: dict[str, Any] = dict(self.iam.get_role(RoleName=role)["Role"])
            if whole := self.crowd.early(role):
                return whole
            seen["RolePolicyList"] = [
                self._inline(role, name)
                for name in self.iam.list_role_policies(RoleName=role)["PolicyNames"]
            ]
            seen["AttachedManagedPolicies"] = self.iam.list_attached_role_policies(RoleName=role)[
                "AttachedPolicies"
            ]
        except ClientError as e:
            if absent(e):
                return None
            raise
        return seen

    def _inline(self, role: str, name: str) -> Any:
        """Of others' we need to know no more than that they are there."""
        return (
            self.iam.get_role_policy(RoleName=role, PolicyName=name)
            if name == role
            else {"PolicyName": name}
        )

    def _state(self, name: str, seen: Mapping[str, Any]) -> RoleState:
        tags = read(seen.get("Tags", []))
        owner = names.mark(tags, self.cluster)
        inline = {item["PolicyName"]: item.get("PolicyDocument") for item in seen["RolePolicyList"]}
        return RoleState(
            arn=seen["Arn"],
            description=seen.get("Description", ""),
            trust=policy.read(seen["AssumeRolePolicyDocument"]),
            policy=policy.read(inline[name]) if name in inline else None,
            others=frozenset(inline.keys() - {name}),
            managed=frozenset(item["PolicyArn"] for item in seen["AttachedManagedPolicies"]),
            boundary=seen.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ""),
            session=seen.get("MaxSessionDuration", 3600),
            tags=names.apart(tags, owner),
            owner=owner,
        )


class _Crowd:
    """All roles of the account at once. The second name that is asked for is the sign that many will be.

    What was read so answers each name once, and soon: who asks again, or later, wants to know what is there now.
    """

    def __init__(self, iam: IAMClient) -> None:
        self.iam = iam
        self.lock = threading.Lock()
        self.asked: set[str] = set()
        self.details = _Reading(self._details)
        self.readings = (self.details, _Reading(self.listed))
        self.roles: dict[str, dict[str, Any]] | None = None
        self.joined: tuple[int, ...] = ()  # which of the readings that is
        self.alone = ""  # the first, while its own reading is under way
        self.closed = False  # IAM does not let us

    def seen(self, role: str) -> dict[str, Any] | None:
        """None if there is none of the name; UNKNOWN if that has to be asked."""
        with self.lock:
            if role in self.asked or self.closed:
                return UNKNOWN
            self.alone = self.alone if self.asked else role
            first, odd = not self.asked, len(self.asked) % 2 == 1
            self.asked.add(role)
        return UNKNOWN if first else self._found(role, odd=odd)

    def _found(self, role: str, *, odd: bool) -> dict[str, Any] | None:
        """Of two who ask one begins with the one reading, and one with the other."""
        try:
            for reading in self.readings if odd else self.readings[::-1]:
                reading.do()
        except BaseException:
            self.asked.discard(role)  # it will be asked for again, and has had no answer
            raise
        with self.lock:
            self._join()
            return UNKNOWN if self.roles is None else self.roles.get(role)

    def early(self, role: str) -> dict[str, Any] | None:
        """Of the one that was asked for before anybody knew that many would be. Where all are being read, that is waited for."""
        with self.lock:
            alone, many = self.alone == role, len(self.asked) > 1
            self.alone = "" if alone else self.alone
        found = self._found(role, odd=True) if alone and many else None
        return None if found is UNKNOWN else found

    def tagged(self, prefix: str) -> dict[str, dict[str, str]] | None:
        """Of the roles whose names begin so; None if IAM does not let us.

        Read with those who ask for roles meanwhile. Where nobody does, it answers no one else: what is to go is looked at anew.
        """
        asked = len(self.asked)
        self.details.do()
        roles = self.details.roles
        if len(self.asked) == asked:
            self.details.until = 0.0
        return (
            None
            if roles is None
            else {
                name: read(role.get("Tags", []))
                for name, role in roles.items()
                if name.startswith(prefix)
            }
        )

    def retold(self, role: str, tags: list[Any]) -> None:
        """Whose it is has changed since it was read."""
        with self.details.lock:
            if self.details.roles and role in self.details.roles:
                self.details.roles[role]["Tags"] = tags

    def _join(self) -> None:
        """What the second reading alone knows, beside what the first does."""
        details, listed = (reading.roles for reading in self.readings)
        self.closed = details is None or listed is None
        times = tuple(reading.times for reading in self.readings)
        if times != self.joined and details is not None and listed is not None:
            extra = {
                name: {
                    key: role[key] for key in ("Description", "MaxSessionDuration") if key in role
                }
                for name, role in listed.items()
            }
            self.roles, self.joined = (
                {name: {**role, **extra.get(name, {})} for name, role in details.items()},
                times,
            )

    def _details(self) -> Iterator[Any]:
        for page in self.iam.get_paginator("get_account_authorization_details").paginate(
            Filter=["Role"], PaginationConfig=PAGE
        ):
            yield from page["RoleDetailList"]

    def listed(self) -> Iterator[Any]:
        for page in self.iam.get_paginator("list_roles").paginate(PaginationConfig=PAGE):
            yield from page["Roles"]


class _Reading:
    """Of all roles, done once for all who ask soon: who comes meanwhile waits for it, and does it if it failed."""

    def __init__(self, roles: Callable[[], Iterator[Any]]) -> None:
        self.lock, self.listing, self.fresh = threading.Lock(), roles, FRESH
        self.roles: dict[str, dict[str, Any]] | None = None  # as it stays where IAM does not let us
        self.times = 0  # that it was done
        self.until = 0.0

    def do(self) -> None:
        with self.lock:
            begun = time.monotonic()
            if self.times and begun < self.until:
                return
            try:
                self.roles = {role["RoleName"]: role for role in self.listing()}
            except ClientError as e:
                if not denied(e):
                    raise
            now = time.monotonic()
            self.times, self.until = (
                self.times + 1,
                now + self.fresh + 2 * (now - begun),
            )  # where one takes long, so does the other


def _path(arn: str) -> str:
    """What stands between `role` and the name."""
    return arn.partition(":role")[2].rpartition("/")[0] + "/"

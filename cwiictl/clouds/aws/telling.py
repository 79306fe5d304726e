"""What workloads in AWS must be told: the role that each may assume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cwiictl.audiences import AWS
from cwiictl.clouds.aws.resources.instance_profile import InstanceProfile
from cwiictl.clouds.aws.resources.role import Role
from cwiictl.engine.resource import Known
from cwiictl.model import Binding


def bindings(things: Iterable[Role | InstanceProfile], known: Known) -> Iterator[Binding]:
    """The AWS SDKs' own configuration format, for the roles that are there with all that belongs to them."""
    every = tuple(things)
    profiles = {thing.workload: thing for thing in every if isinstance(thing, InstanceProfile)}
    for role in every:
        if isinstance(role, Role) and role in known and profiles.get(role.workload, role) in known:
            text = f"[default]\nsts_regional_endpoints = regional\nrole_arn = {known[role].arn}\nweb_identity_token_file = {role.workload.token_path}\n"
            yield Binding(
                role.workload,
                "aws",
                {"credentials": text},
                _told(known[role].arn),
                ids=_ids(role, profiles.get(role.workload), known),
            )


def _ids(role: Role, profile: InstanceProfile | None, known: Known) -> dict[str, str]:
    """Of an issuer that stands: whoever makes it in the same run has no use for them."""
    told = {
        "role_arn": known[role].arn,
        "region": role.account.region,
        "cluster": role.cluster.name,
        "issuer": role.home.text,
    }
    return told | ({"instance_profile": profile.name} if profile else {})


def _told(arn: str) -> dict[str, str]:
    """In our webhook's words, and in those of EKS's."""
    ours = {
        "cwii.dev/aws-inject": "true",
        "cwii.dev/aws-role-arn": arn,
        "cwii.dev/aws-audience": ",".join(sorted(AWS["webhook"])),
    }
    return {**ours, "eks.amazonaws.com/role-arn": arn}

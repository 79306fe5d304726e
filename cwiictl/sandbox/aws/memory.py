"""moto's memory: the few things of it that the other files look at, and what it must know before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Any, cast

from .partitions import PARTITIONS
from .things import Account, Block, Bucket, Policy, Provider, Role
from .undisturbed import undisturbed

ACCOUNT = "123456789012"
SERVICES: tuple[str, ...] = ("iam", "s3", "sts", "s3control")


class Memory:
    def __init__(self) -> None:
        """Everything that reads the environment is read now: whose shell this is makes no difference afterwards."""
        with undisturbed():
            self._backend = _backends()
            self._regions = _regions()
            for partition in PARTITIONS:
                for service in SERVICES:
                    self.memory(service, partition.name)

    def regions(self, partition: str) -> frozenset[str]:
        return self._regions[partition]

    def roles(self, partition: str) -> dict[str, Role]:
        return cast("dict[str, Role]", self.memory("iam", partition).roles)

    def providers(self, partition: str) -> dict[str, Provider]:
        return cast("dict[str, Provider]", self.memory("iam", partition).open_id_providers)

    def buckets(self, partition: str) -> dict[str, Bucket]:
        return cast("dict[str, Bucket]", self.memory("s3", partition).buckets)

    def policies(self, partition: str) -> dict[str, Policy]:
        return cast("dict[str, Policy]", self.memory("iam", partition).managed_policies)

    def account(self, partition: str) -> Account:
        return cast("Account", self.memory("s3control", partition))

    def memory(self, service: str, partition: str) -> Any:
        return self._backend(service)[ACCOUNT][partition]

    def block(self) -> Block:
        """A public access block with everything on."""
        from moto.s3.models import PublicAccessBlock  # noqa: PLC0415 - slow to load: only where it is needed

        everything = cast("Any", PublicAccessBlock)("true", "true", "true", "true")
        return cast("Block", everything)

    def know(self, arn: str, partition: str) -> None:
        """A policy that AWS manages is there for everybody; moto has them all, and takes long over it when it is to show them all."""
        name = arn.rpartition("/")[2]
        found = self._managed.get(name)
        if (
            found
            and arn == f"arn:{partition}:iam::aws:policy{found['Path']}{name}"
            and arn not in self.policies(partition)
        ):
            from moto.iam.models import AWSManagedPolicy  # noqa: PLC0415 - slow to load: only where it is needed

            self.policies(partition)[arn] = cast("Any", AWSManagedPolicy).from_data(
                name, ACCOUNT, _region(partition), found
            )

    def know_all(self, partition: str) -> None:
        for name, found in self._managed.items():
            self.know(f"arn:{partition}:iam::aws:policy{found['Path']}{name}", partition)

    def add_roles(self, names: Iterable[str], partition: str, trust: str) -> None:
        """Many at once, which nobody asked IAM for."""
        backend = self.memory("iam", partition)
        from moto.iam.models import Role as MotoRole  # noqa: PLC0415 - slow to load: only where it is needed
        from moto.iam.utils import random_role_id  # noqa: PLC0415 - slow to load: only where it is needed

        for name in names:
            fields: dict[str, Any] = {
                "path": "/",
                "permissions_boundary": None,
                "description": "somebody else's",
                "tags": [],
                "max_session_duration": "3600",
            }
            made = cast("Any", MotoRole)(
                ACCOUNT, partition, cast("Any", random_role_id)(ACCOUNT), name, trust, **fields
            )
            backend.roles[made.id] = made

    @cached_property
    def _managed(self) -> dict[str, dict[str, Any]]:
        from moto.iam.aws_managed_policies import aws_managed_policies_data  # noqa: PLC0415 - slow to load: only where it is needed

        return json.loads(cast("str", aws_managed_policies_data))


@cache
def _regions() -> Mapping[str, frozenset[str]]:
    """Of the endpoints that come with the SDK. A session would know them too, but it reads the caller's configuration."""
    from moto.core.loaders import create_loader  # noqa: PLC0415 - slow to load: only where it is needed

    partitions = cast("Any", create_loader()).load_data("endpoints")["partitions"]
    return {one["partition"]: frozenset(one["regions"]) for one in partitions}


def _backends() -> Any:
    """moto with all partitions: it lacks two, and looks at its table only when it is imported."""
    from moto.utilities import utils  # noqa: PLC0415 - slow to load: only where it is needed

    for partition in PARTITIONS:
        prefix = f"{partition.home.rpartition('-')[0].rpartition('-')[0]}-"
        if partition.name not in utils.PARTITION_NAMES:
            utils.REGION_PREFIX_TO_PARTITION[prefix] = partition.name
            utils.PARTITION_NAMES.append(partition.name)
    utils.ARN_PARTITION_REGEX = f"^arn:({'|'.join(sorted(utils.PARTITION_NAMES))})"
    from moto.backends import get_backend  # noqa: PLC0415 - slow: only a sandbox that is started needs it
    from moto.core.base_backend import AccountSpecificBackend  # noqa: PLC0415 - slow to load: only where it is needed

    cast(
        "Any", AccountSpecificBackend
    ).get_session()  # kept from now on, for services that are asked for later
    return cast("Any", get_backend)


def _region(partition: str) -> str:
    return next(one.home for one in PARTITIONS if one.name == partition)

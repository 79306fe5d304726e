"""Things of AWS as the contracts want them."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws.resources.role import RoleState
from tests.contracts.store import StoreContract
from tests.examples import a_role

CLUSTER = "a-cluster"
BUCKET = f"{CLUSTER}-oidc"
MANAGED = "arn:aws:iam::aws:policy/ReadOnlyAccess"


def nowhere(_cluster: str) -> list[str]:
    """No documents were put in a place of the user's own."""
    return []


def the_role(**changes: Any) -> RoleState:
    return a_role(**{"managed": frozenset[str](), "session": 3600, **changes})


class InBucket(StoreContract):
    @pytest.fixture(autouse=True)
    def bucket(self, clients: dict[str, Any]) -> None:
        clients["s3"].create_bucket(Bucket=BUCKET)

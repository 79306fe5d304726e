"""What is there before anybody did anything: two projects, and the operator who owns both."""

from __future__ import annotations

from .world import (
    NUMBER,
    OPERATOR,
    PROJECT,
    SECOND,
    SECOND_NUMBER,
    Binding,
    Policy,
    Project,
    ServiceAccount,
    World,
)

APIS = ("iam", "sts", "iamcredentials", "cloudresourcemanager", "storage", "serviceusage")
UNIQUE_ID = "100000000000000000001"
_LONG_AGO = -1e9  # long enough for any lag, whatever the clock


def settle(world: World) -> None:
    with world.lock:
        world.clear()
        on = {f"{name}.googleapis.com": _LONG_AGO for name in APIS}
        world.projects[PROJECT] = Project(PROJECT, NUMBER, _owned(), on)
        world.projects[SECOND] = Project(
            SECOND, SECOND_NUMBER, _owned(), {"serviceusage.googleapis.com": _LONG_AGO}
        )
        own = ServiceAccount(
            PROJECT,
            OPERATOR.partition("@")[0],
            UNIQUE_ID,
            "Operator",
            policy=Policy(written=_LONG_AGO),
            born=_LONG_AGO,
        )
        world.accounts[OPERATOR] = own


def _owned() -> Policy:
    return Policy(
        (Binding("roles/owner", frozenset({f"serviceAccount:{OPERATOR}"})),),
        etag="BwYAAAAAAAA=",
        written=_LONG_AGO,
    )

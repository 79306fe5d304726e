"""For whom an identity was made that nobody asks for here, as far as it still says so: so it can be judged as those are that were asked for. Pure."""

from __future__ import annotations

import re

from cwiictl.clouds.azure.resources.identity import IdentityState
from cwiictl.clouds.azure.spec import Ask
from cwiictl.model import Cluster, Workload
from cwiictl.verify.holder import whose

_HASHED = re.compile(r".+-[0-9a-f]{8}")


def recognised(cluster: Cluster, name: str, have: IdentityState) -> tuple[Workload, Ask] | None:
    """Of the namespace that its name is of, as far as that can be read: nothing else of it says for whom it was made."""
    title = name.partition("/")[2]
    workload = whose(
        each.subject for each in have.credentials if _fits(cluster, title, each.subject)
    )
    return (workload, Ask(identity=title)) if workload else None


def _fits(cluster: Cluster, title: str, subject: str) -> bool:
    """A name that was made to fit, with a hash at its end, may have lost its namespace."""
    namespace = subject.removeprefix("system:serviceaccount:").partition(":")[0]
    return title.startswith(f"{cluster.name}-{namespace}-") or _HASHED.fullmatch(title) is not None

"""For whom an identity was made that nobody asks for here, as far as it still says so: so it can be judged as those are that were asked for. Pure."""

from __future__ import annotations

from cwiictl.clouds.azure.resources.identity import IdentityState
from cwiictl.clouds.azure.spec import Ask
from cwiictl.model import Cluster, Workload
from cwiictl.verify.whose import whose


def recognised(cluster: Cluster, name: str, have: IdentityState) -> tuple[Workload, Ask] | None:
    """Of the namespace that its name is of: nothing else of it says for whom it was made."""
    title = name.partition("/")[2]
    workload = whose(each.subject for each in have.credentials if title.startswith(f"{cluster.name}-{_namespace(each.subject)}-"))
    return (workload, Ask(identity=title)) if workload else None


def _namespace(subject: str) -> str:
    return subject.removeprefix("system:serviceaccount:").partition(":")[0]

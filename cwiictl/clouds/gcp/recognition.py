"""For whom a service account was made that nobody asks for here, as far as it still says so: so it can be judged as those are that were asked for. Pure."""

from __future__ import annotations

import re

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.service_account import ServiceAccountState
from cwiictl.clouds.gcp.spec import Ask
from cwiictl.model import Cluster, Workload
from cwiictl.verify.holder import whose

_TITLE = re.compile(r"Kubernetes identity for (?P<title>[^/ ]+/[^/ ]+)\.")


def recognised(
    _cluster: Cluster, name: str, have: ServiceAccountState
) -> tuple[Workload, Ask] | None:
    told = _TITLE.fullmatch(have.description)
    subjects = (f"system:serviceaccount:{ids.subject(member)}" for member in have.principals)
    workload = whose(subjects, told["title"] if told else "")
    return (workload, Ask(account=name)) if workload else None

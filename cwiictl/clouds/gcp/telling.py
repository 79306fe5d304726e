"""What workloads in Google Cloud must be told: the provider that believes them, and as whom they may act."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from cwiictl.clouds.gcp.resources.policy import Policy
from cwiictl.clouds.gcp.resources.service_account import Project, ServiceAccount
from cwiictl.engine.resource import Known, Resource
from cwiictl.model import Binding, Workload


def bindings(things: Iterable[Resource[Any]], known: Known) -> Iterator[Binding]:
    """For the service accounts that are there, and for those who need none as soon as they are granted their roles."""
    for thing in things:
        if isinstance(thing, ServiceAccount) and thing in known:
            yield _binding(thing.workload, thing.project, known[thing].email)
        if isinstance(thing, Policy) and thing in known:
            yield from (
                _binding(each.workload, each.project, "")
                for each in thing.principals
                if thing.name == each.project.id
            )


def _binding(workload: Workload, project: Project, email: str) -> Binding:
    file = json.dumps(_credentials(workload, project, email), indent=2).encode()
    ids_ = {"service_account": email, "project": project.id, "project_number": project.number}
    ids_ |= {"pool": project.pool, "provider": project.provider, "cluster": project.cluster}
    return Binding(workload, "gcp", {"service_account.json": file}, _told(project, email), ids=ids_)


def _credentials(workload: Workload, project: Project, email: str) -> dict[str, Any]:
    """Google's own configuration format, with its keys in ccoctl's order."""
    hosts = project.universe
    acting = f"https://{hosts.host('iamcredentials')}/v1/projects/-/serviceAccounts/{email}:generateAccessToken"
    return {
        "type": "external_account",
        "audience": f"//{project.named}",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"https://{hosts.host('sts')}/v1/token",
        **({"service_account_impersonation_url": acting} if email else {}),
        "credential_source": {"file": workload.token_path, "format": {"type": "text"}},
        **({"universe_domain": hosts.domain} if hosts.elsewhere else {}),
    }


def _told(project: Project, email: str) -> dict[str, str]:
    """In our webhook's words, and in those of Google's users' own, which knows nobody without a service account."""
    ours = {"cwii.dev/gcp-inject": "true", "cwii.dev/gcp-audience": f"//{project.named}"}
    if not email:
        return ours
    theirs = {
        "cloud.google.com/workload-identity-provider": project.path,
        "cloud.google.com/service-account-email": email,
    }
    return {**ours, "cwii.dev/gcp-service-account": email, **theirs}

"""The APIs of a project: those that are on, and what is heard from those that are not."""

from __future__ import annotations

from .answers import Refusal
from .tokens import Caller
from .world import Project, World

TITLES = {
    "iam.googleapis.com": "Identity and Access Management (IAM) API",
    "iamcredentials.googleapis.com": "IAM Service Account Credentials API",
    "sts.googleapis.com": "Security Token Service API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "serviceusage.googleapis.com": "Service Usage API",
    "storage.googleapis.com": "Cloud Storage API",
    "storage-api.googleapis.com": "Google Cloud Storage JSON API",
    "storage-component.googleapis.com": "Cloud Storage",
    "compute.googleapis.com": "Compute Engine API",
    "container.googleapis.com": "Kubernetes Engine API",
    "dns.googleapis.com": "Cloud DNS API",
    "file.googleapis.com": "Cloud Filestore API",
    "cloudkms.googleapis.com": "Cloud Key Management Service (KMS) API",
    "secretmanager.googleapis.com": "Secret Manager API",
    "orgpolicy.googleapis.com": "Organization Policy API",
    "logging.googleapis.com": "Cloud Logging API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "deploymentmanager.googleapis.com": "Cloud Deployment Manager V2 API",
    "cloudapis.googleapis.com": "Google Cloud APIs",
    "servicemanagement.googleapis.com": "Service Management API",
}


def check(world: World, service: str, where: Project | None) -> None:
    """Of a project that is not there, its API says nothing: its policy does."""
    if where is None or (
        service in where.services and where.services[service] + world.lag() <= world.clock()
    ):
        return
    url = (
        f"https://console.developers.google.com/apis/api/{service}/overview?project={where.number}"
    )
    words = (
        f"{TITLES.get(service, service)} has not been used in project {where.number} before or it is disabled. Enable it by visiting {url} then retry. If you"
        " enabled this API recently, wait a few minutes for the action to propagate to our systems and retry."
    )
    links = [{"description": "Google developers console API activation", "url": url}]
    told = {
        "service": service,
        "serviceTitle": TITLES.get(service, service),
        "containerInfo": where.number,
        "consumer": f"projects/{where.number}",
    }
    help_ = {"@type": "type.googleapis.com/google.rpc.Help", "links": links}
    raise Refusal(
        403, "PERMISSION_DENIED", words, reason="SERVICE_DISABLED", metadata=told, details=(help_,)
    )


def home(world: World, caller: Caller) -> Project | None:
    """Whose quota a caller uses: the project that the service account, or the pool, is in."""
    if caller.email:
        account = world.accounts.get(caller.email)
        return world.project(account.project) if account else None
    parts = caller.member.split("/")
    return world.project(parts[4]) if len(parts) > 4 and parts[3] == "projects" else None

"""The names of Google's things in policies and paths: built here, and read here."""

from __future__ import annotations

import re
from collections.abc import Iterable

POOLS = "iam.googleapis.com"  # in every universe: a part of names, and no host

_PRINCIPAL = re.compile(
    r"principal://iam\.googleapis\.com/projects/(?P<number>[0-9]+)/locations/global/workloadIdentityPools/(?P<pool>[^/]+)/subject/(?P<subject>.+)"
)
_EMAIL = re.compile(r"(?P<account>[^@]+)@(?P<project>.+)\.iam\.gserviceaccount\.com")
_GONE = re.compile(r"deleted:(?P<member>[^?]+)(\?uid=.*)?")
_OURS = re.compile(r"projects/[^/]+/roles/cwii_.+")


def pool(project: str, name: str) -> str:
    """With the project's id in paths, with its number in all that names a member."""
    return f"projects/{project}/locations/global/workloadIdentityPools/{name}"


def provider(project: str, pool_: str, name: str) -> str:
    return f"{pool(project, pool_)}/providers/{name}"


def principal(number: str, pool_: str, subject: str) -> str:
    return f"principal://{POOLS}/{pool(number, pool_)}/subject/{subject}"


def principals(number: str, pool_: str, subjects: Iterable[str]) -> frozenset[str]:
    return frozenset(principal(number, pool_, subject) for subject in subjects)


def subject(member: str) -> str:
    """Whom a pool's member stands for, as NAMESPACE:NAME if that is a ServiceAccount. Empty if it is no single one."""
    found = _PRINCIPAL.fullmatch(gone(member) or member)
    return found["subject"].removeprefix("system:serviceaccount:") if found else ""


def is_member(member: str, number: str, pool_: str) -> bool:
    """Whether it is a subject of this pool."""
    found = _PRINCIPAL.fullmatch(gone(member) or member)
    return bool(found) and (found["number"], found["pool"]) == (number, pool_)


def email(account: str, project: str) -> str:
    """Of a project that belongs to a domain (`example.com:project`) the two are turned round."""
    domain, colon, name = project.rpartition(":")
    return (
        f"{account}@{name}.{domain}.iam.gserviceaccount.com"
        if colon
        else f"{account}@{name}.iam.gserviceaccount.com"
    )


def account(email_: str) -> str:
    """The id in a service account's e-mail; empty if it is none."""
    found = _EMAIL.fullmatch(email_)
    return found["account"] if found else ""


def service_account(project: str, email_: str) -> str:
    return f"projects/{project}/serviceAccounts/{email_}"


def account_member(email_: str) -> str:
    return f"serviceAccount:{email_}"


def gone(member: str) -> str:
    """Who a member was that Google has marked as deleted; empty if it is not."""
    found = _GONE.fullmatch(member)
    return found["member"] if found else ""


def role(project: str, id_: str) -> str:
    return f"projects/{project}/roles/{id_}"


def home(role_: str) -> str:
    """The only project in which it can be granted; empty if it is no project's own."""
    return role_.split("/")[1] if role_.startswith("projects/") else ""


def is_ours(role_: str) -> bool:
    """Whether its name is one that we give."""
    return bool(_OURS.fullmatch(role_))

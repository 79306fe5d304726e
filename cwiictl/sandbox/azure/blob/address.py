"""Where a request goes: an account by its host, a container and a blob by its path."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from cwiictl.sandbox.azure.clouds import BY_SUFFIX
from cwiictl.sandbox.exchange import Request

ROOT = "$root"  # the container of blobs whose path names none


@dataclass(frozen=True)
class Address:
    account: str
    suffix: str
    container: str = ""
    blob: str = ""

    @property
    def level(self) -> str:
        return "blob" if self.blob else "container" if self.container else "account"


def read(request: Request) -> Address:
    account, suffix = of_host(request.host)
    first, _, rest = request.path.lstrip("/").partition("/")
    if request.asked.get("restype") == "container":
        return Address(account, suffix, unquote(first) or ROOT)
    if not first:
        return Address(account, suffix)
    container, blob = (first, rest) if rest else (ROOT, first)
    return Address(account, suffix, unquote(container), unquote(blob))


def of_host(host: str) -> tuple[str, str]:
    """Account and suffix; empty when it is no host of blobs."""
    account, _, suffix = host.lower().partition(".blob.")
    return (account, suffix) if suffix in BY_SUFFIX else ("", "")

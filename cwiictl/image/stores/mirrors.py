"""Debian's packages, from the mirrors that this machine's apt is set to, or that are named. Whom the bytes come from does not matter: their hash does."""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from cwiictl.errors import BadInput, Failed
from cwiictl.image.lock import Package

SECONDS = 60.0
MOST = 64 << 20
_APT = Path("/etc/apt")
_LINE = re.compile(r"deb\s+(?:\[[^]]*\]\s+)?(?P<url>https?://\S+)\s+\S+\s+(?P<components>.*)")
_FIELD = re.compile(r"^(?P<name>[\w-]+):[ \t]*(?P<value>.*(?:\n[ \t].*)*)", re.MULTILINE)


class Mirrors:
    def __init__(self, urls: Sequence[str], snapshot: str) -> None:
        self.urls = [url.rstrip("/") for url in urls]
        self.snapshot = snapshot
        if strange := next(
            (url for url in urls if not url.startswith(("https://", "http://"))), ""
        ):
            raise BadInput(
                f"--mirror {strange} is no address of a mirror",
                remedy="give one that begins with https://",
            )

    def get(self, package: Package) -> bytes:
        """From the first that has these very bytes."""
        if not self.urls:
            raise BadInput(
                "no mirror of Debian is known: this machine has no apt to learn it from",
                remedy="name one with --mirror URL",
            )
        reasons: list[str] = []
        proxy = ""
        for url in self.urls:
            try:
                data = _fetched(f"{url}/{package.path}")
            except (OSError, http.client.HTTPException) as e:
                reasons.append(f"{url}: {_reason(e)}")
                proxy = proxy or (_proxy(url) if _refuses(e) else "")
                continue
            if hashlib.sha256(data).hexdigest() == package.sha256:
                return data
            reasons.append(f"{url}: has other bytes under this name")
        raise Failed(
            f"{package.name} {package.version} cannot be had: {'; '.join(reasons)}",
            remedy=f"see what the proxy {proxy} lets through (that of the sandbox: the clouds alone), or run this in a shell where none is set"
            if proxy
            else f"if Debian has a newer one since, name an archive of its snapshots with --mirror, at {self.snapshot}",
        )


def configured(apt: Path = _APT) -> list[str]:
    """The mirrors that apt would ask, in its order; those of its main part first."""
    found = [
        (url, components)
        for text in _texts(apt)
        for url, components in (*_lines(text), *_paragraphs(text))
    ]
    return list(dict.fromkeys(url for url, components in found if "main" in components.split()))


def _texts(apt: Path) -> Iterator[str]:
    for file in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if file.suffix in {".list", ".sources"} and file.is_file():
            yield re.sub(r"^\s*#.*\n?", "", file.read_text("utf-8", "replace"), flags=re.MULTILINE)


def _lines(text: str) -> Iterable[tuple[str, str]]:
    return [
        (found["url"], found["components"])
        for line in text.splitlines()
        if (found := _LINE.match(line.strip()))
    ]


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    for paragraph in re.split(r"\n\s*\n", text):
        fields = {found["name"]: found["value"] for found in _FIELD.finditer(paragraph)}
        if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no":
            yield from (
                (url, fields.get("Components", ""))
                for url in fields.get("URIs", "").split()
                if url.startswith("http")
            )


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 - http and https are all that a mirror may have
        data: bytes = answer.read(MOST)
        return data


def _reason(e: Exception) -> str:
    return (
        f"answers {e.code}"
        if isinstance(e, urllib.error.HTTPError)
        else " ".join(str(getattr(e, "reason", e)).split())
    )


def _refuses(e: Exception) -> bool:
    """Whoever it is that does: a proxy on the way answers in the mirror's place, or opens no tunnel to it."""
    return (
        isinstance(e, urllib.error.HTTPError) and e.code in {403, 407}
    ) or "Tunnel connection failed: 40" in _reason(e)


def _proxy(url: str) -> str:
    """On the way to it, by host and port alone: it may be addressed with a password."""
    way = urlsplit(url)
    through = (
        ""
        if urllib.request.proxy_bypass(way.hostname or "")
        else urllib.request.getproxies().get(way.scheme, "")
    )
    return urlsplit(through).netloc.rpartition("@")[2]

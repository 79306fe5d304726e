"""Where an image is to be: a registry, a repository in it, and a tag."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cwiictl.errors import BadInput

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<registry>(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::\d+)?)/(?P<repository>{_PART}(?:/{_PART})*)(?::(?P<tag>[\w][\w.-]{{0,127}}))?",
    re.ASCII,
)
_HUB = "registry-1.docker.io"
HUB = {"docker.io", "index.docker.io", _HUB}
_LOOPBACK = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?")


@dataclass(frozen=True)
class Reference:
    registry: str
    repository: str
    tag: str

    @property
    def place(self) -> str:
        return f"{self.registry}/{self.repository}"

    @property
    def host(self) -> str:
        """Whom we ask. Docker's own registry is not where its names say."""
        return _HUB if self.registry in HUB else self.registry

    @property
    def loopback(self) -> bool:
        return loopback(self.registry)

    def at(self, digest: str) -> str:
        """What never means another image."""
        return f"{self.place}@{digest}"


def loopback(host: str) -> bool:
    """With its port, or without."""
    return _LOOPBACK.fullmatch(host) is not None


def reference(text: str, tag: str, *, plain: bool) -> Reference:
    """`tag` is for what names none."""
    found = _REFERENCE.fullmatch(text)
    if "@" in text:
        raise BadInput(
            f"{text} names a digest, which comes of what is pushed",
            remedy="name a tag, or nothing behind the repository",
        )
    if not found or not (set(found["registry"]) & set(".:[") or found["registry"] == "localhost"):
        raise BadInput(
            f"{text} names no place in a registry",
            remedy="write it like registry.example.org/team/cwii-webhook:1.0",
        )
    place = Reference(found["registry"], found["repository"], found["tag"] or tag)
    if plain and not place.loopback:
        raise BadInput(
            f"--plain-http would send passwords and images to {place.registry} as everybody can read them",
            remedy="leave it out, and have it serve https",
        )
    return place

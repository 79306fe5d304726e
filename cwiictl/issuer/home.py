"""Where an issuer is: at a URL that is known beforehand, or at a host whose name the cloud gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cwiictl.engine.resource import Known, Reference, Resource


@dataclass(frozen=True)
class Home(Reference):
    """`host` is whatever has a `domain` in its State."""

    text: str = ""
    host: Resource[Any] | None = None

    @property
    def of(self) -> Resource[Any] | None:
        return self.host

    def url(self, known: Known) -> str:
        return self.text if self.host is None else f"https://{known[self.host].domain}"

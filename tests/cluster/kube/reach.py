"""How a cluster is reached, and who one may be there: all that most tests want of it. Whoever is told its folder can have it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.pki import Authority, write
from tests.cluster.kube.server import Server, audit_log, requests


class Reach:
    def __init__(self, folder: Path, urls: Sequence[str]) -> None:
        self.folder = folder
        self.urls = urls
        self.authority = Authority(folder)
        pair = self.authority.client("admin", "system:masters")
        self.admins = [Client(url, self.authority.pem, pair) for url in urls]

    @property
    def admin(self) -> Client:
        return self.admins[0]

    def client(self, user: str, *groups: str, server: int = 0) -> Client:
        """As somebody else, by a certificate."""
        return Client(self.urls[server], self.authority.pem, self.authority.client(user, *groups))

    def bearer(self, token: str, server: int = 0) -> Client:
        return Client(self.urls[server], self.authority.pem, token=token)

    def requests(self) -> list[Object]:
        """What all API servers have answered so far."""
        return [
            one
            for number in range(len(self.urls))
            for one in requests(audit_log(self.folder, Server.named(number)))
        ]

    def tell(self) -> None:
        write(self.folder / "reach.json", json.dumps(self.urls).encode())

    @classmethod
    def told(cls, folder: Path) -> Reach:
        return cls(folder, json.loads((folder / "reach.json").read_text()))

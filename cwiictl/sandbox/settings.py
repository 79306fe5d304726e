"""How a sandbox starts. What may change while it runs is in its faults."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cwiictl.errors import BadInput

from . import addresses
from .faults import Clock, Faults


@dataclass(frozen=True)
class Settings:
    address: str = "127.0.0.1"
    port: int = 0  # any free one
    serve: Mapping[str, Path] = field(
        default_factory=dict[str, Path]
    )  # a user's hosts, each with its folder
    let: tuple[str, ...] = ()  # private addresses and networks, of a cluster of the user's own
    record: Path | None = None
    latency: float = 0.0
    failures: float = 0.0
    lag: float = 0.0
    deny: frozenset[str] = frozenset()  # permissions that the caller lacks; `*` and `?` are IAM's
    deploy: float = 2.0  # how long a distribution of CloudFront is on its way to the edges; with the real one it is minutes
    end_after: int | None = None
    expired: bool = False
    seed: int = 0
    jwks_cache: float = 0.0
    jwks_refetch: bool = True
    strangers: frozenset[str] = frozenset()  # names of buckets that somebody else has
    clock: Clock = time.time

    def __post_init__(self) -> None:
        if not 0 <= self.failures <= 1:
            raise BadInput(
                f"a rate of failures of {self.failures} is none", remedy="give a number from 0 to 1"
            )
        for address in self.let:
            addresses.judge(address)
        for host, folder in self.serve.items():
            if not folder.is_dir():
                raise BadInput(
                    f"{folder} is no folder to serve {host} from",
                    remedy="give --serve HOST=FOLDER with a folder that exists",
                )

    def faults(self) -> Faults:
        faults = Faults(
            self.latency,
            self.failures,
            self.lag,
            self.deploy,
            set(self.deny),
            self.expired,
            self.seed,
            self.clock,
        )
        faults.end_after = self.end_after
        return faults

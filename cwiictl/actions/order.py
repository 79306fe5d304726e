"""What the user asks for, whole, before anything is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cwiictl.cluster_file import WorkloadAsk
from cwiictl.cluster_file.preset import Part as PresetPart
from cwiictl.issuer.documents import Keys
from cwiictl.issuer.served import Served
from cwiictl.model import Cluster

Part = Literal["issuer", "identities"]
WHOLE: frozenset[Part] = frozenset({"issuer", "identities"})
ISSUER: frozenset[Part] = frozenset({"issuer"})
IDENTITY = "create-identity"  # the command of which each identity was asked for by itself


@dataclass(frozen=True)
class Reach:
    """How a cluster is reached: as kubectl does, where nothing is said."""

    kubeconfig: Path | None = None
    context: str = ""


@dataclass(frozen=True)
class Order:
    cluster: Cluster
    clouds: Mapping[
        str, Mapping[str, Any]
    ]  # by name, the fields of each one's Spec; the first hosts the issuer
    parts: frozenset[Part] = WHOLE
    requests: Path | None = None
    workloads: tuple[WorkloadAsk, ...] = ()
    origin: str = "create-all"  # the command whose things these are
    tech_preview: bool = False
    output: Path = field(default_factory=Path)
    public_key: Path | None = None
    bits: int = 4096
    keys: Keys = "published"
    adopt: frozenset[str] = frozenset()
    expect: str = ""
    prune: bool = False
    width: int = 16
    installers: tuple[str, ...] = ("openshift",)
    issuer_in: str = ""  # the cloud that hosts the issuer; the first, if it is not said
    issuer_url: str = ""  # of a host of the user's own
    issuer_exists: bool = False  # nothing is published there by us
    from_cluster: Reach | None = None  # a cluster that exists, whose own keys are to be trusted
    served: Served | None = None  # what that has told of itself
    summary: Path | None = (
        None  # a file of what all workloads were given, as the preset's own tool writes it
    )
    parts_of_summary: tuple[PresetPart, ...] = ()
    declare: str = ""  # the format in which it is said, instead of made
    credential_from: str = ""  # the Secret that the operator of this format is to act with
    move_issuer: bool = False  # the cluster may get another one than it has
    issuer_too: bool = False  # is taken down, though another cloud may still trust it

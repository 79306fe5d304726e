"""A steady load upon an installed webhook: reviews over new connections to its Service, beside pods that API servers ask about over one that stays."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.life.user import HOME, NAME, User
from tests.cluster.load import Load
from tests.cluster.space import Space

ROLE = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
}
REQUIRED = {"cwii.dev/require": "true"}


@dataclass
class Calls:
    answered: int = 0
    failed: list[str] = field(default_factory=list[str])


@contextmanager
def calls(user: User) -> Generator[Calls]:
    """Told when the block has ended."""
    address = user.admin.get(f"/api/v1/namespaces/{HOME}/services/{NAME}")["spec"]["clusterIP"]
    authority = user.kubeconfig.parent / "serving-ca.crt"
    authority.write_bytes(base64.b64decode(next(iter(user.bundles()))))
    program = [
        sys.executable,
        "-I",
        str(Path(__file__).with_name("calls.py")),
        f"{address}:443",
        f"{NAME}.{HOME}.svc",
        str(authority),
        "/cwii/mutate",
    ]
    told = Calls()
    with subprocess.Popen(
        [*user.cluster.node.enter, *program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield told
        out, _ = process.communicate()
    told.__dict__.update(json.loads(out))


@contextmanager
def load(user: User, per_second: float = 10) -> Generator[Load]:
    """In a namespace whose pods may not go without."""
    space = Space(user.cluster.reach, labels=REQUIRED).account(ROLE)
    with Load(space, per_second, dry=True) as load:
        yield load
    user.admin.delete(f"/api/v1/namespaces/{space.name}")

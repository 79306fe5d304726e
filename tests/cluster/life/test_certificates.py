"""Certificates that live for two minutes, of an authority that lives for four: they come and go, and no pod notices."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.cluster.life.calling import load
from tests.cluster.life.user import HOME, NAME, User

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

SHORT = (
    "--set=certificates.validity=2m",
    "--set=certificates.caValidity=4m",
    "--set=certificates.schedule=* * * * *",
)
PEM = b"BEGIN CERTIFICATE"


@dataclass
class Seen:
    """What there was, each once and in its order."""

    pairs: list[str] = field(default_factory=list[str])
    authorities: list[str] = field(default_factory=list[str])
    bundles: list[str] = field(default_factory=list[str])

    def look(self, user: User) -> None:
        secrets = f"/api/v1/namespaces/{HOME}/secrets/{NAME}"
        for kept, now in (
            (self.pairs, user.admin.get(f"{secrets}-serving")["data"]["tls.crt"]),
            (self.authorities, user.admin.get(f"{secrets}-ca")["data"]["tls.crt"]),
            (self.bundles, max(user.bundles(), key=len)),
        ):
            if now not in kept:
                kept.append(now)

    @property
    def overlaps(self) -> int:
        """How often two authorities were trusted at once."""
        return sum(base64.b64decode(bundle).count(PEM) > 1 for bundle in self.bundles)


@contextmanager
def watched(user: User) -> Generator[Seen]:
    over, seen = threading.Event(), Seen()

    def look() -> None:
        while not over.wait(0.5):
            seen.look(user)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


@pytest.fixture
def short(user: User) -> Iterator[User]:
    """From its beginning: an authority that is there is not made anew because another would live for less."""
    user.has_none()
    user.has(*SHORT)
    yield user
    user.has()
    assert user.says("renew-certificates").code == 0


def test_three_renewals_and_another_authority_and_an_installation_among_them_and_no_pod_is_refused(
    short: User,
) -> None:
    begun = time.monotonic()

    with load(short, 8) as pods, watched(short) as seen:
        while (len(seen.pairs) < 4 or len(seen.authorities) < 2) and time.monotonic() < begun + 400:
            said = short.says("renew-certificates")
            assert said.code == 0, said
            if len(seen.pairs) == 2 and "--log-level=debug" not in str(short.pods()):
                short.has(*SHORT, "--set=logLevel=debug")
            time.sleep(5)

    assert (pods.failed, pods.bare) == ([], [])
    assert len(seen.pairs) >= 4
    assert len(seen.authorities) >= 2
    assert seen.overlaps
    assert pods.created > 500


def test_what_was_renewed_is_told_in_words_for_people(user: User) -> None:
    user.has()

    said = user.says("renew-certificates")

    assert said.code == 0, said
    assert "nothing had to be renewed; the certificate ends at 20" in said

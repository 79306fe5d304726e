"""The renewer on a real API server, with the rights that it needs and no others, before replicas that serve and are late."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from cwii_webhook.certificates.pki import parse_certificates

from tests.cluster.kube.client import Object
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.reach import Reach
from tests.cluster.load import Load
from tests.cluster.renewer import CONFIGURATIONS, MANAGER, Installed, installed, own_address

OVERLAP = [
    "the next authority was made",
    "an authority was added to caBundle",
    "the next authority signs from now on",
    "a new pair was signed",
    "what signs no more was taken out of caBundle",
]


class Asking:
    """`with Asking(there) as asking`: all the time, whether each replica is believed by what stands in each caBundle at that moment."""

    def __init__(self, there: Installed) -> None:
        self.count = 0
        self.failed: list[str] = []
        self._there, self._over = there, threading.Event()
        self._threads = [
            threading.Thread(target=self._ask, args=(replica.port,), daemon=True)
            for replica in there.replicas
        ]

    def __enter__(self) -> Asking:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, port: int) -> None:
        while not self._over.wait(0.02):
            for bundle in self._there.bundles:
                why = self._refusal(port, bundle)
                if (
                    why and bundle in self._there.bundles
                ):  # whoever is slow has one that was replaced meanwhile
                    self.failed.append(why)
                self.count += 1

    def _refusal(self, port: int, bundle: bytes) -> str:
        try:
            context = ssl.create_default_context(cadata=bundle.decode())
            name = f"{self._there.name}.{self._there.space.name}.svc"
            with (
                socket.create_connection(("127.0.0.1", port), 10) as sock,
                context.wrap_socket(sock, server_hostname=name),
            ):
                return ""
        except OSError as e:
            return f"{port}: {e}"


def rest(configuration: Object) -> Object:
    """Without what a renewer changes."""
    webhooks = [
        {**each, "clientConfig": {**each["clientConfig"], "caBundle": ""}}
        for each in configuration["webhooks"]
    ]
    metadata = {
        key: value
        for key, value in configuration["metadata"].items()
        if key not in {"managedFields", "resourceVersion", "generation"}
    }
    return {**configuration, "metadata": metadata, "webhooks": webhooks}


def test_the_first_certificate_is_made_trusted_and_served_and_then_nothing_is_written(
    reach: Reach, tmp_path: Path
) -> None:
    with installed(reach, tmp_path, (0.2, 0.5)) as there:
        before = there.configuration

        first = there.renew()

        assert first.code == 0, first.lines
        assert there.whole()
        assert rest(there.configuration) == rest(before)
        with Asking(there) as asking:
            time.sleep(0.3)
        assert (asking.failed, asking.count > 1) == ([], True)
        assert first.last_words["outcome"] == "renewed"
        assert [each[:2] for each in there.events()] == [("Normal", "CertificateRenewed")]

        versions = there.versions()
        second = there.renew()
        assert (
            second.code,
            second.last_words["outcome"],
            there.versions(),
            len(there.events()),
        ) == (0, "unchanged", versions, 1)


def test_it_holds_nothing_of_a_configuration_but_whom_to_trust(
    reach: Reach, tmp_path: Path
) -> None:
    with installed(reach, tmp_path) as there:
        there.renew()

        (held,) = [
            each["fieldsV1"]
            for each in there.configuration["metadata"]["managedFields"]
            if each["manager"] == MANAGER
        ]

        hooks: Object = {
            f'k:{{"name":"{name}.cwii.dev"}}': {"f:clientConfig": {"f:caBundle": {}}}
            for name in ("pods", "late")
        }
        assert held == {"f:webhooks": hooks}


def test_an_authority_is_followed_by_the_next_and_at_no_moment_is_a_replica_refused(
    reach: Reach, tmp_path: Path
) -> None:
    with installed(reach, tmp_path, (0.2, 2.0)) as there:
        old = there.with_an_old_authority()
        with Asking(there) as asking:
            run = there.renew()

        assert run.code == 0, run.lines
        assert [said for said in run.said if said in OVERLAP] == OVERLAP
        assert asking.failed == []
        assert asking.count > 20
        assert there.whole()
        assert there.data("ca")["tls.crt"] != old.certificate


@pytest.mark.parametrize(
    "after",
    [pytest.param(after, marks=[] if after == 2 else pytest.mark.soak) for after in range(1, 5)],
)
def test_it_is_cut_after_a_write_and_another_ends_what_it_began(
    reach: Reach, tmp_path: Path, after: int
) -> None:
    with installed(reach, tmp_path, (0.2, 0.5)) as there:
        there.with_an_old_authority()
        with Asking(there) as asking:
            with there.begun() as process:
                assert process.stderr
                for line in process.stderr:
                    if OVERLAP[after - 1] in line:
                        process.send_signal(signal.SIGKILL)
                        break
            run = there.renew()

        assert run.code == 0, run.lines
        assert [said for said in run.said if said in OVERLAP] == OVERLAP[after:]
        assert asking.failed == []
        assert there.whole()


def test_a_replica_that_never_comes_is_named_and_what_it_may_serve_stays_trusted(
    reach: Reach, tmp_path: Path
) -> None:
    with installed(reach, tmp_path, (0.2,)) as there:
        old = there.with_an_old_authority()
        address, port = own_address(), free_port()
        path = there.names(address, port, "gone")

        run = there.renew("--patience=6s")

        assert run.code == 1
        assert run.last_words["hindrance"].startswith(
            f"not all serve the new certificate: {address}:{port} does not answer"
        )
        assert run.last_words["outcome"] == "hindered"
        assert all(
            len(parse_certificates(bundle)) == 2 and old.certificate in bundle
            for bundle in there.bundles
        )
        assert [each[:2] for each in there.events()] == [("Warning", "CertificateNotRenewed")]

        reach.admin.delete(path)
        assert there.renew().code == 0
        assert there.whole()


def test_two_at_once_come_to_one_end(reach: Reach, tmp_path: Path) -> None:
    with installed(reach, tmp_path, (0.2, 0.5)) as there:
        there.with_an_old_authority()
        with Asking(there) as asking:
            several = [there.begun() for _ in range(3)]
            told = [process.communicate(timeout=120)[1] for process in several]

        assert [process.returncode for process in several] == [0, 0, 0], told
        assert asking.failed == []
        assert there.whole()
        for what in OVERLAP:
            assert sum(one.count(f'"what":"{what}"') for one in told) == 1


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_with_lives_of_two_minutes_no_pod_is_refused_while_pairs_and_authorities_follow_each_other(
    reach: Reach, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Whatever is served ends within two minutes, so what is not renewed is not served. A CronJob would be slower than this; the order is the same."""
    short = ("--validity=2m", "--ca-validity=4m", "--renew-at=0.5")
    with installed(reach, tmp_path, (0.5, 3.0)) as there:
        assert there.renew(*short).code == 0
        pairs, authorities, begun = (
            {there.data("serving")["tls.crt"]},
            {there.data("ca")["tls.crt"]},
            time.monotonic(),
        )
        with Load(there.called(), 20) as load, Asking(there) as asking:
            while (len(pairs) < 5 or len(authorities) < 3) and time.monotonic() - begun < 600:
                run = there.renew(*short)
                assert run.code == 0, run.lines
                pairs.add(there.data("serving")["tls.crt"])
                authorities.add(there.data("ca")["tls.crt"])
                time.sleep(2)

        assert (load.failed, load.bare, asking.failed) == ([], [], [])
        assert (len(pairs) >= 5, len(authorities) >= 3) == (True, True)
        assert load.created > 100
    seconds = time.monotonic() - begun
    record_property(
        "told",
        f"{len(pairs)} pairs of {len(authorities)} authorities in {seconds:.0f} s, {load.created} pods, {asking.count} handshakes",
    )


class Meddling:
    """Somebody who writes into the same objects, all the time, and into other fields."""

    def __init__(self, *writes: Callable[[str], Any]) -> None:
        self.count = 0
        self._writes, self._over = writes, threading.Event()
        self._thread = threading.Thread(target=self._meddle, daemon=True)

    def __enter__(self) -> Meddling:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _meddle(self) -> None:
        """For as long as it takes to be in everybody's way, and no longer: what moves all the time never settles."""
        until = time.monotonic() + 4
        while time.monotonic() < until and not self._over.wait(0.005):
            self.count += 1
            for write in self._writes:
                write(str(self.count))


def test_what_others_write_meanwhile_stays(reach: Reach, tmp_path: Path) -> None:
    with installed(reach, tmp_path) as there:
        there.with_an_old_authority()
        path = f"{CONFIGURATIONS}/{there.name}"

        def into(path: str) -> Callable[[str], Any]:
            return lambda text: there.admin.patch(
                path, {"metadata": {"annotations": {"somebody": text}}}
            )

        with Meddling(
            into(path), into(there.secret("ca")), into(there.secret("serving"))
        ) as others:
            run = there.renew()

        assert run.code == 0, run.lines
        assert there.whole()
        assert others.count > 20
        for found in (
            there.configuration,
            there.admin.get(there.secret("ca")),
            there.admin.get(there.secret("serving")),
        ):
            assert found["metadata"]["annotations"]["somebody"] == str(others.count)


def test_what_is_not_there_and_what_it_may_not_do_are_told_with_what_to_do(
    reach: Reach, tmp_path: Path
) -> None:
    with installed(reach, tmp_path) as there:
        stranger = there.renew("--configuration", "another")
        reach.admin.delete(there.secret("ca"))
        lacking = there.renew()

    assert (stranger.code, lacking.code) == (1, 1)
    assert (
        "may not read the MutatingWebhookConfiguration another" in stranger.last_words["hindrance"]
    )
    assert (
        lacking.last_words["hindrance"]
        == f"there is no Secret {there.space.name}/{there.name}-ca: make it, empty; it is filled here"
    )

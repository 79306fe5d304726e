"""The clouds on loopback, behind one door, true enough that real SDKs run against it and a token is accepted only if a real cloud would accept it.

    with Sandbox(Settings(lag=2.0)) as sandbox:
        subprocess.run(command, env=sandbox.environment())

One at a time in a process: what stands behind the door (moto) has one memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import ssl
import tempfile
import threading
import traceback
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from types import TracebackType

from cwiictl.errors import BadInput

from . import environment
from .aws.undisturbed import calm
from .ca import Authority
from .calls import Calls, Interpreter
from .door import Desk, Door
from .exchange import Request, Response, text
from .faults import Ended, Faults
from .fetch import Fetcher
from .places import Called, Ground, Place, Places
from .record import Record, Seen
from .settings import Settings
from .tokens import Checker

__all__ = ["Faults", "Sandbox", "Seen", "Settings"]


_one = threading.Lock()


class Sandbox:
    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.faults = self.settings.faults()
        self.proxy = ""

    @property
    def ca_file(self) -> Path:
        return self._folder / "ca.pem"

    @property
    def record(self) -> list[Seen]:
        return self._record.seen

    def __enter__(self) -> Sandbox:
        if not _one.acquire(blocking=False):
            raise BadInput(
                "a sandbox runs in this process already",
                remedy="close it first, or start another process",
            )
        with contextlib.ExitStack() as held:
            held.callback(_one.release)
            self._open(held)
            self._held = held.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._held.close()

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of a child; of `base` (this process' own) only a few harmless things are kept."""
        return environment.build(self._around(), base)

    def variables(self) -> dict[str, str]:
        """Only what the sandbox sets."""
        return environment.variables(self._around())

    def reset(self) -> None:
        """Empty clouds and an empty record; the faults stay as they are."""
        self._places.reset()
        self._record.clear()

    def crowd(self, count: int, partition: str = "aws") -> None:
        """As many roles of others as a large account has, without asking IAM for each."""
        self._places.crowd(count, partition)

    def _around(self) -> environment.Surroundings:
        home = self._folder / "home"
        self._places.furnish(home)
        return environment.Surroundings(self.proxy, self.ca_file, home, self.settings.let)

    def _open(self, held: contextlib.ExitStack) -> None:
        self._folder = Path(
            held.enter_context(tempfile.TemporaryDirectory(prefix="cwiictl-sandbox-"))
        ).resolve()
        (self._folder / "home").mkdir(mode=0o700)
        held.enter_context(calm())
        self._record = held.enter_context(contextlib.closing(Record(self.settings.record)))
        authority = Authority(self.faults.certificates)
        self.ca_file.write_bytes(authority.pem)
        calls = held.enter_context(contextlib.closing(Calls(self._interpreter, self._answer)))
        door = held.enter_context(
            contextlib.closing(
                Door(
                    authority, Desk(self._knows, self._nobodys, self._answer, self._refused, calls)
                )
            )
        )
        host, port = door.bind(self.settings.address, self.settings.port)
        self.proxy = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._places = Places(self._ground(authority, host, port), self.settings.serve)
        held.callback(self._places.reset)
        door.open()

    def _ground(self, authority: Authority, host: str, port: int) -> Ground:
        web = Fetcher(host, port, ssl.create_default_context(cadata=authority.pem.decode()))
        settings = self.settings
        thumbprint = hashlib.sha1(
            ssl.PEM_cert_to_DER_cert(authority.pem.decode()), usedforsecurity=False
        ).hexdigest()
        return Ground(
            faults=self.faults,
            checker=lambda: Checker(
                web, settings.clock, cache=settings.jwks_cache, refetch=settings.jwks_refetch
            ),
            web=web,
            thumbprint=thumbprint,
            strangers=settings.strangers,
        )

    def _knows(self, host: str) -> bool:
        return self._places.find(host) is not None

    def _interpreter(self, host: str) -> Interpreter | None:
        place = self._places.find(host)
        return place.interpreter(host) if isinstance(place, Called) else None

    def _nobodys(self, host: str) -> bool:
        return self._places.nobodys(host)

    def _refused(self, request: Request, status: int) -> None:
        host, _, port = request.host.rpartition(":")
        self._record.add(
            Seen(
                request.method,
                host if port.isdigit() else request.host,
                request.path,
                "refused",
                status,
                mutating=False,
            )
        )

    def _answer(self, request: Request) -> Response | None:
        place = self._places.find(request.host)
        if place is None:
            return text(403, "This is not one of the sandbox's hosts.")
        action, mutating = place.action(request)
        self.faults.delay()
        try:
            with self.faults.turn(mutating=mutating) as count:
                response = self._dated(
                    self.faults.spoil(request, self._carried_out(place, request))
                )
                self._record.add(
                    Seen(
                        request.method,
                        request.host,
                        request.path,
                        action,
                        response.status,
                        mutating,
                        place.permissions(request),
                    )
                )
                count(response)
        except Ended:
            return None
        return response

    def _dated(self, response: Response) -> Response:
        """Every server says what time it has."""
        return (
            response
            if response.header("Date")
            else response.but([("Date", formatdate(self.faults.clock(), usegmt=True))])
        )

    def _carried_out(self, place: Place, request: Request) -> Response:
        if self.faults.expired and (refusal := place.expired(request)):
            return refusal
        if fault := self.faults.strike():
            return place.fault(request, fault)
        try:
            return place.handle(request)
        except Exception:  # noqa: BLE001 - a fault of the sandbox itself: told in full, and the client hears a plain failure
            traceback.print_exc()
            return text(500, "The sandbox itself failed at this request. Its own output says how.")

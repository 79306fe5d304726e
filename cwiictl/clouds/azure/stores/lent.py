"""The right to write blobs, which owning the account does not give: lent to who runs this for as long as the run takes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping

from azure.core.exceptions import HttpResponseError

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.lent_role import LentRoleState
from cwiictl.clouds.azure.resources.role_assignments import Assignment, Grant
from cwiictl.clouds.azure.stores.errors import code, denied, told
from cwiictl.clouds.azure.stores.ledger import Ledger
from cwiictl.clouds.azure.stores.tokens import Caller
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark
from cwiictl.errors import Denied, Failed, NotYet

CONTRIBUTOR = (
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe"  # Storage Blob Data Contributor, in all of Azure
)
TITLE = "Storage Blob Data Contributor"
MISMATCH = (
    "AuthorizationPermissionMismatch"  # the token is good, and its bearer has no role for data
)
SOON = 0.1  # seconds; the first look costs little, and the next ones come later and later
PATIENCE = 60.0  # for what is still lent when all is done
SENTENCE = "Lent to write the issuer's documents."
INSIDE = "/blobservices/default/containers/"


class Unseen(Denied):
    """To look, nobody is given anything: `status` and dry runs look too."""


class Lender:
    def __init__(
        self, ledger: Ledger, caller: Caller, place: Callable[[str], str], cluster: str
    ) -> None:
        self.ledger, self.caller, self.place, self.cluster = ledger, caller, place, cluster
        self.lock = threading.Lock()
        self.lent: dict[str, str] = {}  # by containers: the ids, which outlive them
        self.begun: dict[
            str, str
        ] = {}  # the same, where the answer did not come: it may have been lent
        self.waiting: set[str] = set()  # things that need what was lent
        self.left: dict[
            str, list[Assignment]
        ] = {}  # by containers: what runs of others lent, and did not take back

    @told("Microsoft.Authorization")
    def lend(self, container: str) -> None:
        """Once in a run. Azure takes its time until it holds."""
        with self.lock:
            if container in self.lent:
                return
            self.begun[container] = self.assignment(container).id
            try:
                self.ledger.write(self.assignment(container), self.caller.kind)
            except HttpResponseError as e:
                if denied(e) or code(e) == "RoleAssignmentExists":
                    self.begun.pop(container)
                if denied(e):
                    raise self.refusal(container, "write") from e
                if code(e) == "RoleAssignmentExists":  # somebody gave it for good, a moment ago
                    return
                raise
            self.lent[container] = self.begun.pop(container)

    def awaited(self, thing: str, container: str, verb: str) -> NotYet:
        """Whoever may give out roles may do it after a while; it takes minutes until all of Azure knows."""
        self.lend(container)
        soon = thing not in self.waiting
        self.waiting.add(thing)
        return NotYet(
            f"{thing} waits until Azure lets {self.caller.name} {verb} there",
            remedy="run again in some minutes: what was lent for the run is taken back at its end",
            after=SOON if soon else None,
        )

    def take_back(self, container: str) -> None:
        with self.lock:
            known = self.lent.get(container) or self.begun.get(container)
            scope = "" if known else self.place(container)
            if id_ := known or (self._id(scope) if scope else ""):
                self.ledger.erase(id_)
            for each in self.left.get(container, ()):
                self.ledger.erase(each.id)
            self.left[container] = []
            self.lent.pop(container, None)
            self.begun.pop(container, None)

    def close(self) -> None:
        """Patiently, for nobody comes after it."""
        still = sorted({*self.lent, *self.begun})
        ran = run(
            Job(dict.fromkeys(still, ()), self._returned, patience=lambda _container: PATIENCE),
            Pace(1),
        )
        left = [
            container for container in still if container in self.lent or container in self.begun
        ]
        if left:
            gone = next(iter(ran.failed.values()), None)
            why = f" ({gone})" if gone else ", for it was interrupted"
            raise Failed(
                f"{self.caller.name} keeps the right to write blobs in {' and '.join(left)}, which was lent for the run{why}",
                remedy=f"run again, or take it back: az role assignment delete --ids {' '.join(self._ids(left))}",
            )

    @told("Microsoft.Authorization")
    def _returned(self, container: str, _tried: int) -> str:
        self.take_back(container)
        return "taken back"

    def held(self, container: str) -> Assignment | None:
        """Whoever of us it was lent to: a run that was killed left it to whoever ran that."""
        scope = self.place(container)
        if not scope:
            return None
        if container not in self.left:
            grant = Grant(ids.folded(scope), CONTRIBUTOR)
            self.left[container] = [
                each
                for each in self.ledger.all(self.ledger.roots())
                if each.grant == grant and self._ours(each, self.cluster)
            ]
        return next(iter(self.left[container]), None) or self.ledger.one(self._id(scope))

    def found(self, cluster: str) -> Iterator[tuple[str, Mark]]:
        """What any run of the cluster's lent to anybody, and did not take back."""
        self.left.clear()
        for each in self.ledger.all(self.ledger.roots(), anew=True):
            account, inside, title = each.grant.scope.partition(INSIDE)
            mark = self._ours(each, cluster)
            if inside and mark and each.grant.role == CONTRIBUTOR:
                container = f"{ids.named(account)}/{title}"
                self.left.setdefault(container, []).append(each)
                yield container, mark

    def assignment(self, container: str) -> Assignment:
        scope = self.place(container)
        description = names.signed(SENTENCE, Mark(self.cluster))
        return Assignment(
            self._id(scope), Grant(ids.folded(scope), CONTRIBUTOR), self.caller.id, description
        )

    def refusal(self, container: str, verb: str) -> Denied:
        grant = f"--assignee-object-id {self.caller.id} --assignee-principal-type {self.caller.kind} --scope {self.place(container)}"
        neither = (
            f"Azure lets {self.caller.name} neither {verb} blobs in {container} nor grant that"
        )
        return (Denied if verb == "write" else Unseen)(
            neither
            if verb == "write"
            else f"Azure does not let {self.caller.name} {verb} blobs in {container}",
            remedy=f"have somebody run: az role assignment create --role '{TITLE}' {grant}",
        )

    def _ours(self, each: Assignment, cluster: str) -> Mark | None:
        sentence, mark = names.unsigned(each.description, cluster)
        return mark if sentence == SENTENCE and mark and mark.cluster == cluster else None

    def _ids(self, containers: Collection[str]) -> list[str]:
        return [
            id_
            for container in containers
            if (id_ := self.lent.get(container) or self.begun.get(container))
        ]

    def _id(self, scope: str) -> str:
        return ids.folded(
            ids.assignment(scope, names.assignment(scope, CONTRIBUTOR, self.caller.id))
        )


class LentRoles:
    """It has an answer for every container: what is not lent is as wanted."""

    kind, bulk, patience = "azure/lent-role", False, 600.0

    def __init__(self, lender: Lender) -> None:
        self.lender = lender

    @told("Microsoft.Authorization")
    def get(self, containers: Collection[str], /) -> Mapping[str, LentRoleState]:
        return {container: self._state(self.lender.held(container)) for container in containers}

    def put(
        self, container: str, want: LentRoleState, have: LentRoleState | None, /
    ) -> LentRoleState:
        if want.lent:
            self.lender.lend(container)
        elif have is None or have.lent:
            self.drop(container)
        return want

    @told("Microsoft.Authorization")
    def drop(self, container: str, /) -> None:
        self.lender.take_back(container)

    @told("Microsoft.Authorization")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return dict(self.lender.found(cluster))

    def _state(self, held: Assignment | None) -> LentRoleState:
        mark = names.unsigned(held.description, self.lender.cluster)[1] if held else None
        return LentRoleState(lent=held is not None, owner=mark)

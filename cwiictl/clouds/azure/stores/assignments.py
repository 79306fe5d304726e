"""All that each identity is granted, wherever that is."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.role_assignments import Assignment, AssignmentsState, Grant
from cwiictl.clouds.azure.stores.errors import told
from cwiictl.clouds.azure.stores.identities import Identities
from cwiictl.clouds.azure.stores.ledger import Ledger
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet

GRANTEE = re.compile(r"Granted to (?P<subscription>[^/\s]+)/(?P<identity>\S+/\S+)\.")


class Assignments:
    """Addressed as GROUP/IDENTITY. Found by principal; and where that is dead, by what our own say of themselves.

    Where none bears a mark, the identity's speaks for them: they cannot stay when it goes.
    """

    kind, bulk, patience = "azure/role-assignments", False, 600.0

    def __init__(self, ledger: Ledger, identities: Identities, cluster: str) -> None:
        self.ledger, self.identities, self.cluster = ledger, identities, cluster
        self.asked: set[str] = set()
        self.staying: dict[str, str] = {}  # what others gave to identities that are let go

    @told("Microsoft.Authorization")
    def get(self, identities: Collection[str], /) -> Mapping[str, AssignmentsState]:
        found = {identity: self._read(identity) for identity in identities}
        return {identity: state for identity, state in found.items() if state}

    @told("Microsoft.Authorization")
    def put(
        self, identity: str, want: AssignmentsState, have: AssignmentsState | None, /
    ) -> AssignmentsState:
        """What is new comes before what is too much goes. The dead go first, for they may hold the names of what is new."""
        self.asked.add(identity)
        if not want.principal:
            raise NotYet(f"{self.kind}/{identity} has no identity yet")
        found = have.found if have else ()
        living = {each.grant: each for each in found if each.principal == want.principal}
        for each in found:
            if each.principal != want.principal:
                self.ledger.erase(each.id)
        late = have is not None  # the list is, so that what it does not show may be there
        kept = [
            self._written(identity, grant, want, living.get(grant), late=late)
            for grant in sorted(want.grants, key=_order)
        ]
        rest = [each for grant, each in living.items() if grant not in want.grants]
        if not want.preserve:
            for each in rest:
                self.ledger.erase(each.id)
            rest = []
        return self._state(want.principal, (*kept, *rest), want.owner)

    @told("Microsoft.Authorization")
    def drop(self, identity: str, /) -> None:
        self.asked.add(identity)
        principal = self.identities.principal(identity)
        roots = self.ledger.roots(principal.scopes if principal else ())
        living = self.ledger.of(principal.id, roots) if principal else []
        if principal and principal.mark and principal.mark.hold != "owned":
            living = self._without_others(identity, living)
        for each in {
            each.id: each
            for each in (*living, *self._dead(identity, self.ledger.all(roots, anew=not principal)))
        }.values():
            self.ledger.erase(each.id)

    def _without_others(self, identity: str, living: Collection[Assignment]) -> list[Assignment]:
        """Of an identity that is let go: what others gave it stays, without our mark."""
        for each in living:
            if self._mark(each) and self._grantee(each) != identity:
                self.ledger.write(
                    replace(each, description=names.unsigned(each.description, self.cluster)[0])
                )
        return [each for each in living if self._mark(each) and self._grantee(each) == identity]

    @told("Microsoft.Authorization")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """By their own marks, and by those of their identities: what is given to what is ours goes with it."""
        everybody = self.identities.everybody(cluster)
        living = {each.id: (identity, each.mark) for identity, each in everybody.items()}
        scopes = [
            scope
            for each in everybody.values()
            if each.mark and each.mark.cluster == cluster
            for scope in each.scopes
        ]
        found: dict[str, Mark] = {}
        for each in self.ledger.all(self.ledger.roots(scopes), anew=True):
            whose, of = living.get(each.principal, ("", None))
            own = names.unsigned(each.description, cluster)[1]
            mark = own or of
            if not own and of and of.cluster == cluster and of.hold != "owned":
                self.staying[f"{whose}/{each.id.rpartition('/')[2]}"] = (
                    f"others gave it role {each.grant.role} in {each.grant.scope}, and it goes on having that"
                )
            identity = whose or self._grantee(each)
            if identity and mark and mark.cluster == cluster:
                found[identity] = mark
        return found

    def _read(self, identity: str) -> AssignmentsState | None:
        principal = self.identities.principal(identity)
        roots = self.ledger.roots(principal.scopes if principal else ())
        first = identity not in self.asked
        self.asked.add(identity)
        everything = self.ledger.all(roots)
        living = (
            []
            if principal is None
            else [each for each in everything if each.principal == principal.id]
            if first
            else self.ledger.of(principal.id, roots)
        )
        dead = self._dead(identity, everything) if first else []
        if principal is None and not dead:
            return None
        state = self._state(principal.id if principal else "", (*living, *dead))
        return replace(state, owner=state.owner or (principal.mark if principal else None))

    def _dead(self, identity: str, everything: Collection[Assignment]) -> list[Assignment]:
        """What bears the mark of our cluster and this identity's name, and points to nobody who has that name now."""
        principal = self.identities.principal(identity)
        ours = (each for each in everything if self._grantee(each) == identity and self._mark(each))
        return [each for each in ours if principal is None or each.principal != principal.id]

    def _written(
        self,
        identity: str,
        grant: Grant,
        want: AssignmentsState,
        have: Assignment | None,
        *,
        late: bool,
    ) -> Assignment:
        """Of one that somebody else made we keep the words, and put our mark behind them."""
        own = ids.folded(
            ids.assignment(
                grant.scope, names.assignment(grant.scope, grant.role, self._whole(identity))
            )
        )
        have = have or (self.ledger.one(own) if late else None)
        sentence = (
            names.unsigned(have.description, self.cluster)[0]
            if have
            else f"Granted to {self._whole(identity)}."
        )
        description = names.signed(sentence, want.owner) if want.owner else sentence
        wanted = Assignment(
            have.id if have else own,
            grant,
            want.principal,
            description,
            have.condition if have else ("", ""),
        )
        if have != wanted:
            self.ledger.write(wanted)
        return wanted

    def _state(
        self, principal: str, found: tuple[Assignment, ...], owner: Mark | None = None
    ) -> AssignmentsState:
        dead = sorted({each.principal for each in found if each.principal != principal})
        living = [each for each in found if each.principal == principal]
        marks = [mark for each in found if (mark := self._mark(each))]
        return AssignmentsState(
            grants=frozenset(each.grant for each in living),
            principal=dead[0] if dead else principal,
            unmarked=frozenset(each.grant for each in living if not self._mark(each)),
            found=found,
            owner=owner
            or next((mark for mark in marks if not mark.whole), next(iter(marks), None)),
        )

    def _mark(self, each: Assignment) -> Mark | None:
        return names.unsigned(each.description, self.cluster)[1]

    def _grantee(self, each: Assignment) -> str:
        """Whom it says it is for, if that is one of ours: on a scope that several subscriptions share, there may be clusters of one name."""
        found = GRANTEE.match(each.description)
        return (
            found["identity"]
            if found and found["subscription"] == self.ledger.subscription.lower()
            else ""
        )

    def _whole(self, identity: str) -> str:
        return f"{self.ledger.subscription.lower()}/{identity}"


def _order(grant: Grant) -> tuple[str, str]:
    return grant.scope, grant.role

"""Service accounts, each with the policy that says who may act as it. Many accounts are read at once; their policies Google tells one by one."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from google.api_core.exceptions import GoogleAPICallError
from google.iam.v1.policy_pb2 import Policy

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.service_account import ServiceAccountState
from cwiictl.clouds.gcp.stores import descriptions, trust
from cwiictl.clouds.gcp.stores.crowd import UNKNOWN, Crowd
from cwiictl.clouds.gcp.stores.errors import Off, absent, gone, told
from cwiictl.clouds.gcp.stores.ledger import VERSION, Ledger
from cwiictl.clouds.gcp.stores.wire import Iam
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet

PATIENCE = 120.0
UNWRITTEN = b"\x00\x20\x01"  # ACAB, as Google says of a policy that nobody has written yet: who does so first, whoever it is, is noticed


@dataclass(frozen=True)
class Member:
    """What is to be known of a service account by whoever looks for its roles."""

    name: str
    scopes: frozenset[str]  # where outside of its project it was given some
    mark: Mark


class ServiceAccounts:
    """Addressed by their ids, which are what their e-mails begin with."""

    kind, bulk, patience = "gcp/service-account", False, 600.0

    def __init__(
        self, iam: Iam, ledger: Ledger, project: str, pool: trust.Pool, cluster: str
    ) -> None:
        self.iam, self.ledger, self.project, self.pool, self.cluster = (
            iam,
            ledger,
            project,
            pool,
            cluster,
        )
        self.crowd = Crowd(iam, project)
        self.policies: dict[str, Policy] = {}  # as each was last seen in this run
        self.scopes: dict[
            str, frozenset[str]
        ] = {}  # as each was written in this run: what Google shows is late

    @told("iam")
    def get(self, accounts: Collection[str], /) -> Mapping[str, ServiceAccountState]:
        found = {
            account: self._read(account) if (seen := self.crowd.seen(account)) is UNKNOWN else seen
            for account in accounts
        }
        return {
            account: self._state(seen, self._policy(account))
            for account, seen in found.items()
            if seen
        }

    @told("iam")
    def put(
        self, account: str, want: ServiceAccountState, have: ServiceAccountState | None, /
    ) -> ServiceAccountState:
        if have is None:
            seen = self._create(account, want)
            have = self._state(seen, self.policies.setdefault(account, Policy(etag=UNWRITTEN)))
        self._describe(account, want, have)
        self.scopes[account] = want.scopes | have.scopes
        if want.disabled != have.disabled:
            self.iam.call(
                "disable_service_account" if want.disabled else "enable_service_account",
                {"name": self._path(account)},
            )
        if want.principals != have.principals:
            self._entrust(account, want.principals)
        return ServiceAccountState(
            email=have.email,
            title=want.title,
            description=want.description,
            principals=want.principals,
            disabled=want.disabled,
            scopes=want.scopes | have.scopes,
            unique_id=have.unique_id,
            owner=want.owner,
        )

    @told("iam")
    def drop(self, account: str, /) -> None:
        """Its roles go first: what is granted to who is gone would stay, and be in nobody's way and on nobody's list."""
        self.crowd.forget(account)
        seen = self._read(account)
        if seen is None:
            return
        member = ids.account_member(seen.email)
        for project in sorted(
            {self.project, *descriptions.read(seen.description, self.cluster).scopes}
        ):
            self.ledger.change(
                project,
                lambda grants: [
                    grant
                    for grant in grants
                    if member not in {grant.member, ids.gone(grant.member)}
                ],
            )
        with gone():
            self.iam.call("delete_service_account", {"name": self._path(account)})
        self.crowd.forget(account)

    @told("iam")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {
            ids.account(seen.email): self._mark(seen, cluster) for seen in self.crowd.everybody()
        }
        return {
            account: mark
            for account, mark in marks.items()
            if account and mark and mark.cluster == cluster
        }

    @told("iam")
    def members(self, cluster: str) -> list[Member]:
        """Those that bear the cluster's mark, as they are now."""
        found = (
            (seen, descriptions.read(seen.description, cluster)) for seen in self.crowd.everybody()
        )
        return [
            Member(ids.account_member(seen.email), said.scopes, said.owner)
            for seen, said in found
            if said.owner and said.owner.cluster == cluster
        ]

    def withdraw(self, project: str) -> None:
        """Those of the cluster have no roles there any more."""
        for seen in self.crowd.everybody():
            said = descriptions.read(seen.description, self.cluster)
            if said.owner and said.owner.cluster == self.cluster and project in said.scopes:
                account = ids.account(seen.email)
                scopes = (said.scopes | self.scopes.get(account, frozenset())) - {project}
                with gone():
                    self._patch(
                        account,
                        {"description": descriptions.written(said.sentence, said.owner, scopes)},
                    )
                self.scopes[account] = scopes

    @told("iam")
    def entitled(self, account: str, title: str) -> str:
        """One whose id is ours; or one of that title that is the cluster's, or ccoctl's for it; or none yet."""
        found = {ids.account(seen.email): seen for seen in self.crowd.all()}
        if account in found:
            return account
        marks = (
            (other, self._mark(seen, self.cluster))
            for other, seen in sorted(found.items())
            if other and seen.display_name == title
        )
        return next(
            (other for other, mark in marks if mark and names.own(mark.cluster) == self.cluster),
            account,
        )

    def _mark(self, seen: Any, cluster: str) -> Mark | None:
        said = descriptions.read(seen.description, cluster, seen.display_name)
        mine = not said.ccoctls or (
            self._meant(said, cluster) and self.pool.believed(self._policy(ids.account(seen.email)))
        )
        return said.owner if mine else None

    @staticmethod
    def _meant(said: descriptions.Told, cluster: str) -> bool:
        """Whether it could be ccoctl's for this cluster. It could be for one whose name begins alike, too: only whom it believes tells."""
        return said.owner is not None and names.own(said.owner.cluster) == names.own(cluster)

    def _create(self, account: str, want: ServiceAccountState) -> Any:
        wish = {
            "display_name": want.title,
            "description": descriptions.written(want.description, want.owner, want.scopes),
        }
        seen = self.iam.call(
            "create_service_account",
            {"name": f"projects/{self.project}", "account_id": account, "service_account": wish},
        )
        self.crowd.learn(account, seen)
        return seen

    def _describe(self, account: str, want: ServiceAccountState, have: ServiceAccountState) -> None:
        """What is let go of keeps none of our words."""
        description = descriptions.written(
            want.description, want.owner, want.scopes | have.scopes if want.owner else ()
        )
        before = {
            "display_name": have.title,
            "description": descriptions.found(have.description, have.owner, have.scopes),
        }
        after = {"display_name": want.title, "description": description}
        if changed := {field: text for field, text in after.items() if text != before[field]}:
            self._patch(account, changed)

    def _patch(self, account: str, changed: Mapping[str, str]) -> None:
        wish = {"name": self._path(account), **changed}
        self.iam.call(
            "patch_service_account",
            {"service_account": wish, "update_mask": {"paths": list(changed)}},
        )

    def _entrust(self, account: str, principals: Collection[str]) -> None:
        """Over what was seen: whoever came in between makes it fail, and all is decided anew."""
        policy = self.pool.entrusted(
            self.policies.pop(account, None) or self._policy(account), principals
        )
        self.policies.pop(account, None)
        self.policies[account] = self.iam.call(
            "set_iam_policy", {"resource": self._path(account), "policy": policy}
        )

    def _policy(self, account: str) -> Policy:
        with gone():
            wish = {
                "resource": self._path(account),
                "options": {"requested_policy_version": VERSION},
            }
            self.policies[account] = self.iam.call("get_iam_policy", wish)
            return self.policies[account]
        return Policy()

    def _read(self, account: str) -> Any:
        try:
            return self.iam.call("get_service_account", {"name": self._path(account)})
        except GoogleAPICallError as e:
            if not absent(e):
                raise
            if account in self.crowd.made:
                raise NotYet(f"{self.kind}/{account} is made, and not shown yet") from e
            return None

    def _path(self, account: str) -> str:
        return ids.service_account(self.project, ids.email(account, self.project))

    def _state(self, seen: Any, policy: Policy) -> ServiceAccountState:
        said = descriptions.read(seen.description, self.cluster, seen.display_name)
        return ServiceAccountState(
            email=seen.email,
            title=seen.display_name,
            description=said.sentence,
            principals=self.pool.principals(policy),
            disabled=bool(seen.disabled),
            scopes=said.scopes,
            unique_id=seen.unique_id,
            owner=said.owner if not said.ccoctls or self.pool.believed(policy) else None,
        )


class Entitled:
    """Ccoctl ends its ids with chance: such an account is found by its title, before and after it was taken over."""

    kind = "gcp/service-accounts"

    def __init__(self, accounts: ServiceAccounts) -> None:
        self.accounts = accounts
        self.lock = threading.Lock()

    def name(self, account: str, title: str) -> str:
        """It is asked while a plan is made, and so it has to be patient by itself."""
        found: list[str] = []

        def look(_kind: str, _tried: int) -> str:
            with suppress(Off):  # an API that is off has its own word to say
                found.append(self.accounts.entitled(account, title))
            return "read"

        with self.lock:
            run(Job({self.kind: ()}, look, patience=lambda _kind: PATIENCE), Pace(1)).checked()
        return found[0] if found else account

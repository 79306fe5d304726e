"""A cloud that throttles, fails and shows late what was written, and people who write where we write: the run takes longer, and ends the same."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys import weather
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import (
    ACCOUNTS,
    BUCKET,
    BUCKETS,
    INGRESS,
    LEFT,
    NOTHING,
    REGISTRY,
    GcpGround,
)
from tests.journeys.gcp.release import twenty_gcp_requests

SET = "resourcemanager.projects.setIamPolicy"
POLICY = f"/v1/projects/{PROJECT}"


@pytest.mark.soak
def test_one_request_in_five_failing_and_two_seconds_of_lag_change_nothing(
    clean_gcp: Any, enter: Enter
) -> None:
    weather.changes_nothing(
        enter(failures=0.2, lag=2.0, seed=1), clean_gcp, NOTHING, "--delete-shared-roles"
    )


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 6))
def test_twenty_requests_come_through_bad_weather(enter: Enter, seed: int) -> None:
    ground = enter(failures=0.2, lag=2.0, seed=seed)
    ground.requests(twenty_gcp_requests())

    done = ground.create_all()

    assert done.code == 0, done.out
    assert len(done.things) == 33
    weather.good(ground)
    clouds = ground.clouds()
    members = [member for each in clouds["policies"][PROJECT] for member in each["members"]]
    assert (len(clouds["accounts"]), len(clouds["roles"]), len(members)) == (20, 4, 29)
    weather.bad(ground)
    assert ground.delete("--yes").code == 0
    weather.good(ground)
    assert ground.clouds() == {**LEFT, "roles": clouds["roles"]}


def test_a_throttled_run_says_on_request_what_it_waits_for(enter: Enter) -> None:
    weather.told(enter(failures=0.2, seed=4), "Google")


@dataclass
class Somebody:
    """Who writes into the same documents all the time, as other tools do: reads, adds what is theirs, and writes under the etag."""

    ground: GcpGround
    name: str
    done: threading.Event = field(default_factory=threading.Event)
    members: dict[str, list[str]] = field(
        default_factory=dict[str, list[str]]
    )  # by the path of the policy: whom they have added
    labels: dict[str, str] = field(default_factory=dict[str, str])
    late: int = 0  # how often another was there before them, in the project's policy

    def project(self) -> None:
        for number in self._numbers():
            wish = {"options": {"requestedPolicyVersion": 3}}
            self.late += not self._add(
                number, "cloudresourcemanager", POLICY, f"{POLICY}:getIamPolicy", wish
            )

    def accounts(self) -> None:
        """As soon as they are there."""
        emails: list[str] = []
        for number in self._numbers():
            listed: Any = (
                {"accounts": ()}
                if len(emails) == 2
                else self.ask("GET", "iam", f"{ACCOUNTS}?pageSize=100")
            )
            emails += [
                str(each["email"])
                for each in listed["accounts"]
                if each.get("displayName") in {INGRESS, REGISTRY} and each["email"] not in emails
            ]
            if emails:
                path = f"{ACCOUNTS}/{emails[number % len(emails)]}"
                self._add(
                    number, "iam", path, f"{path}:getIamPolicy?options.requestedPolicyVersion=3"
                )

    def bucket(self) -> None:
        """Over and over the same few: there is no room for more than 64."""
        for number in self._numbers():
            told = {f"{self.name}-{number % 20}": f"{number}"}
            if self.ask("PATCH", "storage", f"{BUCKETS}/{BUCKET}", {"labels": told}) is not None:
                self.labels |= told

    def _numbers(self) -> Iterator[int]:
        for number in count():
            if self.done.wait(0.02):
                return
            yield number

    def _add(self, number: int, host: str, path: str, read: str, wish: Any = None) -> bool:
        policy = self.ask("POST", host, read, wish)
        member = f"user:{self.name}-{number}@example.org"
        condition = (
            {"condition": {"title": f"until {number}", "expression": "true"}} if number % 2 else {}
        )
        if policy is None:
            return False
        bound = [
            *policy.get("bindings", ()),
            {"role": "roles/browser", "members": [member], **condition},
        ]
        written = (
            self.ask(
                "POST",
                host,
                f"{path}:setIamPolicy",
                {"policy": {**policy, "version": 3, "bindings": bound}},
            )
            is not None
        )
        if written:
            self.members.setdefault(path, []).append(member)
        return written

    def ask(self, method: str, host: str, path: str, body: Any = None) -> Any:
        """None where another was there before them, or nothing is."""
        url = f"https://{host}.googleapis.com{path}"
        answer = self.ground.session.request(
            method, url, json=body, headers={"Authorization": self.ground.bearer()}, timeout=30
        )
        assert answer.ok or answer.status_code in {404, 409, 412}, answer.text
        return answer.json() if answer.ok else None


@contextmanager
def somebody(ground: GcpGround, name: str = "theirs") -> Generator[Somebody]:
    who = Somebody(ground, name)
    threads = [threading.Thread(target=work) for work in (who.project, who.accounts, who.bucket)]
    for thread in threads:
        thread.start()
    try:
        yield who
    finally:
        who.done.set()
        for thread in threads:
            thread.join(30)


def theirs(bindings: list[Any]) -> list[str]:
    return sorted(
        member for each in bindings for member in each["members"] if member.startswith("user:")
    )


def test_nothing_that_somebody_else_writes_meanwhile_is_lost(clean_gcp: Any, enter: Enter) -> None:
    ground = enter(latency=0.02)
    with somebody(ground) as who:
        done = ground.create_all()
        assert done.code == 0, done.out

    assert _refused(ground) > who.late  # our own run has met them
    assert len(who.members[POLICY]) > 5
    clouds, tree = ground.everything()
    assert (without(who, clouds), tree) == clean_gcp


def without(who: Somebody, clouds: Any) -> Any:
    """All that is there but for what is theirs, which is all there."""
    policy, labels = clouds["policies"][PROJECT], clouds["buckets"][BUCKET]["labels"]
    assert theirs(policy) == sorted(who.members[POLICY])
    assert {key: value for key, value in labels.items() if key.startswith("theirs-")} == who.labels
    for email, account in clouds["accounts"].items():
        assert theirs(account["bindings"]) == sorted(who.members.get(f"{ACCOUNTS}/{email}", []))
        account["bindings"] = [each for each in account["bindings"] if not theirs([each])]
    clouds["policies"][PROJECT] = [each for each in policy if not theirs([each])]
    clouds["buckets"][BUCKET]["labels"] = {
        key: value for key, value in labels.items() if not key.startswith("theirs-")
    }
    return clouds


def test_nothing_that_somebody_else_writes_while_ours_is_repaired_and_goes_is_lost(
    enter: Enter,
) -> None:
    ground = enter()
    assert ground.create_all().code == 0
    clouds = ground.clouds()
    for email in clouds["accounts"]:
        by_hand.trust(ground, email, [])
    by_hand.bucket(ground, BUCKET, labels={"name": "another"})
    by_hand.revoked(ground, "roles/dns.admin", f"serviceAccount:{ground.account(INGRESS)}")
    ground.sandbox.faults.latency = 0.02

    with somebody(ground) as who:
        done = ground.create_all(
            "--concurrency", "1"
        )  # so that it is long between reading and writing
        assert done.code == 0, done.out
    assert sorted(done.fields.values()) == [["grants"], ["labels"], ["principals"], ["principals"]]
    assert without(who, ground.clouds()) == clouds

    with somebody(ground, "others") as again:
        gone = ground.delete("--yes")
        assert gone.code == 0, gone.out
    left = ground.clouds()
    assert theirs(left["policies"][PROJECT]) == sorted(again.members[POLICY] + who.members[POLICY])
    assert {**left, "policies": NOTHING["policies"]} == LEFT
    assert all(theirs([each]) == sorted(each["members"]) for each in left["policies"][PROJECT])


def _refused(ground: GcpGround) -> int:
    """How often somebody was late with the project's policy, whoever it was."""
    return sum(seen.action == SET and seen.status == 409 for seen in ground.sandbox.record)

"""Whatever goes wrong, verify names the cause, and nothing else: with tokens at hand or without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.journeys import planted
from tests.journeys.planted import FAULTS, GOOGLES, Fault
from tests.journeys.three import All, asked

TOKENS = ("--exchange", "--mint")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[All]:
    """Made once: what a fault has changed is mended by the next run, as a user would mend it."""
    with asked(tmp_path_factory.mktemp("work")) as ground:
        yield ground


@pytest.fixture
def ground(healthy: All) -> Iterator[All]:
    done = healthy.create_all()
    assert done.code == 0, done.err
    yield healthy
    faults = healthy.sandbox.faults
    faults.certificates.clear()
    faults.spoil, faults.clock = lambda _request, response: response, healthy.sandbox.settings.clock
    with healthy.aws("s3") as s3:
        s3.delete_object(
            Bucket=planted.BUCKET, Key=planted.KEYS
        )  # which nobody may replace without saying so


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_cause_is_named_and_nothing_else(ground: All, fault: Fault) -> None:
    thing = planted.service_account(ground) if fault.thing == GOOGLES else fault.thing
    fault.plant(ground)

    for done in (ground.verify(), ground.verify(*TOKENS)):
        wrong = [
            each for each in done.data["findings"] if each["severity"] in {"warning", "failed"}
        ]
        assert [(each["thing"], each["check"], each["severity"]) for each in wrong] == [
            (thing, fault.check, fault.severity)
        ], wrong
        assert fault.words in wrong[0]["problem"]
        assert wrong[0]["remedy"]
        assert done.code == (3 if fault.severity == "failed" else 0)


REFUSED = {
    "aws": "IDPCommunicationError",
    "azure": "AADSTS501661: Request to External OIDC endpoint failed",
    "gcp": "invalid_grant: Error connecting to the given credential's issuer",
}


def test_what_only_the_clouds_see_is_found_with_tokens_alone(ground: All) -> None:
    """Here they read no more than 256 KiB, and verify as much as the most patient of the real ones."""
    planted.said(padding="x" * (300 << 10))(ground)

    assert ground.verify().code == 0
    done = ground.verify(*TOKENS, "--debug")

    assert "eyJ" not in done.out + done.err  # as every token begins, those that are refused too
    wrong = [each for each in done.data["findings"] if each["severity"] != "ok"]
    assert done.code == 3
    assert (
        len(wrong)
        == sum(each["check"].startswith("token of") for each in done.data["findings"])
        == 9
    )
    assert all(
        REFUSED[each["thing"].partition("/")[0]] in each["problem"]
        and "can read the issuer's documents" in each["remedy"]
        for each in wrong
    )

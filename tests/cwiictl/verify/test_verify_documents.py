"""What is said of a key that is not published: how to publish it, but of one that was rotated away nothing that would bring it back."""

from __future__ import annotations

import json

import pytest

from cwiictl.issuer.page import Page
from cwiictl.issuer.rotation import Rotation, Stage, begin
from cwiictl.oidc import VerificationKey
from cwiictl.verify.documents import signing_key

OLD = VerificationKey("the-old-key-and-more", "AQAB", "AQAB", "")
NEW = VerificationKey("the-new-key-and-more", "AQAC", "AQAB", "")


def remedy(stage: Stage, header: str) -> str:
    stands = Rotation(stage, 1, begin(OLD.kid), begin(NEW.kid))
    page = Page(
        "https://id.example.org/keys",
        200,
        {header: stands.word},
        json.dumps({"keys": [NEW.jwk]}).encode(),
    )
    (finding,) = signing_key("issuer", OLD, page)
    assert finding.severity == "failed"
    return finding.remedy


@pytest.mark.parametrize(
    "header", ["x-amz-meta-cwii-rotation", "x-ms-meta-cwii_rotation", "x-goog-meta-cwii_rotation"]
)
@pytest.mark.parametrize("stage", ["unpublish", "forget"])
def test_of_a_key_that_was_rotated_away_the_one_after_it_is_named(
    stage: Stage, header: str
) -> None:
    assert "the-new-key-..." in remedy(stage, header)
    assert "--add-key" not in remedy(stage, header)


def test_any_other_key_can_be_published_too() -> None:
    assert "--add-key" in remedy("sign", "x-amz-meta-cwii-rotation")
    assert "--add-key" in remedy("forget", "x-amz-meta-another")

"""What came of a run, put where it belongs."""

from __future__ import annotations

from cwiictl.actions.result import Caller, Result, Row
from cwiictl.actions.sight import Side, Sight
from cwiictl.cli.picture import drawn
from cwiictl.engine.resource import Difference
from cwiictl.errors import Denied
from cwiictl.picture.map import Acting, Note
from cwiictl.verify.finding import Finding

ROLE = "aws/role/demo-shop"
SIGHT = Sight(
    "demo",
    "https://issuer",
    "kid",
    frozenset({"aws/document/discovery", "local/key/signing-key"}),
    (
        Side(
            "aws",
            "AWS",
            (Acting(ROLE, "shop", ("billing",), "demo-shop", parts=("aws/policy/demo-shop",)),),
        ),
        Side("gcp", "Google Cloud", ()),
    ),
)


def of(
    *rows: Row, findings: tuple[Finding, ...] = (), failures: tuple[Exception, ...] = ()
) -> Result:
    return Result(
        (Caller("aws", "123456789012", "me"),), rows=rows, findings=findings, failures=failures
    )


def test_every_row_has_one_place() -> None:
    rows = [
        Row(ROLE, "as wanted"),
        Row("aws/policy/demo-shop", "as wanted"),
        Row("aws/document/discovery", "as wanted"),
        Row("local/key/signing-key", "as wanted"),
        Row("k8s/api-server/10.0.0.1:6443", "present", problem="signs with abc..."),
        Row("aws/oidc-provider/issuer", "as wanted"),
        Row("aws/role/demo-old", "left over"),
        Row("gcp/pool/demo", "present"),
    ]

    map_ = drawn(of(*rows), SIGHT)

    aws, gcp = map_.clouds
    assert {thing.address for thing in map_.things} == {row.thing for row in rows}
    assert len(map_.things) == len(rows)
    assert {thing.address for thing in map_.issuer.things} == {
        "aws/document/discovery",
        "local/key/signing-key",
        "k8s/api-server/10.0.0.1:6443",
    }
    assert [thing.address for thing in aws.things] == ["aws/oidc-provider/issuer"]
    assert [thing.address for thing in (*aws.others, *gcp.others)] == [
        "aws/role/demo-old",
        "gcp/pool/demo",
    ]
    assert [thing.address for identity in map_.identities for thing in identity.things] == [
        ROLE,
        "aws/policy/demo-shop",
    ]


def test_what_is_found_of_a_thing_that_status_has_no_row_for_is_not_lost() -> None:
    map_ = drawn(
        of(
            findings=(
                Finding(
                    "out/webhook.yaml",
                    "what is told",
                    "failed",
                    "it lacks the tenant",
                    "have it written anew",
                ),
            )
        ),
        SIGHT,
    )

    (thing,) = map_.issuer.things
    assert (thing.address, thing.condition, thing.state) == ("out/webhook.yaml", "failed", "wrong")
    assert thing.notes == (Note("wrong", "It lacks the tenant.", "Have it written anew."),)


def test_a_finding_is_worse_than_drift_and_what_is_missing_stays_missing() -> None:
    finding = Finding(ROLE, "trust", "failed", "the role trusts nobody")
    cases = (
        of(Row(ROLE, "drifted", (Difference("trust", "nobody", "us"),)), findings=(finding,)),
        of(Row(ROLE, "missing"), findings=(finding,)),
        of(
            Row(ROLE, "as wanted"),
            findings=(finding,),
            failures=(Denied("the role trusts nobody", remedy=""),),
        ),
    )
    drifted, missing, unread = (drawn(case, SIGHT).identities[0] for case in cases)

    assert (drifted.condition, missing.condition, unread.condition) == (
        "not believed",
        "missing",
        "failed",
    )
    assert [note.text for note in drifted.notes] == [
        "trust: nobody -> us",
        "The role trusts nobody.",
    ]
    assert {each.state for each in (drifted, missing, unread)} == {"wrong"}


def test_what_both_say_is_said_once() -> None:
    finding = Finding(ROLE, "trust", "failed", "iam:GetRole is not allowed")

    (identity,) = drawn(
        of(Row(ROLE, "failed", problem="iam:GetRole is not allowed"), findings=(finding,)), SIGHT
    ).identities

    assert [note.text for note in identity.notes] == ["iam:GetRole is not allowed."]

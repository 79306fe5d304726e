"""Findings quote what others have published: any text is well-formed XML in the end, and none of it drives a terminal."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest
from click import unstyle

from cwiictl.cli.findings import junit, lines
from cwiictl.verify.finding import Finding, Severity

ANY = "has \x00\x1b[31mkeys\ud800\uffff"


@pytest.mark.parametrize("severity", ["failed", "warning", "not tried"])
def test_whatever_was_published_is_shown_and_not_sent(severity: Severity) -> None:
    found = [Finding(f"issuer {ANY}", "signing key", severity, ANY, ANY)]

    suite = fromstring(junit(found))  # noqa: S314 - our own
    told = "\n".join(lines(found))

    assert "\\x1b[31mkeys" in suite[0].attrib["classname"]
    assert r"has \x00\x1b[31mkeys\ud800\uffff" in told
    assert not any(raw in told for raw in ("\x00", "\ud800", "\uffff", "\x1b[31mkeys"))


def test_a_long_check_makes_its_own_line_longer_and_not_all() -> None:
    found = [
        Finding("a", "trust"),
        Finding("b", "signing key"),
        Finding("c", "token of some-namespace/some-service-account"),
    ]

    assert [unstyle(line) for line in lines(found)] == [
        "  ok          trust        a",
        "  ok          signing key  b",
        "  ok          token of some-namespace/some-service-account  c",
        "3 ok.",
    ]

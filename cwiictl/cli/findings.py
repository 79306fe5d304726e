"""What `verify` found, as lines for people, and as JUnit's XML for whoever shows test results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from cwiictl.cli.wording import coloured, sentence, shown, wrapped
from cwiictl.verify.finding import Finding

COLOURS = {"ok": "green", "warning": "yellow", "failed": "red", "not tried": "red"}
NARROW = (
    20  # characters of a check: one that is longer makes its own line longer, and not all lines
)


def lines(found: Sequence[Finding]) -> Iterator[str]:
    width = max((len(each.check) for each in found if len(each.check) <= NARROW), default=0)
    told: set[tuple[str, str]] = set()
    for each in found:
        yield f"  {coloured(f'{each.severity:<10}', COLOURS[each.severity])}  {each.check:<{width}}  {shown(each.thing)}"
        if each.problem and (each.problem, each.remedy) not in told:
            yield from _why(each)
        told.add((each.problem, each.remedy))
    counts = Counter(each.severity for each in found)
    yield f"{', '.join(f'{count} {severity}' for severity, count in counts.items())}."


def _why(each: Finding) -> Iterator[str]:
    """What several things have in common is told with the first of them."""
    yield from wrapped(sentence(shown(each.problem)))
    if each.remedy:
        yield from wrapped(sentence(shown(each.remedy)))


def junit(found: Sequence[Finding]) -> bytes:
    """A case for each finding. What is no more than a warning has passed, and says so in its output.

    What was published may be any text, and XML has no way to say all of it.
    """
    counts = Counter(each.severity for each in found)
    told = {
        "name": "cwiictl verify",
        "tests": len(found),
        "failures": counts["failed"],
        "skipped": counts["not tried"],
        "errors": 0,
    }
    suite = Element("testsuite", {key: str(value) for key, value in told.items()})
    for each in found:
        _case(
            SubElement(suite, "testcase", {"classname": shown(each.thing), "name": each.check}),
            each,
        )
    indent(suite)
    return tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n"


def _case(case: Element, each: Finding) -> None:
    problem, text = (
        shown(each.problem),
        "\n".join(sentence(shown(part)) for part in (each.problem, each.remedy) if part),
    )
    match each.severity:
        case "failed":
            SubElement(case, "failure", {"message": problem}).text = text
        case "not tried":
            SubElement(case, "skipped", {"message": problem})
        case "warning":
            SubElement(case, "system-out").text = text
        case _:
            pass

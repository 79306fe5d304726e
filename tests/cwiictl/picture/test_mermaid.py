"""The diagram: every text in it is a text, and many are counted."""

from __future__ import annotations

import re

from cwiictl.picture.mermaid import MOST, mermaid
from tests.picture.maps import NASTY, a_map

NODE = re.compile(r'  \w+(\["[^"]*"\]|\(\["[^"]*"\]\))(:::(warning|wrong))?')
EDGE = re.compile(r"  \w+ (-->|---)(\|[\w ]+\|)? \w+")


def lines(diagram: bytes) -> list[str]:
    head, *rest = diagram.decode().splitlines()
    assert head == "flowchart LR"
    return [line for line in rest if "classDef" not in line]


def test_every_line_is_a_node_or_an_edge_whatever_things_are_called() -> None:
    found = lines(mermaid(a_map(6, nasty=True)))

    assert [line for line in found if not (NODE.fullmatch(line) or EDGE.fullmatch(line))] == []
    assert not any(sign in line for line in found for sign in ("<script", "${", "`", "'"))
    assert "#60;script#62;alert(1)#60;/script#62;#34;#39;" in "\n".join(found)
    assert NASTY not in "\n".join(found)


def test_every_service_account_leads_to_what_it_may_act_as_and_that_to_its_cloud() -> None:
    found = lines(mermaid(a_map(4)))

    assert [line for line in found if " --> i" in line and "-->|" not in line] == [
        f"  w{w} --> i{i}" for w, i in ((0, 0), (1, 1), (2, 2), (3, 3), (3, 4), (3, 5))
    ]
    assert [line for line in found if " --- " in line] == [
        f"  i{i} --- {cloud}"
        for i, cloud in enumerate(("aws", "azure", "gcp", "aws", "azure", "gcp"))
    ]
    assert '  i0["AWS<br/>prod-billing-api-0"]' in found


def test_what_is_wrong_is_marked_and_named() -> None:
    assert (
        '  i8["Azure<br/>prod-logistics-a-controller-with-quite-a-long-name-of-its-own-5<br/>not believed"]:::wrong'
        not in lines(mermaid(a_map(4)))
    )
    assert any(
        "not believed" in line and line.endswith(":::wrong") for line in lines(mermaid(a_map(8)))
    )


def test_more_than_anybody_could_follow_are_counted_by_namespace() -> None:
    drawn = a_map(300)
    found = lines(mermaid(drawn))

    assert len(drawn.identities) > MOST
    assert len([line for line in found if NODE.fullmatch(line)]) == 1 + 3 + 8
    assert '  n0(["billing<br/>51 ServiceAccounts"]):::warning' in found
    assert len([line for line in found if EDGE.fullmatch(line)]) < 500

"""An issuer that cannot be read says who can mend that."""

from __future__ import annotations

import pytest

from cwiictl.errors import NotYet
from cwiictl.issuer.documents import IssuerState
from cwiictl.issuer.stores.web import Web

NOWHERE = "https://127.0.0.1:1"  # nobody listens there


@pytest.mark.parametrize(("wanted", "told"), [("open the bucket", "open the bucket"), ("", "ask the host")])
def test_what_only_the_owner_of_its_place_can_do_is_said_before_what_we_suppose(wanted: str, told: str) -> None:
    with pytest.raises(NotYet, match="cannot be reached") as raised:
        Web(0.0, "ask the host").put(NOWHERE, IssuerState(url=NOWHERE, remedy=wanted), None)

    assert raised.value.remedy == told

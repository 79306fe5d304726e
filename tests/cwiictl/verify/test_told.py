"""What a file says that was written earlier, beside what it would say now."""

from __future__ import annotations

import base64
import json

import pytest
import yaml

from cwiictl.errors import BadInput
from cwiictl.verify.told import differing


def a_secret(**changes: str) -> bytes:
    said = {"azure_client_id": "1", "azure_tenant_id": "2", **changes}
    return yaml.safe_dump(
        {"kind": "Secret", "metadata": {"name": "cloud", "namespace": "shop"}, "stringData": said}
    ).encode()


def test_what_is_the_same_or_anothers_is_no_difference() -> None:
    assert list(differing("file", a_secret(), a_secret())) == []
    assert list(differing("file", a_secret(credentials="of another cloud"), a_secret())) == []


def test_every_word_that_is_another_is_named_with_whose_it_is() -> None:
    told = list(
        differing(
            "file", a_secret(azure_tenant_id="3"), a_secret(credentials="[default]\nrole_arn = x")
        )
    )

    assert told == [
        "azure_tenant_id of shop/cloud is 3, and not 2",
        "it lacks credentials of shop/cloud",
    ]


def test_a_thing_that_is_not_there_at_all_is_named_once() -> None:
    other = a_secret().replace(b"name: cloud", b"name: other")

    assert list(differing("file", a_secret(), b"---\n".join((a_secret(), other)))) == [
        "it lacks shop/other"
    ]


def test_what_is_long_or_of_several_lines_is_not_shown() -> None:
    told = list(
        differing(
            "file",
            a_secret(credentials="[default]\nrole_arn = x"),
            a_secret(credentials="[default]\nrole_arn = y"),
        )
    )

    assert told == ["credentials of shop/cloud is not what it would be now"]


def test_data_are_compared_as_what_they_stand_for() -> None:
    def coded(text: str) -> bytes:
        return json.dumps(
            {
                "metadata": {"name": "a", "namespace": "b"},
                "data": {"file": base64.b64encode(text.encode()).decode()},
            }
        ).encode()

    assert list(differing("file", coded("x"), coded("y"))) == ["file of b/a is x, and not y"]


def test_of_the_same_word_in_several_places_each_is_looked_at() -> None:
    have, want = (
        {"type": "external_account", "source": {"type": "text", "file": file}}
        for file in ("/a", "/b")
    )

    assert list(differing("file", json.dumps(have).encode(), json.dumps(want).encode())) == [
        "file is /a, and not /b"
    ]


def test_what_is_no_yaml_is_told() -> None:
    with pytest.raises(BadInput, match="file"):
        list(differing("file", b"{", a_secret()))

"""What is told of two objects that differ, one as it is and one as it would be."""

from __future__ import annotations

from typing import Any

from cwiictl.engine.resource import Difference
from cwiictl.kubernetes.state import differing


def an_object(*ports: dict[str, Any]) -> dict[str, Any]:
    """All of it ours."""
    held: dict[str, Any] = {
        f'k:{{"port":{port["port"]}}}': {".": {}, **{f"f:{name}": {} for name in port}}
        for port in ports
    }
    entry: dict[str, Any] = {
        "manager": "cwiictl",
        "operation": "Apply",
        "fieldsV1": {"f:spec": {"f:ports": held}},
    }
    return {
        "kind": "Service",
        "metadata": {"managedFields": [entry]},
        "spec": {"ports": list(ports)},
    }


HTTPS, METRICS = {"port": 443, "name": "https"}, {"port": 8080, "name": "metrics"}


def test_an_element_that_comes_or_goes_is_one_difference() -> None:
    assert list(differing(an_object(HTTPS, METRICS), an_object(HTTPS))) == [
        Difference("spec.ports[8080]", None, METRICS)
    ]
    assert list(differing(an_object(HTTPS), an_object(HTTPS, METRICS))) == [
        Difference("spec.ports[8080]", METRICS, None)
    ]


def test_of_an_element_that_stays_each_field_is_one() -> None:
    other = {**HTTPS, "name": "other"}

    assert list(differing(an_object(HTTPS), an_object(other))) == [
        Difference("spec.ports[443].name", "other", "https")
    ]

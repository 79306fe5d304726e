"""CEL, as far as mappings and conditions go."""

from __future__ import annotations

import pytest

from cwiictl.sandbox.gcp.sts import cel

KNOWN = {
    "assertion": {
        "sub": "system:serviceaccount:ns:sa",
        "kubernetes.io": {"namespace": "ns"},
        "aud": ["one", "two"],
        "level": 3,
    },
    "google": {"subject": "ns/sa"},
    "attribute": {"kind": "serviceaccount"},
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("assertion.sub", "system:serviceaccount:ns:sa"),
        ("assertion['kubernetes.io']['namespace'] + '/x'", "ns/x"),
        ("assertion.sub.split(':')[3]", "sa"),
        ("assertion.sub.extract('serviceaccount:{name}:')", "ns"),
        ("assertion.sub.extract('user:{name}:')", ""),
        ("assertion.sub.replace('system:', '').upperAscii()", "SERVICEACCOUNT:NS:SA"),
        ("'one' in assertion.aud && !('three' in assertion.aud)", True),
        ("google.subject in ['a', \"ns/sa\"]", True),
        ("attribute.kind != 'user'", True),
        ("assertion.level >= 3 && assertion.level < 4", True),
        ("(false || true) && false", False),
        ("false || true && false", False),
        (
            "has(assertion.email) ? assertion.email : assertion.sub.endsWith(':sa') ? 'sa' : 'none'",
            "sa",
        ),
        ("assertion.email == 'x' || true", True),
        ("assertion.email == 'x' && false", False),
        ("['a', 'b'].join('-')", "a-b"),
        ("size(assertion.aud)", 2),
        ("assertion.sub.matches(r'^system:\\w+:')", True),
        ("'it\\'s'", "it's"),
    ],
)
def test_an_expression_has_its_value(expression: str, value: object) -> None:
    assert cel.value(expression, KNOWN) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "assertion.email",
        "assertion.email == 'x'",
        "assertion.sub ==",
        "sub",
        "assertion.sub $",
        "a b",
        "assertion.sub.fly()",
        "f(1)",
        "(true",
    ],
)
def test_what_has_no_value_is_unusable(expression: str) -> None:
    with pytest.raises(cel.Unusable):
        cel.value(expression, KNOWN)

"""What is worked out once: it is the same as if it were worked out anew, and strangers cannot make it grow."""

from __future__ import annotations

import base64
import json
from typing import Any

from cwii_webhook.admission.memo import HEAVY, Memo
from cwii_webhook.admission.pieces import Op, piece, sent
from cwii_webhook.admission.review import encode

from tests.webhook.dialects.cwii.pods import AWS, AZURE, GCP, a_pod, made


def test_the_oldest_makes_room() -> None:
    memo: Memo[int, int] = Memo(3)
    for number in range(5):
        memo.keep(number, number, 1)

    assert (len(memo), memo.get(1), memo.get(2), memo.get(4)) == (3, None, 2, 4)


def test_what_is_heavy_is_not_kept() -> None:
    memo: Memo[str, int] = Memo()

    assert memo.keep("k", 1, HEAVY + 1) == 1
    assert memo.get("k") is None


def test_what_is_sent_are_the_ops() -> None:
    """Whatever their lengths are, for three bytes are four characters."""
    pieces = [
        piece([Op("add", f"/{'x' * length}", "é" * length) for _ in range(count)])
        for count in (1, 2)
        for length in range(5)
    ]
    ops = [op for one in pieces for op in one.ops]

    assert json.loads(
        base64.b64decode(json.loads(encode(sent(pieces))), validate=True)
    ) == json.loads(encode(ops))


def test_pods_that_are_given_the_same_may_look_otherwise() -> None:
    """Each pod is asked about among the others, and alone."""
    says = AWS | AZURE | GCP
    mount = {"name": "cwii-aws-token", "mountPath": "/elsewhere"}
    looks: tuple[dict[str, Any], ...] = (
        {},
        {"volumes": [{"name": "data"}]},
        {"containers": [{"name": "c", "env": [], "volumeMounts": []}]},
        {"containers": [{"name": "c", "env": [{"name": "AWS_ROLE_ARN", "value": "mine"}]}]},
        {"containers": [{"name": "c", "volumeMounts": [mount]}]},
        {
            "containers": [
                {
                    "name": "c",
                    "volumeMounts": [
                        {"name": "mine", "mountPath": "//var/run/secrets/cwii.dev//aws/"}
                    ],
                }
            ]
        },
        {"containers": [{"name": "c"}, {"name": "d"}]},
        {
            "initContainers": [{"name": "i"}],
            "volumes": [{"name": "cwii-aws-token", "emptyDir": {}}],
        },
    )
    before = [made(a_pod(**look), account=says)[1] for look in looks]
    after = [made(a_pod(**look), account=says)[1] for look in reversed(looks)]

    assert before == after[::-1]
    assert len({json.dumps(pod) for pod in before}) == len(looks)


def test_what_is_said_by_another_voice_is_another_gift() -> None:
    roles = [
        made(
            a_pod(),
            account=AWS | {"cwii.dev/aws-role-arn": f"arn:aws:iam::123456789012:role/{name}"},
        )[1]
        for name in ("a", "b", "a")
    ]

    assert roles[0] == roles[2] != roles[1]

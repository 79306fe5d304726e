"""Pods with the same annotations may differ in everything else."""

from __future__ import annotations

import json
from typing import Any

from tests.webhook.dialects.cwii.pods import AWS, AZURE, GCP, inject, make_pod


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
    before = [inject(make_pod(**look), account=says)[1] for look in looks]
    after = [inject(make_pod(**look), account=says)[1] for look in reversed(looks)]

    assert before == after[::-1]
    assert len({json.dumps(pod) for pod in before}) == len(looks)


def test_what_is_said_by_another_voice_is_another_gift() -> None:
    roles = [
        inject(
            make_pod(),
            account=AWS | {"cwii.dev/aws-role-arn": f"arn:aws:iam::123456789012:role/{name}"},
        )[1]
        for name in ("a", "b", "a")
    ]

    assert roles[0] == roles[2] != roles[1]

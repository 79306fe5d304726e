"""Tests that the patch of one pod does not depend on decisions on others."""

from __future__ import annotations

import json
from typing import Any

from tests.webhook.dialects.cwii.pods import AWS, AZURE, GCP, inject, make_pod


def test_patch_of_a_pod_does_not_depend_on_pods_before_it() -> None:
    """Decides on pods of different specs in one order and then in the reverse order."""
    annotations = AWS | AZURE | GCP
    mount = {"name": "cwii-aws-token", "mountPath": "/elsewhere"}
    specs: tuple[dict[str, Any], ...] = (
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
    forward = [inject(make_pod(**spec), account=annotations)[1] for spec in specs]
    backward = [inject(make_pod(**spec), account=annotations)[1] for spec in reversed(specs)]

    assert forward == backward[::-1]
    assert len({json.dumps(pod) for pod in forward}) == len(specs)


def test_patch_follows_a_change_of_annotations() -> None:
    pods = [
        inject(
            make_pod(),
            account=AWS | {"cwii.dev/aws-role-arn": f"arn:aws:iam::123456789012:role/{name}"},
        )[1]
        for name in ("a", "b", "a")
    ]

    assert pods[0] == pods[2] != pods[1]

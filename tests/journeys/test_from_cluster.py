"""Keys of a cluster that runs: what cannot be meant of them is refused before anybody is asked. tests/cluster/test_migration.py walks the rest."""

from __future__ import annotations

import pytest

from tests.journeys.ground import Ground, a_key, public_pem

FROM_CLUSTER = "--issuer-from-cluster"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            (FROM_CLUSTER, "--public-key-file", "sa.pub"),
            "--issuer-from-cluster and --public-key-file sa.pub both say what the clouds are to trust",
        ),
        (
            (FROM_CLUSTER, "--issuer-url", "https://id.example.org", "--issuer-exists"),
            "--issuer-from-cluster and --issuer-url https://id.example.org --issuer-exists both say what the clouds are to trust",
        ),
        (
            ("--kubeconfig", "kubeconfig"),
            "--kubeconfig and --context lead to a cluster that nobody asks",
        ),
        (("--context", "prod"), "--kubeconfig and --context lead to a cluster that nobody asks"),
        ((FROM_CLUSTER, "--kubeconfig", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_call(
    ground: Ground, options: tuple[str, ...], problem: str
) -> None:
    ground.write("sa.pub", public_pem(a_key(0)))

    done = ground.create_all(*options)

    assert (done.code, ground.asked()) == (2, [])
    assert problem in done.data["problem"]
    assert done.data["remedy"]

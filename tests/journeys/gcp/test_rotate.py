"""rotate-keys in Google Cloud, as far as the cloud goes: in a bucket, and where Google holds the keys."""

from __future__ import annotations

import pytest

from tests.journeys import turns
from tests.journeys.gcp.ground import GcpGround
from tests.journeys.ground import BUCKET, NAME
from tests.journeys.turns import made

UPLOADED = ("--key-storage-method", "pool-jwk-file")
HOSTS = {
    f"gcp/key-set/{BUCKET}/keys.json": (("storage.objects.create",), ()),
    f"gcp/provider-keys/{NAME}/{NAME}": (("iam.workloadIdentityPoolProviders.update",), UPLOADED),
}


@pytest.mark.parametrize("key_set", HOSTS)
def test_a_new_key_is_published_beside_the_old_one_and_says_so(
    ground: GcpGround, key_set: str
) -> None:
    writes, how = HOSTS[key_set]
    turns.added(made(ground, *how), key_set, [*writes], *how)


@pytest.mark.parametrize("key_set", HOSTS)
def test_a_run_that_was_killed_goes_on_with_the_pair_that_it_made(
    ground: GcpGround, key_set: str
) -> None:
    turns.killed_adding(made(ground, *HOSTS[key_set][1]), key_set, *HOSTS[key_set][1])

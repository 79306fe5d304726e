"""rotate-keys in Azure, as far as the cloud goes."""

from __future__ import annotations

from tests.journeys import turns
from tests.journeys.azure.ground import CONTAINER, AzureGround
from tests.journeys.turns import made

WRITE = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write"
KEY_SET = f"azure/key-set/{CONTAINER}/{CONTAINER}/openid/v1/jwks"


def test_a_new_key_is_published_beside_the_old_one_and_says_so(ground: AzureGround) -> None:
    turns.added(
        made(ground),
        KEY_SET,
        [
            "Microsoft.Authorization/roleAssignments/delete",
            "Microsoft.Authorization/roleAssignments/write",
            WRITE,
        ],
    )


def test_a_run_that_was_killed_goes_on_with_the_pair_that_it_made(ground: AzureGround) -> None:
    """It takes two writes more to lend what the one needs."""
    turns.killed_adding(made(ground), KEY_SET, writes=3)

"""What is asked of the blob service, and how it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.cwiictl.sandbox.azure.tenant import (
    CONTAINER,
    HOST,
    STORAGE,
    VERSION,
    Tenant,
    refusal,
)

URL = f"https://{HOST}/{CONTAINER}"
BLOB = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
NEW = {"x-ms-version": VERSION}
OLD = {"x-ms-version": "2019-07-07"}


def refused(call: Callable[[], Any]) -> tuple[int | None, str]:
    with pytest.raises(HttpResponseError) as caught:
        call()
    return refusal(caught.value)


def bearer(tenant: Tenant, **headers: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {tenant.operator.get_token(STORAGE).token}",
        "x-ms-version": VERSION,
        **headers,
    }

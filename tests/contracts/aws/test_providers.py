"""OIDC providers, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws.stores.iam import OidcProviders
from tests.contracts.aws.ground import CLUSTER
from tests.contracts.store import Specimen, StoreContract
from tests.examples import ACCOUNT, a_provider


class TestOidcProviders(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = OidcProviders(
            clients["iam"], CLUSTER, f"arn:aws:iam::{ACCOUNT}:oidc-provider/"
        )
        place = "bucket.s3.us-east-1.amazonaws.com"
        clients["s3"].create_bucket(Bucket="bucket")
        want = a_provider(url=f"https://{place}")
        return Specimen(
            store,
            place,
            want,
            a_provider(
                url=f"https://{place}",
                audiences=frozenset({"sts.amazonaws.com", "vault"}),
                tags={"Name": "another"},
            ),
        )

"""The pod that nobody makes: what our own webhook makes of it is what is looked for."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.install import smoke
from cwiictl.install.values import DIALECTS, Dialect


@pytest.mark.parametrize("dialect", ["cwii", "azwi"])
def test_a_pod_that_was_given_nothing_is_not_taken_for_one_that_was(dialect: Dialect) -> None:
    pod = smoke.pod(dialect, "default")

    assert pod
    assert not smoke.given(dialect, pod)
    answered: Any = {"spec": {"containers": [{"env": [{"name": "AWS_ROLE_ARN"}, {"name": "AZURE_FEDERATED_TOKEN_FILE"}]}]}}
    assert smoke.given(dialect, answered)


def test_where_only_service_accounts_ask_there_is_none() -> None:
    assert [dialect for dialect in DIALECTS if smoke.pod(dialect, "default") is None] == ["eks", "gcpwif"]

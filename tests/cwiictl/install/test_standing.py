"""What an installation that is there already shows of itself, and what another one may not change of it."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.errors import Conflict
from cwiictl.install.body import Object
from cwiictl.install.configuration import configuration
from cwiictl.install.standing import check, standing
from tests.cwiictl.install.installed import CA, installed, some

FILES = {"by": "files", "secret": "made-by-hand", "ca": CA}
RENEWER = installed("ServiceAccount", "cwii-webhook-renewer")


def there(by: str) -> Object:
    return configuration(some(certificates=FILES if by == "files" else {"by": by}))


@pytest.mark.parametrize(
    ("found", "account", "maker"),
    [
        (None, None, ""),
        (None, RENEWER, "renewer"),
        (there("renewer"), RENEWER, "renewer"),
        (there("renewer"), None, ""),
        (there("cert-manager"), None, "cert-manager"),
        (there("cert-manager"), RENEWER, "cert-manager"),
        (there("service-ca"), None, "service-ca"),
        (there("files"), None, "files"),
    ],
)
def test_who_makes_its_certificates_is_seen_by_what_they_go_by(
    found: Object | None, account: Object | None, maker: str
) -> None:
    assert standing(some(), found, account).maker == maker


def test_what_bears_other_labels_or_none_is_no_installation() -> None:
    for labels in (
        {},
        {"app.kubernetes.io/name": "cwii-webhook", "app.kubernetes.io/instance": "another"},
    ):
        other = there("files")
        other["metadata"]["labels"] = labels

        assert standing(some(), other, None).configuration is None


@pytest.mark.parametrize(
    ("said", "why", "same"),
    [
        (
            {"namespace": "elsewhere"},
            "runs in the namespace cwii-system, and namespace is elsewhere",
            "namespace=cwii-system",
        ),
        (
            {"certificates": FILES},
            "has its certificates by cert-manager, and certificates.by is files",
            "certificates.by=cert-manager",
        ),
        (
            {},
            "has its certificates by cert-manager, and certificates.by is renewer",
            "certificates.by=cert-manager",
        ),
    ],
)
def test_what_is_not_changed_in_place_is_refused_with_what_to_do(
    said: dict[str, Any], why: str, same: str
) -> None:
    values = some(**said)

    with pytest.raises(Conflict, match=why) as refused:
        check(values, standing(values, there("cert-manager"), None))

    assert (
        f"leave it so with --set {same}, or take it out first with cwiictl uninstall-webhook --name cwii-webhook"
        in refused.value.remedy
    )


def test_all_else_may_be_changed() -> None:
    values = some(
        certificates={"by": "cert-manager", "validity": "720h"}, replicas=3, dialects=["eks"]
    )

    check(values, standing(values, there("cert-manager"), None))
    check(some(), standing(some(), None, None))

"""For whom an identity was made, as far as whom it lets in and its title say so."""

from __future__ import annotations

import pytest

from cwiictl.verify.holder import whose

SHOP, JOBS, OTHER = (
    f"system:serviceaccount:{each}" for each in ("shop:billing", "shop:jobs", "other:billing")
)


@pytest.mark.parametrize(
    ("subjects", "title", "expected"),
    [
        ([SHOP, JOBS], "", ("shop", "billing", ("billing", "jobs"))),
        ([SHOP, JOBS, OTHER], "shop/money", ("shop", "money", ("billing", "jobs"))),
        (
            [OTHER],
            "shop/billing",
            ("shop", "billing", ("billing",)),
        ),  # create-identity calls it so, if nothing else is said
        ([], "shop/billing", ("shop", "billing", ("billing",))),
        (
            ["system:serviceaccount:shop:*"],
            "shop/billing",
            ("shop", "billing", ("billing",)),
        ),  # who lets in more names nobody
        (["system:serviceaccount:*:billing", JOBS], "shop/billing", ("shop", "billing", ("jobs",))),
        (["system:serviceaccount:shop:*"], "", None),
        ([SHOP, OTHER], "", None),
        (["*", "system:serviceaccount:shop", "repo:a/b"], "", None),
        ([], "", None),
    ],
)
def test_it_is_told_by_its_title_or_else_by_whom_it_lets_in(
    subjects: list[str], title: str, expected: tuple[str, str, tuple[str, ...]] | None
) -> None:
    found = whose(subjects, title)

    assert (found and (found.namespace, found.name, found.service_accounts)) == expected
    assert found is None or found.asker == "webhook"

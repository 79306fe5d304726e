"""What is helm's is known by what helm leaves on it, and is helm's only as long as nobody else has it."""

from __future__ import annotations

import pytest

from cwiictl import names
from cwiictl.engine.resource import Mark
from cwiictl.install.release import Release, release

WORDS = {"meta.helm.sh/release-name": "hook", "meta.helm.sh/release-namespace": "tools"}
HELMS = {"app.kubernetes.io/managed-by": "Helm"}


def test_a_release_says_what_ends_it() -> None:
    found = release({"metadata": {"labels": HELMS, "annotations": WORDS}})

    assert found == Release("hook", "tools")
    assert found
    assert found.ending == "helm uninstall hook -n tools"


def test_what_was_taken_over_from_helm_is_not_helms_any_more() -> None:
    """Its label stays."""
    mark = names.labelled(Mark("cwii-webhook", "adopted"))

    assert "app.kubernetes.io/managed-by" not in mark
    assert release({"metadata": {"labels": {**HELMS, **mark}, "annotations": WORDS}}) is None


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"labels": None, "annotations": None},
        {"labels": HELMS},
        {"annotations": WORDS},
        {"labels": {"app.kubernetes.io/managed-by": "cwiictl"}, "annotations": WORDS},
        {"labels": HELMS, "annotations": {"meta.helm.sh/release-name": "hook"}},
    ],
)
def test_what_lacks_a_word_is_no_release(metadata: dict[str, dict[str, str] | None]) -> None:
    assert release({"metadata": metadata}) is None

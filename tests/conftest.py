"""What holds for every test: whose credentials it may see (nobody's), how hypothesis looks for exceptions, how long a soak may be, and that Ctrl-C is heard.

What a test has measured it records as "told", and it stands at the end of the run.
"""

from __future__ import annotations

import os
import signal
import time

import pytest
from hypothesis import settings

# No database: a run depends on the tree alone. No deadline: two cores shared by many tests say nothing about a law.
settings.register_profile("here", database=None, deadline=None)
settings.register_profile(
    "ci", parent=settings.get_profile("here"), derandomize=True, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# Whoever runs the tests may be logged in to a real account; no test, and no program that a test starts, shall know it:
# only `scripts/test --live aws` says that it is meant.
FOREIGN = ("AWS_", "AZURE_", "ARM_", "GOOGLE_", "CLOUDSDK_", "KUBECONFIG", "CWIICTL_", "CWII_")
for name in [
    name for name in os.environ if name.startswith(FOREIGN) and not os.environ.get("CWIICTL_LIVE")
]:
    del os.environ[name]

# Who starts the tests in the background has them ignore Ctrl-C, and every program that they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Here, for tests of other folders import some of these before that of journeys is known.
pytest.register_assert_rewrite(
    *(
        f"tests.journeys.{walk}"
        for walk in ("again", "asked", "cuts", "denial", "foreign", "goldens", "turns", "weather")
    )
)

# Where minutes are counted, a slow machine does not soak all that a quick one does: what has not begun by then is left out, and says so.
BEGUN = time.monotonic()
MINUTES = float(os.environ.get("SOAK_MINUTES") or "inf")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The whole comes before its parts: a soak that runs out of time has seen that tokens are worth something."""
    items.sort(
        key=lambda item: not (item.get_closest_marker("soak") and "federation" in item.path.parts)
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("soak") and time.monotonic() > BEGUN + MINUTES * 60:
        pytest.skip(f"the {MINUTES:g} minutes of SOAK_MINUTES were over")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "told":
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {value}")

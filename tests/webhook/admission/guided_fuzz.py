"""Fuzzes the webhook with atheris, which mutates the bodies that reach new code.

Where atheris is installed, run `python -m tests.webhook.admission.guided_fuzz CORPUS SECONDS`. Each
test run includes `fuzz.py`, which needs no other package.
"""

from __future__ import annotations

import random
import sys
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

# atheris has 60 MB and supports only some platforms, so a soak test installs it.
atheris: Any = import_module("atheris")
with atheris.instrument_imports(include=["cwii_webhook"]):
    from tests.webhook.admission.fuzz import MUTATIONS, check_body, generate_bodies, make_webhooks

INITIAL_BODIES = 200
MAX_BODY_SIZE = 1 << 18  # bytes


def write_initial_corpus(corpus: Path) -> None:
    for number, body in enumerate(islice(generate_bodies(1), INITIAL_BODIES)):
        (corpus / f"seed-{number:03}").write_bytes(body)


def mutate(body: bytes, max_size: int, seed: int) -> bytes:
    """Mutates a body: half of the time as `fuzz.py` does, otherwise as libFuzzer does.

    libFuzzer changes single bytes, and the result is mostly invalid JSON.
    """
    rng = random.Random(seed)
    return (
        rng.choice(MUTATIONS)(body, rng)[:max_size]
        if rng.random() < 0.5
        else atheris.Mutate(body, max_size)
    )


def main(corpus: str, seconds: str) -> None:
    webhooks = make_webhooks()
    write_initial_corpus(Path(corpus))

    def check(body: bytes) -> None:
        check_body(webhooks[sum(body[-64:]) % len(webhooks)], body)

    flags = [
        f"-max_total_time={seconds}",
        f"-max_len={MAX_BODY_SIZE}",
        "-timeout=5",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
        f"-artifact_prefix={corpus}/",
    ]
    atheris.Setup([sys.argv[0], *flags, corpus], check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])

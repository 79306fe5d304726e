"""Bytes again, led by atheris to where the webhook's code has not been yet: it keeps what reached something new, and bends that further.

`python -m tests.webhook.admission.guided_fuzz CORPUS SECONDS`, where atheris is installed. Ours alone (`fuzz.py`) needs nothing, and is what every run of the tests has.
"""

from __future__ import annotations

import random
import sys
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

atheris: Any = import_module(
    "atheris"
)  # weighs 60 MB, and is there for some machines alone: a soak test fetches it
with atheris.instrument_imports(include=["cwii_webhook"]):
    from tests.webhook.admission.fuzz import BENDS, bodies, counters, judged

SEEDS = 200
LONGEST = 1 << 18  # bytes


def seeded(corpus: Path) -> None:
    """What it begins with."""
    for number, body in enumerate(islice(bodies(1), SEEDS)):
        (corpus / f"seed-{number:03}").write_bytes(body)


def bent(body: bytes, most: int, seed: int) -> bytes:
    """A byte here and there is no JSON any more: half of the time as we do it, and else as libFuzzer does."""
    chance = random.Random(seed)
    return (
        chance.choice(BENDS)(body, chance)[:most]
        if chance.random() < 0.5
        else atheris.Mutate(body, most)
    )


def main(corpus: str, seconds: str) -> None:
    every = counters()
    seeded(Path(corpus))

    def one(body: bytes) -> None:
        judged(every[sum(body[-64:]) % len(every)], body)

    flags = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-timeout=5",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
        f"-artifact_prefix={corpus}/",
    ]
    atheris.Setup([sys.argv[0], *flags, corpus], one, custom_mutator=bent)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])

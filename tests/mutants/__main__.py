"""Change one thing at a time, and print what no test notices."""

from __future__ import annotations

import argparse
import random
import sys

import pytest
from changes import Mutant, mutants
from rooms import ROOMS, Room
from trials import OPTIONS, Trials


def main() -> None:
    asked = _asked()
    if strange := [name for name in asked.rooms if name not in ROOMS]:
        sys.exit(f"scripts/mutants: no room {', '.join(strange)} here; there is {', '.join(ROOMS)}")
    scores = [_score(name, ROOMS[name], asked) for name in asked.rooms or ROOMS]
    print("\n".join(scores))


def _score(name: str, room: Room, asked: argparse.Namespace) -> str:
    all_ = [
        mutant
        for file in room.files
        for mutant in mutants(file)
        if str(mutant).startswith(asked.at)
    ]
    chosen = random.Random(asked.seed).sample(
        all_, len(all_) if asked.all else min(asked.sample, len(all_))
    )
    tried = sorted(chosen, key=lambda mutant: (mutant.file, mutant.line))
    survivors: list[Mutant] = []

    def verdict(mutant: Mutant, noticed: bool) -> None:  # noqa: FBT001
        if not noticed:
            survivors.append(mutant)
            print(mutant, flush=True)

    if pytest.main([*OPTIONS, *room.tests], plugins=[Trials(tried, verdict)]):
        sys.exit(f"scripts/mutants: the tests of {name} do not pass as they are")
    killed = len(tried) - len(survivors)
    return f"{name}: {killed} of {len(tried)} noticed, {100 * killed / max(len(tried), 1):.0f} % (of {len(all_)} that there are)"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutants")
    parser.add_argument("rooms", nargs="*")
    parser.add_argument("--sample", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--at", default="")
    return parser.parse_args()


if __name__ == "__main__":
    main()

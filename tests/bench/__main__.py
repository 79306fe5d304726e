"""Run the files beside this one that have `ratios()`, and print a table. No figure fails: a table is for people."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

from ratio import Ratio

FRAME = {"__main__", "ratio", "served"}
sys.path.append(str(Path(__file__).parents[2]))  # some measure on the grounds of the tests


def main() -> None:
    known = sorted(
        file.stem for file in Path(__file__).parent.glob("*.py") if file.stem not in FRAME
    )
    names = sys.argv[1:] or known
    if strange := [name for name in names if name not in known]:
        sys.exit(f"scripts/bench: no {', '.join(strange)} here; there is {', '.join(known)}")
    rows = [("what", "ms", "against", "ms", "ratio", "goal")]
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        ratios: Iterable[Ratio] = importlib.import_module(name).ratios()
        rows += [_row(ratio) for ratio in ratios]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _row(ratio: Ratio) -> tuple[str, str, str, str, str, str]:
    return (
        ratio.what,
        f"{ratio.seconds * ratio.scale:.2f}",
        ratio.against,
        f"{ratio.against_seconds * ratio.scale:.2f}",
        f"{ratio.times:.2f}",
        ratio.goal,
    )


if __name__ == "__main__":
    main()

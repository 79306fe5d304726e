"""templates/cluster.schema.json, from the code. `python tests/cwiictl/cluster_schema.py` writes it; a test compares."""

from __future__ import annotations

import json
from pathlib import Path

from cwiictl.cli.order import WORDS
from cwiictl.cluster_file.schema import schema

__all__ = ["SCHEMA", "WORDS", "rendered"]

SCHEMA = Path(__file__).parents[2] / "templates" / "cluster.schema.json"


def rendered() -> str:
    return json.dumps(schema(WORDS), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(rendered())

"""What of templates/chart is made from the code. `python tests/cwiictl/install/chart_files.py` writes it; a test compares."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cwiictl.install.monitoring import dashboard
from cwiictl.install.schema import documented, schema

CHART = Path(__file__).parents[3] / "templates" / "chart"


def rendered() -> Mapping[Path, str]:
    return {
        CHART / "values.yaml": documented(),
        CHART / "values.schema.json": json.dumps(schema(), indent=2) + "\n",
        CHART / "dashboard.json": dashboard(),
    }


if __name__ == "__main__":
    for file, text in rendered().items():
        file.write_text(text)

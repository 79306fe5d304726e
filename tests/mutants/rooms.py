"""The rooms whose tests are judged, and which tests those are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Room:
    modules: str  # a pattern
    tests: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        return sorted(Path().glob(self.modules))


def _clouds(cloud: str) -> Room:
    tests = Path("tests/cwiictl/clouds")
    return Room(
        f"cwiictl/clouds/{cloud}/resources/*.py",
        tuple(
            str(each)
            for each in (*sorted((tests / cloud).glob("test_*.py")), tests / "test_alike.py")
        ),
    )


ROOMS = {
    "names": Room(
        "cwiictl/names.py", ("tests/cwiictl/test_names.py", "tests/cwiictl/test_marks.py")
    ),
    "oidc": Room(
        "cwiictl/oidc.py", ("tests/cwiictl/test_oidc.py", "tests/properties/test_key_sets.py")
    ),
    "model": Room("cwiictl/model.py", ("tests/cwiictl/test_model.py",)),
    "engine": Room(
        "cwiictl/engine/*.py",
        ("tests/cwiictl/engine", "tests/properties", "tests/contracts/test_shelf.py"),
    ),
    "image": Room(
        "cwiictl/image/*.py", tuple(map(str, sorted(Path("tests/cwiictl/image").glob("test_*.py"))))
    ),
    "aws": _clouds("aws"),
    "azure": _clouds("azure"),
    "gcp": _clouds("gcp"),
    "renew": Room(
        "webhook/cwii_webhook/renewer/*.py",
        ("tests/webhook/renewer/test_steps.py", "tests/webhook/renewer/test_run.py"),
    ),
}

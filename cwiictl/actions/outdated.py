"""What lies in the output folder and tells of what is gone. It is shown and not removed: it is the user's, and may be in their Git."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from cwiictl import files
from cwiictl.errors import Problem
from cwiictl.installers import INSTALLERS

FILE = re.compile(
    rb"^  \S+: ((?:[A-Za-z0-9+/]{4}){20,}(?:[A-Za-z0-9+/=]{4})?)$", re.MULTILINE
)  # in a Secret
SECRET = "-credentials.yaml"  # noqa: S105 - the end of a file's name


def outdated(output: Path, gone: Collection[str], called: Collection[str] = ()) -> tuple[str, ...]:
    """`gone` are addresses: what something is called is their end. `called` is what else it is called by."""
    titles = {address.rpartition("/")[2] for address in gone}
    words = [word.encode() for word in called]
    tell = (
        path
        for path, text in _written(output)
        if any(word in text for word in words)
        or any(_tells(path.name, text, title) for title in titles)
    )
    return tuple(map(str, tell))


def _written(output: Path) -> Iterator[tuple[Path, bytes]]:
    """Whoever keeps no such folder, or may not read it, is told nothing of it."""
    for folder in (folder for installer in INSTALLERS.values() for folder in installer.folders):
        try:
            found = files.folder(output / folder)
        except Problem:
            continue
        yield from ((output / folder / name, text) for name, text in found.items())


def _tells(name: str, text: bytes, title: str) -> bool:
    """Of an identity by its workload, which is the end of its name, or by that name; of an issuer by its host, and of what believes it."""
    workload = name.removesuffix(SECRET)
    told = b"".join((text, *map(base64.b64decode, FILE.findall(text))))
    words = (f"/{title}\n", f"https://{title}.", f"/{title}@", f'/providers/{title}"')
    if (
        ":" in title
    ):  # a ServiceAccount that had roles itself: its file names the provider, which is everybody's
        return title.replace(":", "-") == (
            workload if workload != name else name.removesuffix(".json")
        )
    return (workload != name and title.endswith(f"-{workload}")) or any(
        word.encode() in told for word in words
    )

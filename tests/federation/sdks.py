"""The image in which the clouds' SDKs run: made as the webhook's is, of Debian's packages and pinned wheels, with `program.py` to run."""

from __future__ import annotations

import platform
from pathlib import Path

from cwiictl.actions.image import fetched
from cwiictl.image import contents, layout, lock, packages, wheels
from cwiictl.image.stores.shelf import shelf
from cwiictl.image.tree import File

NAME = "localhost/sdks:1"
HERE = Path(__file__).parent
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_PROGRAM = "usr/local/lib/program.py"


def save(file: Path) -> Path:
    """For the kind of machine that this one is."""
    pinned = lock.read((HERE / "lock.json").read_bytes())
    name = MACHINES[platform.machine()]
    machine = pinned.machines[name]
    of = lock.Lock(pinned.date, pinned.suite, pinned.python, {name: machine})
    parts = fetched(of, (), shelf(), lambda _line: None)
    trees = [
        contents.system(
            {each.name: packages.unpack(parts[each.sha256], each.name) for each in machine.packages}
        ),
        contents.libraries(
            [wheels.unpack(parts[each.sha256], each.file) for each in machine.wheels], of.python
        ),
        {_PROGRAM: File((HERE / "program.py").read_bytes())},
    ]
    config = {
        "User": contents.USER,
        "Env": ["LANG=C.UTF-8"],
        "Entrypoint": [f"/usr/bin/python{of.python}", "-B", f"/{_PROGRAM}"],
        "WorkingDir": "/",
    }
    image = layout.image(name, [layout.layer(tree, of.seconds) for tree in trees], config, of.date)
    file.write_bytes(layout.saved(layout.index([image], {}), NAME, of.seconds))
    return file

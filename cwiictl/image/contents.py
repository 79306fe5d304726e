"""What an image holds of what it is made of, and what it holds besides. No shell is in it, nothing that installs, and no documentation but licences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from cwiictl.image.packages import Unpacked
from cwiictl.image.tree import File, Folder, Link, Tree

USER = "65532:65532"
PROGRAM = "cwii-webhook"
_PROGRAMS = "usr/local/bin"
_OPENSHIFTS = "usr/bin"  # where its operators look for those that we stand in for
_KEPT = ("usr/share/doc/*/copyright",)
_LEFT = (
    "boot/*",
    "etc/*",
    "root/*",
    "sbin",
    "usr/lib/python3*/sitecustomize.py",  # leads into etc
    "usr/share/*",
    "var/*",
    "usr/lib/*/gconv/*",  # a Python has its own
    "usr/lib/*/libmvec.so*",
    "usr/lib/*/libBrokenLocale.so*",
    "usr/lib/*/libnss_*",
    "usr/lib/*/libthread_db.so*",
    "usr/lib/*/libexpatw.so*",
    "usr/lib/python3*/test/*",
    "usr/lib/python3*/pydoc_data/*",
    "usr/lib/python3*/idlelib/*",
    "usr/lib/python3*/ensurepip/*",
    "usr/lib/python3*/unittest/*",
    "usr/lib/python3*/turtle*",
    "usr/lib/python3*/_pyrepl/*",
    "usr/lib/python3*/lib-dynload/_codecs_*",
    "usr/lib/python3*/lib-dynload/*test*",
    "usr/lib/python3*/lib-dynload/xx*",
    # what needs a library that is not here
    "usr/lib/python3*/lib-dynload/_curses*",
    "usr/lib/python3*/lib-dynload/_dbm*",
    "usr/lib/python3*/lib-dynload/_sqlite3*",
    "usr/lib/python3*/lib-dynload/readline*",
    "usr/lib/python3*/curses/*",
    "usr/lib/python3*/dbm/*",
    "usr/lib/python3*/sqlite3/*",
)
_OWN: Tree = {
    "etc/passwd": File(b"root:x:0:0:root:/:/nowhere\nnonroot:x:65532:65532:nonroot:/:/nowhere\n"),
    "etc/group": File(b"root:x:0:\nnonroot:x:65532:\n"),
    "etc/nsswitch.conf": File(b"passwd: files\ngroup: files\nhosts: files dns\n"),
    "etc/os-release": Link("../usr/lib/os-release"),
    "tmp": Folder(0o1777),
}
_START = """#!/usr/bin/python{python} -IB
import sys

from cwii_webhook.__main__ import main

sys.exit(main())
"""


def system(packages: Mapping[str, Unpacked]) -> Tree:
    """What each says of itself stays, where scanners look for it in images without dpkg."""
    files = {
        path: node
        for package in packages.values()
        for path, node in package.tree.items()
        if _stays(path)
    }
    status = {
        f"var/lib/dpkg/status.d/{name}": File(package.control.encode())
        for name, package in packages.items()
    }
    return {**files, **status, **_OWN}


def libraries(wheels: Iterable[Tree], python: str) -> Tree:
    return {f"{_place(python)}/{path}": node for wheel in wheels for path, node in wheel.items()}


def program(package: Tree, python: str, names: Iterable[str]) -> Tree:
    """The webhook, under its own name, and under those of the programs that it stands in for."""
    start = {f"{_PROGRAMS}/{PROGRAM}": File(_START.format(python=python).encode(), 0o755)}
    every = tuple(names)
    links = {f"{_PROGRAMS}/{name}": Link(PROGRAM) for name in every}
    openshifts = {f"{_OPENSHIFTS}/{name}": Link(f"../local/bin/{PROGRAM}") for name in every}
    return {
        **{f"{_place(python)}/{path}": node for path, node in package.items()},
        **start,
        **links,
        **openshifts,
    }


def config(version: str) -> Mapping[str, object]:
    """How it runs. It writes nothing, so nothing of it has to be writable."""
    return {
        "User": USER,
        "Env": [f"PATH=/{_PROGRAMS}:/usr/bin", "LANG=C.UTF-8"],
        "Entrypoint": [f"/{_PROGRAMS}/{PROGRAM}"],
        "WorkingDir": "/",
        "Labels": labels(version),
    }


def labels(version: str) -> Mapping[str, str]:
    words = {
        "title": PROGRAM,
        "version": version,
        "licenses": "Apache-2.0",
        "description": "The admission webhook that gives each pod its cloud identity",
    }
    return {f"org.opencontainers.image.{key}": word for key, word in words.items()}


def _stays(path: str) -> bool:
    return any(fnmatchcase(path, kept) for kept in _KEPT) or not any(
        fnmatchcase(path, left) for left in _LEFT
    )


def _place(python: str) -> str:
    return f"usr/local/lib/python{python}/dist-packages"

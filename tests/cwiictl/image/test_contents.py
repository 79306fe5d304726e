"""What an image holds, and what it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from cwiictl.image import contents
from cwiictl.image.packages import Unpacked
from cwiictl.image.tree import File, Folder, Link

CONTAINERFILE = Path(__file__).parents[3] / "webhook" / "Containerfile"


def test_documentation_is_left_out_but_licences_and_what_scanners_read_stay() -> None:
    files = {
        path: File(b"")
        for path in (
            "usr/lib/libc.so",
            "usr/share/doc/libc6/copyright",
            "usr/share/doc/libc6/changelog.gz",
            "etc/profile",
            "root/.bashrc",
        )
    }

    system = contents.system({"libc6": Unpacked("Package: libc6\n", files)})

    assert {"usr/lib/libc.so", "usr/share/doc/libc6/copyright", "etc/passwd"} <= set(system)
    assert not {"usr/share/doc/libc6/changelog", "etc/profile", "root/.bashrc"} & set(system)
    assert system["var/lib/dpkg/status.d/libc6"] == File(b"Package: libc6\n")


@pytest.mark.parametrize(
    "path",
    [
        "boot/vmlinuz", "etc/ssl/openssl.cnf", "root/.profile", "sbin", "usr/share/man/man1/x.1.gz", "var/cache/x",
        "usr/lib/x86_64-linux-gnu/gconv/UTF-16.so", "usr/lib/x86_64-linux-gnu/libmvec.so.1", "usr/lib/x86_64-linux-gnu/libBrokenLocale.so.1",
        "usr/lib/x86_64-linux-gnu/libnss_files.so.2", "usr/lib/x86_64-linux-gnu/libthread_db.so.1", "usr/lib/x86_64-linux-gnu/libexpatw.so.1",
        *(f"usr/lib/python3.13/{name}" for name in (
            "sitecustomize.py", "test/support.py", "pydoc_data/topics.py", "idlelib/idle.py", "ensurepip/__main__.py", "unittest/case.py", "turtle.py",
            "turtledemo/clock.py", "_pyrepl/main.py", "curses/panel.py", "dbm/dumb.py", "sqlite3/dump.py",
        )),
        *(f"usr/lib/python3.13/lib-dynload/{name}.cpython-313-x86_64-linux-gnu.so" for name in (
            "_codecs_jp", "_testcapi", "xxlimited", "_curses", "_dbm", "_sqlite3", "readline",
        )),
    ],
)  # fmt: skip
def test_what_the_webhook_never_reads_is_left_out(path: str) -> None:
    assert path not in contents.system({"some": Unpacked("", {path: File(b"")})})


@pytest.mark.parametrize(
    "path",
    [
        "bin", "usr/bin/python3.13", "usr/lib/os-release", "usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libexpat.so.1",
        "usr/lib/python3.13/asyncio/events.py", "usr/lib/python3.13/lib-dynload/_ssl.cpython-313-x86_64-linux-gnu.so", "usr/share/doc/python3/copyright",
    ],
)  # fmt: skip
def test_what_it_runs_on_stays(path: str) -> None:
    assert path in contents.system({"some": Unpacked("", {path: File(b"")})})


def test_what_is_added_is_who_runs_it_where_hosts_are_looked_up_and_a_place_for_anybody() -> None:
    assert contents.system({}) == {
        "etc/passwd": File(
            b"root:x:0:0:root:/:/nowhere\nnonroot:x:65532:65532:nonroot:/:/nowhere\n"
        ),
        "etc/group": File(b"root:x:0:\nnonroot:x:65532:\n"),
        "etc/nsswitch.conf": File(b"passwd: files\ngroup: files\nhosts: files dns\n"),
        "etc/os-release": Link("../usr/lib/os-release"),
        "tmp": Folder(0o1777),
    }


def test_what_is_pythons_lies_where_that_python_looks_for_it() -> None:
    where = "usr/local/lib/python3.13/dist-packages"

    assert contents.libraries([{"a/b.py": File(b"")}, {"c.py": File(b"")}], "3.13") == {
        f"{where}/a/b.py": File(b""),
        f"{where}/c.py": File(b""),
    }
    assert f"{where}/cwii_webhook/__init__.py" in contents.program(
        {"cwii_webhook/__init__.py": File(b"")}, "3.13", []
    )


def test_how_it_runs_and_what_it_is_to_the_letter() -> None:
    words = {
        "org.opencontainers.image.title": "cwii-webhook",
        "org.opencontainers.image.version": "1",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.description": "The admission webhook that gives each pod its cloud identity",
    }
    assert contents.labels("1") == words
    assert contents.config("1") == {
        "User": "65532:65532",
        "Env": ["PATH=/usr/local/bin:/usr/bin", "LANG=C.UTF-8"],
        "Entrypoint": ["/usr/local/bin/cwii-webhook"],
        "WorkingDir": "/",
        "Labels": words,
    }


def test_the_webhook_answers_to_the_names_of_what_it_stands_in_for() -> None:
    tree = contents.program({}, "3.13", ["amazon-eks-pod-identity-webhook"])

    assert tree["usr/local/bin/amazon-eks-pod-identity-webhook"] == Link("cwii-webhook")
    assert tree["usr/bin/amazon-eks-pod-identity-webhook"] == Link("../local/bin/cwii-webhook")
    start = tree["usr/local/bin/cwii-webhook"]
    assert isinstance(start, File)
    assert start.data.startswith(b"#!/usr/bin/python3.13 -IB\n")
    assert start.mode == 0o755


def test_the_containerfile_says_of_how_it_runs_what_we_say() -> None:
    words = dict(
        re.findall(r"^(ENV|USER|WORKDIR|ENTRYPOINT) (.*)$", CONTAINERFILE.read_text(), re.MULTILINE)
    )
    config = contents.config("1")
    environment, entrypoint = (cast("list[str]", config[key]) for key in ("Env", "Entrypoint"))

    assert words == {
        "ENV": " ".join(environment),
        "USER": config["User"],
        "WORKDIR": config["WorkingDir"],
        "ENTRYPOINT": f'["{entrypoint[0]}"]',
    }

"""Packages of Debian and wheels, looked into."""

from __future__ import annotations

import gzip

import pytest

from cwiictl.errors import Failed
from cwiictl.image import packages, wheels
from cwiictl.image.tree import File, Link, Tree, archived
from tests.cwiictl.image.parts import a_package, a_wheel, ar


def test_a_package_gives_its_files_and_what_it_says_of_itself() -> None:
    tree: Tree = {"usr/bin/odd": File(b"odd", 0o755), "lib": Link("usr/lib")}

    found = packages.unpack(a_package("some", tree), "some")

    assert found.tree == tree
    assert found.control == "Package: some\nVersion: 1\n"


ODD = ar({"name": b""}).replace(b"name", b"n\xff\xffe")


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"<html>",
        ar({"debian-binary": b"2.0\n"}),
        ar({"control.tar.xz": b"no", "data.tar.xz": b"no"}),
        ODD,
    ],
)
def test_what_is_no_package_is_told(broken: bytes) -> None:
    with pytest.raises(Failed, match="some is no package of Debian that can be read here"):
        packages.unpack(broken, "some")


def test_what_is_no_package_is_told_with_what_to_do() -> None:
    with pytest.raises(Failed) as told:
        packages.unpack(b"", "some")
    assert told.value.problem == "some is no package of Debian that can be read here: 'control.tar'"
    assert told.value.remedy == "pin another version of it with scripts/image lock"


@pytest.mark.parametrize("size", [1, 2, 3])
def test_parts_begin_at_even_places_and_may_be_named_as_other_archivers_do(size: int) -> None:
    """Also such as are not pressed."""
    control, data = (
        archived({"control": File(b"Package: some\n")}, 0),
        archived({"x": File(b"x")}, 0),
    )

    found = packages.unpack(
        ar(
            {
                "debian-binary/": b"2" * size,
                "control.tar/": control,
                "data.tar.gz/": gzip.compress(data),
            }
        ),
        "some",
    )

    assert (found.control, found.tree) == ("Package: some\n", {"x": File(b"x")})


def test_a_wheel_leaves_behind_what_it_was_compiled_from_and_what_installers_read() -> None:
    left = (
        "loop.pyx",
        "loop.pxd",
        "loop.pxi",
        "loop.c",
        "loop.h",
        "loop.pyi",
        "../loop-1.data/scripts/loop",
    )
    info = {
        f"loop-1.dist-info/{name}": name.encode()
        for name in ("RECORD", "top_level.txt", "METADATA", "LICENSE")
    }

    found = wheels.unpack(
        a_wheel(
            {"loop/": b"", "loop/loop.so": b"1", **{f"loop/{name}": b"2" for name in left}, **info}
        ),
        "loop",
    )

    assert found == {
        "loop/loop.so": File(b"1"),
        **{path: File(data) for path, data in info.items() if data in {b"METADATA", b"LICENSE"}},
    }


OUTSIDE = a_wheel({"loop.py": b"", "loop-1.data/data/share/loop": b""})


@pytest.mark.parametrize(
    ("wheel", "told", "remedy"),
    [
        (
            b"no",
            "loop is no wheel that can be read: File is not a zip file",
            "pin another version of it with scripts/image lock",
        ),
        (
            OUTSIDE,
            "loop wants loop-1.data/data/share/loop outside of Python's folder, which is not done here",
            "pin another version of it",
        ),
    ],
)
def test_a_wheel_that_cannot_be_laid_out_is_told(wheel: bytes, told: str, remedy: str) -> None:
    with pytest.raises(Failed) as refused:
        wheels.unpack(wheel, "loop")
    assert (refused.value.problem, refused.value.remedy) == (told, remedy)

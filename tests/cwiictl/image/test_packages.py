"""Packages of Debian and wheels, looked into."""

from __future__ import annotations

import pytest

from cwiictl.errors import Failed
from cwiictl.image import packages, wheels
from cwiictl.image.tree import File, Link, Tree
from tests.cwiictl.image.parts import a_package, a_wheel, ar


def test_a_package_gives_its_files_and_what_it_says_of_itself() -> None:
    tree: Tree = {"usr/bin/odd": File(b"odd", 0o755), "lib": Link("usr/lib")}

    found = packages.unpack(a_package("some", tree), "some")

    assert found.tree == tree
    assert found.control == "Package: some\nVersion: 1\n"


@pytest.mark.parametrize("broken", [b"", b"<html>", ar({"debian-binary": b"2.0\n"}), ar({"control.tar.xz": b"no", "data.tar.xz": b"no"})])
def test_what_is_no_package_is_told(broken: bytes) -> None:
    with pytest.raises(Failed, match="some is no package of Debian that can be read here"):
        packages.unpack(broken, "some")


def test_a_wheel_leaves_behind_what_it_was_compiled_from() -> None:
    found = wheels.unpack(a_wheel({"loop/loop.so": b"1", "loop/loop.pyx": b"2", "loop/loop.c": b"3", "loop-1.dist-info/RECORD": b"4"}), "loop")

    assert found == {"loop/loop.so": File(b"1")}


OUTSIDE = a_wheel({"loop-1.data/scripts/loop": b""})


@pytest.mark.parametrize(("wheel", "told"), [(b"no", "loop is no wheel"), (OUTSIDE, "wants loop-1.data/scripts/loop outside")])
def test_a_wheel_that_cannot_be_laid_out_is_told(wheel: bytes, told: str) -> None:
    with pytest.raises(Failed, match=told):
        wheels.unpack(wheel, "loop")

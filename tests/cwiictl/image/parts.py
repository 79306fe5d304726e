"""Packages and wheels as small as they can be, and an image of them."""

from __future__ import annotations

import hashlib
import io
import lzma
import zipfile
from collections.abc import Mapping

from cwiictl.image.assembly import Made, Webhook, assemble
from cwiictl.image.lock import Lock, Machine, Package, Wheel
from cwiictl.image.tree import File, Link, Tree, archived

DATE = "2026-11-18T00:00:00Z"
WEBHOOK = Webhook("0.1.0", {"cwii_webhook/__main__.py": File(b"main = print\n")}, ["webhook"])


def a_package(name: str, tree: Tree) -> bytes:
    """As dpkg-deb makes them: three parts in an ar archive."""
    control = archived({"control": File(f"Package: {name}\nVersion: 1\n".encode())}, 0)
    return ar(
        {
            "debian-binary": b"2.0\n",
            "control.tar.xz": lzma.compress(control),
            "data.tar.xz": lzma.compress(archived(tree, 0)),
        }
    )


def ar(parts: Mapping[str, bytes]) -> bytes:
    out = b"!<arch>\n"
    for name, data in parts.items():
        out += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode()
            + data
            + b"\n" * (len(data) % 2)
        )
    return out


def a_wheel(tree: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in tree.items():
            archive.writestr(path, data)
    return out.getvalue()


PACKAGES = {
    machine: a_package(
        "python", {"usr/bin/python3.13": File(machine.encode(), 0o755), "bin": Link("usr/bin")}
    )
    for machine in ("amd64", "arm64")
}
WHEEL = a_wheel({"msgspec/__init__.py": b"", "msgspec-1.dist-info/METADATA": b"Name: msgspec\n"})


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


LOCK = Lock(
    DATE,
    "trixie",
    "3.13",
    {
        machine: Machine(
            (Package("python", "1", f"pool/python_1_{machine}.deb", sha256(data)),),
            (Wheel("msgspec", "1", "msgspec-1.whl", sha256(WHEEL)),),
        )
        for machine, data in PACKAGES.items()
    },
)
FETCHED = {sha256(data): data for data in (*PACKAGES.values(), WHEEL)}


def made() -> Made:
    return assemble(LOCK, FETCHED, WEBHOOK, lambda _: None)

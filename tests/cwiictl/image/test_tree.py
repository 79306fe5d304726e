"""The same files are the same bytes, whoever had them before."""

from __future__ import annotations

import io
import tarfile

import pytest

from cwiictl.image.tree import File, Folder, Link, Tree, archived, read

TREE: Tree = {
    "usr/bin/program": File(b"x", 0o755),
    "usr/share/text": File(b"hello"),
    "bin": Link("usr/bin"),
    "tmp": Folder(0o1777),
}


def members(archive: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: member for member in tar}


def test_the_order_in_which_files_came_does_not_count() -> None:
    assert archived(TREE, 1) == archived(dict(reversed(list(TREE.items()))), 1)


def test_all_is_roots_and_of_one_time() -> None:
    found = members(archived(TREE, 12345)).values()

    assert {(each.uid, each.gid, each.uname, each.gname, each.mtime) for each in found} == {
        (0, 0, "", "", 12345)
    }


def test_each_folder_comes_before_what_is_in_it() -> None:
    found = members(archived(TREE, 1))

    assert list(found) == [
        "bin",
        "tmp",
        "usr",
        "usr/bin",
        "usr/bin/program",
        "usr/share",
        "usr/share/text",
    ]
    assert {name: each.mode for name, each in found.items() if each.isdir()} == {
        "tmp": 0o1777,
        "usr": 0o755,
        "usr/bin": 0o755,
        "usr/share": 0o755,
    }


def test_what_was_archived_is_read_as_it_was() -> None:
    with tarfile.open(fileobj=io.BytesIO(archived(TREE, 1))) as tar:
        assert dict(read(tar)) == {path: node for path, node in TREE.items() if path != "tmp"}


def test_no_file_makes_anybody_root_and_none_leads_out() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        entry = tarfile.TarInfo("./usr/bin/su")
        entry.mode, entry.uid = 0o6755, 7
        tar.addfile(entry)

    with tarfile.open(fileobj=io.BytesIO(out.getvalue())) as tar:
        assert dict(read(tar)) == {"usr/bin/su": File(b"", 0o755)}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (0o644, 0o644),
        (0o600, 0o644),
        (0o666, 0o644),
        (0o744, 0o755),
        (0o700, 0o755),
        (0o611, 0o644),
    ],
)
def test_whoever_may_run_a_file_all_may_and_nobody_but_root_may_write_it(
    given: int, kept: int
) -> None:
    with tarfile.open(fileobj=io.BytesIO(archived({"x": File(b"x", given)}, 1))) as tar:
        assert dict(read(tar)) == {"x": File(b"x", kept)}


def test_another_name_for_a_file_is_a_file_like_it_and_what_is_neither_is_left_out() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        kinds: dict[str, tuple[bytes, str]] = {
            "again": (tarfile.LNKTYPE, "first"),
            "pipe": (tarfile.FIFOTYPE, ""),
            "folder": (tarfile.DIRTYPE, ""),
        }
        first = tarfile.TarInfo("first")
        first.size = 1
        tar.addfile(first, io.BytesIO(b"x"))
        for name, (kind, to) in kinds.items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, to
            tar.addfile(entry)

    with tarfile.open(fileobj=io.BytesIO(out.getvalue())) as tar:
        assert dict(read(tar)) == {"first": File(b"x"), "again": File(b"x")}


def test_who_says_no_mode_means_what_is_usual() -> None:
    found = members(archived({"file": File(b""), "folder": Folder(), "link": Link("file")}, 1))

    assert {name: each.mode for name, each in found.items()} == {
        "file": 0o644,
        "folder": 0o755,
        "link": 0o777,
    }

"""The same files are the same bytes, whoever had them before."""

from __future__ import annotations

import io
import tarfile

from cwiictl.image.tree import File, Folder, Link, Tree, archived, read

TREE: Tree = {"usr/bin/program": File(b"x", 0o755), "usr/share/text": File(b"hello"), "bin": Link("usr/bin"), "tmp": Folder(0o1777)}


def members(archive: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: member for member in tar}


def test_the_order_in_which_files_came_does_not_count() -> None:
    assert archived(TREE, 1) == archived(dict(reversed(list(TREE.items()))), 1)


def test_all_is_roots_and_of_one_time() -> None:
    found = members(archived(TREE, 12345)).values()

    assert {(each.uid, each.gid, each.uname, each.gname, each.mtime) for each in found} == {(0, 0, "", "", 12345)}


def test_each_folder_comes_before_what_is_in_it() -> None:
    found = members(archived(TREE, 1))

    assert list(found) == ["bin", "tmp", "usr", "usr/bin", "usr/bin/program", "usr/share", "usr/share/text"]
    assert {name: each.mode for name, each in found.items() if each.isdir()} == {"tmp": 0o1777, "usr": 0o755, "usr/bin": 0o755, "usr/share": 0o755}


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

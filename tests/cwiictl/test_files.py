"""The disk: who may read what, that nothing is half written or lost, and that links lead nowhere."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cwiictl import files
from cwiictl.errors import BadInput, Conflict, Failed
from cwiictl.files import Public


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that nothing may be written to by way of a link."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "file").write_bytes(b"theirs")
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def everything(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


# --- reading ---


def test_a_folder_gives_its_yaml_and_json_by_name(tmp_path: Path):
    for name in ("b.yaml", "a.yml", "c.json", "README.md", "d.YAML"):
        (tmp_path / name).write_text(name)
    (tmp_path / "sub.yaml").mkdir()
    (tmp_path / "e.yaml").symlink_to(tmp_path / "README.md")

    assert list(files.folder(tmp_path).items()) == [
        ("a.yml", b"a.yml"),
        ("b.yaml", b"b.yaml"),
        ("c.json", b"c.json"),
        ("e.yaml", b"README.md"),
    ]


def test_a_folder_that_is_none_is_bad_input(tmp_path: Path):
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInput, match="missing cannot be read: no such file"):
        files.folder(tmp_path / "missing")
    with pytest.raises(BadInput, match="file cannot be read: not a directory"):
        files.folder(tmp_path / "file")


def test_a_link_that_leads_nowhere_is_told_and_not_passed_over(tmp_path: Path):
    (tmp_path / "a.yaml").symlink_to(tmp_path / "nothing")

    with pytest.raises(BadInput, match=r"a\.yaml cannot be read"):
        files.folder(tmp_path)


def test_a_pipe_in_a_folder_is_no_file_and_holds_nothing_up(tmp_path: Path):
    os.mkfifo(tmp_path / "a.yaml")

    assert files.folder(tmp_path) == {}


def test_too_many_files_and_too_long_ones_are_bad_input(tmp_path: Path):
    (tmp_path / "long.yaml").write_bytes(b" " * (files.MAX_SIZE + 1))
    with pytest.raises(BadInput, match=r"long\.yaml is longer than"):
        files.folder(tmp_path)

    for number in range(files.MAX_FILES):
        (tmp_path / f"{number}.yaml").touch()
    with pytest.raises(BadInput, match="more than 1000 files"):
        files.folder(tmp_path)


def test_a_file_is_read_by_the_word_of_the_user(tmp_path: Path):
    (tmp_path / "key").write_bytes(b"key")

    assert files.read(tmp_path / "key", "the public key") == b"key"
    with pytest.raises(BadInput, match=r"the public key .*none cannot be read: no such file"):
        files.read(tmp_path / "none", "the public key")
    with pytest.raises(BadInput, match=r"the public key .* cannot be read: is a directory"):
        files.read(tmp_path, "the public key")
    with pytest.raises(BadInput, match="the public key /dev/zero is longer than"):
        files.read(Path("/dev/zero"), "the public key")


def test_templates_are_found_by_name():
    assert "kind: Secret" in files.template("openshift/secret.yaml")


# --- before anything happens ---


def test_a_place_to_write_is_ready_and_left_as_it_was(tmp_path: Path):
    files.ready(tmp_path / "new" / "deep", ["manifests/a.yaml"])
    files.ready(tmp_path, ["manifests/a.yaml"])

    assert everything(tmp_path) == []


def test_a_relative_place_is_ready_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    files.ready(Path())
    files.ready(Path("out/deep"))
    assert files.write(Path("out/deep"), {"a": b""}) == ("a",)


def test_an_output_directory_that_is_none_is_refused(tmp_path: Path, elsewhere: Path):
    (tmp_path / "link").symlink_to(elsewhere)
    (tmp_path / "loose").symlink_to(tmp_path / "nothing")
    (tmp_path / "file").touch()

    for name, what in {
        "link": "is a link",
        "loose": "is a link",
        "file": "is a file",
        "file/out": "cannot be made",
        "loose/out": "cannot be made",
    }.items():
        with pytest.raises(BadInput, match=what) as told:
            files.ready(tmp_path / name)
        assert told.value.remedy


def test_an_output_directory_below_a_link_is_the_users_own_affair(tmp_path: Path, elsewhere: Path):
    (tmp_path / "link").symlink_to(elsewhere)

    files.ready(tmp_path / "link" / "out")


def test_a_place_that_cannot_be_written_is_refused():
    """Nobody may write there, not even root."""
    with pytest.raises(BadInput, match="cannot be written"):
        files.ready(Path("/proc/cwiictl"))


@pytest.mark.parametrize("name", ["manifests/a", "file/b", "loose"])
def test_what_is_in_the_way_of_a_file_is_refused_before(tmp_path: Path, elsewhere: Path, name: str):
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifests").symlink_to(elsewhere)
    (out / "file").touch()
    (out / "loose").symlink_to(elsewhere / "file")

    with pytest.raises(BadInput):
        files.ready(out, [name])
    with pytest.raises(BadInput):
        files.write(out, {"first": b"", name: b"ours"})

    assert everything(elsewhere) == ["file"]
    assert (elsewhere / "file").read_bytes() == b"theirs"
    assert not (out / "first").exists()


@pytest.mark.parametrize("name", ["", "/etc/x", "../x", "a/../../x", "..", "a\\..\\x"])
def test_no_name_leads_out_of_the_tree(tmp_path: Path, name: str):
    with pytest.raises(BadInput, match="no path inside"):
        files.write(tmp_path / "out", {name: b"x"})

    assert everything(tmp_path) == []


# --- writing ---


def test_a_tree_is_written_for_its_owner_only_unless_it_is_public(tmp_path: Path, umask: int):
    out = tmp_path / "out"

    written = files.write(out, {"keys.json": Public(b"{}"), "tls/deep/key": b"secret"})

    assert umask in {0o000, 0o022, 0o077, 0o277}
    assert written == ("keys.json", "tls/deep/key")
    assert everything(out) == ["keys.json", "tls", "tls/deep", "tls/deep/key"]
    assert {path: mode(out / path) for path in everything(out)} == {
        "keys.json": 0o644,
        "tls": 0o700,
        "tls/deep": 0o700,
        "tls/deep/key": 0o600,
    }
    assert mode(out) == 0o700
    assert (out / "tls/deep/key").read_bytes() == b"secret"


def test_what_is_right_already_is_left_alone(tmp_path: Path):
    tree = {"a": b"a", "b": b"b", "c": b"c"}
    files.write(tmp_path, tree)
    untouched = (tmp_path / "a").lstat()
    (tmp_path / "b").write_bytes(b"changed, and longer")
    (tmp_path / "c").chmod(0o644)

    assert files.write(tmp_path, tree) == ("b", "c")
    assert (tmp_path / "a").lstat().st_ino == untouched.st_ino
    assert (tmp_path / "b").read_bytes() == b"b"
    assert mode(tmp_path / "c") == 0o600
    assert everything(tmp_path) == ["a", "b", "c"]


def test_folders_that_are_there_keep_their_mode(tmp_path: Path):
    (tmp_path / "manifests").mkdir(mode=0o755)

    files.write(tmp_path, {"manifests/a": b""})

    assert mode(tmp_path / "manifests") == 0o755


def test_a_disk_that_is_full_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files.write(tmp_path, {"a": b"old"})
    monkeypatch.setattr(os, "fsync", _full)

    with pytest.raises(Failed, match="a could not be written: no space left") as told:
        files.write(tmp_path, {"a": b"new"})

    assert told.value.remedy
    assert (tmp_path / "a").read_bytes() == b"old"
    assert everything(tmp_path) == ["a"]


def test_a_run_that_is_cut_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files.write(tmp_path, {"a": b"old"})
    monkeypatch.setattr(os, "fsync", _cut)

    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path, {"a": b"new"})

    assert (tmp_path / "a").read_bytes() == b"old"
    assert everything(tmp_path) == ["a"]


def _full(_: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _cut(_: int) -> None:
    raise KeyboardInterrupt


# --- what is made once ---


@pytest.fixture(params=["links", "no links"])
def disk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "no links":
        monkeypatch.setattr(Path, "hardlink_to", _no_links)
    return tmp_path


def _no_links(_: Path, __: Path) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_a_private_key_is_its_owners_from_birth(disk: Path, umask: int):
    files.create(disk / "out" / "key", b"secret")

    assert umask in {0o000, 0o022, 0o077, 0o277}
    assert (disk / "out" / "key").read_bytes() == b"secret"
    assert mode(disk / "out" / "key") == 0o600
    assert mode(disk / "out") == 0o700
    assert everything(disk) == ["out", "out/key"]
    assert (disk / "out" / "key").lstat().st_nlink == 1


def test_what_is_there_is_never_replaced(disk: Path, elsewhere: Path):
    files.create(disk / "key", b"first")
    (disk / "link").symlink_to(elsewhere / "file")
    (disk / "loose").symlink_to(elsewhere / "nothing")

    for name in ("key", "link", "loose"):
        with pytest.raises(Conflict, match="there already") as told:
            files.create(disk / name, b"second")
        assert told.value.remedy

    assert (disk / "key").read_bytes() == b"first"
    assert everything(elsewhere) == ["file"]


def test_nothing_is_made_through_a_link(tmp_path: Path, elsewhere: Path):
    (tmp_path / "tls").symlink_to(elsewhere)

    with pytest.raises(BadInput, match="is a link"):
        files.create(tmp_path / "tls" / "key", b"secret")

    assert everything(elsewhere) == ["file"]


def test_a_creation_that_is_cut_leaves_nothing(disk: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "fsync", _cut)

    with pytest.raises(KeyboardInterrupt):
        files.create(disk / "key", b"secret")

    assert everything(disk) == []


def test_what_a_killed_run_did_not_finish_is_swept_away_by_the_next(tmp_path: Path) -> None:
    for name in (".key.abc.unfinished", "manifests/.secret.yaml.abc.unfinished"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / ".theirs").write_bytes(b"theirs")

    files.write(tmp_path, {"manifests/secret.yaml": b"whole"})

    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        ".theirs",
        "manifests",
        "secret.yaml",
    ]


def test_what_somebody_else_is_writing_is_not_swept_away(tmp_path: Path) -> None:
    with files._beside(tmp_path / "key", b"theirs", 0o600) as fresh:  # pyright: ignore[reportPrivateUsage] - a run that is in the middle of it
        files.write(tmp_path, {"other": b"ours"})
        assert fresh.exists()

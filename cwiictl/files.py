"""The disk. All that cwiictl reads from it or leaves on it passes here."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from cwiictl.errors import BadInput, Conflict, Failed

MAX_SIZE = 1 << 20
MAX_FILES = 1000
PRIVATE = 0o600
OPEN = 0o644
SUFFIXES = (".yaml", ".yml", ".json")
UNFINISHED = ".unfinished"


@dataclass(frozen=True)
class Public:
    """Bytes that everybody on this machine may read. Plain bytes are for their owner only."""

    data: bytes


Content: TypeAlias = bytes | Public


# --- reading ---


def read(path: Path, what: str) -> bytes:
    """`what` is the user's word for it, such as "the public key". A pipe is as good as a file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise BadInput(
            f"{what} {path} cannot be read: {_reason(error)}",
            remedy="give a file that exists and that you may read",
        ) from error
    if len(data) > MAX_SIZE:
        raise BadInput(
            f"{what} {path} is longer than {MAX_SIZE} bytes", remedy="give the right file"
        )
    return data


def found(path: Path) -> bytes:
    """Of what may be there and may not: nothing, if it is not."""
    return read(path, "the file") if path.is_file() else b""


def folder(path: Path) -> Mapping[str, bytes]:
    """The YAML and JSON files directly in it, by name. What a link leads to counts: a mounted ConfigMap is made of links."""
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if _is_document(entry))
    except OSError as error:
        raise BadInput(
            f"the folder {path} cannot be read: {_reason(error)}",
            remedy="give a folder that exists and that you may read",
        ) from error
    if len(names) > MAX_FILES:
        raise BadInput(
            f"the folder {path} has more than {MAX_FILES} files",
            remedy="give the folder of the requests alone",
        )
    return {name: read(path / name, "the file") for name in names}


def _is_document(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere is kept, so that reading it says so: passed over, it would be an identity less."""
    return entry.name.endswith(SUFFIXES) and (
        entry.is_file() or (entry.is_symlink() and not Path(entry.path).exists())
    )


def template(name: str) -> str:
    """Text that is shipped with the program, in the checkout and in the wheel alike."""
    return (
        resources.files("cwiictl")
        .joinpath("templates", *PurePosixPath(name).parts)
        .read_text("utf-8")
    )


def templates(folder: str) -> tuple[str, ...]:
    """The names of those in a folder."""
    return tuple(
        sorted(
            each.name for each in resources.files("cwiictl").joinpath("templates", folder).iterdir()
        )
    )


# --- before anything happens ---


def ready(root: Path, names: Iterable[str] = ()) -> None:
    """Raise now what `write` of these names would raise later, when clouds have been changed already. Leaves nothing behind."""
    _refuse_other_than_folder(root)
    for name in names:
        _target(root, name)
    below = next(place for place in (root, *root.absolute().parents) if os.path.lexists(place))
    if not below.is_dir():
        raise BadInput(
            f"the output directory {root} cannot be made: {below} is no directory",
            remedy="give another --output-dir",
        )
    try:
        with tempfile.TemporaryFile(dir=below):
            pass
    except OSError as error:
        raise BadInput(
            f"the output directory {root} cannot be written: {_reason(error)}",
            remedy="give a directory that you may write to",
        ) from error


def _target(root: Path, name: str) -> Path:
    """Where a name of the tree leads, if it leads there without passing through a link."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\\" in name:
        raise BadInput(f"{name!r} is no path inside the output directory", remedy="use plain names")
    place = root
    for part in parts[:-1]:
        place = place / part
        _refuse_other_than_folder(place)
    return _replaceable(place / parts[-1])


def _refuse_other_than_folder(path: Path) -> None:
    mode = _mode(path)
    if mode is not None and not stat.S_ISDIR(mode):
        what = "a link" if stat.S_ISLNK(mode) else "a file"
        raise BadInput(
            f"the output directory {path} is {what}",
            remedy="move it away, or give another --output-dir",
        )


def _replaceable(path: Path) -> Path:
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        what = "a link" if stat.S_ISLNK(mode) else "no file"
        raise BadInput(
            f"{path} is to be written, and is {what}",
            remedy="move it away, or give another --output-dir",
        )
    return path


def _mode(path: Path) -> int | None:
    """Of the thing itself, not of what it leads to. None if there is nothing."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadInput(
            f"{path} cannot be looked at: {_reason(error)}", remedy="give another --output-dir"
        ) from error


# --- writing ---


def write(root: Path, tree: Mapping[str, Content] | Mapping[str, bytes]) -> tuple[str, ...]:
    """The names that were written: what is there already, with its mode, is left alone. A reader sees the old file or the new one."""
    targets = {name: (_target(root, name), content) for name, content in tree.items()}
    for place in {root, *(path.parent for path, _ in targets.values())}:
        _sweep(place)
    return tuple(name for name, (path, content) in targets.items() if _wrote(root, path, content))


def unlike(root: Path, tree: Mapping[str, Content] | Mapping[str, bytes]) -> tuple[str, ...]:
    """The names that `write` would write."""
    targets = {name: (_target(root, name), *_meant(content)) for name, content in tree.items()}
    return tuple(
        name for name, (path, data, mode) in targets.items() if not _is_so(path, data, mode)
    )


def create(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """For what must never be lost to a second run. The file appears whole, and only where there was none."""
    with _telling(path):
        _make_folder(path.parent)
        with _beside(path, data, mode) as fresh:
            _place(fresh, path)
        _settle(path.parent)


def _wrote(root: Path, path: Path, content: Content) -> bool:
    data, mode = _meant(content)
    with _telling(path):
        if _is_so(path, data, mode):
            return False
        _make_folder(path.parent, root)
        with _beside(path, data, mode) as fresh:
            fresh.replace(path)
        _settle(path.parent)
    return True


def _meant(content: Content) -> tuple[bytes, int]:
    return (content.data, OPEN) if isinstance(content, Public) else (content, PRIVATE)


def _is_so(path: Path, data: bytes, mode: int) -> bool:
    have = _mode(path)
    if have is None or (os.name == "posix" and stat.S_IMODE(have) != mode):
        return False
    return path.read_bytes() == data


def _make_folder(path: Path, root: Path | None = None) -> None:
    """Ours alone, whatever the umask. Above the root we make what is missing, as anybody would."""
    _refuse_other_than_folder(path)
    if path.exists():
        return
    if root is None or path == root:
        path.parent.mkdir(parents=True, exist_ok=True)
    else:
        _make_folder(path.parent, root)
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)


@contextlib.contextmanager
def _beside(path: Path, data: bytes, mode: int) -> Generator[Path]:
    """A finished copy in the same folder, readable by nobody else from its first moment; gone afterwards if it was not moved."""
    with _busy(path.parent):
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:100]}.", suffix=UNFINISHED
        )
        fresh = Path(name)
        try:
            with open(handle, "wb") as file:  # noqa: PTH123 - a handle, no path
                file.write(data)
                file.flush()
                fresh.chmod(mode)
                os.fsync(file.fileno())
            yield fresh
        finally:
            fresh.unlink(missing_ok=True)


@contextlib.contextmanager
def _busy(place: Path) -> Generator[None]:
    """Who sweeps this folder sees that somebody is writing in it. The system forgets it when we die."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            held.callback(os.close, handle := os.open(place, os.O_RDONLY))
            if sys.platform != "win32":
                import fcntl  # noqa: PLC0415 - Windows has none

                fcntl.flock(handle, fcntl.LOCK_SH)
        yield


def _sweep(place: Path) -> None:
    """What a run that was killed did not finish, and some of it is secret. While anybody writes here, it may be theirs."""
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 - Windows has none

        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            held.callback(os.close, handle := os.open(place, os.O_RDONLY))
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in place.glob(f".*{UNFINISHED}"):
                left.unlink()


def _place(fresh: Path, path: Path) -> None:
    """A hard link refuses to replace, which a rename does not. Where a disk has no links, the name is taken first."""
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}:
            raise
        path.touch(mode=PRIVATE, exist_ok=False)
        fresh.replace(path)


def _settle(path: Path) -> None:
    """Make the names of a folder as lasting as the bytes. Not every system can, and none needs it to go on."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _telling(path: Path) -> Generator[None]:
    try:
        yield
    except FileExistsError as error:
        raise Conflict(
            f"{path} is there already, and is not replaced",
            remedy="move it away if it is not needed",
        ) from error
    except OSError as error:
        raise Failed(
            f"{path} could not be written: {_reason(error)}",
            remedy="make room or give another --output-dir, and run again",
        ) from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()

"""The webhook's image: made of what is pinned and what is installed, and left in a file or a registry."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cwii_webhook.dialects.registry import ALL

from cwiictl import files
from cwiictl.errors import Problem
from cwiictl.image import assembly, contents, layout, signature
from cwiictl.image import lock as locks
from cwiictl.image.assembly import Made, Webhook
from cwiictl.image.lock import Lock, Package, Wheel
from cwiictl.image.reference import reference
from cwiictl.image.stores import indexes, installed
from cwiictl.image.stores.credentials import credentials
from cwiictl.image.stores.mirrors import Mirrors, configured
from cwiictl.image.stores.registry import Registry
from cwiictl.image.stores.shelf import Shelf, shelf
from cwiictl.image.stores.wire import Wire

LOCK = "image/lock.json"
_WIDTH = 8
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Image:
    """What came of it."""

    name: str
    digest: str
    sizes: Mapping[str, int]  # of what a node fetches, by its platform
    writes: int  # 0 if all was there
    signed: bool = False


@dataclass(frozen=True)
class Push:
    """Where to, as whom, and under whose key."""

    to: str
    plain: bool = False
    key: Path | None = None


def save(file: Path, mirrors: Sequence[str], tell: Tell) -> Image:
    """As one file. What is said of the image is for registries, which list it beside it."""
    root, name = file.absolute().parent, file.name
    lock = _lock()
    title = f"localhost/{contents.PROGRAM}:{installed.version()}"
    with _elsewhere("FILE"):
        files.ready(root, [name])
        made = _made(lock, mirrors, tell)
        written = files.write(
            root, {name: files.Public(layout.saved(made.image, title, lock.seconds))}
        )
    return Image(title, made.image.digest, _sizes(made), len(written))


def roots(folder: Path, mirrors: Sequence[str], tell: Tell) -> Mapping[str, Sequence[str]]:
    """The image's files for each kind of machine, as webhook/Containerfile takes them. The names of all, and of those that were written."""
    lock = _lock()
    with _elsewhere("DIR"):
        files.ready(folder, names := [f"root-{machine}.tar" for machine in lock.machines])
        archives = assembly.roots(lock, fetched(lock, mirrors, shelf(), tell), _webhook())
        written = files.write(
            folder,
            {name: files.Public(data) for name, data in zip(names, archives.values(), strict=True)},
        )
    return {"files": names, "written": written}


def push(order: Push, mirrors: Sequence[str], tell: Tell) -> Image:
    """What can be wrong of place, key and credentials is known before anything is fetched."""
    place = reference(order.to, installed.version(), plain=order.plain)
    key = signature.key(files.read(order.key, "the key"), str(order.key)) if order.key else None
    registry = Registry(Wire(place, credentials(place.registry), plain=order.plain))
    registry.check()
    made = _made(_lock(), mirrors, tell)
    tell(f"pushing to {place.place}")
    return send(made, registry, key)


def send(made: Made, registry: Registry, key: signature.Key | None) -> Image:
    """Its name comes last: who finds it finds all that is said of it, too."""
    place, digest = registry.place, made.image.digest
    registry.put(made.image)
    for referrer, subject in made.referrers:
        registry.attach(referrer, subject)
    if key:
        _sign(registry, digest, place.place, key)
    registry.tag(place.tag, made.image)
    return Image(place.at(digest), digest, _sizes(made), registry.writes, key is not None)


def _sign(registry: Registry, image: str, place: str, key: signature.Key) -> None:
    ours, name = signature.signed(image, place, key), signature.tag(image)
    theirs = registry.listed(name, "layers")
    if not signature.holds(theirs, ours, key.public_key()):
        collected = signature.collected(theirs, ours)
        registry.put(collected)
        registry.tag(name, collected)


def _lock() -> Lock:
    return locks.read(files.template(LOCK).encode())


def _webhook() -> Webhook:
    return Webhook(
        installed.version(),
        installed.package(),
        sorted({program for dialect in ALL.values() for program in dialect.program_names}),
    )


def _made(lock: Lock, mirrors: Sequence[str], tell: Tell) -> Made:
    return assembly.assemble(lock, fetched(lock, mirrors, shelf(), tell), _webhook(), tell)


@contextmanager
def _elsewhere(argument: str) -> Generator[None]:
    """Here a place is given by an argument, not by an option."""
    try:
        yield
    except Problem as e:
        raise type(e)(e.problem, remedy=e.remedy.replace("--output-dir", argument)) from e


def fetched(lock: Lock, mirrors: Sequence[str], shelf: Shelf, tell: Tell) -> Mapping[str, bytes]:
    """Of all machines at once, and only what was never fetched before. What has arrived is not fetched again, even if something else does not."""
    parts = [
        *(
            each
            for machine in lock.machines.values()
            for each in (*machine.packages, *machine.wheels)
        )
    ]
    have = {each.sha256: data for each in parts if (data := shelf.get(each.sha256)) is not None}
    lacking = [each for each in parts if each.sha256 not in have]
    source = Mirrors(mirrors or configured(), lock.snapshot)
    if not lacking:
        return have
    tell(f"fetching {len(lacking)} packages and wheels")
    packages = [each for each in lacking if not isinstance(each, Wheel)]

    def package(each: Package) -> bytes:
        return shelf.put(source.get(each))

    with ThreadPoolExecutor(_WIDTH) as workers:
        asked = [workers.submit(_wheels, lock, machine, have, shelf) for machine in lock.machines]
        got = list(workers.map(package, packages))
        found = [*got, *(data for each in asked for data in each.result())]
    return {**have, **{layout.digest(data).partition(":")[2]: data for data in found}}


def _wheels(lock: Lock, machine: str, have: Mapping[str, bytes], shelf: Shelf) -> list[bytes]:
    lacking = [each for each in lock.machines[machine].wheels if each.sha256 not in have]
    return (
        [shelf.put(data) for data in indexes.fetched(lacking, lock.python).values()]
        if lacking
        else []
    )


def _sizes(made: Made) -> Mapping[str, int]:
    return {layout.platform(each): each.size for each in made.image.manifests}

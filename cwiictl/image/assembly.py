"""The straight line from what was fetched to the image and what is said of it. Pure: the same bytes in, the same bytes out, by one zlib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cwiictl.image import contents, layout, packages, statements, wheels
from cwiictl.image.layout import Layer, Manifest
from cwiictl.image.lock import Lock
from cwiictl.image.tree import Tree, archived


@dataclass(frozen=True)
class Webhook:
    """As it is installed."""

    version: str
    package: Tree
    programs: Sequence[str]  # that it stands in for


@dataclass(frozen=True)
class Made:
    image: Manifest  # an index: an image for each machine
    referrers: tuple[tuple[Manifest, str], ...]  # what is said of one, and the digest of which


def assemble(
    lock: Lock, fetched: Mapping[str, bytes], webhook: Webhook, told: Callable[[str], None]
) -> Made:
    """What was fetched is known by its hashes."""
    program = layout.layer(_program(lock, webhook), lock.seconds)
    images: dict[str, Manifest] = {}
    for machine in lock.machines:
        told(f"making the image for linux/{machine}")
        layers = [layout.layer(tree, lock.seconds) for tree in _trees(machine, lock, fetched)]
        images[machine] = layout.image(
            machine, [*layers, program], contents.config(webhook.version), lock.date
        )
    words = contents.labels(webhook.version)
    index = layout.index(images.values(), {**words, "org.opencontainers.image.created": lock.date})
    return Made(index, tuple(_said(index, images, webhook.version, lock, program)))


def roots(lock: Lock, fetched: Mapping[str, bytes], webhook: Webhook) -> Mapping[str, bytes]:
    """The same files, each machine's in one archive: for whoever builds images with other programs."""
    trees = {
        machine: (*_trees(machine, lock, fetched), _program(lock, webhook))
        for machine in lock.machines
    }
    return {
        machine: archived({path: node for tree in of for path, node in tree.items()}, lock.seconds)
        for machine, of in trees.items()
    }


def _program(lock: Lock, webhook: Webhook) -> Tree:
    return contents.program(webhook.package, lock.python, webhook.programs)


def _trees(machine: str, lock: Lock, fetched: Mapping[str, bytes]) -> Iterable[Tree]:
    """A layer each: what changes seldom comes first."""
    made = lock.machines[machine]
    yield contents.system(
        {each.name: packages.unpack(fetched[each.sha256], each.name) for each in made.packages}
    )
    yield contents.libraries(
        [wheels.unpack(fetched[each.sha256], each.file) for each in made.wheels], lock.python
    )


def _said(
    index: Manifest, images: Mapping[str, Manifest], version: str, lock: Lock, program: Layer
) -> Iterable[tuple[Manifest, str]]:
    words = {"org.opencontainers.image.created": lock.date}
    for machine, image in images.items():
        webhook = statements.Part(
            contents.PROGRAM,
            version,
            statements.pypi(contents.PROGRAM, version),
            program.plain.partition(":")[2],
        )
        bill = statements.sbom(
            image, machine, (*statements.parts(machine, lock), webhook), lock.date
        )
        yield layout.attached(bill, image, words), image.digest
    yield (
        layout.attached(statements.provenance(index, version, lock, program.plain), index, words),
        index.digest,
    )

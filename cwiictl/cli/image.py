"""image: the webhook's image, in a file or a registry."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from cwiictl.actions import image as actions
from cwiictl.actions.image import Image, Push
from cwiictl.cli import options

_mirrors = click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    metavar="URL",
    help="A mirror of Debian, or an archive of its snapshots. Repeatable.  [default: those that apt is set to]",
)


@click.group()
def image() -> None:
    """Make the webhook's image, of pinned packages and wheels and the webhook that is installed here. It is the same bytes on every machine;
    only a Python that compresses with zlib-ng has the same files under another digest.

    \b
    Example:
      cwiictl image save webhook.tar
    """


@image.command(short_help="Write the image to a file.")
@click.argument("file", type=options.PATH)
@_mirrors
@options.output
@options.debug
def save(file: Path, mirrors: tuple[str, ...], form: str) -> None:
    """Write the image to FILE, for all kinds of machines: an archive that podman and containerd load,
    and docker where containerd keeps its images. Nodes that have loaded it know it by the name that is printed,
    and not by its digest.

    \b
    Example:
      cwiictl image save webhook.tar && ctr -n k8s.io images import webhook.tar
      cwiictl install-webhook --image localhost/cwii-webhook:VERSION
    """
    _show(actions.save(file, mirrors, _tell), form)


@image.command(short_help="Push the image to a registry.")
@click.argument("ref")
@click.option(
    "--sign-key",
    "key",
    type=options.PATH,
    metavar="FILE",
    help="Sign with this key, so that `cosign verify --key` accepts the image.",
)
@click.option(
    "--plain-http",
    "plain",
    is_flag=True,
    help="The registry is on this machine's loopback, and speaks no TLS.",
)
@_mirrors
@options.output
@options.debug
def push(ref: str, key: Path | None, plain: bool, mirrors: tuple[str, ...], form: str) -> None:  # noqa: FBT001 - click's signature
    """Push the image to REF, with its bill of materials and its provenance beside it. Credentials are those of `docker login`.

    \b
    Example:
      cwiictl image push registry.example.org/team/cwii-webhook --sign-key cosign.pem
    """
    _show(actions.push(Push(ref, plain, key), mirrors, _tell), form)


@image.command(short_help="Write the image's files, for podman or docker to build.")
@click.argument("folder", metavar="DIR", type=options.PATH)
@_mirrors
@options.output
@options.debug
def roots(folder: Path, mirrors: tuple[str, ...], form: str) -> None:
    """Write the image's files to DIR, an archive for each kind of machine, for podman or docker to build with webhook/Containerfile.

    \b
    Example:
      cwiictl image roots build && podman build -f webhook/Containerfile build
    """
    done = actions.roots(folder, mirrors, _tell)
    if form == "json":
        click.echo(json.dumps(done, indent=2))
        return
    for name in done["files"]:
        click.echo(f"{folder / name}{'' if name in done['written'] else ', as it was'}")


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _show(image: Image, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(asdict(image), indent=2))
        return
    click.echo(image.name)
    if image.digest not in image.name:  # an archive's, which would be sought in a registry by it
        click.echo(f"  {image.digest}")
    for platform, size in image.sizes.items():
        click.echo(f"  {platform}  {size / 1e6:.1f} MB")
    signed = ", signed" if image.signed else ""
    click.echo(
        f"{image.writes} written{signed}" if image.writes else f"all was there already{signed}"
    )

"""The lock of the image, from what Debian and the package index have now, and that of the image in which tests run the clouds' SDKs.

`scripts/image lock` runs it.

apt believes a mirror only under Debian's signature, and pip only the hashes of requirements.lock: so what is pinned is theirs.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from cwiictl.image.stores.mirrors import configured

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "templates" / "image" / "lock.json"
SDKS_LOCK = ROOT / "tests" / "federation" / "lock.json"
SDKS = ("azure-identity", "boto3", "google-auth", "requests")
SUITE, PYTHON = "trixie", "3.13"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
# What CPython needs, and nothing that could be a shell or install anything.
PACKAGES = (
    "base-files",
    "libbz2-1.0",
    "libc6",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.13-minimal",
    "libpython3.13-stdlib",
    "libssl3t64",
    "libuuid1",
    "libzstd1",
    "python3.13-minimal",
    "zlib1g",
)
UV = (str(Path(sys.executable).with_name("uv")),)
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_28")


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        packages = dict(debian(Path(temporary)))
        for lock, names in (
            (LOCK, needed("webhook/pyproject.toml", "server", "otlp", "certificates")),
            (SDKS_LOCK, needed("-")),
        ):
            folder = Path(temporary) / lock.parent.name
            machines = {
                machine: {
                    "packages": packages[machine],
                    "wheels": wheels(folder / machine, machine, names),
                }
                for machine in MACHINES
            }
            write(lock, machines)


def write(lock: Path, machines: Mapping[str, Mapping[str, Sequence[object]]]) -> None:
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lock.write_text(
        json.dumps({"date": date, "suite": SUITE, "python": PYTHON, "machines": machines}, indent=1)
        + "\n"
    )
    count = len(machines["amd64"]["wheels"])
    print(
        f"pinned {len(PACKAGES)} packages of Debian {SUITE} and {count} wheels for {' and '.join(machines)} in {lock.relative_to(ROOT)}"
    )


def debian(folder: Path) -> Iterator[tuple[str, list[Mapping[str, str]]]]:
    """By apt, in folders of its own: nothing of this machine's is changed, and what it is does not count."""
    for place in ("state/lists/partial", "cache/archives/partial", "etc"):
        (folder / place).mkdir(parents=True)
    (folder / "state" / "status").touch()
    (folder / "etc" / "sources.list").write_text("".join(sources(configured())))
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::Status": folder / "state" / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "etc" / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "APT::Architecture": "amd64",
        "APT::Architectures": ",".join(MACHINES),
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    told = run(["apt-get", *options, "update", "-q"])
    if "W:" in told:
        sys.exit(f"scripts/image: apt does not have all of Debian's lists:\n{told}")
    for machine in MACHINES:
        found = run(
            [
                "apt-cache",
                *options,
                "show",
                "--no-all-versions",
                *(f"{name}:{machine}" for name in PACKAGES),
            ]
        )
        yield (
            machine,
            sorted(
                (package(each) for each in found.split("\n\n") if each.strip()),
                key=itemgetter("name"),
            ),
        )


def sources(mirrors: Sequence[str]) -> Iterator[str]:
    suites = {"debian": (SUITE, f"{SUITE}-updates"), "debian-security": (f"{SUITE}-security",)}
    for url in mirrors:
        for suite in suites.get(url.rstrip("/").rpartition("/")[2], ()):
            yield f"deb [signed-by={_KEYRING}] {url} {suite} main\n"


def package(told: str) -> Mapping[str, str]:
    fields = dict(re.findall(r"^([\w-]+): (.*)$", told, re.MULTILINE))
    return {
        "name": fields["Package"],
        "version": fields["Version"],
        "path": fields["Filename"],
        "sha256": fields["SHA256"],
    }


def wheels(folder: Path, machine: str, names: Sequence[str]) -> list[Mapping[str, str]]:
    locked = (ROOT / "requirements.lock").read_text()
    blocks = [re.search(rf"^{name}==(?:.*\\\n)*.*", locked, re.MULTILINE) for name in names]
    folder.mkdir(parents=True)
    (folder / "wanted.txt").write_text("".join(f"{block[0]}\n" for block in blocks if block))
    command = [
        *UV,
        "tool",
        "run",
        "-q",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--require-hashes",
    ]
    command += [
        word
        for platform in _PLATFORMS
        for word in ("--platform", f"{platform}_{MACHINES[machine]}")
    ]
    run(
        [
            *command,
            "--implementation",
            "cp",
            "--python-version",
            PYTHON,
            "-d",
            str(folder),
            "-r",
            str(folder / "wanted.txt"),
        ]
    )
    return [wheel(file) for file in sorted(folder.glob("*.whl"))]


def needed(source: str, *extras: str) -> list[str]:
    """By a webhook that can do all that it has flags for, for nothing can be installed into an image; or by the clouds' SDKs."""
    chosen = [word for extra in extras for word in ("--extra", extra)]
    options = (
        "--constraint",
        str(ROOT / "requirements.lock"),
        "--python-version",
        PYTHON,
        "--python-platform",
        "linux",
        "--no-annotate",
        "--no-header",
    )
    told = run([*UV, "pip", "compile", "-q", source, *chosen, *options], "\n".join(SDKS))
    return sorted(re.findall(r"^([\w.-]+)==", told, re.MULTILINE))


def wheel(file: Path) -> Mapping[str, str]:
    name, version, *_ = file.name.split("-")
    return {
        "name": name.replace("_", "-").lower(),
        "version": version,
        "file": file.name,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }


def run(command: Sequence[str], told: str = "") -> str:
    done = subprocess.run(
        command, input=told, capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        sys.exit(f"scripts/image: `{command[0]}` failed: {done.stderr.strip()}")
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()

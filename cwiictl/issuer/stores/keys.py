"""The key pair on this disk. A private key is made once, is its owner's alone from its first moment, and is never overwritten."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cwiictl import files, names, oidc
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput
from cwiictl.issuer.key import PAIR, KeyState
from cwiictl.issuer.served import Served

KIND = "local/key"


class KeyPair:
    """The files that ccoctl's users know. What is there is checked; what is missing beside a good private key is made from it."""

    kind, bulk, patience = KIND, False, 0.0

    def __init__(self, folder: Path, bits: int, files_: frozenset[str] = PAIR) -> None:
        self.folder, self.bits, self.files = folder, bits, files_

    @property
    def private(self) -> bytes | None:
        """As long as there is none, no more than that there will be one."""
        path = self.folder / names.PRIVATE_KEY
        return files.read(path, "the private key") if path.exists() else b""

    def get(self, names_: Collection[str], /) -> Mapping[str, KeyState]:
        private = self.folder / names.PRIVATE_KEY
        if not private.exists() and not private.is_symlink():
            self._nothing_beside()
            return {}
        key = oidc.private_key(files.read(private, "the private key"), str(private))
        missing = frozenset(name for name in PAIR if not (self.folder / name).exists())
        self._same(key.kid, missing)
        return dict.fromkeys(
            names_, KeyState.of(key, (missing & self.files) | self._open_to_others(missing))
        )

    def put(self, _name: str, _want: KeyState, have: KeyState | None, /) -> KeyState:
        if have is None:
            files.create(self.folder / names.PRIVATE_KEY, _new(self.bits))
        private = files.read(self.folder / names.PRIVATE_KEY, "the private key")
        key = oidc.private_key(private, names.PRIVATE_KEY)
        tree = {
            names.PRIVATE_KEY: private,
            names.PUBLIC_KEY: files.Public(key.pem.encode()),
            names.INSTALLER_KEY: private,
        }
        files.write(
            self.folder, {name: content for name, content in tree.items() if name in self.files}
        )  # of what is there, only the mode can change
        return KeyState.of(key)

    def drop(self, _name: str, /) -> None:
        """Keys on this disk are their owner's to delete."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def _same(self, kid: str, missing: frozenset[str]) -> None:
        private, public, copy = (
            self.folder / name
            for name in (names.PRIVATE_KEY, names.PUBLIC_KEY, names.INSTALLER_KEY)
        )
        if (
            names.PUBLIC_KEY not in missing
            and oidc.public_key(files.read(public, "the public key"), str(public)).kid != kid
        ):
            raise BadInput(
                f"{public} is not the public half of {private}",
                remedy="move away the one that is wrong; both are left as they are",
            )
        if names.INSTALLER_KEY not in missing and files.read(
            copy, "the installer's key"
        ) != files.read(private, "the private key"):
            raise BadInput(
                f"{copy} is not a copy of {private}",
                remedy="move away the one that is wrong; both are left as they are",
            )

    def _open_to_others(self, missing: frozenset[str]) -> frozenset[str]:
        """ccoctl leaves the private key readable for everybody."""
        secret = {names.PRIVATE_KEY, names.INSTALLER_KEY} - missing
        return frozenset(
            f"{name} for its owner alone"
            for name in secret
            if os.name == "posix" and (self.folder / name).stat().st_mode & 0o077
        )

    def _nothing_beside(self) -> None:
        for name in (names.INSTALLER_KEY, names.PUBLIC_KEY):
            if (self.folder / name).exists():
                raise BadInput(
                    f"{self.folder / name} is there, but {self.folder / names.PRIVATE_KEY} is not",
                    remedy=f"bring the cluster's {names.PRIVATE_KEY} back, or move it away to have a new pair made",
                )


class PublicKey:
    """The public half alone, of a cluster that has its key."""

    kind, bulk, patience = KIND, False, 0.0
    files: frozenset[str] = frozenset()
    private: bytes | None = None

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, names_: Collection[str], /) -> Mapping[str, KeyState]:
        return dict.fromkeys(
            names_,
            KeyState.of(oidc.public_key(files.read(self.path, "the public key"), str(self.path))),
        )

    def put(self, _name: str, _want: KeyState, _have: KeyState | None, /) -> KeyState:
        raise BadInput(
            f"the public key {self.path} alone makes no pair",
            remedy="give the folder of the private key as --output-dir",
        )

    def drop(self, _name: str, /) -> None: ...

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}


class ServedKeys:
    """The public halves that a cluster tells of itself."""

    kind, bulk, patience = KIND, False, 0.0
    files: frozenset[str] = frozenset()
    private: bytes | None = None

    def __init__(self, served: Served) -> None:
        self.served = served

    def get(self, names_: Collection[str], /) -> Mapping[str, KeyState]:
        return dict.fromkeys(names_, KeyState.of(self.served.key, others=self.served.others))

    def put(self, _name: str, _want: KeyState, _have: KeyState | None, /) -> KeyState:
        raise BadInput(
            "the cluster's own keys make no pair",
            remedy="leave --issuer-from-cluster out to have a pair made",
        )

    def drop(self, _name: str, /) -> None: ...

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}


Keys = (
    KeyPair | PublicKey | ServedKeys
)  # where the cluster's key is: `files` of the output folder, and `private`, which is none where the cluster has its own


def _new(bits: int) -> bytes:
    key = rsa.generate_private_key(65537, bits)
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())

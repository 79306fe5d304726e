"""What each cluster installer wants to find, one file each. A new one is a file here and a word in the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from cwiictl.installers import kubeadm, openshift
from cwiictl.manifests import Template
from cwiictl.model import Handover, Workload


class Installer(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def folders(self) -> tuple[str, ...]: ...  # in the output directory, that its files are in

    @property
    def issuer_in(self) -> str: ...  # the file that says who the issuer is

    def paths(self, workloads: Iterable[Workload]) -> tuple[str, ...]:
        """The files that `render` would make, or BadInput: for asking before a cloud is."""
        ...

    def render(self, handover: Handover, template: Template) -> dict[str, bytes]:
        """Files by their path in the output directory. Without an issuer, only what tells the workloads."""
        ...


_ALL: tuple[Installer, ...] = (openshift, kubeadm)

INSTALLERS: Mapping[str, Installer] = {installer.name: installer for installer in _ALL}

"""What each cluster installer wants to find, one file each. A new one is a file here and a word in the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from cwiictl.installers import cluster_api, k0s, k3s, kind, kops, kubeadm, openshift, rke2, talos
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload


class Installer(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def folders(self) -> tuple[str, ...]: ...  # in the output directory, that its files are in

    @property
    def issuer_in(self) -> str: ...  # the file that says who the issuer is

    @property
    def public_in(
        self,
    ) -> (
        str
    ): ...  # the file that has the public half of the cluster's key; empty if none has it as it is

    def paths(self, workloads: Iterable[Workload]) -> tuple[str, ...]:
        """The files that `render` would make, or BadInput: for asking before a cloud is."""
        ...

    def render(self, handover: Handover, template: Template) -> dict[str, bytes]:
        """Files by their path in the output directory. Without an issuer, only what tells the workloads."""
        ...

    def succeeded(self, succession: Succession, template: Template) -> dict[str, bytes]:
        """What a running cluster needs for a stage of a rotation, with the commands; nothing where it has to do nothing."""
        ...


_ALL: tuple[Installer, ...] = (openshift, kubeadm, kops, k3s, rke2, k0s, talos, cluster_api, kind)

INSTALLERS: Mapping[str, Installer] = {installer.name: installer for installer in _ALL}

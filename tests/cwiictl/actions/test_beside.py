"""What is looked through for what is left over, and for what is to go: all that an installation beside a kube-apiserver is made of."""

from __future__ import annotations

import pytest
from cwii_webhook.certificates.pem import KeyPair

from cwiictl.actions.beside import HOSTED, MANAGEMENT
from cwiictl.install.sidecar.flavours import FLAVOURS
from cwiictl.install.sidecar.guest import guest
from cwiictl.install.sidecar.patch import patch
from cwiictl.install.sidecar.secrets import Certified, secrets
from cwiictl.install.sidecar.sidecar import Sidecar, flavour, sidecar
from cwiictl.kubernetes.kinds import title
from tests.cwiictl.install.installed import some

CERTIFIED = Certified(KeyPair(b"crt", b"key"), KeyPair(b"client", b"its key"), b"root")


@pytest.mark.parametrize("name", FLAVOURS)
def test_every_kind_that_goes_into_a_cluster_is_looked_for_there(name: str) -> None:
    """With Google's credentials in ConfigMaps, which takes one more of them than anything else does."""
    dialect = FLAVOURS[name].dialect or "cwii"
    values = some(dialects=[dialect], azure={"tenantId": "t"}, gcp={"delivery": "config-map"})
    wanted = sidecar(Sidecar(values, flavour(name), "clusters-shop"))

    assert {
        title(body["apiVersion"], body["kind"])
        for body in (*secrets(wanted, CERTIFIED), patch(wanted))
    } == set(MANAGEMENT)
    made = {title(body["apiVersion"], body["kind"]) for body in guest(wanted, b"root")}
    assert made == set(HOSTED) if name == "cwii" else made < set(HOSTED)

"""What an installer is given, for a new cluster or for one that runs, whose key is known here."""

from __future__ import annotations

from cwiictl import files
from cwiictl.installers import INSTALLERS
from cwiictl.model import Handover
from tests.cluster.installers.command_lines import OWN
from tests.journeys.ground import a_key, private_pem, public_pem

ISSUER = "https://prod-oidc.s3.eu-west-1.amazonaws.com"
JWKS_URI = f"{ISSUER}/keys.json"


def given(name: str, *, runs: bool = False) -> dict[str, bytes]:
    private, public = private_pem(a_key(0)), public_pem(a_key(0))
    handover = Handover(
        ISSUER,
        JWKS_URI,
        (),
        public,
        None if runs else private,
        cluster="prod",
        former=OWN[name][0] if runs else "",
    )
    return INSTALLERS[name].render(handover, files.template)

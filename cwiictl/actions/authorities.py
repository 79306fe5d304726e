"""Who signs what a sidecar shows and asks with, where their keys lie; and its two pairs, which stay until they are due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cwii_webhook.certificates import pki
from cwii_webhook.certificates.checks import authority_problem, renewal_reason
from cwii_webhook.certificates.pem import KeyPair

from cwiictl import files
from cwiictl.errors import BadInput
from cwiictl.install.sidecar.secrets import Certified, pair, read
from cwiictl.install.sidecar.sidecar import Sidecar
from cwiictl.kubernetes import Place

LIFE = pki.Lifetime(
    timedelta(days=365), timedelta(days=30)
)  # as HyperShift makes them, and makes them anew

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Source:
    """A CA: its certificate in a file, with the key beside it under the same name as .key; or both in a Secret."""

    file: Path | None = None
    secret: str = ""

    def __str__(self) -> str:
        return str(self.file) if self.file else f"the Secret {self.secret}"


def signer(source: Source, place: Place | None, namespace: str) -> KeyPair:
    """HyperShift's Secrets have it as ca.crt and ca.key, and most others as tls.crt and tls.key."""
    if source.file:
        found = KeyPair(
            files.read(source.file, "the CA"),
            files.read(source.file.with_suffix(".key"), "the CA's key"),
        )
    else:
        live = place.api.get("Secret", namespace, source.secret) if place else None
        if live is None:
            raise BadInput(
                f"there is no Secret {namespace}/{source.secret} with a CA",
                remedy="name the right one, or give the CA as a file",
            )
        held = read(live)
        found = (
            KeyPair(held["ca.crt"], held["ca.key"])
            if held.keys() >= {"ca.crt", "ca.key"}
            else pair(held)
        )
    if why := authority_problem(found, datetime.now(UTC)):
        raise BadInput(
            f"with {source} nothing can be signed: {why}",
            remedy="give a CA with its key, in PEM, and not encrypted",
        )
    return found


def certified(
    sidecar: Sidecar, root: KeyPair, client: KeyPair, lying: Mapping[str, Files]
) -> tuple[Certified, tuple[str, ...]]:
    """With what there is to tell of it. `lying`: what is there of either, by the name of its Secret."""
    now, (user, groups) = datetime.now(UTC), sidecar.user
    serving = _kept(lying.get(sidecar.serving, {}), pki.sidecar_spec(LIFE), root, now)
    asking = _kept(
        lying.get(sidecar.kubeconfig, {}), pki.client_spec(user, groups, LIFE), client, now
    )
    why = {
        "the certificate that it shows": serving[1],
        "the certificate that it asks with": asking[1],
    }
    told = tuple(f"{what} is made anew: {reason}" for what, reason in why.items() if reason)
    return Certified(serving[0], asking[0], pki.merge_bundles(root.certificate)), told


def _kept(
    there: Files, wish: pki.CertificateSpec, by: KeyPair, now: datetime
) -> tuple[KeyPair, str]:
    """The pair that is there while nothing is wrong with it; else another, and why. It would not last longer than its CA."""
    old, last = pair(there), pki.earliest_expiry(by.certificate)
    if last and last - now <= LIFE.renew_before:
        wish = replace(wish, lifetime=replace(wish.lifetime, renew_before=timedelta()))
    why = renewal_reason(old, wish, by.certificate, now)
    return (pki.sign(wish, by, now), why if any(there.values()) else "") if why else (old, "")

"""Decides the next step of a renewal from the state of the cluster.

A renewer repeats: read the state, do one step. This ends in the desired state even if a renewer
stops after any write, and if several renewers run at the same time.

Invariant: API servers always trust the certificate that each replica serves. API servers trust a
new authority before it signs, and they trust an old authority until no replica serves a
certificate of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cwii_webhook.certificates import pki
from cwii_webhook.certificates.checks import (
    authority_problem,
    renewal_reason,
    renewal_time,
    serving_problem,
)
from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.renewer.state import (
    CA_CRT,
    NEXT_CRT,
    NEXT_KEY,
    SECRET,
    TLS_CRT,
    TLS_KEY,
    WEBHOOK_CONFIGURATION,
    ClusterState,
    DesiredCertificates,
    HeldSecret,
    Write,
)

MAX_LISTED_REPLICAS = 5


class Action(Enum):
    """What a step does. The value is the text for logs and events."""

    CREATE_AUTHORITY = "an authority was made"
    CREATE_NEXT_AUTHORITY = "the next authority was made"
    EXTEND_BUNDLES = "an authority was added to caBundle"
    PROMOTE_NEXT_AUTHORITY = "the next authority signs from now on"
    SIGN_PAIR = "a new pair was signed"
    PRUNE_BUNDLES = "what signs no more was taken out of caBundle"
    WAIT = ""
    DONE = "all is as it should be"


@dataclass(frozen=True)
class Step:
    """An action, and the reason for it."""

    action: Action
    reason: str = ""


def next_step(
    state: ClusterState, desired: DesiredCertificates, now: datetime, *, is_settled: bool
) -> Step:
    """Returns the first step that the state requires.

    `is_settled`: the last write is so old that every API server has received it.
    """
    return next(_steps(state, desired, now, is_settled=is_settled))


def _steps(
    state: ClusterState, desired: DesiredCertificates, now: datetime, *, is_settled: bool
) -> Iterator[Step]:
    yield from _authority_steps(state, desired, now)
    if any(_lacks_authority(bundle, state) for bundle in state.ca_bundles):
        yield Step(Action.EXTEND_BUNDLES, "a webhook does not trust it")
    if state.next_signer:
        yield (
            Step(Action.PROMOTE_NEXT_AUTHORITY, "it is trusted")
            if is_settled
            else Step(Action.WAIT, "every API server has to hear of the next authority")
        )
    yield from _serving_steps(state, desired, now, is_settled=is_settled)
    if outdated := list(_outdated_replicas(state)):
        listed = "; ".join(outdated[:MAX_LISTED_REPLICAS])
        hidden = len(outdated) - MAX_LISTED_REPLICAS
        more = f", and {hidden} more" if hidden > 0 else ""
        yield Step(Action.WAIT, f"not all serve the new certificate: {listed}{more}")
    if any(bundle != pki.merge_bundles(state.signer.certificate) for bundle in state.ca_bundles):
        yield (
            Step(Action.PRUNE_BUNDLES, "nobody shows anything of it")
            if is_settled
            else Step(Action.WAIT, "somebody may still be about to serve the old certificate")
        )
    yield Step(Action.DONE)


def _authority_steps(
    state: ClusterState, desired: DesiredCertificates, now: datetime
) -> Iterator[Step]:
    """Replaces an authority early, because no certificate may outlive its authority."""
    next_signer = state.next_signer
    next_problem = authority_problem(next_signer, now) if next_signer else ""
    if problem := authority_problem(state.signer, now):
        can_promote = next_signer and not next_problem
        yield Step(
            Action.PROMOTE_NEXT_AUTHORITY if can_promote else Action.CREATE_AUTHORITY,
            f"the authority is unusable: {problem}",
        )
    if next_problem:
        yield Step(Action.CREATE_NEXT_AUTHORITY, f"the next authority is unusable: {next_problem}")
    certificate = state.signer.certificate
    if not next_signer and now >= renewal_time(certificate, desired.authority_lifetime):
        yield Step(
            Action.CREATE_NEXT_AUTHORITY,
            f"the authority ends at {pki.earliest_expiry(certificate):%Y-%m-%dT%H:%M:%SZ}",
        )


def _serving_steps(
    state: ClusterState, desired: DesiredCertificates, now: datetime, *, is_settled: bool
) -> Iterator[Step]:
    """Replaces the serving pair. A pair that no client accepts is replaced without a wait."""
    pair, authority = state.serving.key_pair(), state.signer.certificate
    reason = renewal_reason(pair, desired.serving, authority, now)
    if not reason and state.serving.data.get(CA_CRT) != authority:
        reason = f"{CA_CRT} beside it is another"
    if reason:
        yield (
            Step(Action.SIGN_PAIR, reason)
            if is_settled or serving_problem(pair, now)
            else Step(
                Action.WAIT, "every API server has to hear of the authority that signs the new pair"
            )
        )


def _lacks_authority(bundle: bytes, state: ClusterState) -> bool:
    trusted = pki.parse_certificates(bundle)
    signers = [state.signer, *([state.next_signer] if state.next_signer else [])]
    return any(
        certificate not in trusted
        for signer in signers
        for certificate in pki.parse_certificates(signer.certificate)[:1]
    )


def _outdated_replicas(state: ClusterState) -> Iterator[str]:
    current = pki.first_der(state.serving.key_pair().certificate)
    for replica in state.replicas:
        if replica.certificate_der != current:
            yield f"{replica.address} {replica.problem or 'serves another'}"


def plan_writes(
    action: Action, state: ClusterState, desired: DesiredCertificates, now: datetime
) -> Iterator[Write]:
    """Yields the writes of an action, one per object."""
    authority, signer, next_signer = state.authority, state.signer, state.next_signer
    match action:
        case Action.CREATE_AUTHORITY:
            pair = pki.create_authority(desired.authority_name, desired.authority_lifetime, now)
            yield _secret_write(authority, _promoted(pair))
        case Action.CREATE_NEXT_AUTHORITY:
            pair = pki.create_authority(desired.authority_name, desired.authority_lifetime, now)
            yield _secret_write(authority, {NEXT_CRT: pair.certificate, NEXT_KEY: pair.key})
        case Action.PROMOTE_NEXT_AUTHORITY if next_signer:
            yield _secret_write(authority, _promoted(next_signer))
        case Action.SIGN_PAIR:
            pair = pki.sign(desired.serving, signer, now)
            yield _secret_write(state.serving, {**_pair_data(pair), CA_CRT: signer.certificate})
        case Action.EXTEND_BUNDLES:
            next_certificate = next_signer.certificate if next_signer else b""
            yield from _bundle_writes(state, signer.certificate, next_certificate, extend=True)
        case Action.PRUNE_BUNDLES:
            yield from _bundle_writes(state, signer.certificate, extend=False)
        case _:
            return


def _promoted(pair: KeyPair) -> dict[str, bytes | None]:
    """Makes the pair the current authority, and removes the next authority."""
    return {**_pair_data(pair), NEXT_CRT: None, NEXT_KEY: None}


def _pair_data(pair: KeyPair) -> dict[str, bytes | None]:
    return {TLS_CRT: pair.certificate, TLS_KEY: pair.key}


def _secret_write(secret: HeldSecret, content: dict[str, bytes | None]) -> Write:
    return Write(SECRET, secret.name, secret.resource_version, content)


def _bundle_writes(state: ClusterState, *pems: bytes, extend: bool) -> Iterator[Write]:
    """Yields a write for each configuration with a caBundle that changes."""
    for configuration in state.configurations:
        bundles = {
            name: pki.merge_bundles(*([current] if extend else []), *pems)
            for name, current in configuration.ca_bundles.items()
        }
        changed: dict[str, bytes | None] = {
            name: pem for name, pem in bundles.items() if pem != configuration.ca_bundles[name]
        }
        if changed:
            yield Write(
                WEBHOOK_CONFIGURATION, configuration.name, configuration.resource_version, changed
            )

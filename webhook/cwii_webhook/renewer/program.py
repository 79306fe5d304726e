"""Runs `cwii-webhook renew`, and reports the outcome in log, event, exit code and pod status."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cwii_webhook.certificates import pki
from cwii_webhook.kube.access import Access, in_cluster
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.kube.kubeconfig import from_kubeconfig
from cwii_webhook.renewer.cluster import RenewerCluster
from cwii_webhook.renewer.outcome import Outcome
from cwii_webhook.renewer.run import Renewer
from cwii_webhook.renewer.settings import FLAGS, Settings, build_renewer_settings
from cwii_webhook.renewer.state import DesiredCertificates, HeldSecret
from cwii_webhook.settings.flags import parse
from cwii_webhook.telemetry.log import Log


def renew(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    settings = build_renewer_settings(parse(FLAGS, arguments, environ))
    access = (
        from_kubeconfig(Path(settings.kubeconfig), RealClock())
        if settings.kubeconfig
        else in_cluster(environ, RealClock())
    )
    log = Log(2, settings.log_level)
    outcome = asyncio.run(_run(access, settings, log))
    (log.error if outcome.problem else log.info)(
        outcome.result, why=outcome.problem or None, done=outcome.completed
    )
    log.flush()
    _write_termination_message(Path(settings.termination_log), outcome)
    return outcome.exit_code


def desired_certificates(settings: Settings) -> DesiredCertificates:
    """Derives the certificates to make from the flags."""
    serving_lifetime = pki.Lifetime(
        timedelta(seconds=settings.validity), timedelta(seconds=settings.renew_before)
    )
    authority_lifetime = pki.Lifetime(
        timedelta(seconds=settings.ca_validity), timedelta(seconds=settings.ca_renew_before)
    )
    return DesiredCertificates(
        pki.service_spec(settings.service, settings.namespace, serving_lifetime),
        settings.service,
        authority_lifetime,
    )


async def _run(access: Access, settings: Settings, log: Log) -> Outcome:
    client = Client(access)
    cluster = RenewerCluster(client, access.clock, settings)
    renewer = Renewer(cluster, desired_certificates(settings), access.clock, _utc_now, log)
    try:
        outcome = await renewer.run(settings.settle, settings.patience)
        if (event := outcome.event) and renewer.last_state:
            await _create_event(cluster, renewer.last_state.serving, event, log)
        return outcome
    finally:
        await client.close()


async def _create_event(
    cluster: RenewerCluster, secret: HeldSecret, event: tuple[str, str, str], log: Log
) -> None:
    """Creates the event. A failure is only logged, because the exit code reports the outcome."""
    try:
        await cluster.create_event(secret, *event, _utc_now())
    except (StatusError, Unreachable, BadAccess) as e:
        log.warning("no event could be written", why=str(e))


def _write_termination_message(file: Path, outcome: Outcome) -> None:
    """Writes the message if the file exists. A kubelet creates it before the container starts."""
    if file.exists():
        with contextlib.suppress(OSError):
            file.write_bytes(outcome.termination_message)


def _utc_now() -> datetime:
    return datetime.now(UTC)

"""`cwii-webhook renew`: from a command line to an exit code, and what came of it told in the log, in an event and in the pod's last words."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cwii_webhook.admission.cluster_view import LookupRefused
from cwii_webhook.certificates import pki
from cwii_webhook.kube.access import Access, in_cluster
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.kube.kubeconfig import from_kubeconfig
from cwii_webhook.renewer.cluster import RenewerCluster
from cwii_webhook.renewer.outcome import Outcome
from cwii_webhook.renewer.run import Renewer
from cwii_webhook.renewer.settings import FLAGS, Settings, settings
from cwii_webhook.renewer.state import HeldSecret, Terms
from cwii_webhook.settings.flags import parse
from cwii_webhook.telemetry.log import Log


def renew(words: Sequence[str], environ: Mapping[str, str]) -> int:
    told = settings(parse(FLAGS, words, environ))
    access = (
        from_kubeconfig(Path(told.kubeconfig), RealClock())
        if told.kubeconfig
        else in_cluster(environ, RealClock())
    )
    log = Log(2, told.log_level)
    outcome = asyncio.run(_renewed(access, told, log))
    (log.error if outcome.hindrance else log.info)(
        outcome.what, why=outcome.hindrance or None, done=outcome.done
    )
    log.flush()
    _last_words(Path(told.termination_log), outcome)
    return outcome.code


def terms(told: Settings) -> Terms:
    life = pki.Lifetime(timedelta(seconds=told.validity), timedelta(seconds=told.early))
    wish = pki.service(told.service, told.namespace, life)
    return Terms(
        wish,
        told.service,
        pki.Lifetime(timedelta(seconds=told.ca_validity), timedelta(seconds=told.ca_early)),
    )


async def _renewed(access: Access, told: Settings, log: Log) -> Outcome:
    api = Client(access)
    place = RenewerCluster(api, access.clock, told)
    renewer = Renewer(place, terms(told), access.clock, _today, log)
    try:
        outcome = await renewer.run(told.settle, told.patience)
        if (event := outcome.event) and renewer.last:
            await _tell(place, renewer.last.serving, event, log)
        return outcome
    finally:
        await api.close()


async def _tell(
    place: RenewerCluster, held: HeldSecret, event: tuple[str, str, str], log: Log
) -> None:
    """Where nobody takes it, there is still the exit code."""
    try:
        await place.tell(held, *event, _today())
    except (StatusError, Unreachable, BadAccess, LookupRefused) as e:
        log.warning("no event could be written", why=str(e))


def _last_words(file: Path, outcome: Outcome) -> None:
    """A kubelet has made the file; elsewhere there is none, and none is wanted."""
    if file.exists():
        with contextlib.suppress(OSError):
            file.write_bytes(outcome.line)


def _today() -> datetime:
    return datetime.now(UTC)

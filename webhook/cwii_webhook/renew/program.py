"""`cwii-webhook renew`: from a command line to an exit code, and what came of it told in the log, in an event and in the pod's last words."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cwii_webhook import pki
from cwii_webhook.cluster.access import Access, in_cluster
from cwii_webhook.cluster.api import Api
from cwii_webhook.cluster.clock import RealClock
from cwii_webhook.cluster.errors import BadAccess, Hopeless, Refused, Unreachable
from cwii_webhook.cluster.kubeconfig import from_kubeconfig
from cwii_webhook.log import Log
from cwii_webhook.renew.found import Held, Terms
from cwii_webhook.renew.outcome import Outcome
from cwii_webhook.renew.place import Place
from cwii_webhook.renew.run import Renewer
from cwii_webhook.settings.flags import parse
from cwii_webhook.settings.renewing import FLAGS, Settings, settings


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
    life = pki.Life(timedelta(seconds=told.validity), timedelta(seconds=told.early))
    wish = pki.service(told.service, told.namespace, life)
    return Terms(
        wish,
        told.service,
        pki.Life(timedelta(seconds=told.ca_validity), timedelta(seconds=told.ca_early)),
    )


async def _renewed(access: Access, told: Settings, log: Log) -> Outcome:
    api = Api(access)
    place = Place(api, access.clock, told)
    renewer = Renewer(place, terms(told), access.clock, _today, log)
    try:
        outcome = await renewer.run(told.settle, told.patience)
        if (event := outcome.event) and renewer.last:
            await _tell(place, renewer.last.serving, event, log)
        return outcome
    finally:
        await api.close()


async def _tell(place: Place, held: Held, event: tuple[str, str, str], log: Log) -> None:
    """Where nobody takes it, there is still the exit code."""
    try:
        await place.tell(held, *event, _today())
    except (Refused, Unreachable, BadAccess, Hopeless) as e:
        log.warning("no event could be written", why=str(e))


def _last_words(file: Path, outcome: Outcome) -> None:
    """A kubelet has made the file; elsewhere there is none, and none is wanted."""
    if file.exists():
        with contextlib.suppress(OSError):
            file.write_bytes(outcome.line)


def _today() -> datetime:
    return datetime.now(UTC)

"""What an installation waits for: a Job that makes certificates, and replicas that are ready."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from cwiictl.actions.cluster import address
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Report
from cwiictl.errors import Denied, Failed, NotYet
from cwiictl.install import rollover
from cwiictl.install.command import PLAIN
from cwiictl.install.rollout import Body, rollout, running, unready
from cwiictl.kubernetes import Place

KEPT = 3600  # seconds that a Job of ours is there when it has ended: nobody else takes it away
LEARNING = 20.0  # seconds until every API server has seen a configuration
GO_ON = "mend what hinders it, and run the same command again to go on"
BEHIND = "see kubectl logs of the webhook, and whether the API servers reach its Service"
UNREACHED = (
    "error trying to reach service"  # an API server's own words, of a pod that it is kept from
)
REFUSED = ":{port}: connect: connection refused"  # the same, of a pod that it reaches: in the first seconds nobody listens there yet


@dataclass(frozen=True)
class Account:
    """What a webhook says of itself: nothing if it is ready."""

    hindrance: str = ""
    unasked: str = ""  # why it was not heard


@dataclass(frozen=True)
class Waiting:
    """Where, how, and for how long."""

    place: Place
    pace: Pace
    report: Report
    timeout: float

    def rolled_out(self, name: str, namespace: str, port: int | None = PLAIN) -> None:
        """Every replica is of the Deployment as it was applied, and ready. At `port` one that is not says why, if that is ours to say."""

        def look() -> str:
            deployment = self._deployment(name, namespace)
            pods = self._pods(namespace, _selector(deployment))
            answers = (
                {
                    pod: self.place.api.answer(namespace, pod, port, "/readyz")
                    for pod in unready(pods)
                }
                if port
                else {}
            )
            now = rollout(deployment, pods, self._events(namespace), answers)
            if not now.whole:
                hindrances = "; ".join(now.hindrances)
                raise NotYet(f"{now}{f': {hindrances}' if hindrances else ''}", remedy=GO_ON)
            return "ready"

        self.until(address("Deployment", name, namespace), look)

    def ready(self, name: str, namespace: str, port: int) -> tuple[str, ...]:
        """Whether each replica's webhook is, by its own account: of one for which its pod does not wait. Who cannot be asked is not waited for, but told."""

        def look() -> str:
            pods = running(self._pods(namespace, _selector(self._deployment(name, namespace))))
            accounts = {pod: self._account(namespace, pod, port) for pod in pods}
            if hindrances := [
                f"the webhook in pod {pod} is not ready: {one.hindrance}"
                for pod, one in accounts.items()
                if one.hindrance
            ]:
                raise NotYet("; ".join(hindrances), remedy=GO_ON)
            return "; ".join(
                f"{pod}: {one.unasked}" for pod, one in accounts.items() if one.unasked
            )

        unasked = self.until(address("Deployment", name, namespace), look)
        return (
            (
                f"Whether the webhook is ready in its pods could not be asked, and was not waited for ({unasked}).",
            )
            if unasked
            else ()
        )

    def _account(self, namespace: str, pod: str, port: int) -> Account:
        try:
            said = self.place.api.through(namespace, pod, port, "/readyz").text.strip()
        except Denied as e:
            return Account(unasked=e.problem)
        if UNREACHED in said and said.endswith(REFUSED.format(port=port)):
            return Account(f"nobody listens at its port {port}")
        if UNREACHED in said:
            return Account(unasked=said)
        return Account(hindrance="" if said == "ok" else said)

    def renewed(self, name: str, namespace: str) -> str:
        """A Job of the CronJob, as `kubectl create job --from` makes it, and what it said in the end."""
        cron = self.place.api.get("CronJob.batch", namespace, f"{name}-renew")
        if cron is None:
            raise Failed(
                f"there is no CronJob {namespace}/{name}-renew to renew certificates with",
                remedy="run install-webhook, with certificates.by=renewer",
            )
        made = self.place.api.create(_job(cron))["metadata"]["name"]
        return self.until(address("Job", made, namespace), lambda: self._ended(made, namespace))

    def bundled(self, name: str, by: str) -> None:
        def look() -> str:
            standing = self.place.api.get(rollover.CONFIGURATION, "", name)
            if standing and not rollover.bundled(standing):
                raise NotYet(
                    f"{by} has not put its CA into the MutatingWebhookConfiguration {name}",
                    remedy=f"see that {by} runs in the cluster, or say another certificates.by, and run the same command again",
                )
            return "believed"

        self.until(address(rollover.CONFIGURATION, name), look)

    def _ended(self, job: str, namespace: str) -> str:
        status = (self.place.api.get("Job.batch", namespace, job) or {}).get("status", {})
        ended = {
            condition["type"]: condition
            for condition in status.get("conditions", ())
            if condition["status"] == "True"
        }
        pods = self._pods(namespace, f"batch.kubernetes.io/job-name={job}")
        if "Failed" in ended:
            raise Failed(
                f"the renewer has failed: {_said(pods) or ended['Failed'].get('message', '')}",
                remedy=GO_ON,
            )
        if "Complete" not in ended:
            raise NotYet(
                f"Job {namespace}/{job} has not ended: {_hindrance(pods, self._events(namespace))}",
                remedy=GO_ON,
            )
        return _said(pods)

    def _deployment(self, name: str, namespace: str) -> Body:
        deployment = self.place.api.get("Deployment.apps", namespace, name)
        if deployment is None:
            raise Failed(
                f"the Deployment {namespace}/{name} has gone", remedy="run the same command again"
            )
        return deployment

    def _pods(self, namespace: str, selector: str) -> list[Body]:
        return self.place.api.list("Pod", namespace, selector)

    def _events(self, namespace: str) -> list[Body]:
        return self.place.api.list("Event", namespace)

    def until(self, what: str, look: Callable[[], str]) -> str:
        said: list[str] = []

        def do(_address: str, _tried: int) -> str:
            said.append(look())
            return "ready"

        run(
            Job(
                {what: ()},
                do,
                patience=lambda _address: self.timeout,
                report=self.report,
                verb="reading",
            ),
            self.pace,
        ).checked()
        return said[-1]


def _selector(deployment: Body) -> str:
    return ",".join(
        f"{key}={value}"
        for key, value in deployment["spec"]["selector"].get("matchLabels", {}).items()
    )


def _job(cron: Body) -> dict[str, Any]:
    about, template = cron["metadata"], cron["spec"]["jobTemplate"]
    owner = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": about["name"],
        "uid": about["uid"],
    }
    words: Mapping[str, Any] = template.get("metadata", {})
    metadata: dict[str, Any] = {
        "generateName": f"{about['name']}-",
        "namespace": about["namespace"],
        "labels": dict(words.get("labels") or {}),
        "annotations": {
            **(words.get("annotations") or {}),
            "cronjob.kubernetes.io/instantiate": "manual",
        },
        "ownerReferences": [owner],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {**template["spec"], "ttlSecondsAfterFinished": KEPT},
    }


def _said(pods: list[Body]) -> str:
    """The last word of the pod that ended last."""
    ends = [
        ended
        for pod in pods
        for status in pod.get("status", {}).get("containerStatuses", ())
        if (ended := status.get("state", {}).get("terminated")) and ended.get("message")
    ]
    last = max(ends, key=lambda end: str(end.get("finishedAt")), default=None)
    return _plain(str(last["message"]).strip()) if last else ""


def _plain(message: str) -> str:
    """One line of JSON with what was done, or what hinders it; or whatever else a container has said at last."""
    try:
        told: Any = json.loads(message.splitlines()[-1])
    except ValueError:
        return message
    return _outcome(cast("dict[str, Any]", told)) if isinstance(told, dict) else message


def _outcome(told: Mapping[str, Any]) -> str:
    """Of the renewer's words, those for people."""
    if told.get("hindrance"):
        return str(told["hindrance"])
    ends = [f"the certificate ends at {told['ends']}"] if told.get("ends") else []
    return "; ".join([*(told.get("done") or ["nothing had to be renewed"]), *ends])


def _hindrance(pods: list[Body], events: list[Body]) -> str:
    judged = rollout({"metadata": {"generation": 1}, "spec": {}}, pods, events)
    return "; ".join(judged.hindrances) or "it is at work"

"""Certificates for life: two Secrets without content, and a CronJob that fills them, and the bundles."""

from __future__ import annotations

from collections.abc import Iterator

from cwiictl.install.body import BATCH, CORE, RENEWER, Object, body, labels
from cwiictl.install.pod import template
from cwiictl.install.schedule import gap, told
from cwiictl.install.values import Values

PATIENCE = 1800  # seconds that one run may take


def secrets(values: Values) -> Iterator[Object]:
    """What is in them is the renewer's: who applies these again takes nothing away."""
    if values.certificates.by == "renewer":
        for name in (values.serving_secret, f"{values.name}-ca"):
            yield body(values, CORE, "Secret", name, type="Opaque")


def renewal(values: Values) -> Iterator[Object]:
    if values.certificates.by != "renewer":
        return
    spec: Object = {
        "schedule": values.certificates.schedule,
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 600,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"metadata": {"labels": labels(values, RENEWER)}, "spec": job(values)},
    }
    yield body(values, BATCH, "CronJob", f"{values.name}-renew", spec=spec)


def job(values: Values) -> Object:
    """What the first certificate is made with, too."""
    container: Object = {
        "name": "renew",
        "args": command(values),
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
    }
    return {
        "backoffLimit": 4,
        "activeDeadlineSeconds": PATIENCE,
        "template": template(values, RENEWER, values.renewer, container, restartPolicy="Never"),
    }


def command(values: Values) -> list[str]:
    certificates = values.certificates
    words = {
        "namespace": values.namespace,
        "service": values.name,
        "serving-secret": values.serving_secret,
        "ca-secret": f"{values.name}-ca",
        "configuration": values.name,
        "validity": certificates.validity,
        "ca-validity": certificates.ca_validity,
        "every": told(gap(certificates.schedule)),
        "log-level": values.log_level,
    }
    return ["renew", *(f"--{flag}={value}" for flag, value in words.items())]

"""What tells people how the webhook is: where Prometheus looks, what it warns of, and what Grafana shows."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cwiictl.install.body import CORE, Object, body, labels
from cwiictl.install.values import Values

_VERSION = "monitoring.coreos.com/v1"


def monitoring(values: Values) -> Iterator[Object]:
    wanted = values.monitoring
    if wanted.scrape:
        spec: Object = {
            "selector": {"matchLabels": labels(values)},
            "endpoints": [{"port": "metrics", "path": "/metrics"}],
        }
        yield _labelled(values, body(values, _VERSION, "ServiceMonitor", spec=spec))
    if wanted.alerts:
        yield _labelled(
            values,
            body(
                values,
                _VERSION,
                "PrometheusRule",
                spec={"groups": [{"name": values.name, "rules": list(_alerts(values))}]},
            ),
        )
    if wanted.dashboard:
        shown = body(
            values,
            CORE,
            "ConfigMap",
            f"{values.name}-dashboard",
            data={"cwii-webhook.json": dashboard()},
        )
        shown["metadata"]["labels"] |= {"grafana_dashboard": "1"}
        yield shown


def _labelled(values: Values, made: Object) -> Object:
    made["metadata"]["labels"] = {**values.monitoring.labels, **made["metadata"]["labels"]}
    return made


def _alerts(values: Values) -> Iterator[Object]:
    ours = f'namespace="{values.namespace}",service="{values.name}"'
    entries = r'name=~".*\\.cwii\\.dev"'
    yield _alert(
        "CwiiWebhookDown",
        "5m",
        f"absent(cwii_ready{{{ours}}} == 1)",
        "critical",
        "No replica of the webhook is ready: pods go without, or wait.",
    )
    yield _alert(
        "CwiiWebhookNotReady",
        "10m",
        f"cwii_ready{{{ours}}} == 0",
        "warning",
        "A replica of the webhook is not ready: /readyz says why.",
    )
    yield _alert(
        "CwiiWebhookCertificateEnds",
        "1h",
        f"cwii_certificate_expiry_timestamp_seconds{{{ours}}} - time() < 7 * 86400",
        "warning",
        "The webhook's certificate ends within a week, and nobody has renewed it.",
    )
    yield _alert(
        "CwiiWebhookFailedOpen",
        "0m",
        f"increase(apiserver_admission_webhook_fail_open_count{{{entries}}}[10m]) > 0",
        "warning",
        "Pods were admitted without their identity: `cwiictl status --pods` names them.",
    )
    yield _alert(
        "CwiiWebhookErrors",
        "10m",
        f'rate(cwii_http_requests_total{{{ours},code=~"5.."}}[5m]) > 0',
        "warning",
        "The webhook cannot decide on some pods: its log says why.",
    )


def _alert(name: str, lasting: str, expression: str, severity: str, summary: str) -> Object:
    return {
        "alert": name,
        "expr": expression,
        "for": lasting,
        "labels": {"severity": severity},
        "annotations": {"summary": summary},
    }


def dashboard() -> str:
    """The same for all: it asks which Prometheus and which namespace."""
    chosen = 'namespace="$namespace"'
    panels = {
        "Replicas that are ready": f"sum(cwii_ready{{{chosen}}})",
        "Decisions, by what came of them": f"sum by (dialect, provider, outcome) (rate(cwii_decisions_total{{{chosen}}}[$__rate_interval]))",
        "Answers, by their code": f"sum by (code) (rate(cwii_http_requests_total{{{chosen}}}[$__rate_interval]))",
        "Seconds until 99 of 100 answers": (
            f"histogram_quantile(0.99, sum by (le) (rate(cwii_http_request_duration_seconds_bucket{{{chosen}}}[$__rate_interval])))"
        ),
        "Days until the certificate ends": f"min(cwii_certificate_expiry_timestamp_seconds{{{chosen}}} - time()) / 86400",
        "Seconds since the cluster was heard from": f"max by (kind) (cwii_cache_age_seconds{{{chosen}}})",
    }
    shown = {
        "title": "cwii-webhook",
        "uid": "cwii-webhook",
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "type": "datasource", "query": "prometheus"},
                {
                    "name": "namespace",
                    "type": "query",
                    "datasource": {"uid": "$source"},
                    "query": "label_values(cwii_ready, namespace)",
                },
            ]
        },
        "panels": [
            _panel(number, title, query) for number, (title, query) in enumerate(panels.items())
        ],
    }
    return json.dumps(shown, indent=2) + "\n"


def _panel(number: int, title: str, query: str) -> Object:
    place = {"x": 12 * (number % 2), "y": 8 * (number // 2), "w": 12, "h": 8}
    source = {"type": "prometheus", "uid": "$source"}
    return {
        "id": number + 1,
        "title": title,
        "type": "timeseries",
        "gridPos": place,
        "datasource": source,
        "targets": [{"refId": "A", "expr": query}],
    }

"""Tests metrics in the Prometheus text format."""

from __future__ import annotations

import os

from cwii_webhook.telemetry.metrics import Metrics, earliest


def test_exposition_has_all_kinds_of_metrics() -> None:
    metrics = Metrics()
    decisions = metrics.counter(
        "decisions_total", "Decisions.", dialect=("eks", "azwi"), outcome=("patched", "denied")
    )
    seconds = metrics.histogram("seconds", "How long.", (0.1, 1.0))
    size = metrics.gauge("size", "How many.")
    decisions.add("eks", "patched")
    decisions.add("eks", "patched", by=2)
    decisions.add("azwi", "denied")
    for value in (0.05, 0.1, 0.5, 7.0):
        seconds.observe(value)
    size.set(2.5)
    assert metrics.exposition().decode() == (
        "# HELP decisions_total Decisions.\n# TYPE decisions_total counter\n"
        'decisions_total{dialect="eks",outcome="patched"} 3\n'
        'decisions_total{dialect="azwi",outcome="denied"} 1\n'
        "# HELP seconds How long.\n# TYPE seconds histogram\n"
        'seconds_bucket{le="0.1"} 2\nseconds_bucket{le="1"} 3\nseconds_bucket{le="+Inf"} 4\n'
        "seconds_sum 7.65\nseconds_count 4\n"
        "# HELP size How many.\n# TYPE size gauge\nsize 2.5\n"
    )


def test_unknown_label_values_add_no_series() -> None:
    metrics = Metrics()
    decisions = metrics.counter("decisions_total", "Decisions.", dialect=("eks",))
    before = len(metrics.row)
    for number in range(1000):
        decisions.add(f'"}} forged {number}\n')
    assert len(metrics.row) == before
    assert metrics.exposition().decode().splitlines()[2:] == [
        'decisions_total{dialect="other"} 1000'
    ]


def test_label_values_are_escaped() -> None:
    metrics = Metrics()
    metrics.counter("a", "A.", b=('x"\\\ny',)).add('x"\\\ny')
    assert metrics.exposition().decode().splitlines()[2:] == [r'a{b="x\"\\\ny"} 1']


def test_processes_are_aggregated_after_one_has_ended() -> None:
    metrics = Metrics()
    counter, ready = metrics.counter("count", "Count."), metrics.gauge("ready", "Ready.", min)
    ends, size = metrics.gauge("ends", "Ends.", earliest), metrics.gauge("size", "Size.")
    metrics.share(3)
    for number in range(2):
        pid = os.fork()
        if pid == 0:
            metrics.use_row(number)
            counter.add(by=number + 1)
            ready.set(1)
            ends.set(100 - number)
            size.set(5)
            os._exit(0)
        os.waitpid(pid, 0)
    assert metrics.exposition().decode().splitlines()[2::3] == [
        "count 3",
        "ready 0",
        "ends 99",
        "size 10",
    ]
    assert metrics.values_by_process(ready) == [1, 1, 0]
    metrics.clear_gauges(1)
    assert metrics.exposition().decode().splitlines()[2::3] == [
        "count 3",
        "ready 0",
        "ends 100",
        "size 5",
    ]

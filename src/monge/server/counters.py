"""The counters of `/metrics`: requests, queue, batch sizes, seconds per stage; no texts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class ServiceCounters:
    """The Prometheus counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        statuses, seconds = "Requests by route and status.", "From the first byte to the answer."
        self._requests = Counter("monge_requests", statuses, ["route", "status"], registry=registry)
        self._seconds = Histogram(
            "monge_request_seconds", seconds, ["route"], buckets=_SECONDS, registry=registry
        )
        self.in_flight = Gauge("monge_in_flight", "Requests that are worked on.", registry=registry)
        self.waiting = Gauge(
            "monge_waiting", "Requests that wait to be worked on.", registry=registry
        )
        self.queue = Gauge("monge_engine_queue", "Windows that wait for a pass.", registry=registry)
        self.jobs = Gauge("monge_jobs", "Jobs by state.", ["state"], registry=registry)
        self._size = Histogram(
            "monge_pass_texts", "Distinct texts of a pass.", buckets=_SIZES, registry=registry
        )
        self._shared = Histogram(
            "monge_pass_requests", "Requests of a pass.", buckets=_SIZES, registry=registry
        )
        self._stages = Histogram(
            "monge_stage_seconds",
            "Of an encoding pass, of a metric's transport, of a call alone, of a whole request's "
            "work.",
            ["stage"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._texts = Counter("monge_texts", "Distinct texts of passes.", registry=registry)
        self._encoded = Counter(
            "monge_texts_encoded", "Texts that the model read.", registry=registry
        )
        self._memory = Counter(
            "monge_texts_from_memory", "Texts whose vectors were in memory.", registry=registry
        )
        self._gone = Counter(
            "monge_abandoned", "Requests whose client left or whose time was up.", registry=registry
        )

    def count_answer(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_pass(self, texts: int, requests: int, encoded: int) -> None:
        """Count an encoding pass: distinct texts, requests, and texts that the model encoded."""
        self._size.observe(texts)
        self._shared.observe(requests)
        self._texts.inc(texts)
        self._encoded.inc(encoded)
        self._memory.inc(max(texts - encoded, 0))

    def count_stage(self, name: str, seconds: float) -> None:
        """Record how many seconds a stage took."""
        self._stages.labels(name).observe(seconds)

    def count_abandoned(self) -> None:
        """Count a request that was abandoned."""
        self._gone.inc()

    def text(self) -> bytes:
        """Return all counters in the format of Prometheus."""
        return generate_latest(self._registry)

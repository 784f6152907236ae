"""What `/metrics` tells: requests, queue, sizes of passes, seconds by stage, texts from memory. No text, no name."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Counters:
    """The counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = mine = CollectorRegistry()
        self._requests = Counter("monge_requests", "Requests by route and status.", ["route", "status"], registry=mine)
        self._seconds = Histogram(
            "monge_request_seconds", "From the first byte to the answer.", ["route"], buckets=_SECONDS, registry=mine
        )
        self.in_flight = Gauge("monge_in_flight", "Requests that are worked on.", registry=mine)
        self.waiting = Gauge("monge_waiting", "Requests that wait to be worked on.", registry=mine)
        self.queue = Gauge("monge_engine_queue", "Windows that wait for a pass.", registry=mine)
        self.jobs = Gauge("monge_jobs", "Jobs by state.", ["state"], registry=mine)
        self._size = Histogram("monge_pass_texts", "Distinct texts of a pass.", buckets=_SIZES, registry=mine)
        self._shared = Histogram("monge_pass_requests", "Requests of a pass.", buckets=_SIZES, registry=mine)
        self._stages = Histogram(
            "monge_stage_seconds",
            "Of an encoding pass, of a metric's transport, of a call alone, of a whole request's work.",
            ["stage"],
            buckets=_SECONDS,
            registry=mine,
        )
        self._texts = Counter("monge_texts", "Distinct texts of passes.", registry=mine)
        self._encoded = Counter("monge_texts_encoded", "Texts that the model read.", registry=mine)
        self._memory = Counter("monge_texts_from_memory", "Texts whose vectors were in memory.", registry=mine)
        self._gone = Counter("monge_abandoned", "Requests whose client left or whose time was up.", registry=mine)

    def answered(self, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def passed(self, texts: int, requests: int, encoded: int) -> None:
        """A pass was made: over so many distinct texts, for so many requests, and so many the model had to read."""
        self._size.observe(texts)
        self._shared.observe(requests)
        self._texts.inc(texts)
        self._encoded.inc(encoded)
        self._memory.inc(max(texts - encoded, 0))

    def stage(self, name: str, seconds: float) -> None:
        """A stage took so long."""
        self._stages.labels(name).observe(seconds)

    def abandoned(self) -> None:
        """Nobody waits for a request any more."""
        self._gone.inc()

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self._registry)

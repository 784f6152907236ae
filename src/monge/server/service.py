"""The service without HTTP: loaded models, and a method per kind of request."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from importlib.metadata import version
from operator import or_
from pathlib import Path
from threading import Lock
from typing import Any

from monge import api
from monge.encoders.packaged import EMBEDDED
from monge.errors import UnknownName, UsageError
from monge.evaluation import Resampling, aligned, compare_results
from monge.metrics.blend import BlendSpec, LinearSum
from monge.metrics.blend_file import is_blend_file
from monge.metrics.catalogue import described, listed
from monge.metrics.forms import EVERY, form, kind_of
from monge.metrics.labels import labels
from monge.metrics.presets import Spec, bounds_of, resolve
from monge.metrics.signature import parse
from monge.render import explanation_html, explanation_svg, render_results
from monge.render.bounded import FULL_CELLS, WHOLE_CELLS, bounded_json
from monge.render.table import render_study
from monge.scoring.run import ScoringRun
from monge.scoring.scorer import vector_members
from monge.server import schemas, work
from monge.server.allowed import check_settings
from monge.server.checks import QUICK, Checks
from monge.server.counters import ServiceCounters
from monge.server.engine import BatchingEngine, Ticket
from monge.server.examples import SYSTEMS, agreement, is_measured, kept_cost, measured_here
from monge.server.limits import Limits
from monge.server.refusals import limit_refusal
from monge.server.request_batches import FEW, SmallRequest, is_small_request
from monge.server.state import StateFolder
from monge.server.statistics import KeptStatistics
from monge.types import CorpusStats, Explanation, Result, Segment

KEPT_METRICS = 256
VERSION = version("monge")


@dataclass(frozen=True)
class Config:
    """The configuration of a service: metrics to warm, models, their precision, and limits.

    `state` is where jobs and statistics are kept; `token` is what clients must show; `hosts` are
    the names it answers to, any where there are none; `share` off gives every request an encoding
    pass of its own, which is for measuring what sharing is worth.
    """

    metrics: tuple[str, ...] = (api.DEFAULT_METRIC,)
    models: tuple[str, ...] = ("auto",)
    precision: str = "fp32"
    device: str = "auto"
    limits: Limits = field(default_factory=Limits)
    state: Path | None = None
    token: str | None = None
    hosts: tuple[str, ...] = ()
    share: bool = True


class Service(Checks):
    """Answers requests with bytes; safe to be called by many threads."""

    def __init__(self, config: Config, state: StateFolder | None = None) -> None:
        if EMBEDDED.path is not None:  # under one name, so that it is loaded once
            config = replace(
                config,
                models=tuple(
                    EMBEDDED.name if model == "auto" else model for model in config.models
                ),
            )
        super().__init__(config.limits)
        self.config, self.counters = config, ServiceCounters()
        for name in config.metrics:  # a wrong name is known before a model is loaded
            check_settings(
                resolve(name, self._changes(name, ()))[1], config.models, config.precision
            )
        self.engine = BatchingEngine(self.counters, share=config.share)
        self.ready = False
        self.models: dict[str, str] = {}
        self.signatures: dict[str, str] = {}
        self.milliseconds: dict[str, float] = {}
        self._metrics: OrderedDict[tuple[Any, ...], api.Metric] = OrderedDict()
        self.state = state
        self._statistics = KeptStatistics(state, config.limits.statistics)
        self._lock = Lock()

    def warm(self) -> None:
        """Load every model and score the bundled example, so that the first request is fast."""
        api.keep_encoders(len(self.config.models) + 1)
        names = list(SYSTEMS.systems)
        rows = api.segments_of(SYSTEMS.systems[names[0]], SYSTEMS.references)
        for model in self.config.models:
            for name in self.config.metrics:
                if model != self.config.models[0] and self._has_own_models(name):
                    continue
                metric = self.metric(name, (), None, model)
                alone = metric.scorer.members.get("")
                if alone is not None and alone.vector_metric is not None:
                    self.models[model] = metric.by_transport("warm").reader.encoder.name
                results = ScoringRun(
                    [metric.scorer], rows, score=self.engine.window_scorer(Ticket())
                ).results()  # any language
                if model == self.config.models[0]:
                    started = time.perf_counter()
                    ScoringRun([metric.scorer], rows).results()  # warm, and no text from memory
                    self.milliseconds[metric.name] = (
                        1000 * (time.perf_counter() - started) / len(rows)
                    )
                self.signatures.setdefault(metric.name, str(results[0].signature))
            if model not in self.models:
                self.models[model] = api.encoder_for(
                    model, precision=self.config.precision, device=self.config.device
                ).name
        self.ready = True

    # --- metrics
    # ----------------------------------------------------------------------------------------------

    def _has_own_models(self, name: str) -> bool:
        """Return whether a metric is a fitted blend, which takes the models of its fit alone."""
        spec = self.resolve_metric(name, (), None)[1]
        return isinstance(spec, BlendSpec) and isinstance(spec.formula, LinearSum)

    def _changes(self, name: str, settings: Iterable[str]) -> tuple[str, ...]:
        """Return settings preceded by this service's precision, which lexical metrics lack."""
        bare = name.partition("[")[0].strip()
        own = bare in EVERY and kind_of(bare) != "lexical" and self.config.precision != "fp32"
        return (*((f"encoder.precision={self.config.precision}",) if own else ()), *settings)

    def resolve_metric(
        self, name: str, settings: Sequence[str], lang: str | None
    ) -> tuple[str, Spec]:
        """Return name and spec of a metric; raise where this service may not compute it."""
        path = name.partition("[")[0].strip()
        if is_blend_file(path) and path not in self.config.metrics:
            raise UsageError(
                f"{name[:80]!r} names a file: of fitted blends this service has only those that "
                "its operator gave (monge serve -m FILE.json)"
            )
        bare_name, spec = resolve(name, self._changes(name, settings), lang)
        check_settings(spec, self.config.models, self.config.precision)
        return bare_name, spec

    def metric(
        self, name: str, settings: Sequence[str], lang: str | None, model: str | None
    ) -> api.Metric:
        """Return a metric with its model; recent ones are cached."""
        model_name = self._model_key(model)
        key = name, tuple(settings), lang, model_name
        cached = self._cached_metric(key)
        if cached is not None:
            return cached
        metric = api.bind(
            *self.resolve_metric(name, settings, lang), model=model_name, device=self.config.device
        )
        with self._lock:
            self._metrics[key] = metric
            while len(self._metrics) > KEPT_METRICS:
                self._metrics.popitem(last=False)
        return metric

    def _cached_metric(self, key: tuple[Any, ...]) -> api.Metric | None:
        with self._lock:
            if key in self._metrics:
                self._metrics.move_to_end(key)
            return self._metrics.get(key)

    def _model_key(self, model: str | None) -> str:
        if model is None:
            return self.config.models[0]
        key_of_name = {
            **{name: key for key, name in self.models.items()},
            **{key: key for key in self.config.models},
        }
        if model not in key_of_name:
            raise UnknownName(
                "model", model[:80], key_of_name, "(this service: " + ", ".join(key_of_name) + ")"
            )
        return key_of_name[model]

    def metrics_of(self, request: schemas.MetricRequest, names: Sequence[str]) -> list[api.Metric]:
        """Return the metrics of a request."""
        if len(names) > self.limits.metrics:
            raise limit_refusal("metrics", len(names), "metrics", self.limits.metrics)
        settings = changes_of(request.settings)
        return [self.metric(name, settings, request.lang, request.model) for name in names]

    def _replay(
        self, request: schemas.ScoreRequest
    ) -> tuple[list[api.Metric], list[dict[str, str]]]:
        if request.settings or "metrics" in request.model_fields_set:
            raise UsageError(
                "signatures replay metrics: give them or metrics and settings, not both"
            )
        if len(request.signatures) > self.limits.metrics:
            raise limit_refusal(
                "signatures", len(request.signatures), "metrics", self.limits.metrics
            )
        replayed = []
        for line in request.signatures:
            models = (*self.config.models, *self.models.values())
            check_settings(parse(line).spec, models, self.config.precision)
            replayed.append(
                api.replay(line, model=self._model_key(request.model), device=self.config.device)
            )
        return [metric for metric, _ in replayed], [digests for _, digests in replayed]

    # --- requests
    # ----------------------------------------------------------------------------------------------

    def score_rows(
        self,
        metrics: Sequence[api.Metric],
        rows: Sequence[Segment],
        ticket: Ticket,
        corpora: api.Corpora = api.Corpora(),  # noqa: B008 - frozen
        expect: list[dict[str, str]] | None = None,
        pace: str = "quick",
    ) -> list[Result]:
        """Return the results of segments, encoded together with those of other requests."""
        started = time.perf_counter()
        shared = self.engine.window_scorer(ticket, pace)
        results = api.score_segments(metrics, rows, corpora=corpora, expect=expect, score=shared)
        self.counters.count_stage("request", time.perf_counter() - started)
        return results

    def score(self, request: schemas.ScoreRequest, ticket: Ticket) -> bytes:
        """Return what `monge score --format json` prints."""
        coming = self.submit_small(request, ticket)
        if coming is not None:
            return coming.result()
        rows, expect = self._rows(request), None
        if request.signatures:
            metrics, digests = self._replay(request)
            expect = None if request.refit else digests
        else:
            metrics = self.metrics_of(request, request.metrics)
            if self._is_small(request, metrics, rows):  # its metrics were not loaded before
                return self.engine.submit_small(
                    SmallRequest(metrics, rows, _json_writer(request)), ticket
                ).result()
        with self.admit(self.estimate_work(metrics, rows).seconds) as pace:
            results = self.score_rows(
                metrics, rows, ticket, self.corpora(request.statistics), expect, pace
            )
            if request.intervals:
                results = ticket.run(lambda: api.with_intervals(results, seed=request.seed))
        return _json_writer(request)(results)

    def submit_small(self, request: schemas.ScoreRequest, ticket: Ticket) -> Future[bytes] | None:
        """Queue a small request and return the future of its answer; None for any other.

        Quick, and waits for nothing: what an event loop may call.
        """
        hypotheses = request.hypotheses
        count = (
            1
            if isinstance(hypotheses, str)
            else sum(map(len, hypotheses.values()))
            if isinstance(hypotheses, dict)
            else len(hypotheses)
        )
        if count > FEW or request.signatures or len(request.metrics) > self.limits.metrics:
            return None
        settings, model_name = tuple(changes_of(request.settings)), self._model_key(request.model)
        metrics = [
            metric
            for name in request.metrics
            if (metric := self._cached_metric((name, settings, request.lang, model_name)))
        ]
        if len(metrics) < len(request.metrics):
            return None
        rows = self._rows(request)
        if not self._is_small(request, metrics, rows):
            return None
        return self.engine.submit_small(SmallRequest(metrics, rows, _json_writer(request)), ticket)

    def _is_small(
        self, request: schemas.ScoreRequest, metrics: Sequence[api.Metric], rows: Sequence[Segment]
    ) -> bool:
        if request.statistics or request.intervals or not is_small_request(metrics, rows):
            return False
        return work.bound_scoring(metrics, rows).is_at_most(QUICK)

    def _rows(self, request: schemas.ScoreRequest) -> list[Segment]:
        return self.segments(*request.as_lists())

    def explain(self, request: schemas.ExplainRequest, ticket: Ticket, form: str) -> bytes:
        """Explain the score of a pair, as json, svg or html."""
        row = self.check_row(Segment("1", request.hypothesis, (request.reference,)))
        metric = self.metrics_of(request, [request.metric])[0]
        stats = self.corpora(request.statistics).stats
        with self.admit(self.estimate_work([metric], [row], work.EXPLAINED_CELLS).seconds):
            explanation = self.engine.run_alone(
                lambda: metric.explain(row.hypothesis, request.reference, stats=stats), ticket
            )
            json_of = partial(bounded_json, cells=WHOLE_CELLS if request.whole else FULL_CELLS)
            writers: dict[str, Callable[[Explanation], str]]
            writers = {"json": json_of, "svg": explanation_svg, "html": explanation_html}
            return ticket.run(lambda: writers[form](explanation).encode())

    def compare(self, request: schemas.CompareRequest, ticket: Ticket) -> bytes:
        """Return what `monge compare --format json` prints."""
        resampling = Resampling(
            resamples=request.resamples,
            confidence=request.confidence,
            alpha=request.alpha,
            seed=request.seed,
            test=request.test,
        )
        by_system = aligned(self.segments(request.systems, request.references, request.sources))
        rows = [row for system_rows in by_system.values() for row in system_rows]
        metrics = self.metrics_of(request, request.metrics)
        seconds = self.check_resampling(metrics, len(by_system), resampling).seconds
        with self.admit(seconds + self.estimate_work(metrics, rows).seconds) as pace:
            results = self.score_rows(
                metrics, rows, ticket, self.corpora(request.statistics), pace=pace
            )
            comparison = ticket.run(
                lambda: compare_results(names_and_labels(metrics), results, resampling=resampling)
            )
        return render_study(comparison, "json", version=VERSION).encode()

    def fit(self, request: schemas.FitRequest, ticket: Ticket) -> dict[str, Any]:
        """Fit statistics and keep them under the digest of their content."""
        if len(request.references) > self.limits.pairs:
            raise limit_refusal("references", len(request.references), "pairs", self.limits.pairs)
        rows = [
            text for row in request.references for text in ([row] if isinstance(row, str) else row)
        ]
        texts = [*rows, *request.hypotheses]
        if len(texts) > self.limits.pairs:
            raise limit_refusal("texts", len(texts), "pairs", self.limits.pairs)
        for text in texts:
            self.check_row(Segment("1", text))
        metric = self.metric(
            request.metric, changes_of(request.settings), request.lang, request.model
        )
        work = lambda: metric.fit(request.references, hypotheses=request.hypotheses)  # noqa: E731
        stats = self.engine.run_alone(work, ticket)
        metric.scorer.check_stats(stats)
        return {
            "id": self._statistics.keep(stats),
            "metric": metric.name,
            "holds": list(stats.held()),
        }

    # --- statistics
    # ----------------------------------------------------------------------------------------------

    def statistics(self, name: str) -> CorpusStats:
        """Return statistics by their id."""
        return self._statistics.get(name)

    def corpora(self, names: Sequence[str]) -> api.Corpora:
        """Return the statistics of a request, merged where there are several."""
        return api.Corpora(reduce(or_, map(self.statistics, names)) if names else None)

    # --- the catalogue
    # ----------------------------------------------------------------------------------------------

    def catalogue(self) -> dict[str, Any]:
        """Return every metric: what it measures, range, cost per pair, agreement with people."""
        agreements, model = agreement(), self.models.get(self.config.models[0], "")
        # all times are of one machine: that of the kept ones, or this one
        has_kept_costs = is_measured(model)
        return {
            name: {
                **row,
                "kind": kind_of(name),
                "range": range_of(resolve(name)[1]),
                **(
                    kept_cost(name, model)
                    if has_kept_costs
                    else measured_here(self.milliseconds.get(name))
                ),
                "agreement": agreements.get(name),
            }
            for name, row in listed().to_dict().items()
        }

    def variant(self, name: str, settings: Sequence[str], lang: str | None) -> dict[str, Any]:
        """Return a metric with its settings, the form they are set by, and its signature."""
        bare, spec = self.resolve_metric(name, settings, lang)
        metric = self.metric(name, settings, lang, None)
        # a metric that takes statistics signs their digests
        ready_made = any(member.needs.ready_made for member in vector_members([metric.scorer]))
        lacking = metric.scorer.fits or ready_made
        signed = None if lacking else metric.scorer.signed(CorpusStats(""))
        return {
            **described(name, self._changes(name, settings), lang).to_dict(),
            "kind": "blend" if isinstance(spec, BlendSpec) else kind_of(bare),
            "form": [] if isinstance(spec, BlendSpec) else form(bare),
            "signature": None if signed is None else str(signed),
            "fits": list(metric.scorer.fits),
            "higher_is_better": bounds_of(spec).higher_is_better,
            "range": range_of(spec),
        }


def _json_writer(request: schemas.ScoreRequest) -> Callable[[list[Result]], bytes]:
    """Return a function that writes results as `monge score --format json` prints them."""
    return lambda results: "".join(
        render_results(results, "json", version=VERSION, segments=request.segments)
    ).encode()


def range_of(spec: Spec) -> str:
    """Return the range of the scores as `monge show` has it, with a real minus sign."""
    low, high = (
        f"{end:.4g}".replace("-", "−").replace("inf", "∞") for end in bounds_of(spec).shown
    )
    return f"{low} to {high}"


def names_and_labels(metrics: Sequence[api.Metric]) -> list[tuple[str, str]]:
    """Return name and label of every metric of a run."""
    metric_labels = labels((metric.name, metric.asked) for metric in metrics)
    return [(metric.name, label) for metric, label in zip(metrics, metric_labels, strict=True)]


def changes_of(settings: Sequence[str] | dict[str, Any]) -> tuple[str, ...]:
    """Return settings as AXIS=VALUE texts."""
    if isinstance(settings, dict):
        written = {True: "yes", False: "no"}
        return tuple(
            f"{key}={written[value] if isinstance(value, bool) else value}"
            for key, value in settings.items()
        )
    return tuple(settings)

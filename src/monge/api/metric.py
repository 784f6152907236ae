"""Metrics ready to score: load them by name, bind them to a spec, and run several over segments."""

from __future__ import annotations

import json
import sys
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from monge.api.notebook import NotebookExplanation, NotebookResult
from monge.api.options import Options, changes_of, check_options, check_stats
from monge.cache import opened
from monge.datasets.lines import TextFile, check_text
from monge.datasets.lists import check_texts, reference_lists, segments_of
from monge.datasets.parallel import Parallel
from monge.datasets.tables import Table
from monge.errors import (
    BadSegment,
    DataError,
    Flagged,
    InvalidSetting,
    PluginError,
    StatisticsMismatch,
    Unsuited,
    UsageError,
)
from monge.metrics.axes import LanguageModel
from monge.metrics.blend import BlendSpec, LinearSum
from monge.metrics.default import DEFAULT_METRIC
from monge.metrics.labels import labels
from monge.metrics.languages import LANGUAGES, check_language
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.plugins import PluginSpec
from monge.metrics.presets import Spec, resolve
from monge.metrics.signature import FILE, named_corpus
from monge.scoring.blend import BlendMetric, MemberMetric, check_fitted_model
from monge.scoring.lexical import LexicalMetric
from monge.scoring.plugin import PluginMetric
from monge.scoring.run import ScoringRun, Watch
from monge.scoring.scorer import Corpora, Scorer, ScoreWindow
from monge.scoring.text_checks import check_first_segments, warn_unknown
from monge.types import CorpusStats, Explanation, Result, Segment, Transported
from monge.types.flags import FlagKind, describe_flag, has_kind

if TYPE_CHECKING:
    from monge.cache import Store
    from monge.encoders.protocol import Encoder
    from monge.scoring.bound import BoundMetric
    from monge.scoring.encoding import Encoding
    from monge.scoring.transport import TransportMetric

KEPT_ENCODERS = 2
NAMED_FAILURES = 5
"""The number of segments that could not be scored that warnings name; results list all of them."""
_encoders: OrderedDict[tuple[object, ...], Encoder] = OrderedDict()
_encoder_limit = KEPT_ENCODERS
_loading = RLock()


def keep_encoders(count: int) -> None:
    """Raise the number of encoders that stay loaded to `count`: a service uses all of its models in
    turn.
    """
    global _encoder_limit
    with _loading:
        _encoder_limit = max(_encoder_limit, count)


def encoder_for(
    model: str,
    *,
    precision: str = "fp32",
    device: str = "auto",
    online: bool = False,
    unknown: str = "drop",
    cache: str | Path | None = None,
) -> Encoder:
    """Load an encoder (transformers, static word vectors or ELMo), or return it if it is still
    loaded.

    `unknown` is the treatment of words without a vector (drop, zero or error); `cache` is a
    directory for static vectors in a form that opens fast.
    """
    from monge.encoders.opening import open_model

    key = model, precision, device, online, unknown, _stamp(model)
    with _loading:  # a model that two threads request is loaded once
        if key not in _encoders:
            settings = {"precision": precision, "device": device, "unknown": unknown}
            _encoders[key] = open_model(model, online=online, cache=cache, **settings)
            while len(_encoders) > _encoder_limit:
                _encoders.popitem(last=False)
        _encoders.move_to_end(key)
        return _encoders[key]


def _stamp(model: str) -> tuple[object, ...]:
    """Return sizes and times of the files of a model on disk, which change if the model is
    replaced.

    For `BASE+ADAPTER` both are included, for an adapter alone also the base that its card names.
    """
    from monge.encoders.packaged import base_and_adapter

    names = [name for name in base_and_adapter(model) if name] or [model]
    try:
        card = Path(names[-1]).expanduser() / "card.json"
        if card.is_file():
            names.append(str(json.loads(card.read_text("utf-8"))["base"]["model"]))
        facts: list[object] = []
        for path in (Path(name).expanduser() for name in names):
            inside = [*path.iterdir(), *path.glob("*/*")] if path.is_dir() else []
            files = sorted(inside) or [path] * path.is_file()
            facts += [path.resolve()] if files else []
            status = [(str(file), file.stat()) for file in files]
            facts += [(file, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for file, s in status]
        return tuple(facts)
    except (OSError, ValueError, KeyError, TypeError):  # opening the model reports the error
        return ()


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric ready to score: its encoder is loaded (a lexical metric has none), its settings are
    fixed.

    `asked` are its settings as requested, with `auto` where nothing was chosen; `cache` is a
    directory for vectors and scores; `home` are the model arguments of `bind`, with which it can be
    bound again in another process.

    Examples:
        >>> metric = monge.load("chrf")
        >>> metric.score(["The cat sat."], ["The cat sat."]).score
        100.0
    """

    scorer: Scorer
    asked: Spec
    cache: str | Path | None = None
    home: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        model = self.home.get("model", "auto")
        return f"<metric {self.name}{'' if model == 'auto' else f' with {model}'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the settings and the name of the model, not its weights: unpickling loads
        it again.
        """
        if not self.home:
            raise TypeError(
                f"{self.name}: a metric that was not made by monge.load or bind cannot be pickled"
            )
        return _bind_again, (self.name, self.asked, dict(self.home), self.cache)

    @property
    def name(self) -> str:
        """The name of the metric: NAME or NAME@PROFILE."""
        return self.scorer.name

    @property
    def spec(self) -> Spec:
        """All settings."""
        return self.scorer.spec

    def score(
        self,
        hypotheses: Iterable[str],
        references: Iterable[str] | Iterable[Sequence[str]] | None = None,
        *,
        sources: Iterable[str] | None = None,
        stats: CorpusStats | None = None,
        idf_corpus: Iterable[str] | None = None,
    ) -> NotebookResult:
        """Score hypotheses against references or sources, whichever the metric compares with.

        If that side is missing, the metric compares with the other; the signature names the side.
        """
        segments = segments_of(hypotheses, references, sources)
        if stats is not None:
            check_stats(stats)
        results = score_segments(
            [self], segments, corpora=Corpora(stats, idf=idf_corpus), cache=self.cache
        )
        if any(result.run["flagged"] for result in results):
            warn_flags(results)
        return NotebookResult(**vars(results[0]))

    def fit(
        self,
        references: Iterable[str] | Iterable[Sequence[str]] = (),
        *,
        hypotheses: Iterable[str] = (),
    ) -> CorpusStats:
        """Fit corpus statistics on texts (idf, means; for a blend ranges over pairs), to save or to
        add.
        """
        if not self.scorer.fits:
            raise UsageError(
                f"{self.name} takes nothing from other texts: there is nothing to fit (try "
                f"weights=idf)"
            )
        if "range" in self.scorer.fits:
            return ScoringRun([self.scorer], segments_of(hypotheses, references)).fitted_ranges()
        from monge.scoring.fit import fit

        reference_texts = [text for row in reference_lists(references, None) for text in row]
        hypothesis_texts = check_texts(hypotheses, "hypotheses")
        if not reference_texts and not hypothesis_texts:
            raise DataError("fit: no texts were given")
        metric = self.by_transport("fit")
        if metric.needs.include_hypotheses and not hypothesis_texts:
            raise UsageError(
                f"{self.name} fits each side by itself: give the hypotheses too (-t FILE)"
            )
        return fit(metric, references=reference_texts, hypotheses=hypothesis_texts)

    def fit_maps(self, pairs: Iterable[tuple[str, str]]) -> CorpusStats:
        """Fit maps from source to target vectors on parallel texts, for `centre=clp` and
        `centre=umd`.
        """
        from monge.scoring.maps import fit_maps

        return fit_maps(self.by_transport("fit maps for"), pairs)

    def fit_baseline(self, corpus: Iterable[str], *, seed: int = 12345) -> CorpusStats:
        """Fit the mean score of random pairs of the corpus at every layer, for `scale=baseline`."""
        from monge.scoring.baseline import fit_baseline

        texts = corpus if isinstance(corpus, TextFile) else check_texts(corpus, "corpus")
        return fit_baseline(self.by_transport("fit a baseline for"), texts, seed=seed)

    def compute(
        self, *, predictions: Iterable[str], references: Iterable[str] | Iterable[Sequence[str]]
    ) -> dict[str, Any]:
        """Score as the `evaluate` library does: return a dictionary of lists, with the
        signature.
        """
        result = self.score(predictions, references)
        parts = {name: values.tolist() for name, values in result.parts.items()}
        return {
            "score": result.score,
            "scores": result.segments.tolist(),
            **parts,
            "signature": str(result.signature),
        }

    def explain(
        self, hypothesis: str, reference: str | Sequence[str], *, stats: CorpusStats | None = None
    ) -> NotebookExplanation:
        """Explain one pair: how much mass is moved between which units, at what cost; with the best
        of the references.

        Without statistics a metric that needs them uses uniform weights and no corpus centre, and a
        note says so.
        """
        check_stats(stats)
        (references,) = reference_lists(
            [[reference] if isinstance(reference, str) else reference], None
        )
        check_text(hypothesis, "hypothesis")
        if isinstance(self.spec, BlendSpec) and isinstance(self.spec.formula, LinearSum):
            segment = Segment("1", hypothesis, references)  # members have rules of references
            return NotebookExplanation(**vars(self._explain_by_members(segment, stats)))
        nonempty = [k for k, text in enumerate(references) if text.strip()] or [0]
        explanations = {
            k: self.scorer.explain(Segment("1", hypothesis, (references[k],)), stats)
            for k in nonempty
        }
        best, notes = _choose_explanation(self.spec, explanations, len(references))
        return NotebookExplanation(**vars(replace(best, notes=(*notes, *best.notes))))

    def _explain_by_members(self, segment: Segment, stats: CorpusStats | None) -> Explanation:
        """Explain the score of a linear blend by what each of its members adds."""
        assert isinstance(self.scorer, BlendMetric)
        self.scorer.check_explained(stats)
        (result,) = ScoringRun([self.scorer], [segment], corpora=Corpora(stats)).results()
        return self.scorer.explain_result(segment, result)

    def human_error(self) -> float:
        """Return the root mean squared error on held-out judgements, of scores with scale=human."""
        tuning = self.by_transport("measure the human error of").reader.encoder.tuning
        assert tuning is not None
        return tuning.error

    def by_transport(self, verb: str) -> BoundMetric:
        """Return the transport metric; raise for one of another kind: nothing to `verb`."""
        member = self.scorer.members.get("")
        if member is None:
            member_names = " and ".join(self.scorer.members)
            raise UsageError(
                f"{self.name} is a blend of several metrics ({member_names}): {verb} one of those "
                f"instead"
            )
        if member.vector_metric is None:
            by_plugin = isinstance(self.spec, PluginSpec)
            compares = "compares texts by a plugin" if by_plugin else "compares words"
            raise UsageError(f"{self.name} {compares}, not vectors: there is nothing to {verb}")
        return member.vector_metric


def _bind_again(name: str, spec: Spec, home: Mapping[str, Any], cache: str | Path | None) -> Metric:
    return bind(name, spec, cache=cache, **home)


def _choose_explanation(
    spec: Spec, explanations: Mapping[int, Explanation], count: int
) -> tuple[Explanation, tuple[str, ...]]:
    """Choose the explanation of the reference that counts, of those by index; return it with a note
    that names it.
    """
    rule = spec.references.name if isinstance(spec, MetricSpec) else "max"
    sign = 1 if next(iter(explanations.values())).higher_is_better else -1
    winner = (
        min(explanations)
        if rule == "first"
        else max(explanations, key=lambda k: sign * explanations[k].score)
    )
    if count == 1:
        return explanations[winner], ()
    other_scores = ", ".join(
        f"{explanation.score:.4f} with reference {k + 1}"
        for k, explanation in explanations.items()
        if k != winner
    )
    why = {
        "mean": "is the best, and the metric takes their mean",
        "first": "counts, by references=first",
        "max-sides": "gives the best score by itself; the metric takes F of the best precision and "
        "the best recall",
    }
    note = f"Reference {winner + 1} of {count} {why.get(rule, 'gives the best score')}" + (
        f"; {other_scores}" if other_scores else ""
    )
    return explanations[winner], (f"{note}.",)


def load(metric: str = DEFAULT_METRIC, **options: Unpack[Options]) -> Metric:
    """Load a metric with its encoder, by NAME, `NAME@PROFILE` or `NAME[settings]`.

    Args:
        metric: Its name.
        options: model, layers, precision, device, lang, settings, online, cache (see `Options`).

    Examples:
        >>> metric = monge.load("bertscore", layers=4)
        >>> metric
        <metric bertscore>
        >>> round(metric.score(["The cat sat."], ["The cat sat."]).score, 6)
        1.0
    """
    check_options({"metric": metric, **options})
    name, spec = resolve(metric, changes_of(options), options.get("lang"))
    return bind(
        name,
        spec,
        model=str(options.get("model", "auto")),
        lang=options.get("lang"),
        device=options.get("device", "auto"),
        online=options.get("online", False),
        cache=options.get("cache"),
    )


def bind(
    name: str,
    spec: Spec,
    *,
    model: str = "auto",
    lang: str | None = None,
    device: str = "auto",
    online: bool = False,
    cache: str | Path | None = None,
) -> Metric:
    """Load the encoder of a spec and return the metric.

    The model is that of the spec, or `model` where the spec says `auto`, or one for the language
    `lang` where both say `auto`. A lexical metric has no encoder.
    """
    home: dict[str, Any] = {"model": model, "lang": lang, "device": device, "online": online}
    if isinstance(spec, LexicalSpec):
        return Metric(LexicalMetric(spec), spec, cache, home)
    if isinstance(spec, PluginSpec):
        spec.written()  # raises where the plugin is missing or not a metric
        return Metric(PluginMetric(spec), spec, cache, home)
    if isinstance(spec, BlendSpec):
        return Metric(_bind_blend(name, spec, cache, home), spec, cache, home)
    return Metric(_bind_transport(name, spec, cache=cache, **home), spec, cache, home)


def _bind_blend(
    name: str, spec: BlendSpec, cache: str | Path | None, home: Mapping[str, Any]
) -> BlendMetric:
    """Load the encoders of a blend's members; raise where one is not that of the fit."""
    terms = spec.formula.terms if isinstance(spec.formula, LinearSum) else {}
    members: dict[str, MemberMetric] = {}
    for member, member_spec in spec.members.items():
        if isinstance(member_spec, LexicalSpec):
            members[member] = LexicalMetric(member_spec)
            continue
        if member not in terms:
            own_name = f"{name}.{member}"
            members[member] = _bind_transport(own_name, member_spec, cache=cache, **home)
            continue
        term, subject = terms[member], f"{name}: {member}"
        try:
            metric = _bind_transport(term.metric, member_spec, cache=cache, **home)
        except InvalidSetting as error:  # a model that cannot have the settings of the fit
            raise StatisticsMismatch(f"{subject} does not fit its model: {error}") from None
        check_fitted_model(subject, metric.identity.model, term.model)
        members[member] = metric
    return BlendMetric(name, members, spec.formula)


def _bind_transport(
    name: str,
    spec: MetricSpec,
    *,
    model: str,
    lang: str | None,
    device: str,
    online: bool,
    cache: str | Path | None,
) -> TransportMetric:
    """Load the encoder of a transport metric, and its language model if it names one."""
    model_name = spec.encoder.model if spec.encoder.model != "auto" else model
    if lang is not None:
        model_name = suited(model_name, lang)
    tuned, advice = spec.adapter.name != "none", ""
    if tuned:
        model_name, advice = add_adapter(model_name, spec, online=online)
    if "torch" not in sys.modules:
        from monge.encoders.models import hash_ahead

        hash_ahead(model_name)
    from monge.scoring.transport import bind_metric

    settings = {"precision": spec.encoder.precision, "unknown": spec.encoder.unknown}
    encoder = encoder_for(model_name, device=device, online=online, cache=cache, **settings)
    if advice:
        warnings.warn(advice, Unsuited, stacklevel=3)
    language_model = None
    if isinstance(spec.fluency, LanguageModel):
        from monge.encoders.causal import open_causal

        language_model = open_causal(spec.fluency.model, device=device, online=online)
    metric = bind_metric(name, spec, encoder, language_model)
    if not tuned:
        return metric
    home: dict[str, Any] = {"lang": lang, "device": device, "online": online, "cache": cache}

    def bind_to_side(side: str) -> TransportMetric:
        return _bind_transport(name, spec.changed([f"against={side}"]), model=model, **home)

    return replace(metric, bind_to_side=bind_to_side)


def add_adapter(model: str, spec: MetricSpec, *, online: bool) -> tuple[str, str]:
    """Return the model with the adapter that a metric prefers for its side, as BASE+ADAPTER, and
    what to warn of: that no shipped adapter was made for the model.

    A model that names an adapter keeps it.
    """
    from monge.encoders.adapter import describe_bases, has_shipped_adapter
    from monge.encoders.packaged import SHIPPED, base_and_adapter, packaged

    if base_and_adapter(model)[1]:
        return model, ""
    adapter, of_source = spec.adapter.name, f"{spec.adapter.name}-source"
    if spec.against.name == "source" and of_source in SHIPPED:
        adapter = of_source
    available = has_shipped_adapter(adapter, model, online=online)
    if available:
        return f"{model}+{adapter}", ""
    row = packaged(model)
    advice = (
        f"there is no adapter {adapter} for the weights of {row.name if row else model}, which are "
        f"used as they are: there is one for those of {describe_bases(adapter)}"
    )
    return model, advice if available is False else ""


def suited(model: str, lang: str) -> str:
    """Return the model, or for `auto` one that knows the language; warn if it does not know it."""
    from monge.encoders.packaged import PACKAGED, model_for, model_languages

    check_language(lang)
    languages = model_languages(model)
    if languages is None or lang in languages:
        return model
    if model == "auto":
        return model_for(lang)
    alternatives = [
        f"{packaged.name} does" for packaged in PACKAGED if lang in packaged.languages
    ] or ["name one that does with --model"]
    message = (
        f"{model} does not know {LANGUAGES[lang]} ({lang}), its scores of such texts mean "
        f"little: {alternatives[0]}"
    )
    warnings.warn(message, Unsuited, stacklevel=3)
    return model


def score_segments(
    metrics: Sequence[Metric],
    segments: Iterable[Segment],
    *,
    corpora: Corpora = Corpora(),  # noqa: B008 - frozen
    expect: Sequence[Mapping[str, str]] | None = None,
    cache: Store | str | Path | None = None,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    score: ScoreWindow | None = None,
    on_error: str = "fail",
    names: Sequence[str] | None = None,
) -> list[Result]:
    """Score segments with several metrics in one encoding pass: system by system, in order.

    `segments` can be iterated again. `corpora` are statistics or texts to fit them from, other than
    the segments; `expect` has the digests that a replay must meet, per metric; `cache` is a store
    of vectors and scores, or a directory for one; `watch` has callbacks of progress; `score` scores
    a window elsewhere. `names` are the labels of the metrics; without them, metrics of the same
    name get different labels. A segment that cannot be scored ends the run, or with
    `on_error="count"` is left out, named in a warning and listed in `run["failed"]`. Where plugins
    among several metrics are broken, BrokenMetrics is raised at the end, with the results of the
    others.

    Examples:
        >>> segments = [
        ...     monge.Segment("1", "a cat", ("a cat",)),
        ...     monge.Segment("2", "a", ("a dog",)),
        ... ]
        >>> (result,) = monge.score_segments([monge.load("chrf")], segments)
        >>> result.ids
        ('1', '2')
    """
    with nullcontext() if cache is None else opened(cache) as store:
        tolerant = on_error == "count"
        run = _open_run(metrics, segments, corpora, store=store, score=score, tolerant=tolerant)
        check_first_segments(run.metrics, run.summary, run.cut)
        results = run.results(expect=expect, watch=watch)
        if run.unknown_texts:
            scorers = [run.metrics[k] for k in run.scored_metrics()]
            warn_unknown(scorers, results, run.unknown_texts)
    if run.failed:
        _warn_failed(run.failed)
    if len(metrics) == 1:
        return results
    names = names or labels((metric.name, metric.asked) for metric in metrics)
    return _label_results(results, names, run)


def _label_results(
    results: Sequence[Result], names: Sequence[str], run: ScoringRun
) -> list[Result]:
    """Return the results with their labels; raise BrokenMetrics where some metrics have none."""
    scored = run.scored_metrics()
    labelled = [
        replace(result, metric=names[scored[k % len(scored)]]) for k, result in enumerate(results)
    ]
    if run.broken:
        raise BrokenMetrics(list(run.broken.values()), labelled, scored)
    return labelled


class BrokenMetrics(PluginError):
    """Some metrics of a run could not score; `results` are those of the others.

    errors: why, one per broken metric; scored: the places of the other metrics in the run.
    """

    def __init__(
        self, errors: Sequence[PluginError], results: list[Result], scored: Sequence[int]
    ) -> None:
        super().__init__(errors[0].plugin, "; ".join([errors[0].why, *map(str, errors[1:])]))
        self.errors, self.results, self.scored = errors, results, scored

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the error was made of."""
        return BrokenMetrics, (self.errors, self.results, self.scored)


def _open_run(
    metrics: Sequence[Metric], segments: Iterable[Segment], corpora: Corpora, **options: Any
) -> ScoringRun:
    """Return a run of the metrics; `options` are those of `ScoringRun`."""
    scorers, files = [metric.scorer for metric in metrics], dict[str, Iterable[str]]()
    if any(scorer.idf_corpora for scorer in scorers):
        scorers, files = with_corpora(metrics, corpora)
    elif corpora.idf is not None:
        raise UsageError("an idf corpus was given, but no metric of this run weighs by idf")
    summary = segments.summary if isinstance(segments, Parallel | Table) else None
    corpora = Corpora(corpora.stats, files)
    return ScoringRun(scorers, segments, corpora=corpora, summary=summary, **options)


def _warn_failed(failed: Sequence[BadSegment]) -> None:
    """Warn of segments that were left out, the first of them by name."""
    for bad in failed[:NAMED_FAILURES]:
        warnings.warn(f"{bad}; it is left out", Flagged, stacklevel=3)
    more = len(failed) - NAMED_FAILURES
    if more > 0:
        message = f"{more} more segments could not be scored and are left out"
        warnings.warn(message, Flagged, stacklevel=3)


def transported_segments(
    metrics: Sequence[Metric],
    segments: Iterable[Segment],
    chosen: Sequence[Sequence[Segment]],
    *,
    corpora: Corpora = Corpora(),  # noqa: B008 - frozen
    expect: Sequence[Mapping[str, str]] | None = None,
    encoding: Encoding | None = None,
) -> Iterator[tuple[int, int, Transported]]:
    """Yield the plans of chosen segments against their first references: metric index, segment
    index, plan.

    Statistics are fitted on all `segments`, as in scoring; `chosen` has the segments to return
    plans of, per metric; `expect` has the digests that a replay must meet; `encoding` reads the
    texts in place of the metrics' own.
    """
    run = _open_run(metrics, segments, corpora)
    run.check_replay(expect)
    for k, rows in enumerate(chosen):
        yield from ((k, place, plan) for place, plan in run.iter_plans(k, rows, encoding))


def warn_flags(results: Sequence[Result]) -> None:
    """Warn once per run of flagged texts, as the command line does."""
    counts: dict[str, int] = {}
    for result in results:
        for flag, count in result.run.get("flagged", {}).items():
            counts[flag] = max(counts.get(flag, 0), count)
    if counts:
        message = "; ".join(
            f"{describe_flag(flag).rstrip('.')} ({count} ×)"
            for flag, count in sorted(counts.items())
        )
        cut = has_kind(counts, FlagKind.TRUNCATED)
        advice = "; encoder.overlong=window reads long texts whole" if cut else ""
        warnings.warn(f"{message}{advice}", Flagged, stacklevel=3)


def with_corpora(
    metrics: Sequence[Metric], corpora: Corpora
) -> tuple[list[Scorer], dict[str, Iterable[str]]]:
    """Return the scorers with their idf corpora named, and the texts of corpora by name.

    Corpora that are a side of the run are not among the texts.
    """
    scorers, files = [metric.scorer for metric in metrics], dict[str, Iterable[str]]()
    for k, scorer in enumerate(scorers):
        if scorer.idf_corpora:
            scorers[k], texts = with_corpus(scorer, corpora)
            files.update(texts)
    return scorers, files


def with_corpus(metric: Scorer, corpora: Corpora) -> tuple[Scorer, dict[str, Iterable[str]]]:
    """Return the metric with its idf corpus named, and the texts of that corpus if it is not a side
    of the run.
    """
    if not metric.idf_corpora:
        return metric, {}
    if corpora.idf is not None:
        texts = (
            corpora.idf
            if isinstance(corpora.idf, TextFile)
            else check_texts(corpora.idf, "idf_corpus")
        )
        return metric.with_idf_corpus(FILE), {FILE: texts}
    corpus_texts: dict[str, Iterable[str]] = {}
    for corpus in metric.idf_corpora:
        if named_corpus(corpus):
            continue
        if corpus == FILE and FILE not in corpora.files and corpora.stats is None:
            raise UsageError(
                f"{metric.name} weighs by the idf of a corpus: give it (--idf-corpus FILE, or "
                f"--stats FILE)"
            )
        if corpora.stats is None or corpus in corpora.files:
            corpus_texts[corpus] = (
                corpora.files[corpus] if corpus in corpora.files else TextFile(corpus)
            )
    return metric, corpus_texts


def with_intervals(results: Sequence[Result], *, seed: int = 12345) -> list[Result]:
    """Add bootstrap intervals over segments to results.

    Poisson bootstrap: how often a segment is drawn depends only on the seed and its position.
    """
    from monge.scoring.summary import interval, resample_sums

    def ends(result: Result) -> tuple[float, float] | None:
        draws = resample_sums(result, np.arange(result.n), seed)
        return interval(draws, None if result.pooled is None else result.pooled.of)

    return [replace(result, interval=ends(result)) for result in results]

"""Metrics ready to score: loaded by name or bound to a spec, and the run of several over segments."""

from __future__ import annotations

import json
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from monge.api.options import Options, check_options, check_stats
from monge.api.shown import NotebookExplanation, NotebookResult
from monge.data.lines import TextFile, check_text
from monge.data.lists import check_texts, reference_lists, segments_of
from monge.errors import DataError, Flagged, Unsuited, UsageError
from monge.scoring.blend import BlendMetric
from monge.scoring.lexical import LexicalMetric
from monge.scoring.run import ScoringRun, Watch
from monge.scoring.scorer import Corpora, Scorer, ScoreWindow, score_window
from monge.scoring.suitable import watched
from monge.spec.blend import BlendSpec
from monge.spec.labels import labels
from monge.spec.languages import LANGUAGES, check_language
from monge.spec.lexical import LexicalSpec
from monge.spec.metric import MetricSpec
from monge.spec.presets import Spec, resolve
from monge.spec.signature import FILE, named_corpus
from monge.store import opened
from monge.types import CorpusStats, Explanation, Result, Segment, Transported
from monge.types.flags import TRUNCATED, describe_flag

if TYPE_CHECKING:
    from monge.encode.protocol import Encoder
    from monge.scoring.transport import TransportMetric
    from monge.store import Store

DEFAULT_METRIC = "twmd"
KEPT_ENCODERS = 2
NAMED_FAILURES = 5
"""Segments that could not be scored which a warning names; results list all of them."""
_encoders: OrderedDict[tuple[object, ...], Encoder] = OrderedDict()
_kept = KEPT_ENCODERS
_loading = RLock()


def keep_encoders(count: int) -> None:
    """Keep so many encoders loaded, no fewer than now: for a service, which uses all of its models in turn."""
    global _kept
    with _loading:
        _kept = max(_kept, count)


def encoder_for(
    model: str,
    *,
    precision: str = "fp32",
    device: str = "auto",
    online: bool = False,
    unknown: str = "drop",
    cache: str | Path | None = None,
) -> Encoder:
    """A loaded encoder: transformers, static word vectors or ELMo; the last few stay loaded.

    `unknown` says what becomes of words without a vector (drop, zero or error); `cache` is where static vectors are
    kept in a form that opens at once.
    """
    from monge.encode.opening import open_model

    key = model, precision, device, online, unknown, _stamp(model)
    with _loading:  # a model that two threads ask for is loaded once
        if key not in _encoders:
            settings = {"precision": precision, "device": device, "unknown": unknown}
            _encoders[key] = open_model(model, online=online, cache=cache, **settings)
            while len(_encoders) > _kept:
                _encoders.popitem(last=False)
        _encoders.move_to_end(key)
        return _encoders[key]


def _stamp(model: str) -> tuple[object, ...]:
    """What tells a model on disk from another under the same name, or from itself before it was written anew.

    Of `BASE+ADAPTER` both count, and of an adapter alone the base that its card names.
    """
    from monge.encode.packaged import base_and_adapter

    names = [name for name in base_and_adapter(model) if name] or [model]
    try:
        card = Path(names[-1]).expanduser() / "card.json"
        if card.is_file():
            names.append(str(json.loads(card.read_text("utf-8"))["base"]["model"]))
        return tuple(_stamp_of_path(Path(name).expanduser()) for name in names)
    except (OSError, ValueError, KeyError, TypeError):  # opening it says what is wrong
        return ()


def _stamp_of_path(path: Path) -> tuple[object, ...]:
    files = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
    status = [(file.name, file.stat()) for file in files]
    facts = [(name, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for name, one in status]
    return (str(path.resolve()), *facts) if files else ()


@dataclass(frozen=True)
class Metric:
    """A metric ready to score: its encoder is loaded (a lexical one has none), its settings are fixed.

    `asked` are its settings as they were asked for, `auto` included; `cache` is a directory in which vectors and
    scores are kept; `home` is what `bind` was told of its model, so that it can be bound again elsewhere.
    """

    scorer: Scorer
    asked: Spec
    cache: str | Path | None = None
    home: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by loading again: what is carried is the settings and where the model is, not its weights."""
        if not self.home:
            raise TypeError(f"{self.name}: a metric that was not made by monge.load or bind cannot be pickled")
        return _bind_again, (self.name, self.asked, dict(self.home), self.cache)

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""
        return self.scorer.name

    @property
    def spec(self) -> Spec:
        """Every setting."""
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
        """Scores of hypotheses against references, or against sources: by what the metric compares with.

        A metric whose side is not given compares with the other; the signature says with which.
        """
        segments = segments_of(hypotheses, references, sources)
        check_stats(stats)
        found = score_segments([self], segments, corpora=Corpora(stats, idf=idf_corpus), cache=self.cache)
        warn_flags(found)
        return NotebookResult.of(found[0])

    def fit(
        self, references: Iterable[str] | Iterable[Sequence[str]] = (), *, hypotheses: Iterable[str] = ()
    ) -> CorpusStats:
        """Corpus statistics of texts (idf, means; for a blend the ranges over pairs): frozen, savable, addable."""
        if not self.scorer.fits:
            raise UsageError(f"{self.name} takes nothing from other texts: there is nothing to fit (try weights=idf)")
        if "range" in self.scorer.fits:
            return ScoringRun([self.scorer], segments_of(hypotheses, references)).fitted_ranges()
        from monge.scoring.fit import fit

        flat = [text for row in reference_lists(references, None) for text in row]
        own = check_texts(hypotheses, "hypotheses")
        if not flat and not own:
            raise DataError("fit: no texts were given")
        metric = self.by_transport("fit")
        if metric.needs.include_hypotheses and not own:
            raise UsageError(f"{self.name} fits each side by itself: give the hypotheses too (-t FILE)")
        return fit(metric, references=flat, hypotheses=own)

    def fit_maps(self, pairs: Iterable[tuple[str, str]]) -> CorpusStats:
        """Maps from source to target vectors, of parallel texts: for `centre=clp` and `centre=umd`."""
        from monge.scoring.maps import fit_maps

        return fit_maps(self.by_transport("fit maps for"), pairs)

    def fit_baseline(self, corpus: Iterable[str], *, seed: int = 12345) -> CorpusStats:
        """What the metric gives random pairs of the corpus, at every layer: for `scale=baseline`."""
        from monge.scoring.baseline import fit_baseline

        texts = corpus if isinstance(corpus, TextFile) else check_texts(corpus, "corpus")
        return fit_baseline(self.by_transport("fit a baseline for"), texts, seed=seed)

    def compute(
        self, *, predictions: Iterable[str], references: Iterable[str] | Iterable[Sequence[str]]
    ) -> dict[str, Any]:
        """The call shape of the `evaluate` library: a dictionary of lists, with the signature."""
        result = self.score(predictions, references)
        parts = {name: values.tolist() for name, values in result.parts.items()}
        return {"score": result.score, "scores": result.segments.tolist(), **parts, "signature": str(result.signature)}

    def explain(
        self, hypothesis: str, reference: str | Sequence[str], *, stats: CorpusStats | None = None
    ) -> NotebookExplanation:
        """Who was moved to whom in one pair, how much, at what cost; of several references, against the best one.

        Without statistics a metric that needs them explains with uniform weights and no corpus centre, and says so.
        """
        check_stats(stats)
        (references,) = reference_lists([[reference] if isinstance(reference, str) else reference], None)
        check_text(hypothesis, "hypothesis")
        worded = [k for k, text in enumerate(references) if text.strip()] or [0]
        found = {k: self.scorer.explained(Segment("1", hypothesis, (references[k],)), stats) for k in worded}
        shown, notes = _winner(self.spec, found, len(references))
        return NotebookExplanation.of(replace(shown, notes=(*notes, *shown.notes)))

    @property
    def human_error(self) -> float | None:
        """Of scores in units of human z scores: their root mean squared error on judgements held out in tuning."""
        if not isinstance(self.asked, MetricSpec) or self.asked.scale.name != "human":
            return None
        tuning = self.by_transport("human_error").reader.encoder.tuning
        return None if tuning is None or tuning.slope is None else tuning.error

    def by_transport(self, what: str) -> TransportMetric:
        """The metric bound to its encoder; raises where there is nothing of one encoder and one plan to `what`."""
        alone = self.scorer.members.get("")
        if alone is None:
            made_of = " and ".join(self.scorer.members)
            raise UsageError(f"{self.name} is a blend of several metrics ({made_of}): {what} one of those instead")
        if not alone.reads:
            raise UsageError(f"{self.name} compares words, not vectors: there is nothing to {what}")
        return cast("TransportMetric", alone)


def _bind_again(name: str, spec: Spec, home: Mapping[str, Any], cache: str | Path | None) -> Metric:
    return bind(name, spec, cache=cache, **home)


def _winner(spec: Spec, found: Mapping[int, Explanation], count: int) -> tuple[Explanation, tuple[str, ...]]:
    """The explanation of the reference that counts, by its index among `count`, and a sentence that names it."""
    rule = spec.references.name if isinstance(spec, MetricSpec) else "max"
    sign = 1 if next(iter(found.values())).higher_is_better else -1
    won = min(found) if rule == "first" else max(found, key=lambda k: sign * found[k].score)
    if count == 1:
        return found[won], ()
    others = ", ".join(f"{one.score:.4f} with reference {k + 1}" for k, one in found.items() if k != won)
    why = {
        "mean": "is the best, and the metric takes their mean",
        "first": "counts, by references=first",
        "max-sides": "gives the best score by itself; the metric takes F of the best precision and the best recall",
    }
    note = f"Reference {won + 1} of {count} {why.get(rule, 'gives the best score')}" + (f"; {others}" if others else "")
    return found[won], (f"{note}.",)


def load(metric: str = DEFAULT_METRIC, **options: Unpack[Options]) -> Metric:
    """A metric by name, `NAME@PROFILE` or `NAME[settings]`, with its encoder loaded.

    Args:
        metric: Its name.
        options: model, layers, precision, device, lang, settings, online, cache (see `Options`).
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


def changes_of(options: Options) -> tuple[str, ...]:
    """What options change in a metric, as AXIS=VALUE texts."""
    given = options.get("settings", ())
    changes = [f"{key}={value}" for key, value in given.items()] if isinstance(given, Mapping) else list(given)
    short = {"layers": options.get("layers"), "encoder.precision": options.get("precision")}
    return (*changes, *(f"{key}={value}" for key, value in short.items() if value is not None))


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
    """A spec with its encoder; `model` fills in where the spec says `auto`, then one that knows the language `lang`.

    A lexical one needs none.
    """
    home = {"model": model, "lang": lang, "device": device, "online": online}
    if isinstance(spec, LexicalSpec):
        return Metric(LexicalMetric(spec), spec, cache, home)
    if isinstance(spec, BlendSpec):
        bound_to = partial(bind, model=model, lang=lang, device=device, online=online, cache=cache)
        members = {
            member: bound_to(f"{name}.{member}", one).by_transport("bind") for member, one in spec.members.items()
        }
        return Metric(BlendMetric(name, members), spec, cache, home)
    from monge.encode.models import hash_ahead

    wanted = suited(spec.encoder.model if spec.encoder.model != "auto" else model, lang)
    hash_ahead(wanted)
    from monge.scoring.fluency import language_model
    from monge.scoring.transport import bound

    settings = {"precision": spec.encoder.precision, "unknown": spec.encoder.unknown}
    encoder = encoder_for(wanted, device=device, online=online, cache=cache, **settings)
    made = bound(name, spec, encoder, language_model(spec, device=device, online=online))
    return Metric(made, spec, cache, home)


def suited(model: str, lang: str | None) -> str:
    """The model itself, or for `auto` one that knows the language; a warning where it is known not to."""
    from monge.encode.packaged import PACKAGED, model_for, model_languages

    check_language(lang)
    known = model_languages(model)
    if lang is None or known is None or lang in known:
        return model
    if model == "auto":
        return model_for(lang)
    others = [f"{one.name} does" for one in PACKAGED if lang in one.languages] or ["name one that does with --model"]
    said = f"{model} does not know {LANGUAGES[lang]} ({lang}), its scores of such texts mean little: {others[0]}"
    warnings.warn(said, Unsuited, stacklevel=3)
    return model


def score_segments(
    metrics: Sequence[Metric],
    segments: Iterable[Segment],
    *,
    corpora: Corpora = Corpora(),  # noqa: B008 - frozen
    expect: Sequence[Mapping[str, str]] | None = None,
    cache: Store | str | Path | None = None,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    score: ScoreWindow = score_window,
    on_error: str = "fail",
) -> list[Result]:
    """Score re-iterable segments with several metrics in one encoding pass: system by system, metrics in order.

    `corpora` says where statistics come from, other than the segments; `expect` has for each metric the digests that
    a replay must meet; `cache` is a store, or a directory for one, that keeps vectors and scores; `watch` is told how
    far the run has come; `score` scores a window. Metrics of one name are told apart by labels. A segment that cannot
    be scored ends the run, or with `on_error="count"` is left out, named in a warning and listed in `run["failed"]`.
    """
    scorers, files = [], {}
    for metric in metrics:
        one, texts = with_corpus(metric.scorer, corpora)
        scorers.append(one)
        files.update(texts)
    if corpora.idf is not None and not any(one.idf_corpora for one in scorers):
        raise UsageError("an idf corpus was given, but no metric of this run weighs by idf")
    names = labels((one.name, one.asked) for one in metrics)
    with opened(cache) as store:
        corpora, tolerant = Corpora(corpora.stats, files), on_error == "count"
        run = ScoringRun(scorers, segments, corpora=corpora, store=store, score=score, tolerant=tolerant)
        results = watched(run, expect, watch)
    for bad in run.failed[:NAMED_FAILURES]:
        warnings.warn(f"{bad}; it is left out", Flagged, stacklevel=2)
    if len(run.failed) > NAMED_FAILURES:
        more = len(run.failed) - NAMED_FAILURES
        warnings.warn(f"{more} more segments could not be scored and are left out", Flagged, stacklevel=2)
    return [replace(one, metric=names[k % len(names)]) for k, one in enumerate(results)]


def transported_segments(
    metrics: Sequence[Metric],
    segments: Iterable[Segment],
    chosen: Sequence[Sequence[Segment]],
    *,
    corpora: Corpora = Corpora(),  # noqa: B008 - frozen
    expect: Sequence[Mapping[str, str]] | None = None,
) -> Iterator[tuple[int, int, Transported]]:
    """The plans of chosen segments, each against its first reference: which metric, which of its segments, the plan.

    Statistics are fitted on all `segments`, as they were when these were scored; `chosen` has for each metric the
    segments whose plans are wanted, `expect` the digests that a replay must meet.
    """
    scorers, files = [], {}
    for metric in metrics:
        one, texts = with_corpus(metric.scorer, corpora)
        scorers.append(one)
        files.update(texts)
    run = ScoringRun(scorers, segments, corpora=Corpora(corpora.stats, files))
    run.check_replay(expect)
    for k, rows in enumerate(chosen):
        yield from ((k, place, plan) for place, plan in run.transported(k, rows))


def warn_flags(results: Sequence[Result]) -> None:
    """Warn, once for a run, of what was unusual about its texts, as the command line does."""
    counts: dict[str, int] = {}
    for result in results:
        for flag, count in result.run.get("flagged", {}).items():
            counts[flag] = max(counts.get(flag, 0), count)
    if counts:
        said = "; ".join(f"{describe_flag(flag).rstrip('.')} ({count} ×)" for flag, count in sorted(counts.items()))
        cut = any(flag.startswith(TRUNCATED) for flag in counts)
        how = "; encoder.overlong=window reads long texts whole" if cut else ""
        warnings.warn(f"{said}{how}", Flagged, stacklevel=3)


def with_corpus(metric: Scorer, corpora: Corpora) -> tuple[Scorer, dict[str, Iterable[str]]]:
    """The metric with its idf corpus named, and the texts of that corpus where it is not one of the run's sides."""
    if not metric.idf_corpora:
        return metric, {}
    if corpora.idf is not None:
        texts = corpora.idf if isinstance(corpora.idf, TextFile) else check_texts(corpora.idf, "idf_corpus")
        return metric.with_idf_corpus(FILE), {FILE: texts}
    found: dict[str, Iterable[str]] = {}
    for corpus in metric.idf_corpora:
        if named_corpus(corpus):
            continue
        if corpus == FILE and FILE not in corpora.files and corpora.stats is None:
            raise UsageError(
                f"{metric.name} weighs by the idf of a corpus: give it (--idf-corpus FILE, or --stats FILE)"
            )
        if corpora.stats is None or corpus in corpora.files:
            found[corpus] = corpora.files[corpus] if corpus in corpora.files else TextFile(corpus)
    return metric, found


def with_intervals(results: Sequence[Result], *, seed: int = 12345) -> list[Result]:
    """The results with bootstrap intervals of their scores, over segments; how often one is drawn is its own affair."""
    from monge.scoring.summary import drawn, interval

    def ends(result: Result) -> tuple[float, float] | None:
        draws = drawn(result, np.arange(result.n), seed)
        return interval(draws, None if result.pooled is None else result.pooled.of)

    return [replace(result, interval=ends(result)) for result in results]

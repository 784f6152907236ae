"""The Python interface: load a metric, score, fit, explain. The command line calls nothing else."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monge.data.lines import TextFile, check_text
from monge.data.lists import reference_lists, texts_of
from monge.data.lists import segments_of as segments_of
from monge.errors import DataError, InvalidSetting, StatisticsMismatch, UsageError
from monge.scoring.blend import Blended
from monge.scoring.lexical import Lexical
from monge.spec.axes import Idf
from monge.spec.blend import BlendSpec
from monge.spec.lexical import LexicalSpec
from monge.spec.presets import Spec, resolve
from monge.spec.signature import FILE, Parsed, named_corpus, parse
from monge.types import CorpusStats, Explanation, Result, Segment

if TYPE_CHECKING:
    from monge.encode.protocol import Encoder
    from monge.scoring.mixed import Bound
    from monge.scoring.prepared import Prepared
    from monge.scoring.run import OnWindow
    from monge.store import Store

DEFAULT_METRIC = "twmd"
KEPT_ENCODERS = 2
_encoders: OrderedDict[tuple[object, ...], Encoder] = OrderedDict()


def encoder_for(
    model: str, *, precision: str = "fp32", device: str = "auto", online: bool = False, unknown: str = "drop"
) -> Encoder:
    """A loaded encoder: transformers, static word vectors or ELMo; the last few stay loaded.

    `unknown` says what becomes of words without a vector: drop, zero or error.
    """
    from monge.encode.opening import open_model

    key = model, precision, device, online, unknown, _stamp(model)
    if key not in _encoders:
        _encoders[key] = open_model(model, precision=precision, device=device, online=online, unknown=unknown)
        while len(_encoders) > KEPT_ENCODERS:
            _encoders.popitem(last=False)
    _encoders.move_to_end(key)
    return _encoders[key]


def _stamp(model: str) -> tuple[object, ...]:
    """What tells a model on disk from another under the same name, or from itself before it was written anew."""
    path = Path(model).expanduser()
    try:
        found = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
        facts = [(one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in found]
    except OSError:  # opening it will say what is wrong
        return ()
    return (str(path.resolve()), *facts) if found else ()


@dataclass(frozen=True)
class Metric:
    """A metric ready to score: its encoder is loaded (a lexical one has none), its settings are fixed."""

    prepared: Bound
    cache: str | Path | None = None

    @property
    def name(self) -> str:
        """NAME or NAME@PROFILE."""
        return self.prepared.name

    @property
    def spec(self) -> Spec:
        """Every setting."""
        return self.prepared.spec

    @property
    def has_vectors(self) -> bool:
        """Whether it compares vectors, rather than words alone."""
        return not isinstance(self.prepared, Lexical)

    def score(
        self,
        hypotheses: Iterable[str],
        references: Iterable[str] | Iterable[Sequence[str]] | None = None,
        *,
        sources: Iterable[str] | None = None,
        stats: CorpusStats | None = None,
        idf_corpus: Iterable[str] | None = None,
    ) -> Result:
        """Scores of hypotheses against references (or, without references, against sources)."""
        segments = segments_of(hypotheses, references, sources)
        return score_segments([self], segments, stats=stats, idf_corpus=idf_corpus, cache=self.cache)[0]

    def fit(
        self, references: Iterable[str] | Iterable[Sequence[str]] = (), *, hypotheses: Iterable[str] = ()
    ) -> CorpusStats:
        """Corpus statistics (idf, means) of texts: frozen, savable, addable."""
        from monge.scoring.fit import fit
        from monge.scoring.pipeline import Windows

        if isinstance(self.prepared, Blended):
            return _fitted_ranges(self, segments_of(hypotheses, references))
        prepared = self.of_vectors("fit")
        flat = [text for row in reference_lists(references, None) for text in row]
        own = texts_of(hypotheses, "hypotheses")
        if not flat and not own:
            raise DataError("fit: no texts were given")
        return fit(prepared, Windows([prepared]), references=flat, hypotheses=own)

    def fit_maps(self, pairs: Iterable[tuple[str, str]]) -> CorpusStats:
        """Maps from source to target vectors, of parallel texts: for `centre=clp` and `centre=umd`."""
        from monge.scoring.parallel import fit_maps

        return fit_maps(self.of_vectors("fit maps for"), pairs)

    def fit_baseline(self, corpus: Iterable[str], *, seed: int = 12345) -> CorpusStats:
        """What the metric gives random pairs of the corpus, at every layer: for `scale=baseline`."""
        from monge.scoring.baseline import fit_baseline

        texts = corpus if isinstance(corpus, TextFile) else texts_of(corpus, "corpus")
        return fit_baseline(self.of_vectors("fit a baseline for"), texts, seed=seed)

    def compute(
        self, *, predictions: Iterable[str], references: Iterable[str] | Iterable[Sequence[str]]
    ) -> dict[str, Any]:
        """The call shape of the `evaluate` library: a dictionary of lists, with the signature."""
        result = self.score(predictions, references)
        parts = {name: values.tolist() for name, values in result.parts.items()}
        return {"score": result.score, "scores": result.segments.tolist(), **parts, "signature": str(result.signature)}

    def explain(self, hypothesis: str, reference: str, *, stats: CorpusStats | None = None) -> Explanation:
        """Who was moved to whom in one pair, how much, at what cost.

        Without statistics a metric that needs them explains with uniform weights and no corpus centre.
        """
        return explain_pair(self, hypothesis, reference, stats)

    def of_vectors(self, what: str) -> Prepared:
        """The metric bound to its encoder, where it has one."""
        if isinstance(self.prepared, Lexical):
            raise UsageError(f"{self.name} compares words, not vectors: there is nothing to {what}")
        if isinstance(self.prepared, Blended):
            made_of = " and ".join(f"{part.spec.transport.name} transport" for part in self.prepared.members.values())
            raise UsageError(f"{self.name} is a blend of several metrics ({made_of}): {what} one of those instead")
        return self.prepared


def load(
    metric: str = DEFAULT_METRIC,
    *,
    model: str = "auto",
    layers: int | float | str | None = None,
    precision: str | None = None,
    device: str = "auto",
    lang: str | None = None,
    settings: Sequence[str] | Mapping[str, object] = (),
    online: bool = False,
    cache: str | Path | None = None,
) -> Metric:
    """A metric by name, `NAME@PROFILE` or `NAME[settings]`, with its encoder loaded.

    `settings` are `AXIS=VALUE` / `AXIS.FIELD=VALUE`, as a list of strings or a mapping;
    `cache` is a directory in which vectors and scores are kept.
    """
    changes = [f"{key}={value}" for key, value in settings.items()] if isinstance(settings, Mapping) else list(settings)
    if layers is not None:
        changes.append(f"layers={layers}")
    if precision is not None:
        changes.append(f"encoder.precision={precision}")
    name, spec = resolve(metric, tuple(changes), lang)
    return replace(bind(name, spec, model=model, device=device, online=online), cache=cache)


def bind(name: str, spec: Spec, *, model: str = "auto", device: str = "auto", online: bool = False) -> Metric:
    """A spec with its encoder; `model` fills in where the spec says `auto`. A lexical one needs none."""
    if isinstance(spec, LexicalSpec):
        return Metric(Lexical(spec))
    from monge.scoring.fluency import language_model
    from monge.scoring.prepared import prepare

    if isinstance(spec, BlendSpec):
        bound = {part: bind(f"{name}.{part}", one, model=model, device=device, online=online).of_vectors("bind")
                 for part, one in spec.members.items()}  # fmt: skip
        return Metric(Blended(name, bound))
    wanted = spec.encoder.model if spec.encoder.model != "auto" else model
    settings = {"precision": spec.encoder.precision, "unknown": spec.encoder.unknown}
    encoder = encoder_for(wanted, device=device, online=online, **settings)
    return Metric(prepare(name, spec, encoder, language_model(spec, device=device, online=online)))


def score(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Sequence[str]] | None = None,
    *,
    metric: str = DEFAULT_METRIC,
    sources: Iterable[str] | None = None,
    stats: CorpusStats | None = None,
    idf_corpus: Iterable[str] | None = None,
    **options: Any,
) -> Result:
    """Score hypotheses against references with one metric; `options` are those of `load`."""
    return load(metric, **options).score(hypotheses, references, sources=sources, stats=stats, idf_corpus=idf_corpus)


def fit(references: Iterable[str], *, metric: str = DEFAULT_METRIC, **options: Any) -> CorpusStats:
    """Corpus statistics of texts for a metric; `options` are those of `load`."""
    return load(metric, **options).fit(references)


def explain(
    hypothesis: str, reference: str, *, metric: str = DEFAULT_METRIC, stats: CorpusStats | None = None, **options: Any
) -> Explanation:
    """Why a pair gets its score; `options` are those of `load`."""
    return load(metric, **options).explain(hypothesis, reference, stats=stats)


def score_segments(
    metrics: Sequence[Metric],
    segments: Iterable[Segment],
    *,
    stats: CorpusStats | None = None,
    idf_corpus: Iterable[str] | None = None,
    corpora: Mapping[str, Iterable[str]] | None = None,
    interval: bool = False,
    seed: int = 12345,
    progress: Callable[[int], None] | None = None,
    expect: Sequence[Mapping[str, str]] | None = None,
    cache: Store | str | Path | None = None,
    on_window: OnWindow | None = None,
) -> list[Result]:
    """Score re-iterable segments with several metrics in one encoding pass: system by system, metrics in order.

    `idf_corpus` replaces the corpus of every metric that weighs by idf; `corpora` has texts by the name
    that a metric's `weights.corpus` gives them, where that is neither a side nor a file; `expect` has for
    each metric the statistics digests that a replay must meet; `interval` adds a bootstrap interval of the mean;
    `cache` is a directory for vectors and scores; `on_window` sees scores as they are done.
    """
    from monge.scoring.mixed import run_mixed
    from monge.store import opened

    bound, files = [], {}
    for metric in metrics:
        one, texts = _with_corpus(metric.prepared, idf_corpus, corpora or {})
        bound.append(one)
        files.update(texts)
    if idf_corpus is not None and not any(_weighs_by_idf(one) for one in bound):
        raise UsageError("an idf corpus was given, but no metric of this run weighs by idf")
    with opened(cache) as store:
        results = run_mixed(
            bound,
            segments,
            files=files,
            stats=stats,
            progress=progress,
            expect=expect,
            store=store,
            on_window=on_window,
        )
    return [_with_interval(result, seed) for result in results] if interval else results


def _fitted_ranges(metric: Metric, segments: list[Segment]) -> CorpusStats:
    """The ranges of a blend's parts over pairs."""
    assert isinstance(metric.prepared, Blended)
    parts = metric.prepared.members
    results = score_segments([Metric(one) for one in parts.values()], segments)
    return metric.prepared.ranges(dict(zip(parts, results, strict=True)), segments)


def _weighs_by_idf(metric: Bound) -> bool:
    return not isinstance(metric, Lexical | Blended) and isinstance(metric.spec.weights, Idf)


def _with_corpus(
    metric: Bound, idf_corpus: Iterable[str] | None, corpora: Mapping[str, Iterable[str]]
) -> tuple[Bound, dict[str, Iterable[str]]]:
    """The metric with its idf corpus named, and the texts of that corpus where it is not one of the run's sides."""
    if isinstance(metric, Lexical | Blended):
        return metric, {}
    weights = metric.spec.weights
    if not isinstance(weights, Idf):
        return metric, {}
    if idf_corpus is not None:
        texts = idf_corpus if isinstance(idf_corpus, TextFile) else texts_of(idf_corpus, "idf_corpus")
        return replace(metric, spec=replace(metric.spec, weights=replace(weights, corpus=FILE))), {FILE: texts}
    if named_corpus(weights.corpus):
        return metric, {}
    if weights.corpus in corpora:
        return metric, {weights.corpus: corpora[weights.corpus]}
    if weights.corpus == FILE:
        raise UsageError(f"{metric.name} weighs by the idf of a corpus: give it (--idf-corpus FILE, or --stats FILE)")
    return metric, {weights.corpus: TextFile(weights.corpus)}


def _with_interval(result: Result, seed: int) -> Result:
    from monge.stats.bootstrap import bootstrap_mean

    if result.score != float(result.segments.mean()):  # a corpus score that pools counts is no mean of segments
        return result
    found = bootstrap_mean(result.segments, seed=seed)
    return replace(result, interval=(found.low, found.high))


class NotebookExplanation(Explanation):
    """An explanation that shows itself in a notebook."""

    def _repr_html_(self) -> str:
        from monge.render import explanation_fragment

        return explanation_fragment(self)


def explain_pair(metric: Metric, hypothesis: str, reference: str, stats: CorpusStats | None = None) -> Explanation:
    """See `Metric.explain`."""
    from monge.scoring.explain import explained

    segment = Segment("1", check_text(hypothesis, "hypothesis"), (check_text(reference, "reference"),))
    found = explained(metric.of_vectors("explain"), segment, stats)
    return NotebookExplanation(**{one.name: getattr(found, one.name) for one in fields(found)})


def replay(
    line: str, *, model: str = "auto", device: str = "auto", online: bool = False, settings: Sequence[str] = ()
) -> tuple[Metric, dict[str, str]]:
    """The metric a signature describes, and the statistics digests it must meet; refuses other weights.

    `settings` may name again what a signature cannot carry: a stopword file, where a language model lies.
    """
    said = parse(line)
    if isinstance(said.spec, LexicalSpec):
        if settings:
            raise UsageError(f"{said.metric} compares words, not vectors: it has no {settings[0].partition('=')[0]!r}")
        return bind(said.metric, said.spec), dict(said.stats)
    other = next((one for one in settings if not one.startswith(("units.stopwords=", "fluency.model="))), None)
    if other is not None:
        raise UsageError(f"a signature says every setting: {other!r} would compute something else; give -m and --set")
    spec = said.spec.changed(settings)
    first = next(iter(spec.members.values())) if isinstance(spec, BlendSpec) else spec
    wanted = model if model != "auto" else first.encoder.model
    spec = spec.changed([f"encoder.model={wanted}"])
    try:
        metric = bind(said.metric, spec, device=device, online=online)
    except InvalidSetting as error:
        raise StatisticsMismatch(f"the signature does not fit {wanted}: {error}") from None
    if isinstance(metric.prepared, Blended):
        for name, member in metric.prepared.members.items():
            _check_identity(member, said.members[name])
    else:
        _check_identity(metric.of_vectors("replay"), said)
    return metric, dict(said.stats)


def _check_identity(metric: Prepared, said: Parsed) -> None:
    """Raise where a model or a stopword list is not the one that a signature was made with."""
    from monge.text import stopwords

    encoder, language_model = metric.reader.encoder, metric.language_model
    for what, now, was in (
        ("weights are", encoder.weights_digest[:8], said.weights),
        ("tokenizer is", encoder.tokenizer_digest[:8], said.tokenizer),
        ("configuration is", encoder.config_digest[:8], said.config),
        ("stopwords are", stopwords.digest(metric.spec.units.stopwords), said.stopwords),
        ("language model is", "" if language_model is None else language_model.digest, said.language_model),
    ):
        if now != was:
            raise StatisticsMismatch(f"the signature's {what} {was or 'none'}, {encoder.name} has {now or 'none'}")


def save_stats(stats: CorpusStats, path: str | Path) -> None:
    """Write statistics as JSON."""
    from monge.data.output import write_text

    write_text(path, json.dumps(stats.to_dict(), allow_nan=False) + "\n")


def load_stats(path: str | Path) -> CorpusStats:
    """Read statistics from a file of `save_stats`."""
    try:
        data = json.loads("\n".join(TextFile(path)))
    except json.JSONDecodeError as error:
        raise StatisticsMismatch(f"{path}: not a statistics file of monge fit ({error})") from None
    if not isinstance(data, dict):
        raise StatisticsMismatch(f"{path}: not a statistics file of monge fit")
    try:
        return CorpusStats.from_dict(data)
    except StatisticsMismatch as error:
        raise StatisticsMismatch(f"{path}: {error}") from None

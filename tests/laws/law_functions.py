"""The laws. Each takes a bench and a metric's name, raises AssertionError, and returns the
deviation it saw.

A row of `spec.presets` may declare `lacks={law: reason}`; then `check_metric` demands that the law
be broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from law_bench import Bench, deviation, fit_of, numbers, scale
from law_samples import ALL_PAIRS, BLANK, CORPUS, R2, SAMPLE, SHORT_SAMPLE, TEXTS, A, B, R

from monge.encoders.protocol import Encoder
from monge.errors import DataError
from monge.metrics.axes import CorpusCentre
from monge.metrics.blend import BLENDS, LinearSum
from monge.metrics.lexical import LEXICAL
from monge.metrics.presets import PRESETS
from monge.scoring.run import ScoringRun
from monge.scoring.scorer import Corpora, Scorer
from monge.types import Result, Segment

TOLERANCE = {"fp32": 1e-5, "bf16": 2e-3, "int8": 1e-5}
"""What a score may owe to the company it was computed in, per precision (times the scale of free
distances).
"""

AWAY = {"bf16": 3e-2, "int8": 3e-2}
"""How far a segment in reduced precision may be from fp32. Measured on the 24 pairs (Zen 4): bf16
.021 for xmoverscore@v2 and at most .003 for the others, median .0009; int8 .014, median .006."""

Law = Callable[[Bench, str], float]
LAWS: dict[str, Law] = {}


def law(function: Law) -> Law:
    LAWS[function.__name__.replace("_", "-")] = function
    return function


def within(gap: float, most: float, what: str) -> float:
    assert gap <= most, f"{what}: {gap:.2e} is more than {most:.0e}"
    return gap


def tolerance(bench: Bench) -> float:
    return TOLERANCE[bench.encoder.precision]


def usual(bench: Bench, name: str) -> Result:
    """The sample as it is scored by default."""
    return bench.run(SAMPLE, raw=True)[name]


# --- company: what a score may not depend on
# ---------------------------------------------------------------------


@law
def batch(bench: Bench, name: str) -> float:
    """Encoder batches of one text, of a few, of all."""
    gaps = [
        deviation(bench.run(SAMPLE, raw=True, batch_pieces=pieces)[name], usual(bench, name))
        for pieces in (1, 70, 1 << 20)
    ]
    return within(max(gaps), tolerance(bench), "batch size of the encoder")


@law
def padding(bench: Bench, name: str) -> float:
    """Every pair alone and without padding; all pairs in one batch, padded to the longest text."""
    usually = bench.run(SHORT_SAMPLE)[name]
    gaps = [
        deviation(bench.run(SHORT_SAMPLE, **arrangement)[name], usually)
        for arrangement in (UNPADDED, one_batch(bench))
    ]
    return within(max(gaps), tolerance(bench), "batch of pairs")


@law
def negative_padding(bench: Bench, name: str) -> float:
    """The same where similarities are negative, so that a padded 0 would be the nearest."""
    changes = ("centre=sentence",)
    alone, together = (
        bench.run(SHORT_SAMPLE, changes=changes, **arrangement)[name]
        for arrangement in (UNPADDED, one_batch(bench))
    )
    return within(deviation(alone, together), tolerance(bench), "batch of pairs under centring")


UNPADDED = {"pair_numbers": 1, "step": 1}
"""Every pair in a batch of its own, with as many places as it has units."""


def one_batch(bench: Bench) -> dict[str, int]:
    """All pairs in one batch, with as many places as the longest text of the sample has pieces."""
    texts = [text for row in SHORT_SAMPLE for text in (row.hypothesis, *row.references)]
    longest = max(len(tokens.ids) for tokens in bench.encoder.tokenise(texts))
    return {"pair_numbers": 1 << 40, "step": longest}


@law
def window(bench: Bench, name: str) -> float:
    """Windows of one segment, of a few, of all."""
    windowed = [bench.run(SAMPLE, raw=True, window=size)[name] for size in (1, 7)]
    usually = usual(bench, name)
    gaps = [deviation(result, usually) for result in windowed]
    gaps += [
        abs(result.score - usually.score) / scale(usually) for result in windowed
    ]  # of a corpus score too
    return within(max(gaps), tolerance(bench), "window")


@law
def order(bench: Bench, name: str) -> float:
    """Segments in another order; 33 segments, so that batches of 32 are cut elsewhere."""
    more = (*SAMPLE, *(Segment(f"more {i}", A[i], (R[i],)) for i in range(20, 29)))
    gaps = []
    for places in (
        list(range(len(more)))[::-1],
        list(np.random.default_rng(3).permutation(len(more))),
    ):
        moved = bench.run(tuple(more[place] for place in places), raw=True)[name]
        gaps.append(deviation(moved, bench.run(more, raw=True)[name], places))
    return within(max(gaps), tolerance(bench), "order of segments")


@law
def neighbours(bench: Bench, name: str) -> float:
    """Every segment alone."""
    gaps = []
    for place, segment in enumerate(SAMPLE):
        alone = bench.run((segment,), raw=True)
        assert name in alone, "it cannot be scored alone"
        gaps.append(deviation(alone[name], usual(bench, name), [place]))
    return within(max(gaps), tolerance(bench), "neighbours")


@law
def systems(bench: Bench, name: str) -> float:
    """Another system in the run."""
    rows = tuple(
        row
        for i, segment in enumerate(SAMPLE)
        for row in (replace(segment, system="a"), replace(segment, system="b", hypothesis=B[i]))
    )
    both = bench.run(rows, raw=True)
    return within(
        deviation(both[f"{name}\ta"], usual(bench, name)), tolerance(bench), "another system"
    )


@law
def threads(bench: Bench, name: str) -> float:
    """One thread, two threads."""
    single, double = (bench.run(SAMPLE, raw=True, threads=count)[name] for count in (1, 2))
    return within(deviation(single, double), tolerance(bench), "threads")


@law
def duplicates(bench: Bench, name: str) -> float:
    """The same segment twice in a run of 48: equal, to the bit."""
    doubled = bench.run((*SAMPLE, *SAMPLE[::-1]), raw=True)[name]
    for part, values in numbers(doubled).items():
        ours, theirs = values[: len(SAMPLE)], values[len(SAMPLE) :][::-1]
        assert (ours == theirs).all(), (
            f"{part} of duplicates differs by {np.abs(ours - theirs).max():.1e}"
        )
    return 0.0


@law
def repeat(bench: Bench, name: str) -> float:
    """The same run again: equal, to the bit."""
    again = bench.run(SAMPLE, raw=True, again=1)[name]
    for part, values in numbers(again).items():
        assert (values == numbers(usual(bench, name))[part]).all(), f"{part} differs when repeated"
    assert again.signature == usual(bench, name).signature
    return 0.0


@law
def remembered(bench: Bench, name: str) -> float:
    """With a store: scores of a run that fills it are the usual ones, those that are found there
    equal to the bit.
    """
    filled, reread = (run[name] for run in bench.remembered(SAMPLE))
    for part, values in numbers(reread).items():
        assert (values == numbers(filled)[part]).all(), f"{part} differs when it is remembered"
    assert (reread.signature, reread.score, reread.flags, reread.run) == (
        filled.signature, filled.score, filled.flags, filled.run
    )  # fmt: skip
    return within(deviation(filled, usual(bench, name)), tolerance(bench), "with a store")


@law
def merged_statistics(bench: Bench, name: str) -> float:
    """fit(A) + fit(B) is fit(A followed by B): the digests to the bit, the scores closely."""
    metric = bench.metric(name)
    halves = [
        fit_of(metric, references, hypotheses) for references, hypotheses in ((R, A), (R2, B))
    ]
    stats = halves[0] + halves[1], fit_of(metric, CORPUS, (*A, *B))
    added, at_once = (
        ScoringRun([metric], SAMPLE, corpora=Corpora(merged)).results()[0] for merged in stats
    )
    assert added.signature == at_once.signature
    part = ScoringRun([metric], SAMPLE, corpora=Corpora(halves[0])).results()[0]
    assert part.signature != added.signature, "the statistics of a half are those of the whole"
    assert deviation(part, at_once) > 0, "no score depends on the statistics"
    return within(deviation(added, at_once), tolerance(bench), "merged statistics")


# --- meaning: what a score says
# ----------------------------------------------------------------------------------


@law
def identity(bench: Bench, name: str) -> float:
    """Nothing scores better against a text than the text itself, which gets the declared best."""
    result = bench.run(ALL_PAIRS)[name]
    limits = bench.metric(name).bounds
    square = result.segments.reshape(len(TEXTS), len(TEXTS)) * (
        1 if limits.higher_is_better else -1
    )
    own = np.diag(square)
    within(
        float(max((square - own[:, None]).max(), (square - own[None, :]).max())),
        1e-9 * scale(result),
        "better",
    )
    best = limits.best if limits.higher_is_better else -limits.best
    return within(
        float(np.abs(own - best).max()) / scale(result),
        1e-6,
        "a text and itself: away from the best",
    )


@law
def symmetry(bench: Bench, name: str) -> float:
    """The whole run with sides (and their statistics) exchanged: precision and recall exchange, the
    rest stays.
    """
    there = bench.run(SAMPLE)[name]
    exchanged = tuple(Segment(row.id, row.references[0], (row.hypothesis,)) for row in SAMPLE)
    back = bench.run(exchanged, swapped=True)[name]
    mirror = {"precision": "recall", "recall": "precision"}
    gaps = [
        np.abs(values - back.parts[mirror.get(part, part)]).max()
        for part, values in there.parts.items()
    ]
    if name in BLENDS or getattr(PRESETS[name].spec.readout, "headline", "f1") == "f1":
        gaps.append(np.abs(there.segments - back.segments).max())
    return within(float(max(gaps)) / scale(there), tolerance(bench), "sides exchanged")


@law
def range_(bench: Bench, name: str) -> float:
    """Finite, and inside the documented range."""
    limits = bench.metric(name).bounds
    over = 0.0
    for result in (usual(bench, name), bench.run(ALL_PAIRS)[name]):
        assert all(np.isfinite(values).all() for values in numbers(result).values())
        low, high = (
            (limits.low, limits.high) if name in BLENDS else limits.shown
        )  # fitted ranges are of other pairs
        over = max(
            over, float((low - result.segments).max()), float((result.segments - high).max())
        )
    return within(over, 1e-9, "out of range")


LAWS["range"] = LAWS.pop("range-")


@law
def empty(bench: Bench, name: str) -> float:
    """A blank text gets the declared worst, two blanks the best; both are flagged, counted, and
    disturb nobody.
    """
    limits = bench.metric(name).bounds
    blanks = [
        (f"{kind} {i}", h, r)
        for kind, b in BLANK.items()
        for i, (h, r) in enumerate([(b, R[0]), (R[0], b)])
    ]
    blanks += [(f"{kind} 2", blank, blank) for kind, blank in BLANK.items()] + [
        ("mixed", " ", "\u200b")
    ]
    rows = tuple(Segment(key, h, (r,)) for key, h, r in blanks)
    result = bench.run((*SAMPLE, *rows), raw=True)[name]
    blank_scores = result.segments[len(SAMPLE) :]
    flags = [
        tuple(
            f"empty-{side}" for side, text in (("hypothesis", h), ("reference", r)) if text != R[0]
        )
        for _, h, r in blanks
    ]
    assert list(result.flags[len(SAMPLE) :]) == flags
    assert (
        result.run["flagged"]["empty-hypothesis"]
        == result.run["flagged"]["empty-reference"]
        == 2 * len(BLANK) + 1
    )
    assert all(np.isfinite(values).all() for values in numbers(result).values())
    for score, flag in zip(blank_scores, flags, strict=True):
        if len(flag) == 2:
            assert score == limits.best
        elif limits.worst is not None:
            assert score == limits.worst
        else:  # an empty text is a point at the origin: far, and the same however it is blank
            assert score < limits.best if limits.higher_is_better else score > limits.best
    if limits.worst is None:
        for side in ("empty-hypothesis", "empty-reference"):
            assert (
                len(
                    {
                        score
                        for score, flag in zip(blank_scores, flags, strict=True)
                        if flag == (side,)
                    }
                )
                == 1
            )
    if "neighbours" in lacking(name):
        return 0.0
    before = usual(bench, name)
    gap = max(
        float(np.abs(values[: len(SAMPLE)] - numbers(before)[part]).max())
        for part, values in numbers(result).items()
    )
    return within(gap / scale(before), tolerance(bench), "the others beside blank texts")


@law
def all_empty(bench: Bench, name: str) -> float:
    """A run of nothing but blank texts, alone or in both roles, has the same parts as any other."""
    limits = bench.metric(name).bounds
    result = bench.run((Segment("1", "", (" ",)), Segment("2", "\u00a0", ("",))))[name]
    assert (result.segments == limits.best).all()
    assert set(result.parts) == set(usual(bench, name).parts)
    return 0.0


@law
def filtered(bench: Bench, name: str) -> float:
    """A text that the filters would leave empty keeps its words, is flagged, and is no empty
    text.
    """
    changes = (
        "units.punctuation=drop",
        "units.stopwords=en",
        "units.match=word",
        "units.subwords=first",
    )
    rows = (
        Segment("1", "?! ...", (R[0],)),
        Segment("2", R[0], ("of the and",)),
        Segment("3", "the of", ("...",)),
    )
    result = bench.run(rows, changes=changes)[name]
    assert [set(flags) for flags in result.flags] == [
        {"all-filtered-hypothesis"},
        {"all-filtered-reference"},
        {"all-filtered-hypothesis", "all-filtered-reference"},
    ]
    assert result.run["flagged"] == {"all-filtered-hypothesis": 2, "all-filtered-reference": 2}
    assert all(np.isfinite(values).all() for values in numbers(result).values())
    plain = bench.run(
        rows, changes=("units.punctuation=keep", "units.stopwords=none", "units.subwords=first")
    )[name]
    if "neighbours" in lacking(name) or name.partition("@")[0].endswith(
        "-b"
    ):  # the mean is of other units
        return 0.0
    gap = float(abs(result.segments[2] - plain.segments[2])) / scale(
        plain
    )  # both of its texts fell back
    return within(gap, TOLERANCE["fp32"], "fallen back")


@law
def weightless(bench: Bench, name: str) -> float:
    """A text of words that every text has weighs nothing by idf: it is flagged, and its words count
    the same, as under uniform weights.
    """
    texts = ["river bridge dog", "river bridge cat", "river bridge filter"]
    rows = (
        Segment("1", "river bridge", ("river dog",)),
        Segment("2", "river dog", ("bridge river",)),
        Segment("3", "bridge river", ("river",)),
    )
    by_idf = () if PRESETS[name].spec.weights.name == "idf" else ("weights=idf",)
    weighted, uniform = (
        score_fitted(bench.metric(name, (*changes, "units.specials=drop")), rows, texts)
        for changes in (by_idf, ("weights=uniform",))
    )
    assert [[str(flag) for flag in flags] for flags in weighted.flags] == [
        ["no-mass-hypothesis"],
        ["no-mass-reference"],
        ["no-mass-hypothesis", "no-mass-reference"],
    ]
    assert uniform.flags == ((), (), ())
    assert all(np.isfinite(values).all() for values in numbers(weighted).values())
    gaps = [
        abs(values[2] - numbers(uniform)[part][2]) for part, values in numbers(weighted).items()
    ]
    return within(float(max(gaps)) / scale(uniform), TOLERANCE["fp32"], "away from uniform weights")


def score_fitted(metric: Scorer, rows: Sequence[Segment], texts: Sequence[str]) -> Result:
    """Score segments with the statistics, if the metric needs any, of some texts on both sides."""
    stats = fit_of(metric, texts, texts) if metric.fits else None
    return ScoringRun([metric], rows, corpora=Corpora(stats)).results()[0]


@law
def references(bench: Bench, name: str) -> float:
    """Several references: the best taken whole, the best of each part, the mean, the first."""
    higher = bench.metric(name).bounds.higher_is_better
    rows = range(12)
    single = [
        bench.run(tuple(Segment(str(i), SAMPLE[i].hypothesis, (texts[i],)) for i in rows))[name]
        for texts in (R, R2)
    ]
    both = tuple(Segment(str(i), SAMPLE[i].hypothesis, (R[i], R2[i])) for i in rows)
    tables = {
        part: np.stack([numbers(result)[part] for result in single]) for part in numbers(single[0])
    }
    score = tables["score"] if higher else -tables["score"]
    winner = score.argmax(0)
    gap = 0.0
    for rule in ("max", "mean", "first", "max-each"):
        result = bench.run(both, changes=(f"references={rule}",))[name]
        for part, table in tables.items():
            expected = {
                "max": np.take_along_axis(table, winner[None], 0)[0],
                "mean": table.mean(0),
                "first": table[0],
                "max-each": table.max(0) if higher else table.min(0),
            }[rule]
            gap = max(gap, float(np.abs(numbers(result)[part] - expected).max()) / scale(result))
        places = {"mean": np.full(len(winner), -1), "first": np.zeros(len(winner))}.get(
            rule, winner
        )
        assert (result.references == places).all()
    return within(gap, tolerance(bench), "several references")


COMPANY = tuple(LAWS)[: tuple(LAWS).index("merged-statistics")]
"""The laws of company: what a score may not depend on, whatever the kind of metric."""
OF_WORDS = (*(law for law in COMPANY if law != "negative-padding"), "range", "empty", "all-empty")
"""The laws for metrics of words: they have no axes that could be changed, and equal texts need not
be the best. Linear blends, whose settings are fixed, have the same.
"""
OF_BLENDS = (*OF_WORDS, "negative-padding", "merged-statistics", "symmetry")
"""The laws for blends: beyond their fitted ranges scores have no best, and references are their
members' business.
"""


def laws_of(name: str) -> tuple[str, ...]:
    """The laws that a metric of its kind is held to; statistics are merged where it has some."""
    if name in LEXICAL or (name in BLENDS and isinstance(BLENDS[name].spec.formula, LinearSum)):
        return OF_WORDS
    if name in BLENDS:
        return OF_BLENDS
    return tuple(law for law in LAWS if law != "merged-statistics" or has_statistics(name))


def has_statistics(name: str) -> bool:
    """Whether the row of a metric asks for statistics of a corpus: idf, or a mean vector."""
    spec = PRESETS[name].spec
    return spec.weights.name.startswith("idf") or isinstance(spec.centre, CorpusCentre)


LIGHT = ("batch", "padding", "empty", "all-empty", "range")
"""The laws that every encoder must keep."""


def check_metric(
    name: str, encoder: Encoder, *, bench: Bench | None = None, only: str | None = None
) -> dict[str, float]:
    """Check a metric against every law (or one); the deviation seen for each law it keeps.

    A law that the row declares lacking must be broken: a lack that is not real is an error too.
    """
    bench = bench or Bench(encoder, [name])
    seen: dict[str, float] = {}
    for key, function in LAWS.items():
        if only not in (None, key) or key not in laws_of(name):
            continue
        if key not in lacking(name):
            seen[key] = function(bench, name)
            continue
        try:
            function(bench, name)
        except (AssertionError, DataError):
            continue
        raise AssertionError(f"{name} keeps the law {key!r}, yet its row declares that it does not")
    return seen


def lacking(name: str) -> Mapping[str, str]:
    """The laws that a row says it does not keep."""
    if name in BLENDS:
        return {}
    if name in LEXICAL:
        return LEXICAL[name].lacks
    lacks = dict(PRESETS[name].lacks)
    if not PRESETS[name].symmetric:
        lacks["symmetry"] = "declared asymmetric"
    return lacks

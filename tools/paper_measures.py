"""Measure claims of the papers that neither a published table nor a command of monge asks.

Each function of MEASURES returns what is kept in results/reproduction/studies: figures and margins
with 95 % bootstrap intervals over source items, and the signatures of what was scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from repository import ROOT

from monge.datasets import Judged
from monge.evaluation import Run, ScoreBook, Setup, Task
from monge.evaluation.agreement import AgreementTable, agreement_table
from monge.evaluation.variant_scores import VariantScores
from monge.evaluation.variants import load_variants
from monge.report.evaluation import correlate
from monge.stats import SEED, percentiles, resample_counts
from monge.types import Array

RESAMPLES = 1000
Measure = Callable[[str, str, str | None], dict[str, Any]]
Labelled = Mapping[str, VariantScores]


@dataclass(frozen=True)
class Margin:
    """A difference of two figures on resamples."""

    says: str
    value: float
    draws: Array

    def to_dict(self) -> dict[str, Any]:
        """Return the margin with the bounds of its interval."""
        low, high = percentiles(self.draws, 0.95)
        return {"says": self.says, "value": self.value, "low": low, "high": high}


def score(
    dataset: Judged, metrics: Mapping[str, str], setup: Setup, cache: str | None
) -> dict[str, VariantScores]:
    """Return the scores of metrics by the labels they are given."""
    with ScoreBook(Run(cache)) as book:
        variants = load_variants(list(metrics.values()), setup, references=dataset.references)
        scores = book.scores(variants, dataset)
    return dict(zip(metrics, scores, strict=True))


def tabulate(dataset: Judged, scores: Labelled, statistic: str) -> AgreementTable:
    """Return the agreement of scores with people, all resampled alike."""
    return agreement_table(
        dataset, list(scores.values()), statistic, resamples=RESAMPLES, seed=SEED
    )


def list_figures(table: AgreementTable, scores: Labelled) -> list[dict[str, Any]]:
    """Return the mean of each row with its interval and signature."""
    figures = []
    for k, (label, row) in enumerate(scores.items()):
        low, high = percentiles(table.mean.draws[k], 0.95)
        value = float(table.mean.values[k])
        figures.append(
            {"label": label, "value": value, "low": low, "high": high, "signature": row.signature}
        )
    return figures


def subtract(
    table: AgreementTable, scores: Labelled, pairs: Sequence[tuple[str, str, str]]
) -> list[dict[str, Any]]:
    """Return margins of (sentence, first row, second row)."""
    places = {label: k for k, label in enumerate(scores)}
    margins = []
    for says, first, second in pairs:
        i, j = places[first], places[second]
        value = float(table.mean.values[i] - table.mean.values[j])
        margins.append(Margin(says, value, table.mean.draws[i] - table.mean.draws[j]).to_dict())
    return margins


def describe(dataset: Judged, statistic: str, model: str) -> dict[str, Any]:
    """Return what was run: data, groups, sizes, statistic, model."""
    return {
        "dataset": dataset.dataset,
        "text": dataset.text,
        "human": dataset.human,
        "statistic": statistic,
        "model": Path(model).name if model != "auto" else "all-MiniLM-L6-v2",
        "groups": {name: group.n for name, group in dataset.groups.items()},
        "resamples": RESAMPLES,
        "seed": SEED,
    }


def lower(dataset: Judged) -> Judged:
    """Return the judgements with texts in lower case."""
    groups = {}
    for name, group in dataset.groups.items():
        segments = tuple(
            replace(
                segment,
                hypothesis=segment.hypothesis.lower(),
                references=tuple(text.lower() for text in segment.references),
            )
            for segment in group.segments
        )
        groups[name] = replace(group, segments=segments)
    return replace(dataset, groups=groups)


GERMAN = {
    "Sentence-BERT, mean": "sbert",
    "Sentence-BERT, maximum": "sbert[units.join=max]",
    "Sentence-BERT, first piece": "sbert[units.join=first]",
    "Sentence-BERT, mean of all layers": "sbert[layers=last12:mean]",
    "BERTScore": "bertscore",
    "BERTScore, layer 3": "bertscore[layers=3]",
    "BERTScore, layer 6": "bertscore[layers=6]",
    "BERTScore, layer 9": "bertscore[layers=9]",
    "BERTScore, last layer": "bertscore[layers=12]",
    "BERTScore, idf of the texts": "bertscore[weights=idf]",
    "BERTScore, idf of other texts": "bertscore[weights=idf,weights.corpus=OTHER]",
    "BERTScore, last layer, idf of other texts": (
        "bertscore[layers=12,weights=idf,weights.corpus=OTHER]"
    ),
    "BLEU": "sentbleu",
    "ROUGE-1": "rouge1",
    "ROUGE-L": "rougeL",
}


def write_other_texts(data: str) -> Path:
    """Write the distinct sentences of the training part of the German STS benchmark to a file."""
    task = Task("stsb", data, switches={"languages": "de", "split": "train"})
    (group,) = task.open()[0].groups.values()
    texts = dict.fromkeys(
        " ".join(text.split())
        for segment in group.segments
        for text in (segment.hypothesis, *segment.references)
    )
    path = ROOT / "build" / "studies" / "stsb-de-train.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(texts) + "\n", "utf-8")
    return path


def measure_german(data: str, models: str, cache: str | None) -> dict[str, Any]:
    """Measure the experiments of GermEval on the German STS benchmark, its stand-in here."""
    dataset = Task("stsb", data, switches={"languages": "de"}).open()[0]
    setup = Setup(lang="de", model=str(Path(models) / "multilingual-e5-small"))
    corpus = str(write_other_texts(data))
    metrics = {label: metric.replace("OTHER", corpus) for label, metric in GERMAN.items()}
    scores = score(dataset, metrics, setup, cache)
    as_paper = metrics["BERTScore, last layer, idf of other texts"]
    lowered_metrics = {
        "Sentence-BERT, lower case": "sbert",
        "BERTScore, lower case": "bertscore",
        "BERTScore as the paper ran it, lower case": as_paper,
    }
    lowered = score(lower(dataset), lowered_metrics, setup, cache)
    scores = {**scores, **lowered}
    table = tabulate(dataset, scores, "pearson")
    last, plain, mean = "BERTScore, last layer", "BERTScore", "Sentence-BERT, mean"
    other_idf = "BERTScore, idf of other texts"
    pairs = [
        ("BERTScore is closer to people than Sentence-BERT", plain, mean),
        ("with the last layer: BERTScore over Sentence-BERT", last, mean),
        (
            "with the last layer and idf: BERTScore over Sentence-BERT",
            "BERTScore, last layer, idf of other texts",
            mean,
        ),
        (
            "with these, in lower case: BERTScore over Sentence-BERT",
            "BERTScore as the paper ran it, lower case",
            "Sentence-BERT, lower case",
        ),
        (
            "idf of other texts helps the last layer",
            "BERTScore, last layer, idf of other texts",
            last,
        ),
        ("the mean is the best pooling: over the maximum", mean, "Sentence-BERT, maximum"),
        ("the mean is the best pooling: over the first piece", mean, "Sentence-BERT, first piece"),
        *(
            (f"the last layer is the best: over layer {layer}", last, f"BERTScore, layer {layer}")
            for layer in (3, 6, 9)
        ),
        ("idf of other texts helps", other_idf, plain),
        ("idf of the texts themselves helps", "BERTScore, idf of the texts", plain),
        ("lower case costs BERTScore", plain, "BERTScore, lower case"),
        ("lower case costs Sentence-BERT", mean, "Sentence-BERT, lower case"),
        ("BLEU is the best of the lexical metrics: over ROUGE-1", "BLEU", "ROUGE-1"),
        ("BLEU is the best of the lexical metrics: over ROUGE-L", "BLEU", "ROUGE-L"),
        ("BERTScore beats the lexical metrics", plain, "BLEU"),
    ]
    figures = list_figures(table, scores)
    for figure in figures:  # the file of other texts has a directory of this machine in its name
        figure["signature"] = figure["signature"].replace(corpus, "stsb-de-train.txt")
    errors = rescale(dataset, scores[plain], setup, cache)
    return {
        **describe(dataset, "pearson", "multilingual-e5-small"),
        "figures": figures,
        "margins": [*subtract(table, scores, pairs), errors.to_dict()],
    }


def rescale(dataset: Judged, rows: VariantScores, setup: Setup, cache: str | None) -> Margin:
    """Return how much rescaling by the score of unrelated texts lowers the error of BERTScore.

    The error is the root mean square of score minus human score, both from 0 to 1, in points.
    """
    (name, group), *_ = dataset.groups.items()
    assert group.scores is not None
    order = np.random.default_rng(SEED).permutation(len(group.segments))
    unrelated = replace(
        group,
        segments=tuple(
            replace(segment, references=group.segments[k].references)
            for segment, k in zip(group.segments, order, strict=True)
        ),
    )
    shuffled = replace(dataset, groups={name: unrelated})
    baseline = score(shuffled, {"BERTScore": "bertscore"}, setup, cache)["BERTScore"]
    zero = float(baseline.groups[name].segments.mean())
    segments, human = rows.groups[name].segments, group.scores / 5.0
    squares = np.array([(segments - human) ** 2, ((segments - zero) / (1 - zero) - human) ** 2])
    draws = [
        100 * np.sqrt(counts @ squares.T / len(human))
        for counts in resample_counts(len(human), resamples=RESAMPLES, seed=SEED)
    ]
    errors = np.concatenate(draws)
    values = 100 * np.sqrt(squares.mean(axis=1))
    return Margin(
        f"rescaling by the score of unrelated texts ({zero:.3f}) lowers the error, {values[0]:.1f} "
        f"points of 100",
        float(values[0] - values[1]),
        errors[:, 0] - errors[:, 1],
    )


MEASURED = {
    "sentBLEU": "sentbleu",
    "chrF++": "chrf++",
    "METEOR": "meteor",
    "ROUGE-L": "rougeL",
    "TER": "ter",
    "BERTScore-F1": "bertscore@release",
    "WMD-1": "moverscore@v1",
    "WMD-2": "moverscore-2@v1",
}
EXISTING = ("sentBLEU", "chrF++", "METEOR", "ROUGE-L", "TER")


def open_tokenised(data: str, pairs: Sequence[str]) -> Judged:
    """Return WMT17 as MoverScore read it: tokenised texts, detokenised again."""
    task = Task("wmt17", data, pairs=list(pairs), text="tokenised", switches={"detokenise": True})
    return task.open()[0]


def select(dataset: Judged, rows: VariantScores, keep: Mapping[str, Array]) -> VariantScores:
    """Return the scores of the kept segments of every group."""
    groups = {
        name: replace(rows.groups[name], segments=rows.groups[name].segments[keep[name]])
        for name in dataset.groups
    }
    return replace(rows, groups=groups)


def halve(dataset: Judged, *, high: bool) -> tuple[Judged, dict[str, Array]]:
    """Return the half of every group that people rated lower, or higher, and its places."""
    places, groups = {}, {}
    for name, group in dataset.groups.items():
        assert group.scores is not None
        order = np.argsort(group.scores, kind="stable")
        middle = len(order) // 2
        places_here = np.sort(order[middle:] if high else order[:middle])
        places[name] = places_here
        groups[name] = replace(
            group,
            segments=tuple(group.segments[k] for k in places_here),
            scores=group.scores[places_here],
            each=None if group.each is None else group.each[places_here],
            judgements=None if group.judgements is None else group.judgements[places_here],
            records=None,
        )
    return replace(dataset, groups=groups), places


def tell_apart(dataset: Judged, rows: VariantScores) -> tuple[float, Array]:
    """Return how often a text of the best-rated third scores above one of the worst-rated third.

    The mean over groups, and its values on resamples of source items.
    """
    values, draws = [], []
    for number, (name, group) in enumerate(dataset.groups.items()):
        assert group.scores is not None
        order = np.argsort(group.scores, kind="stable")
        third = len(order) // 3
        sign = 1.0 if rows.higher_is_better else -1.0
        segments = sign * rows.groups[name].segments
        worst, best = order[:third], order[-third:]
        lead = segments[best][:, None] - segments[worst][None, :]
        above = (lead > 0) + 0.5 * (lead == 0)
        items = {segment.id: None for segment in group.segments}
        item_of = np.array([list(items).index(segment.id) for segment in group.segments])
        blocks = []
        for counts in resample_counts(len(items), resamples=RESAMPLES, seed=SEED + number):
            weights = counts[:, item_of]
            up, down = weights[:, best], weights[:, worst]
            total = np.maximum(up.sum(axis=1) * down.sum(axis=1), 1e-12)
            blocks.append(np.einsum("bi,ij,bj->b", up, above, down) / total)
        values.append(float(above.mean()))
        draws.append(np.concatenate(blocks))
    return float(np.mean(values)), np.mean(draws, axis=0)


def measure_distributions(data: str, models: str, cache: str | None) -> dict[str, Any]:
    """Measure MoverScore's figure 2: are good and bad translations told apart, and by whom."""
    pairs = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
    dataset = open_tokenised(data, pairs)
    scores = score(dataset, MEASURED, Setup(), cache)
    halves = {high: halve(dataset, high=high) for high in (False, True)}
    tables = {}
    for high, (half, places) in halves.items():
        rows = {label: select(half, row, places) for label, row in scores.items()}
        tables[high] = tabulate(half, rows, "pearson").mean
    apart = {label: tell_apart(dataset, row) for label, row in scores.items()}
    figures = []
    for k, (label, row) in enumerate(scores.items()):
        figure: dict[str, Any] = {"label": label, "signature": row.signature}
        for name, high in (("low", False), ("high", True)):
            value = float(tables[high].values[k])
            figure[f"r on the {name} half"] = [value, *percentiles(tables[high].draws[k], 0.95)]
        figure["told apart"] = [apart[label][0], *percentiles(apart[label][1], 0.95)]
        figures.append(figure)
    margins = [
        Margin(
            f"{label}: r on the low half above r on the high half",
            float(tables[False].values[k] - tables[True].values[k]),
            tables[False].draws[k] - tables[True].draws[k],
        ).to_dict()
        for k, label in enumerate(scores)
    ]
    for label in ("sentBLEU", "chrF++", "BERTScore-F1"):
        value, draws = apart["WMD-1"][0] - apart[label][0], apart["WMD-1"][1] - apart[label][1]
        says = f"WMD-1 tells the best third from the worst more often than {label}"
        margins.append(Margin(says, value, draws).to_dict())
    return {**describe(dataset, "pearson", "auto"), "figures": figures, "margins": margins}


def resample_groups(dataset: Judged, rows: Labelled) -> Iterator[tuple[float, Array]]:
    """Yield per group how much higher metrics correlate with each other than with people.

    The mean r between metrics minus their mean r with people, and that on resamples.
    """
    for number, (name, group) in enumerate(dataset.groups.items()):
        assert group.scores is not None
        values = np.array(
            [group.scores]
            + [
                (1.0 if row.higher_is_better else -1.0) * row.groups[name].segments
                for row in rows.values()
            ]
        )
        items = list(dict.fromkeys(segment.id for segment in group.segments))
        item_of = np.array([items.index(segment.id) for segment in group.segments])
        draws = []
        for counts in resample_counts(len(items), resamples=RESAMPLES, seed=SEED + number):
            draws += [_excess(np.cov(values, aweights=line[item_of])) for line in counts]
        yield _excess(np.cov(values)), np.array(draws)


def _excess(covariance: Array) -> float:
    """Return the mean r between metrics minus their mean r with people, who are the first row."""
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    between = correlations[1:, 1:][np.triu_indices(len(correlations) - 1, 1)]
    return float(between.mean() - correlations[0, 1:].mean())


def measure_correlations(data: str, models: str, cache: str | None) -> dict[str, Any]:
    """Measure MoverScore's figure 3: metrics agree with each other more than with people."""
    figures, margins = [], []
    for pair in ("de-en", "zh-en"):
        dataset = open_tokenised(data, [pair])
        scores = score(dataset, MEASURED, Setup(), cache)
        names, matrix = correlate(dataset, list(scores.values()))
        labels = [names[0], *scores]
        figures.append({"pair": pair, "names": labels, "matrix": np.round(matrix, 4).tolist()})
        existing = {label: scores[label] for label in EXISTING}
        for says, rows in (
            ("existing metrics agree with each other more than with people", existing),
            ("all metrics agree with each other more than with people", scores),
        ):
            (excess,) = resample_groups(dataset, rows)
            margins.append(Margin(f"{pair}: {says}", *excess).to_dict())
    return {
        **describe(dataset, "pearson", "auto"),
        "groups": dict.fromkeys(("de-en", "zh-en"), 560),
        "figures": figures,
        "margins": margins,
        "signatures": {label: row.signature for label, row in scores.items()},
    }


SMALL_CLAIMS = {
    "BERTScore, precision": "bertscore[readout.headline=precision]",
    "BERTScore, recall": "bertscore[readout.headline=recall]",
    "BERTScore, F1": "bertscore",
    "MoverScore (eq. 2)": "emd",
    "MoverScore (eq. 2), normalised": "emd[readout=self-normalised]",
    "TWMD-b, batches of 32": "twmd-b@release",
    "TWMD-b, the corpus": "twmd-b@release[centre=corpus]",
}


def measure_sides(data: str, models: str, cache: str | None) -> dict[str, Any]:
    """Measure three remarks of Tempered WMD, per task.

    Recall is the most consistent part of BERTScore; normalising MoverScore changes little; batches
    of 32 centre as well as the corpus.
    """
    tasks = {
        "WMT17 into English": Task("wmt17", data, pairs=["*-en"]),
        "STS benchmark": Task("stsb", data),
        "BAGEL": Task("bagel", data),
        "TAC 2008, six topics": Task("tac08", data, pairs=[f"D08{k:02d}" for k in range(1, 48, 8)]),
    }
    pairs = [
        ("recall over precision", "BERTScore, recall", "BERTScore, precision"),
        ("recall over F1", "BERTScore, recall", "BERTScore, F1"),
        ("normalised over plain", "MoverScore (eq. 2), normalised", "MoverScore (eq. 2)"),
        ("batches over the corpus", "TWMD-b, batches of 32", "TWMD-b, the corpus"),
    ]
    by_task = {}
    for title, task in tasks.items():
        dataset = task.open()[0]
        scores = score(dataset, SMALL_CLAIMS, Setup(), cache)
        statistic = dataset.statistic
        table = tabulate(dataset, scores, statistic)
        by_task[title] = {
            **describe(dataset, statistic, "auto"),
            "figures": list_figures(table, scores),
            "margins": subtract(table, scores, pairs),
        }
    return {"tasks": by_task}


def measure_log_likelihoods(data: str, models: str, cache: str | None) -> dict[str, Any]:
    """Measure SentSim against the log-likelihoods of the translation system, as two metrics."""
    pairs = ["en-de", "en-zh", "ru-en", "ro-en"]
    dataset = Task("mlqe-pe", data, pairs=pairs).open()[0]
    setup = Setup(model=str(Path(models) / "multilingual-e5-small"))
    metrics = {
        "SentSim (BERTScore)": "sentsim",
        "SentSim (WMD)": "sentsim-wmd",
        "BERTScore alone": "bertscore@release",
    }
    scores = score(dataset, metrics, setup, cache)
    groups = {}
    for name, group in dataset.groups.items():
        assert group.model_scores is not None
        row = scores["BERTScore alone"].groups[name]
        groups[name] = replace(row, segments=group.model_scores, higher_is_better=True)
    scores["log-likelihood"] = replace(scores["BERTScore alone"], groups=groups)
    table = tabulate(dataset, scores, "pearson")
    figures = list_figures(table, scores)
    figures[-1]["signature"] = "model_scores as published"
    pairs_of_rows = [
        ("SentSim falls below the glass-box baseline", "log-likelihood", "SentSim (BERTScore)"),
        ("BERTScore alone beats SentSim", "BERTScore alone", "SentSim (BERTScore)"),
    ]
    return {
        **describe(dataset, "pearson", "multilingual-e5-small"),
        "figures": figures,
        "margins": subtract(table, scores, pairs_of_rows),
    }


MEASURES: Mapping[str, Measure] = {
    "german": measure_german,
    "distributions": measure_distributions,
    "correlations": measure_correlations,
    "sides": measure_sides,
    "log-likelihoods": measure_log_likelihoods,
}
"""Every measure by the name that its result is kept under."""

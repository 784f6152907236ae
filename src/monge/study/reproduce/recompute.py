"""A published table recomputed: reported, ours, difference, and why a figure could not be had.

The figures that can be had with the data and the model given are computed with the same settings; whether the
value, the finding and the conclusion hold is told by `reproduce.verdict`, under a named condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any

from monge import api
from monge.data import Judged
from monge.data.request import matching
from monge.errors import UnknownName, Unreadable, UsageError
from monge.spec.lexical import LexicalSpec
from monge.spec.presets import resolve
from monge.stats import SEED
from monge.study.agreement import agreement_table
from monge.study.book import QUIET, Run, ScoreBook, Scores
from monge.study.reproduce.record import Reading, Reproduction
from monge.study.reproduce.tables import Entry, PublishedColumn, PublishedRow, PublishedTable
from monge.study.reproduce.verdict import Draws, Parts, Unavailable, judge
from monge.study.task import Task, named, target_language
from monge.study.variants import DEFAULT_MODEL, Setup, Variant, load_variants
from monge.types import Segment

RESAMPLES = 500
SAME = "same model"
ENGLISH = (
    "all-minilm-l6-v2",
    "all-mpnet-base-v2",
    "e5-small",
    "bert-base-uncased",
    "bert-large-uncased",
    "roberta-base",
    "roberta-large",
)
_BELOW_LAST = re.compile(r"layers=last-(\d+)")
Place = tuple[str, str, str]
"""Where a signature belongs: data set, target language, group."""


@dataclass
class Recomputation:
    """One reading of a table: the judgements opened so far, the variants loaded, their scores and signatures."""

    table: PublishedTable
    data: str
    setup: Setup
    book: ScoreBook
    pairs: Sequence[str] | None = None
    switches: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    scores: dict[tuple[str, str], dict[str, Scores]] = field(default_factory=dict)
    signatures: dict[str, dict[Place, str]] = field(default_factory=dict)
    _judged: dict[tuple[str, str], Judged | Unavailable] = field(default_factory=dict)
    _variants: dict[tuple[str, str, str], Variant | Unavailable] = field(default_factory=dict)
    _values: dict[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def encoder(self) -> Any:
        """The model, loaded."""
        return api.encoder_for(self.setup.model, device=self.setup.device, online=self.setup.online)

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """The published columns, and those beside them."""
        return (*self.table.columns, *self.table.beside)

    def barred(self, row: PublishedRow) -> str:
        """Why a row is not computed on this model, or nothing."""
        same = bool(row.model) and self.encoder.name.rpartition("/")[2].lower() == row.model.lower()
        return row.unavailable if row.unavailable and not same else ""

    def groups(self, dataset: str) -> list[str] | None:
        """The groups that a table names of a data set; None for all."""
        given = [one.group for one in self.columns if dataset in one.datasets and one.group != "mean"]
        return list(dict.fromkeys(given)) or None

    def judged(self, dataset: str, human: str) -> Judged | Unavailable:
        """A data set with its human scores, opened once, or why it is not here."""
        wanted = self.groups(dataset)
        if wanted is not None and self.pairs is not None:
            wanted = [one for one in wanted if one in self.pairs]
            if not wanted:
                return Unavailable("not asked for (--pairs)")
        if (dataset, human) not in self._judged:
            self._judged[dataset, human] = self._open(dataset, human, wanted)
        return self._judged[dataset, human]

    def _open(self, dataset: str, human: str, groups: Sequence[str] | None) -> Judged | Unavailable:
        switches = {**self.table.open.get(dataset, {}), **(self.switches if dataset.startswith("tac") else {})}
        declared, text = switches.pop("pairs", None), switches.pop("text", "raw")
        task = Task(dataset, self.data, pairs=groups or declared, human=human, text=text, switches=switches)
        try:
            try:
                return task.open()[0]
            except UnknownName:  # some of the groups are not here: take those that are
                found = replace(task, pairs=declared).open()[0]
        except (Unreadable, UsageError) as error:
            return Unavailable(f"data not here: {dataset} ({str(error).replace(f' below {self.data}', '')})")
        there = {name: found.groups[name] for name in groups or () if name in found.groups}
        if not there:
            return Unavailable(f"data not here: {dataset} has none of these groups")
        return replace(found, groups=there)

    def load(self, metric: str, lang: str, references: str) -> Variant | Unavailable:
        """A metric by name and settings for a target language, loaded, or why it cannot be."""
        key = metric, lang, references
        if key not in self._variants:
            setup = replace(self.setup, lang=lang)
            try:
                (found,) = load_variants([self._concrete(metric)], setup, references=references)
                self._variants[key] = replace(found, label=metric)
            except UsageError as error:
                self._variants[key] = Unavailable(f"metric not here: {error}")
        return self._variants[key]

    def _concrete(self, metric: str) -> str:
        """The metric with `last-2` as the number of a layer of this model."""
        if not _BELOW_LAST.search(metric):
            return metric
        depth = self.encoder.depth
        return _BELOW_LAST.sub(lambda found: f"layers={depth - int(found[1])}", metric)

    def variant(self, judged: Judged, metric: str, group: str) -> Variant | Unavailable:
        """The metric for a group, or why it cannot score that group: unknown here, or the wrong language."""
        foreign = judged.against == "source" or target_language(group) != "en"
        if foreign and of_vectors(metric) and self.encoder.name.rpartition("/")[2].lower() in ENGLISH:
            return Unavailable(f"model not here: {self.encoder.name} reads English only (give a multilingual --model)")
        return self.load(metric, target_language(group), judged.references)

    def score(self) -> None:
        """Score every data set of the table once, with all its metrics; groups that are asked alike in one run."""
        rows = [row for row in self.table.rows if row.metric and not self.barred(row)]
        for dataset in dict.fromkeys(name for column in self.columns for name in column.datasets):
            human = next(column.human for column in self.columns if dataset in column.datasets)
            judged = self.judged(dataset, human)
            if isinstance(judged, Unavailable):
                continue
            self.notes += [f"{dataset}: {one}" for one in judged.warnings]
            self.notes += [f"{dataset}: left out {reason} ({n})" for reason, n in judged.excluded.items()]
            alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
            for group in judged.groups:
                metrics = dict.fromkeys(row.metric_for(group) for row in rows)
                usable = [one for one in metrics if isinstance(self.variant(judged, one, group), Variant)]
                if usable:
                    alike.setdefault((target_language(group), tuple(usable)), []).append(group)
            for (lang, usable_here), groups in alike.items():
                found = [self.load(metric, lang, judged.references) for metric in usable_here]
                part = replace(judged, groups={name: judged.groups[name] for name in groups})
                self._keep(part, lang, self.book.scores([one for one in found if isinstance(one, Variant)], part))

    def _keep(self, part: Judged, lang: str, scores: Sequence[Scores]) -> None:
        for one in scores:
            self.scores.setdefault((part.dataset, one.label), {}).update(dict.fromkeys(part.groups, one))
            places = {(part.dataset, lang, group): one.signature for group in part.groups}
            self.signatures.setdefault(one.label, {}).update(places)

    def entries(self) -> dict[tuple[str, str], tuple[Entry, ...]]:
        """Every figure of the table, the columns beside it included."""
        if not self.table.listed:
            self.score()
        width = range(len(self.columns))
        return {(row.block, row.label): tuple(self.entry(row, index) for index in width) for row in self.table.rows}

    def entry(self, row: PublishedRow, index: int) -> Entry:
        """One figure."""
        reported = row.reported(index, self.table.scale)
        illegible = index < len(row.values) and isinstance(row.values[index], str)
        why = self.barred(row) or self.table.listed or ("" if row.metric else "metric not here")
        if not why:
            parts = self.parts(row, self.columns[index])
            if not isinstance(parts, Unavailable):
                ours = self.value(row, self.columns[index], parts)
                return Entry(reported, None if isnan(ours) else ours, "undefined" if isnan(ours) else "", illegible)
            why = parts.why
        return Entry(reported, None, why, illegible)

    def parts(self, row: PublishedRow, column: PublishedColumn) -> Parts | Unavailable:
        """What a figure is the mean of: the data sets that are here with its groups, the scores of the row on them."""
        found = []
        missing = Unavailable("data not here")
        for dataset in column.datasets:
            judged = self.judged(dataset, row.human or column.human)
            if isinstance(judged, Unavailable):
                missing = judged
                continue
            groups = list(judged.groups) if column.group == "mean" else [column.group]
            every = set(self.groups(dataset) or groups)
            if column.group == "mean" and self.pairs is not None and every != set(groups):
                return Unavailable("the mean needs all groups (--pairs)")
            if any(group not in judged.groups for group in groups):
                asked = self.pairs is None or column.group in self.pairs
                here = asked and self.groups(dataset)
                return Unavailable(f"data not here: {column.group}" if here else "not asked for (--pairs)")
            scores = self._scores_of(row, judged, groups)
            if isinstance(scores, Unavailable):
                return scores
            found.append((replace(judged, groups={name: judged.groups[name] for name in groups}), scores))
        return found or missing

    def _scores_of(self, row: PublishedRow, judged: Judged, groups: Sequence[str]) -> Scores | Unavailable:
        """The scores of a row's metric on groups, or why one of them has none."""
        found = {}
        for group in groups:
            metric = row.metric_for(group)
            mine = self.scores.get((judged.dataset, metric), {})
            if group not in mine:
                possible = self.variant(judged, metric, group)
                return possible if isinstance(possible, Unavailable) else Unavailable("not computed")
            found[group] = mine[group]
        first = next(iter(found.values()))
        return replace(first, groups={group: one.groups[group] for group, one in found.items()})

    def value(self, row: PublishedRow, column: PublishedColumn, parts: Parts) -> float:
        """Our figure: the mean over data sets of the mean over groups; NaN where it is undefined everywhere."""
        key = row.metric_for(column.group) + str(row.set_for), row.human or column.human, str(column)
        if key not in self._values:
            values = []
            for judged, scores in parts:
                table = agreement_table(judged, [scores], named(column.statistic, judged.kind), resamples=0)
                values.append(float(table.mean.values[0]) if table.columns else nan)
                self._note(judged, column, table.undefined)
            if len(parts) < len(column.datasets):
                here = ", ".join(judged.dataset for judged, _ in parts)
                self.notes.append(f"{'+'.join(column.datasets)}: computed on {here}, the others are not here")
            self._values[key] = sum(values) / len(values)
        return self._values[key]

    def _note(self, judged: Judged, column: PublishedColumn, undefined: Mapping[str, str]) -> None:
        """Say which groups a mean leaves out, and why."""
        if column.group != "mean":
            return
        if undefined:
            reasons = "; ".join(f"{name}: {why}" for name, why in undefined.items())
            where = f"{judged.dataset} {column.human}: {column.statistic}"
            self.notes.append(
                f"{where} has no value on {len(undefined)} group{'s' * (len(undefined) != 1)} ({reasons})"
            )
        absent = sorted(set(self.groups(judged.dataset) or ()) - set(judged.groups))
        if absent:
            self.notes.append(
                f"{judged.dataset}: means are over {', '.join(judged.groups)}; {', '.join(absent)} not here"
            )

    def score_pairs(self) -> tuple[dict[tuple[str, str], tuple[Entry, ...]], tuple[int, ...]]:
        """Entries of a table whose rows are sentence pairs and whose columns are metrics, and each column's direction.

        (Lazy-EMD's table 1: scores of given sentences, not correlations.)
        """
        rows = tuple(Segment(str(k), row.hypothesis, (row.reference,)) for k, row in enumerate(self.table.rows))
        columns: list[list[tuple[float | None, str]]] = []
        signs = []
        for name in self.table.metrics:
            variant = self.load(name, "en", "max")
            if isinstance(variant, Unavailable):
                columns.append([(None, variant.why)] * len(rows))
                signs.append(1)
                continue
            (page,) = self.book.of_rows([variant], rows)
            self.signatures[name] = {("", "en", ""): str(page.signature)}
            columns.append([(float(value), "") for value in page.segments])
            signs.append(1 if page.higher_is_better else -1)
        entries = {
            (row.block, row.label): tuple(
                Entry(row.reported(k, self.table.scale), *column[number]) for k, column in enumerate(columns)
            )
            for number, row in enumerate(self.table.rows)
        }
        return entries, tuple(signs)


def of_vectors(metric: str) -> bool:
    """Whether a metric needs an encoder."""
    return not isinstance(resolve(_BELOW_LAST.sub("layers=1", metric))[1], LexicalSpec)


def reproduce(
    table: PublishedTable,
    data: str,
    *,
    setup: Setup = DEFAULT_MODEL,
    pairs: Sequence[str] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    run: Run = QUIET,
) -> Reproduction:
    """The table recomputed with the data and the model given; every reading of the data it declares.

    `pairs` are the groups to compute, patterns allowed, all by default; `resamples` and `seed` are those of the
    intervals of claims; the cache of `run` keeps vectors and scores for the next table.
    """
    if pairs is not None:
        given = (one.group for one in (*table.columns, *table.beside) if one.group != "mean")
        pairs = matching(pairs, given, f"{table.name} group")
    readings, signatures = [], {}
    with ScoreBook(run) as book:
        for variant in table.variants:
            switches = {key: value for key, value in variant.items() if key != "name"}
            mine = Recomputation(table, data, setup, book, pairs, switches)
            if table.metrics:
                entries, signs = mine.score_pairs()
                verdict = judge(table, entries, signs=signs)
            else:
                entries = mine.entries()
                verdict = judge(table, entries, Draws(mine.parts, resamples, seed))
            readings.append(Reading(str(variant.get("name", "")), entries, verdict, tuple(dict.fromkeys(mine.notes))))
            signatures.update({metric: told_apart(metric, places) for metric, places in mine.signatures.items()})
    computed = [
        row for row in table.rows if any(one.ours is not None for one in readings[0].entries[row.block, row.label])
    ]
    encoded = any(row.hypothesis or (row.metric and of_vectors(row.metric)) for row in computed)
    name = mine.encoder.name if encoded else ""
    lines = {label: line for each in signatures.values() for label, line in each.items()}
    return Reproduction(table, name, _condition(computed, name), tuple(readings), lines, seed, resamples)


def told_apart(metric: str, places: Mapping[Place, str]) -> dict[str, str]:
    """The signatures of a metric: one, or each under what it belongs to: a data set, a language, else a group."""
    if len(set(places.values())) == 1:
        return {metric: next(iter(places.values()))}
    for kind in range(3):
        by_name: dict[str, set[str]] = {}
        for place, line in places.items():
            by_name.setdefault(place[kind], set()).add(line)
        if all(len(lines) == 1 for lines in by_name.values()):
            return {f"{metric} ({name})": lines.pop() for name, lines in by_name.items()}
    return {f"{metric} ({' '.join(place)})": line for place, line in places.items()}


def _condition(rows: Sequence[PublishedRow], model: str) -> str:
    """`same model`, or what differs: the rule of the study of reproducibility (same or varied conditions)."""
    if not rows:
        return "not computed"
    if not model:
        return "no model needed"
    if not any(row.values for row in rows):
        return f"beside the table ({model}; no published row was computed)"
    others = sorted({row.model for row in rows if row.model} - {model.rpartition("/")[2]})
    return f"varied ({model} instead of {', '.join(others)})" if others else SAME

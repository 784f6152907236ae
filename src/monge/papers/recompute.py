"""A published table recomputed: reported, ours, difference, and why a figure could not be had.

The figures that can be had with the data and the model given are computed with the same settings;
whether the value, the finding and the conclusion hold is told by `reproduce.verdict`, under a named
condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any

from monge import api
from monge.datasets import Judged
from monge.datasets.request import matching
from monge.errors import UnknownName, Unreadable, UsageError
from monge.evaluation.agreement import agreement_table
from monge.evaluation.question import named
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.task import Task, target_language
from monge.evaluation.variant_scores import VariantScores
from monge.evaluation.variants import DEFAULT_MODEL, Setup, Variant, load_variants
from monge.metrics.lexical import LexicalSpec
from monge.metrics.presets import resolve
from monge.papers.claims import ClaimDraws, Parts, Unavailable, judge
from monge.papers.reproduction import Reproduction, TableReading
from monge.papers.tables import Entry, PublishedColumn, PublishedRow, PublishedTable
from monge.stats import SEED
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


@dataclass(frozen=True)
class Models:
    """The models of a recomputation.

    `setup` names the model of all rows; `stand_ins` name another for the rows that the paper
    computed with a model, such as word vectors for its word2vec: its model -> ours. `layers` are
    taken where a metric names none.
    """

    setup: Setup = DEFAULT_MODEL
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    layers: str = ""

    def of(self, row: PublishedRow) -> Setup:
        """Return the setup of a row."""
        return replace(self.setup, model=self.stand_ins.get(row.model, self.setup.model))


@dataclass(frozen=True)
class Selection:
    """Which judgements are taken: groups, patterns allowed, and source segments per group."""

    pairs: Sequence[str] | None = None
    sample: int | None = None


DEFAULT_MODELS, ALL_JUDGEMENTS = Models(), Selection()


@dataclass
class Recomputation:
    """One reading of a table: its opened judgements, loaded variants, scores, signatures."""

    table: PublishedTable
    data: str
    models: Models
    book: ScoreBook
    selection: Selection = ALL_JUDGEMENTS
    switches: Mapping[str, Any] = field(default_factory=dict)
    seed: int = SEED
    notes: list[str] = field(default_factory=list)
    scores: dict[tuple[str, str], dict[str, VariantScores]] = field(default_factory=dict)
    signatures: dict[str, dict[Place, str]] = field(default_factory=dict)
    _opened_data: dict[tuple[str, str], Judged | Unavailable] = field(default_factory=dict)
    _variants: dict[tuple[str, str, str], Variant | Unavailable] = field(default_factory=dict)
    _values: dict[tuple[str, str, str], float] = field(default_factory=dict)

    @property
    def setup(self) -> Setup:
        """The model of all rows that no stand-in is named for."""
        return self.models.setup

    @property
    def pairs(self) -> Sequence[str] | None:
        """The groups to compute, all if None."""
        return self.selection.pairs

    @property
    def encoder(self) -> Any:
        """The model, loaded."""
        return load_encoder(self.setup)

    def label(self, row: PublishedRow, group: str) -> str:
        """Return the metric of a row as `NAME[settings]` on a group, with the stand-in's name."""
        metric = row.metric_for(group)
        if row.model not in self.models.stand_ins:
            return metric
        return f"{metric} with {load_encoder(self.models.of(row)).name.rpartition('/')[2]}"

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """The published columns, and those beside them."""
        return (*self.table.columns, *self.table.beside)

    def why_barred(self, row: PublishedRow) -> str:
        """Return why a row is not computed with this model, or an empty text."""
        if not row.unavailable or row.model in self.models.stand_ins:
            return ""
        same = bool(row.model) and self.encoder.name.rpartition("/")[2].lower() == row.model.lower()
        return "" if same else row.unavailable

    def groups(self, dataset: str) -> list[str] | None:
        """Return the groups that a table names of a data set; None for all."""
        names = [
            column.group
            for column in self.columns
            if dataset in column.datasets and column.group != "mean"
        ]
        return list(dict.fromkeys(names)) or None

    def judged(self, dataset: str, human: str) -> Judged | Unavailable:
        """Return a data set with its human scores, opened once, or why it is not here."""
        groups = self.groups(dataset)
        if groups is not None and self.pairs is not None:
            groups = [group for group in groups if group in self.pairs]
            if not groups:
                return Unavailable("not asked for (--pairs)")
        if (dataset, human) not in self._opened_data:
            self._opened_data[dataset, human] = self._open(dataset, human, groups)
        return self._opened_data[dataset, human]

    def _open(self, dataset: str, human: str, groups: Sequence[str] | None) -> Judged | Unavailable:
        switches: dict[str, Any] = {
            **self.table.open.get(dataset, {}),
            **(self.switches if dataset.startswith("tac") else {}),
        }
        declared, text = switches.pop("pairs", None), switches.pop("text", "raw")
        declared_sample = switches.pop("sample", None)
        sample = self.selection.sample or declared_sample
        if sample is not None:
            self.notes.append(f"{dataset}: a sample of {sample} source segments per group")
        task = Task(
            dataset,
            self.data,
            pairs=groups or declared,
            human=human,
            text=text,
            switches=switches,
            sample=sample,
        )
        try:
            try:
                return task.open(self.seed)[0]
            except UnknownName:  # some of the groups are not here: take those that are
                opened = replace(task, pairs=declared).open(self.seed)[0]
        except (Unreadable, UsageError) as error:
            why = str(error).replace(f" below {self.data}", "").replace(str(self.data), "DIR")
            return Unavailable(f"data not here: {dataset} ({why})")
        present = {name: opened.groups[name] for name in groups or () if name in opened.groups}
        if not present:
            return Unavailable(f"data not here: {dataset} has none of these groups")
        return replace(opened, groups=present)

    def load(
        self, row: PublishedRow, group: str, lang: str, references: str
    ) -> Variant | Unavailable:
        """Return the loaded metric of a row for a target language, or why it cannot be loaded."""
        return self._load(
            self.label(row, group), row.metric_for(group), self.models.of(row), lang, references
        )

    def _load(
        self, label: str, metric: str, setup: Setup, lang: str, references: str
    ) -> Variant | Unavailable:
        key = label, lang, references
        if key not in self._variants:
            try:
                (variant,) = load_variants(
                    [self._concrete(metric, setup)],
                    replace(setup, lang=lang),
                    references=references,
                )
                self._variants[key] = replace(variant, label=label)
            except UsageError as error:
                self._variants[key] = Unavailable(f"metric not here: {error}")
        return self._variants[key]

    def _concrete(self, metric: str, setup: Setup) -> str:
        """Return the metric with layers of this model.

        `last-2` becomes a number; a metric that names no layer takes the requested one, or the
        paper's where the model is one of the paper's own.
        """
        encoder = load_encoder(setup)
        own_layer = self.models.layers or self.table.layers.get(
            encoder.name.rpartition("/")[2].lower()
        )
        if own_layer and of_vectors(metric) and "layers=" not in metric:
            name, bracket, changes = metric.partition("[")
            return (
                f"{name}[layers={own_layer},{changes}" if bracket else f"{name}[layers={own_layer}]"
            )
        if not _BELOW_LAST.search(metric):
            return metric
        depth = encoder.depth
        return _BELOW_LAST.sub(lambda match: f"layers={depth - int(match[1])}", metric)

    def variant(self, judged_data: Judged, row: PublishedRow, group: str) -> Variant | Unavailable:
        """Return the metric of a row for a group, or why it cannot score that group."""
        foreign = judged_data.against == "source" or target_language(group) != "en"
        if foreign and of_vectors(row.metric_for(group)):
            encoder = load_encoder(self.models.of(row))
            if encoder.name.rpartition("/")[2].lower() in ENGLISH:
                return Unavailable(
                    f"model not here: {encoder.name} reads English only (give a multilingual "
                    "--model)"
                )
        return self.load(row, group, target_language(group), judged_data.references)

    def score(self) -> None:
        """Score every data set once with all its metrics; like groups in one run."""
        rows = [row for row in self.table.rows if row.metric and not self.why_barred(row)]
        for dataset in dict.fromkeys(name for column in self.columns for name in column.datasets):
            human = next(column.human for column in self.columns if dataset in column.datasets)
            judged_data = self.judged(dataset, human)
            if isinstance(judged_data, Unavailable):
                continue
            self.notes += [f"{dataset}: {warning}" for warning in judged_data.warnings]
            self.notes += [
                f"{dataset}: left out {reason} ({n})" for reason, n in judged_data.excluded.items()
            ]
            self._score_dataset(judged_data, rows)

    def _score_dataset(self, judged_data: Judged, rows: Sequence[PublishedRow]) -> None:
        """Score the groups of a data set; those that have the same metrics share a run."""
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        loaded: dict[tuple[str, str], Variant] = {}
        for group in judged_data.groups:
            language = target_language(group)
            for row in rows:
                variant = self.variant(judged_data, row, group)
                if isinstance(variant, Variant):
                    loaded[language, variant.label] = variant
            labels = dict.fromkeys(self.label(row, group) for row in rows)
            usable = tuple(label for label in labels if (language, label) in loaded)
            if usable:
                alike.setdefault((language, usable), []).append(group)
        for (language, labels_here), groups in alike.items():
            part = replace(judged_data, groups={name: judged_data.groups[name] for name in groups})
            variants = [loaded[language, label] for label in labels_here]
            self._store_scores(part, language, self.book.scores(variants, part))

    def _store_scores(self, part: Judged, lang: str, scores: Sequence[VariantScores]) -> None:
        for variant_scores in scores:
            self.scores.setdefault((part.dataset, variant_scores.label), {}).update(
                dict.fromkeys(part.groups, variant_scores)
            )
            places = {
                (part.dataset, lang, group): variant_scores.signature for group in part.groups
            }
            self.signatures.setdefault(variant_scores.label, {}).update(places)

    def entries(self) -> dict[tuple[str, str], tuple[Entry, ...]]:
        """Return every figure of the table, the columns beside it included."""
        if not self.table.listed:
            self.score()
        width = range(len(self.columns))
        return {
            (row.block, row.label): tuple(self.entry(row, index) for index in width)
            for row in self.table.rows
        }

    def entry(self, row: PublishedRow, index: int) -> Entry:
        """Return the figure of a row in a column."""
        reported = row.reported(index, self.table.scale)
        illegible = index < len(row.values) and isinstance(row.values[index], str)
        why = self.why_barred(row) or self.table.listed or ("" if row.metric else "metric not here")
        if not why:
            parts = self.parts(row, self.columns[index])
            if not isinstance(parts, Unavailable):
                figure = self.value(row, self.columns[index], parts)
                return Entry(
                    reported,
                    None if isnan(figure) else figure,
                    "undefined" if isnan(figure) else "",
                    illegible,
                )
            why = parts.why
        return Entry(reported, None, why, illegible)

    def parts(self, row: PublishedRow, column: PublishedColumn) -> Parts | Unavailable:
        """Return the data sets and scores that a figure is the mean of, or why there are none."""
        parts = []
        missing = Unavailable("data not here")
        for dataset in column.datasets:
            judged_data = self.judged(dataset, row.human or column.human)
            if isinstance(judged_data, Unavailable):
                missing = judged_data
                continue
            groups = list(judged_data.groups) if column.group == "mean" else [column.group]
            all_groups = set(self.groups(dataset) or groups)
            if column.group == "mean" and self.pairs is not None and all_groups != set(groups):
                return Unavailable("the mean needs all groups (--pairs)")
            if any(group not in judged_data.groups for group in groups):
                is_requested = self.pairs is None or column.group in self.pairs
                lacks_data = is_requested and self.groups(dataset)
                return Unavailable(
                    f"data not here: {column.group}" if lacks_data else "not asked for (--pairs)"
                )
            scores = self._scores_of(row, judged_data, groups)
            if isinstance(scores, Unavailable):
                return scores
            parts.append(
                (
                    replace(
                        judged_data, groups={name: judged_data.groups[name] for name in groups}
                    ),
                    scores,
                )
            )
        return parts or missing

    def _scores_of(
        self, row: PublishedRow, judged_data: Judged, groups: Sequence[str]
    ) -> VariantScores | Unavailable:
        """Return the scores of a row's metric on groups, or why one of them has none."""
        by_group = {}
        for group in groups:
            metric_scores = self.scores.get((judged_data.dataset, self.label(row, group)), {})
            if group not in metric_scores:
                possible = self.variant(judged_data, row, group)
                return (
                    possible if isinstance(possible, Unavailable) else Unavailable("not computed")
                )
            by_group[group] = metric_scores[group]
        first = next(iter(by_group.values()))
        return replace(
            first,
            groups={group: group_scores.groups[group] for group, group_scores in by_group.items()},
        )

    def value(self, row: PublishedRow, column: PublishedColumn, parts: Parts) -> float:
        """Return our mean over data sets of means over groups; NaN if never defined."""
        key = (
            self.label(row, column.group) + str(row.set_for),
            row.human or column.human,
            str(column),
        )
        if key not in self._values:
            values = []
            for judged_data, scores in parts:
                table = agreement_table(
                    judged_data, [scores], named(column.statistic, judged_data.kind), resamples=0
                )
                values.append(float(table.mean.values[0]) if table.columns else nan)
                self._note_missing_groups(judged_data, column, table.undefined)
            if len(parts) < len(column.datasets):
                computed = ", ".join(judged_data.dataset for judged_data, _ in parts)
                self.notes.append(
                    f"{'+'.join(column.datasets)}: computed on {computed}, the others are not here"
                )
            self._values[key] = sum(values) / len(values)
        return self._values[key]

    def _note_missing_groups(
        self, judged_data: Judged, column: PublishedColumn, undefined: Mapping[str, str]
    ) -> None:
        """Note which groups a mean leaves out, and why."""
        if column.group != "mean":
            return
        if undefined:
            reasons = "; ".join(f"{name}: {why}" for name, why in undefined.items())
            label = f"{judged_data.dataset} {column.human}: {column.statistic}"
            self.notes.append(
                f"{label} has no value on {len(undefined)} group{'s' * (len(undefined) != 1)} "
                f"({reasons})"
            )
        absent = sorted(set(self.groups(judged_data.dataset) or ()) - set(judged_data.groups))
        if absent:
            self.notes.append(
                f"{judged_data.dataset}: means are over {', '.join(judged_data.groups)}; "
                f"{', '.join(absent)} not here"
            )

    def score_pairs(self) -> tuple[dict[tuple[str, str], tuple[Entry, ...]], tuple[int, ...]]:
        """Return the entries of a table of sentence pairs by metrics, and each column's direction.

        (Lazy-EMD's table 1: scores of given sentences, not correlations.)
        """
        rows = tuple(
            Segment(str(k), row.hypothesis, (row.reference,))
            for k, row in enumerate(self.table.rows)
        )
        columns: list[list[tuple[float | None, str]]] = []
        signs = []
        for name in self.table.metrics:
            variant = self._load(name, name, self.setup, "en", "max")
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
                Entry(row.reported(k, self.table.scale), *column[number])
                for k, column in enumerate(columns)
            )
            for number, row in enumerate(self.table.rows)
        }
        return entries, tuple(signs)


def load_encoder(setup: Setup) -> Any:
    """Return the model of a setup, loaded."""
    return api.encoder_for(setup.model, device=setup.device, online=setup.online)


def of_vectors(metric: str) -> bool:
    """Return whether a metric needs an encoder."""
    return not isinstance(resolve(_BELOW_LAST.sub("layers=1", metric))[1], LexicalSpec)


def reproduce(
    table: PublishedTable,
    data: str,
    *,
    models: Models = DEFAULT_MODELS,
    selection: Selection = ALL_JUDGEMENTS,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    run: Run = QUIET,
) -> Reproduction:
    """Recompute a table with the given data and models, once per reading that it declares.

    `selection` says which judgements are taken, all by default; `resamples` and `seed` are those of
    the intervals of claims; the cache of `run` keeps vectors and scores for the next table.
    """
    check_stand_ins(table, models.stand_ins)
    if selection.pairs is not None:
        columns = (*table.columns, *table.beside)
        groups = (column.group for column in columns if column.group != "mean")
        pairs = matching(selection.pairs, groups, f"{table.name} group")
        selection = replace(selection, pairs=pairs)
    readings, signatures = [], {}
    with ScoreBook(run) as book:
        for variant in table.variants:
            switches = {key: value for key, value in variant.items() if key != "name"}
            recomputation = Recomputation(table, data, models, book, selection, switches, seed)
            name = str(variant.get("name", ""))
            readings.append(_read_table(name, table, recomputation, resamples, seed))
            for metric, places in recomputation.signatures.items():
                signatures[metric] = told_apart(metric, places)
    lines = {label: line for by_label in signatures.values() for label, line in by_label.items()}
    model, condition = _describe_models(table, readings, recomputation)
    return Reproduction(
        table, model, condition, tuple(readings), lines, seed, resamples, models.layers
    )


def check_stand_ins(table: PublishedTable, stand_ins: Mapping[str, str]) -> None:
    """Raise if a stand-in is named for a model that no row of the table has."""
    names = list(dict.fromkeys(row.model for row in table.rows if row.model))
    for name in stand_ins:
        if name not in names:
            raise UnknownName("model of the table", name, names, f"({table.name})")


def _describe_models(
    table: PublishedTable, readings: Sequence[TableReading], recomputation: Recomputation
) -> tuple[str, str]:
    """Return the name of our model, and the condition that our models make the table."""
    computed = [
        row
        for row in table.rows
        if any(entry.ours is not None for entry in readings[0].entries[row.block, row.label])
    ]
    stand_ins = recomputation.models.stand_ins
    encoded = any(
        row.hypothesis or (row.metric and row.model not in stand_ins and of_vectors(row.metric))
        for row in computed
    )
    model = recomputation.encoder.name if encoded else ""
    remaining = [row for row in computed if row.model not in stand_ins]
    replaced = [
        f"{load_encoder(recomputation.models.of(row)).name.rpartition('/')[2]} instead of "
        f"{row.model}"
        for row in computed
        if row.model in stand_ins
    ]
    has_published = any(row.values for row in computed)
    conditions = []
    if remaining or not replaced:
        conditions.append(_condition(remaining, model, has_published=has_published))
    return model, "; ".join([*conditions, *dict.fromkeys(replaced)])


def _read_table(
    name: str, table: PublishedTable, recomputation: Recomputation, resamples: int, seed: int
) -> TableReading:
    """Compute the entries of a table under one reading of the data, and judge them."""
    if table.metrics:
        entries, signs = recomputation.score_pairs()
        verdict = judge(table, entries, signs=signs)
    else:
        entries = recomputation.entries()
        verdict = judge(table, entries, ClaimDraws(recomputation.parts, resamples, seed))
    return TableReading(name, entries, verdict, tuple(dict.fromkeys(recomputation.notes)))


def told_apart(metric: str, places: Mapping[Place, str]) -> dict[str, str]:
    """Return the signatures of a metric: one, or several by data set, by language or by group."""
    if len(set(places.values())) == 1:
        return {metric: next(iter(places.values()))}
    for kind in range(3):
        by_name: dict[str, set[str]] = {}
        for place, line in places.items():
            by_name.setdefault(place[kind], set()).add(line)
        if all(len(lines) == 1 for lines in by_name.values()):
            return {f"{metric} ({name})": lines.pop() for name, lines in by_name.items()}
    return {f"{metric} ({' '.join(place)})": line for place, line in places.items()}


def _condition(rows: Sequence[PublishedRow], model: str, *, has_published: bool) -> str:
    """Return `same model`, or what differs, as the reproducibility study distinguishes them."""
    if not rows:
        return "not computed"
    if not model:
        return "no model needed"
    if not has_published:
        return f"beside the table ({model}; no published row was computed)"
    other_models = sorted({row.model for row in rows if row.model} - {model.rpartition("/")[2]})
    return f"varied ({model} instead of {', '.join(other_models)})" if other_models else SAME

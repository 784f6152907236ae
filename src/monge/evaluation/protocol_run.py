"""Run a protocol: open its data, score them with all metrics, answer its questions, average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from monge.datasets import Group, Judged, describe, open_dataset
from monge.datasets.levels import DOMAIN, split_domains, take
from monge.datasets.lines import StrPath
from monge.datasets.mtme import find_test_set, list_pairs
from monge.datasets.segment_scores import GivenScores
from monge.datasets.stored_scores import find_stored
from monge.errors import DataError, InvalidSetting, Misaligned, UnknownName, Unreadable
from monge.evaluation.broken_plugins import score_usable_variants
from monge.evaluation.external_scores import NO_SCORES, Outside, judged_scores
from monge.evaluation.protocol import Protocol, ProtocolTask
from monge.evaluation.protocol_result import ProtocolResult, average_answers
from monge.evaluation.protocol_tasks import ProtocolTests, TaskAnswer, answer_task, correlate_with
from monge.evaluation.score_book import QUIET, Run, ScoreBook
from monge.evaluation.sentinels import sentinel_scores
from monge.evaluation.variant_scores import RowScores, VariantScores
from monge.evaluation.variants import DEFAULT_MODEL, Setup, Variant, load_variants
from monge.types import Signature

MTME = "mt-metrics-eval"
Pool = tuple[Judged, Sequence[VariantScores]]


class PoolKey(NamedTuple):
    """What tells the judgements of one language pair from those of other tasks."""

    pair: str
    level: str
    human: str
    human_systems: bool
    domain: str
    reference: str
    outliers: tuple[str, ...]
    switches: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class ProtocolMetrics:
    """What a protocol judges: metrics of ours, scores of files, scores stored with the data.

    Attributes:
        names: Metrics to score the texts with.
        files: Scores from files.
        stored: Names or patterns of metrics whose scores are stored with the test set.
        sentinels: Whether stand-ins that read only a length take part.
    """

    names: Sequence[str] = ()
    files: Sequence[GivenScores] = NO_SCORES
    stored: Sequence[str] = ()
    sentinels: bool = True


def run_protocol(
    protocol: Protocol,
    data: StrPath,
    metrics: ProtocolMetrics,
    *,
    setup: Setup = DEFAULT_MODEL,
    tests: ProtocolTests | None = None,
    run: Run = QUIET,
) -> ProtocolResult:
    """Judge metrics by a protocol: a value, test and rank per task, and their average.

    Args:
        protocol: The questions, from `load_protocol`.
        data: The directory of the published files.
        metrics: What is judged.
        setup: Settings, language and model that all metrics share.
        tests: Draws, level of significance, correction and seed.
        run: The cache, and whom to tell of progress.

    Raises:
        Unreadable: If the data have none of the protocol's language pairs.
        InvalidSetting: If it asks for what the data set does not have.
    """
    tests = tests or ProtocolTests()
    tasks, notes = _choose_tasks(protocol, Path(data), metrics)
    opened = {key: _open(protocol, data, key) for task in tasks for key in _keys(task)}
    run.tell(list(opened.values()))
    variants = load_variants(metrics.names, setup) if metrics.names else []
    pools, problems = _score_all(opened, Path(data), metrics, variants, run)
    answers = [_answer(task, pools, tests, number) for number, task in enumerate(tasks)]
    average = average_answers(protocol, answers, tests)
    return ProtocolResult(
        protocol,
        tuple(answers),
        average,
        correlate_with(average.winner, pools.values()),
        tests,
        _signatures(pools),
        tuple(dict.fromkeys([*notes, *problems])),
    )


def _choose_tasks(
    protocol: Protocol, data: Path, metrics: ProtocolMetrics
) -> tuple[list[ProtocolTask], list[str]]:
    """Return the tasks whose language pairs are there, and a note on the others."""
    if metrics.stored and protocol.dataset != MTME:
        raise InvalidSetting(
            f"stored scores stand beside test sets of {MTME}; {protocol.name} is about "
            f"{protocol.dataset}: give scores as files"
        )
    if protocol.dataset != MTME:
        return list(protocol.tasks), list(protocol.notes)
    test_sets = {str(task.switches.get("test_set", "")) for task in protocol.tasks}
    present = {(name, pair) for name in test_sets for pair in list_pairs(find_test_set(data, name))}
    chosen, missing = [], {}
    for task in protocol.tasks:
        name = str(task.switches.get("test_set", ""))
        lacking = [pair for pair in task.pairs if (name, pair) not in present]
        if lacking:
            missing.update(dict.fromkeys(lacking))
        else:
            chosen.append(task)
    if not chosen:
        pairs = ", ".join(sorted({pair for _, pair in present}))
        raise Unreadable(
            f"{data}: none of the language pairs of {protocol.name} is here "
            f"({', '.join(missing)}); there are {pairs}"
        )
    notes = list(protocol.notes)
    if missing:
        notes.append(
            f"{len(protocol.tasks) - len(chosen)} of {len(protocol.tasks)} tasks are left out: "
            f"the data have no {', '.join(missing)}; the weights of the others are scaled up"
        )
    total = sum(task.weight for task in chosen)
    return [replace(task, weight=task.weight / total) for task in chosen], notes


def _keys(task: ProtocolTask) -> list[PoolKey]:
    """Return the keys of the pools that a task asks about, a language pair each."""
    return [
        PoolKey(
            pair,
            task.level,
            task.human,
            task.human_systems,
            task.domain,
            task.references.get(pair, ""),
            tuple(task.outliers.get(pair, ())),
            tuple(sorted(task.switches.items())),
        )
        for pair in task.pairs
    ]


def _open(protocol: Protocol, data: StrPath, key: PoolKey) -> Judged:
    """Open the judgements of one language pair."""
    chosen = dict(key.switches)
    own = {"reference": key.reference, "human_systems": key.human_systems}
    dataset_switches = describe(protocol.dataset).switches
    for name, value in own.items():
        if not value:
            continue  # what the data set does by default
        if name in dataset_switches:
            chosen[name] = value
        else:
            raise InvalidSetting(
                f"{protocol.name}: {key.pair} asks for {name}={value}, which the data set "
                f"{protocol.dataset} does not have"
            )
    level = DOMAIN if key.domain and key.level == "system" else key.level
    dataset = open_dataset(
        protocol.dataset,
        data,
        pairs=[key.pair],
        level=level,
        human=key.human or None,
        **chosen,
    )
    groups = _choose_domain(dataset.groups, key) if key.domain else dataset.groups
    groups = {name: _drop(group, key.outliers) for name, group in groups.items()}
    return replace(dataset, groups=groups)


def _choose_domain(groups: Mapping[str, Group], key: PoolKey) -> dict[str, Group]:
    """Return the segments or systems of one domain, under the name of their language pair."""
    if key.level == "segment":
        group = groups[key.pair]
        parts = split_domains(key.pair, group.segments, group.records)
        domains = {name: take(group, rows) for name, rows in parts.items()}
    else:
        domains = dict(groups)
    name = f"{key.pair}/{key.domain}"
    if name not in domains:
        names = [part.rpartition("/")[2] for part in domains]
        raise UnknownName(f"{key.pair} domain", key.domain, names)
    return {key.pair: domains[name]}


def _drop(group: Group, outliers: Sequence[str]) -> Group:
    """Return a group without some systems."""
    keep = np.array([segment.system not in outliers for segment in group.segments])
    if keep.all():
        return group
    systems = group.systems and {
        name: score for name, score in group.systems.items() if name not in outliers
    }
    return replace(take(group, keep), systems=systems)


def _score_all(
    opened: Mapping[PoolKey, Judged],
    data: Path,
    metrics: ProtocolMetrics,
    variants: Sequence[Variant],
    run: Run,
) -> tuple[dict[PoolKey, Pool], list[str]]:
    """Return the data with the scores of everything that is judged, and what is left out."""
    pools: dict[PoolKey, Pool] = {}
    problems: list[str] = []
    with ScoreBook(run) as book:
        for key, dataset in opened.items():
            scores, left_out = _score(dataset, data, metrics, variants, book, key)
            problems += left_out
            pools[key] = dataset, scores
    return pools, problems


def _labels(pool: Pool) -> list[str]:
    return [variant_scores.label for variant_scores in pool[1]]


def _score(
    dataset: Judged,
    data: Path,
    metrics: ProtocolMetrics,
    variants: Sequence[Variant],
    book: ScoreBook,
    key: PoolKey,
) -> tuple[list[VariantScores], list[str]]:
    """Return the scores of everything that is judged, and why some of it is left out."""
    scores: list[VariantScores] = []
    if variants:
        scores += score_usable_variants(variants, lambda usable: book.scores(usable, dataset))[1]
    scores += [judged_scores(score_file, dataset) for score_file in metrics.files]
    problems: list[str] = []
    if metrics.stored:
        stored, problems = _stored_scores(dataset, data, metrics.stored, key)
        scores += stored
    if metrics.sentinels:
        scores += sentinel_scores(dataset)
    if not scores:
        raise DataError(f"{dataset.dataset}: no metric has scores")
    return scores, problems


def _stored_scores(
    dataset: Judged, data: Path, patterns: Sequence[str], key: PoolKey
) -> tuple[list[VariantScores], list[str]]:
    """Return the stored scores of a language pair; metrics without all scores are left out."""
    (pair, group), *_ = dataset.groups.items()
    test_set, reference = (str(dataset.switches[name]) for name in ("test_set", "reference"))
    stored_metrics = find_stored(data, test_set, pair, reference, patterns)
    scores, problems = [], []
    for metric in stored_metrics:
        try:
            values, systems, digest = metric.scores_of(group.segments, has_all_rows=not key.domain)
        except Misaligned as problem:
            problems.append(f"{metric.name} is left out: {problem}")
            continue
        signature = Signature((("stored", f"{metric.name}-{metric.reference}#{digest}"),))
        rows = RowScores(values, systems, signature, higher_is_better=True)
        scores.append(VariantScores(Outside(metric.name), {pair: rows}))
    return scores, problems


def _answer(
    task: ProtocolTask, pools: Mapping[PoolKey, Pool], tests: ProtocolTests, number: int
) -> TaskAnswer:
    """Answer a task with the metrics that have scores of all its pairs."""
    task_pools = [pools[key] for key in _keys(task)]
    shared = [
        scores.label
        for scores in task_pools[0][1]
        if all(scores.label in _labels(pool) for pool in task_pools)
    ]
    ordered = []
    for dataset, scores in task_pools:
        by_label = {variant_scores.label: variant_scores for variant_scores in scores}
        ordered.append((dataset, [by_label[label] for label in shared]))
    return answer_task(task, ordered, tests, seed=tests.seed + number)


def _signatures(pools: Mapping[PoolKey, Pool]) -> dict[str, str]:
    """Return the signatures of the metrics of ours and of files, by label."""
    signatures: dict[str, str] = {}
    for _, scores in pools.values():
        for variant_scores in scores:
            signatures.setdefault(variant_scores.label, variant_scores.signature)
    return signatures

"""Corpus statistics of a cluster run: workers fit them by block, the driver adds them up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from monge.cluster.rounds import ClusterRun, complete_blocks, count_in_process
from monge.cluster.run_folder import COUNT, RANGE, SUM, read_json, write_json
from monge.errors import DataError
from monge.scoring.replay import check_expected
from monge.scoring.run import merge_member_stats
from monge.scoring.scorer import vector_members
from monge.types import CorpusStats, DocumentCounts, VectorSum

if TYPE_CHECKING:
    from monge.scoring.scorer import StatsBySystem


def fit_statistics(run: ClusterRun) -> list[StatsBySystem]:
    """Return statistics by system for each member that compares vectors, summed over blocks."""
    vectors = vector_members(run.metrics)
    if not vectors:
        return []
    from monge.scoring import fit
    from monge.scoring.encoding import Encoding

    systems = run.staged.summary.systems
    stored = read_json(run.folder.statistics)
    if stored is not None:
        stored_stats = [CorpusStats.from_dict(stats) for stats in stored["statistics"]]
        return [{system: stored_stats[k] for system, k in places} for places in stored["of"]]
    requests = fit.assign_corpora(vectors, systems, run.corpora)
    files = {(name, ""): lines for name, lines in run.corpora.files.items()}
    texts = partial(fit.iter_run_texts, (), files, fit.collect_corpora(requests))
    jobs, means = fit.list_count_jobs(requests), fit.list_sum_jobs(requests)
    counts: list[DocumentCounts] = list(fit.count_documents(jobs, texts).values())
    if jobs:
        count_in_process(run)
        complete_blocks(run)
        counts = _add_records(run, COUNT, counts, DocumentCounts.from_dict)
    counts_of_jobs = dict(zip(jobs, counts, strict=True))
    sums: list[VectorSum] = []
    if means:
        count_stats = fit.make_count_stats(requests, counts_of_jobs)
        sums = list(fit.sum_vectors(means, count_stats, texts, Encoding(vectors)).values())
        complete_blocks(replace(run, job=replace(run.job, kind=SUM, counts=counts)))
        sums = _add_records(run, SUM, sums, VectorSum.from_dict)
    fitted = fit.merge_statistics(requests, counts_of_jobs, dict(zip(means, sums, strict=True)))
    by_member = _add_ranges(run, fit.collect_statistics(vectors, systems, run.corpora, fitted))
    _store(run, by_member)
    return by_member


def _store(run: ClusterRun, by_member: Sequence[StatsBySystem]) -> None:
    """Write the statistics of all members to the folder of the run, equal ones once."""
    distinct = {id(stats): stats for by_system in by_member for stats in by_system.values()}
    places = {key: k for k, key in enumerate(distinct)}
    of = [
        [[system, places[id(stats)]] for system, stats in by_system.items()]
        for by_system in by_member
    ]
    record = {"statistics": [stats.to_dict() for stats in distinct.values()], "of": of}
    write_json(run.folder.statistics, record)


def _add_ranges(run: ClusterRun, fitted: list[StatsBySystem]) -> list[StatsBySystem]:
    """Return the statistics with fitted ranges of blends' members, unless given."""
    if run.corpora.stats is not None or not any("range" in metric.fits for metric in run.metrics):
        return fitted
    complete_blocks(replace(run, job=replace(run.job, kind=RANGE, fitted=fitted)))
    total: dict[tuple[int, str], CorpusStats] = {}
    for record in run.folder.records(RANGE, len(run.staged.blocks)):
        for entry in record["found"]:
            key = (entry["metric"], entry["system"])
            block_ranges = CorpusStats.from_dict(entry["ranges"])
            total[key] = total[key] + block_ranges if key in total else block_ranges
    with_ranges: list[StatsBySystem] = []
    fitted_members = iter(fitted)
    for k, metric in enumerate(run.metrics):
        for name, member in metric.members.items():
            if member.vector_metric is None:
                continue
            stats = dict(next(fitted_members))
            for system in stats if "range" in metric.fits else ():
                if (k, system) not in total:
                    raise DataError(
                        f"{metric.name}: no pair with words on both sides to fit the range of "
                        f"{name} from"
                    )
                ranges = total[k, system].ranges
                pair = member.vector_metric.identity.pair
                stats[system] = replace(stats[system], ranges={pair: ranges[pair]})
            with_ranges.append(stats)
    return with_ranges


def _add_records(
    run: ClusterRun, pass_kind: str, totals: list[Any], read: Callable[[Mapping[str, Any]], Any]
) -> list[Any]:
    """Add the records of a pass to the totals, in the order of the blocks."""
    for record in run.folder.records(pass_kind, len(run.staged.blocks)):
        additions = record["found"]
        totals = (
            [total + read(addition) for total, addition in zip(totals, additions, strict=True)]
            if additions
            else totals
        )
    return totals


def check_replay(run: ClusterRun, stats: Sequence[StatsBySystem]) -> None:
    """Raise if statistics do not fit a metric or a replayed signature."""
    member_stats = iter(stats)
    for k, metric in enumerate(run.metrics):
        own = {
            name: next(member_stats)
            for name, member in metric.members.items()
            if member.vector_metric is not None
        }
        for system in run.staged.summary.systems:
            by_member = {name: stats[system] for name, stats in own.items()} or {
                "": CorpusStats("")
            }
            metric_stats = merge_member_stats(by_member, run.corpora.stats)
            if run.corpora.stats is not None:
                metric.check_stats(metric_stats)
            signature = metric.signed(metric_stats)
            if run.request.expect is not None and signature is not None:
                fitted = run.corpora.stats is None
                check_expected(metric.name, run.request.expect[k], signature, fitted=fitted)

"""What scores take from all texts of a run: found block by block by workers, and added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from monge.cluster.folder import COUNT, RANGE, SUM, read_json, write_json
from monge.cluster.job import readers
from monge.cluster.rounds import Run, counted_here, done_with
from monge.errors import DataError
from monge.scoring.replay import check_expected
from monge.scoring.run import merge_member_stats
from monge.types import CorpusStats, DocumentCounts, VectorSum

if TYPE_CHECKING:
    from monge.scoring.scorer import StatsBySystem
    from monge.scoring.transport import TransportMetric


def statistics(run: Run) -> list[StatsBySystem]:
    """For each member that reads vectors the statistics of every system, fitted block by block and added up."""
    vectors = readers(run.metrics)
    if not vectors:
        return []
    from monge.scoring import fit
    from monge.scoring.encoding import Encoding

    systems = run.staged.looked.systems
    kept = read_json(run.folder.statistics)
    if kept is not None:
        every = [CorpusStats.from_dict(one) for one in kept["statistics"]]
        return [{system: every[k] for system, k in mine} for mine in kept["of"]]
    wanted = fit.assign_corpora(vectors, systems, run.corpora)
    texts = partial(fit.iter_run_texts, (), {(name, ""): some for name, some in run.corpora.files.items()},
                    fit.collect_corpora(wanted))  # fmt: skip
    jobs, means = fit.list_count_jobs(wanted), fit.list_sum_jobs(wanted)
    counts: list[DocumentCounts] = list(fit.count_documents(jobs, texts).values())
    if jobs:
        counted_here(run)
        done_with(run)
        counts = _added(run, COUNT, counts, DocumentCounts.from_dict)
    known = dict(zip(jobs, counts, strict=True))
    sums: list[VectorSum] = []
    if means:
        sums = list(fit.sum_vectors(means, fit.make_count_stats(wanted, known), texts, Encoding(vectors)).values())
        done_with(replace(run, job=replace(run.job, what=SUM, counts=counts)))
        sums = _added(run, SUM, sums, VectorSum.from_dict)
    fitted = fit.merge_statistics(wanted, known, dict(zip(means, sums, strict=True)))
    found = _ranged(run, fit.collect_statistics(vectors, systems, run.corpora, fitted))
    distinct = {id(one): one for mine in found for one in mine.values()}
    places = {key: k for k, key in enumerate(distinct)}
    of = [[[system, places[id(one)]] for system, one in mine.items()] for mine in found]
    write_json(run.folder.statistics, {"statistics": [one.to_dict() for one in distinct.values()], "of": of})
    return found


def _ranged(run: Run, fitted: list[StatsBySystem]) -> list[StatsBySystem]:
    """The statistics of members with the ranges of those of blends, where these were not given."""
    if run.corpora.stats is not None or all("" in one.members for one in run.metrics):
        return fitted
    done_with(replace(run, job=replace(run.job, what=RANGE, fitted=fitted)))
    total: dict[tuple[int, str], CorpusStats] = {}
    for record in run.folder.records(RANGE, len(run.staged.blocks)):
        for one in record["found"]:
            key, here = (one["metric"], one["system"]), CorpusStats.from_dict(one["ranges"])
            total[key] = total[key] + here if key in total else here
    found: list[StatsBySystem] = []
    each = iter(fitted)
    for k, metric in enumerate(run.metrics):
        for name, member in metric.members.items():
            if not member.reads:
                continue
            stats = dict(next(each))
            for system in stats if name else ():
                if (k, system) not in total:
                    raise DataError(f"{metric.name}: no pair with words on both sides to fit the range of {name} from")
                mine = total[k, system].ranges
                known = cast("TransportMetric", member).identity.pair
                stats[system] = replace(stats[system], ranges={known: mine[known]})
            found.append(stats)
    return found


def _added(run: Run, what: str, begin: list[Any], read: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    """What a pass found in all blocks, added up in their order."""
    for record in run.folder.records(what, len(run.staged.blocks)):
        found = record["found"]
        begin = [one + read(each) for one, each in zip(begin, found, strict=True)] if found else begin
    return begin


def check_replay(run: Run, stats: Sequence[StatsBySystem]) -> None:
    """Raise where statistics do not serve a metric, or are not those that a signature names."""
    each = iter(stats)
    for k, metric in enumerate(run.metrics):
        own = {name: next(each) for name, member in metric.members.items() if member.reads}
        for system in run.staged.looked.systems:
            by_member = {name: stats[system] for name, stats in own.items()} or {"": CorpusStats("")}
            all_of_it = merge_member_stats(by_member, run.corpora.stats)
            if run.corpora.stats is not None:
                metric.check_stats(all_of_it)
            signature = metric.signed(all_of_it)
            if run.request.expect is not None and signature is not None:
                fitted = run.corpora.stats is None
                check_expected(metric.name, run.request.expect[k], signature, fitted=fitted)

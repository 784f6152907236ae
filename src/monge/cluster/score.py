"""A cluster run: split, count, sum, score, merge; a restart computes what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from monge import api
from monge.cluster.blocks import Block, SegmentInput, StagedInput, block_file, stage_input
from monge.cluster.engine import Engine, connect_in_background
from monge.cluster.fitted import check_replay, fit_statistics
from monge.cluster.job import PassJob, Recipe, bind_sides, check_scalable, identity
from monge.cluster.parts import check_format, join_parts
from monge.cluster.request import ClusterProgress, ClusterRequest, Outcome
from monge.cluster.rounds import ClusterRun, complete_blocks
from monge.cluster.run_folder import COUNT, SCORE, read_json, write_atomically, write_json
from monge.errors import DataError, UsageError
from monge.render.checks import dumps
from monge.scoring.scorer import vector_members
from monge.scoring.summary import Summary, merge_summaries
from monge.scoring.text_checks import check_first_segments, warn_unknown
from monge.scoring.windows import read_pieces
from monge.types import Result, Segment
from monge.types.result import SCHEMA
from monge.types.text import InputSummary

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer


def score(
    segments_input: SegmentInput,
    recipe: Recipe,
    request: ClusterRequest,
    *,
    corpora: api.Corpora = api.Corpora(),  # noqa: B008 - frozen
    engine: Engine = Engine(),  # noqa: B008 - frozen
    watch: ClusterProgress = ClusterProgress(),  # noqa: B008 - frozen
) -> Outcome:
    """Score an input with the metrics of a recipe; the results equal those of one machine.

    `corpora` are ready-made statistics, or texts other than the input to fit them from.
    """
    check_format(request.form, texts=request.texts)
    if Path(recipe.model).exists():  # a worker has another working directory
        recipe = replace(recipe, model=str(Path(recipe.model).absolute()))
    with connect_in_background(engine, recipe) as workers:
        recipe, metrics, corpora = _resolve(recipe, corpora)
        manifest = request.folder.open_run(
            _settings(recipe, corpora, request, engine), fresh=request.fresh
        )
        staged = _stage(segments_input, metrics, corpora, manifest, request, watch)
        metrics = bind_sides(metrics, staged.summary.sides)
        check_first_segments(metrics, staged.summary, read_pieces)
        watch.began("start", 0)
        job = _job(recipe, request, staged.summary, segments_input.names, engine.threads)
        run = ClusterRun(metrics, corpora, request, engine, job, staged, watch, workers)
        stats = fit_statistics(run)
        check_replay(run, stats)
        workers.result()  # a Ray that does not start is an error, also where all blocks are done
        complete_blocks(replace(run, job=replace(job, kind=SCORE, fitted=stats)))
    return _merge_results(run)


def _job(
    recipe: Recipe,
    request: ClusterRequest,
    summary: InputSummary,
    names: Sequence[str],
    threads: int,
) -> PassJob:
    """Return the description of the first pass."""
    output_options = {
        "form": request.form,
        "texts": request.texts,
        "seed": request.seed,
        "tolerant": request.tolerant,
    }
    return PassJob(
        "",
        recipe,
        str(request.folder.path),
        COUNT,
        summary,
        names,
        threads=threads,
        **output_options,  # type: ignore[arg-type]
    )


def _resolve(recipe: Recipe, corpora: api.Corpora) -> tuple[Recipe, list[Scorer], api.Corpora]:
    """Load the metrics; return the recipe with identities, the metrics, and idf corpora."""
    scorers = recipe.bind_metrics()
    check_scalable(scorers)
    model_options = {
        "model": recipe.model,
        "lang": recipe.lang,
        "device": recipe.device,
        "online": recipe.online,
    }
    files: dict[str, Iterable[str]] = {}
    for name, spec in recipe.metrics:
        files.update(api.with_corpus(api.bind(name, spec, **model_options).scorer, corpora)[1])  # type: ignore[arg-type]
    if corpora.idf is not None and not any(scorer.idf_corpora for scorer in scorers):
        raise UsageError("an idf corpus was given, but no metric of this run weighs by idf")
    resolved = replace(recipe, corpora=tuple(files), identities=tuple(map(identity, scorers)))
    return resolved, scorers, api.Corpora(corpora.stats, files)


def _settings(
    recipe: Recipe, corpora: api.Corpora, request: ClusterRequest, engine: Engine
) -> dict[str, Any]:
    """Return the settings that must be the same when a run is restarted."""
    texts = {name: _digest("\n".join(corpus_texts)) for name, corpus_texts in corpora.files.items()}
    return {
        "monge": version("monge"),
        "metrics": recipe.labels,
        "settings and models": [_digest(identity_text) for identity_text in recipe.identities],
        "statistics": _digest(
            json.dumps(None if corpora.stats is None else corpora.stats.to_dict())
        ),
        "corpora": texts,
        "format": request.form,
        "texts": request.texts,
        "seed of the interval": request.seed,
        "threads of a worker": engine.threads,
    }


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# --- the input
# --------------------------------------------------------------------------------------------------


def _stage(
    segments_input: SegmentInput,
    metrics: Sequence[Scorer],
    corpora: api.Corpora,
    manifest: dict[str, Any],
    request: ClusterRequest,
    watch: ClusterProgress,
) -> StagedInput:
    """Return the input in blocks: an earlier start's if the input is unchanged, else new."""
    folder, recorded = request.folder, manifest.get("input")
    stamp = segments_input.stamp
    if recorded is not None and stamp is not None and recorded["stamp"] == stamp:
        index = read_json(folder.index)
        if index is not None and _has_block_files(request, staged := _staged_from_index(index)):
            return staged
    watch.began("read", 0)
    bad: list[str] = []
    rows = segments_input.read_located(bad.append if request.tolerant else None)
    first = next(rows, None)
    if first is None:
        raise DataError("there is nothing to score: no segments")
    fits = corpora.stats is None and any(member.fits for member in vector_members(metrics))
    side = _common_side(metrics, first[0])
    staged = stage_input(chain([first], rows), folder.new_blocks, side=side, firsts=fits)
    if recorded is not None and recorded["digest"] != staged.digest:
        folder.drop_new_blocks()
        raise UsageError(
            f"{folder.path} holds a run on another input ({recorded['rows']} rows, now "
            f"{staged.rows}); -o another place, or --fresh to begin anew"
        )
    folder.take_new_blocks()
    write_json(folder.index, {**_index_of(staged), "bad": bad})
    facts = {"stamp": stamp, "digest": staged.digest, "rows": staged.rows}
    facts["files"] = list(segments_input.names)
    folder.save_manifest({**manifest, "input": facts})
    return staged


def _common_side(metrics: Sequence[Scorer], first: Segment) -> str | None:
    """Return the side that all metrics compare with: their own, or the only one of the input."""
    if not (first.references and first.source is not None):
        return "references" if first.references else "source"
    sides = {metric.against for metric in metrics}
    return sides.pop() if len(sides) == 1 else None


def _has_block_files(request: ClusterRequest, staged: StagedInput) -> bool:
    """Return whether every block that is not done has its file."""
    return all(
        block_file(request.folder.blocks, block.number).is_file()
        or request.is_done(SCORE, block, read=True)
        for block in staged.blocks
    )


def _index_of(staged: StagedInput) -> dict[str, Any]:
    summary = {
        "systems": list(staged.summary.systems),
        "given": [
            [side, None if lacking is None else asdict(lacking)]
            for side, lacking in staged.summary.sides.items()
        ],
        "first": [asdict(segment) for segment in staged.summary.first],
    }
    return {
        "looked": summary,
        "blocks": [asdict(block) for block in staged.blocks],
        "digest": staged.digest,
    }


def _staged_from_index(index: Mapping[str, Any]) -> StagedInput:
    def read_segment(fields: Mapping[str, Any]) -> Segment:
        return Segment(**{**fields, "references": tuple(fields["references"])})

    summary = index["looked"]
    sides = {
        side: None if fields is None else read_segment(fields) for side, fields in summary["given"]
    }
    blocks = [Block(**fields) for fields in index["blocks"]]
    return StagedInput(
        InputSummary(
            summary["systems"], sides, [read_segment(fields) for fields in summary["first"]]
        ),
        blocks,
        index["digest"],
    )


# --- the results
# --------------------------------------------------------------------------------------------------


def _merge_results(run: ClusterRun) -> Outcome:
    """Merge the records of all parts, and write the results."""
    folder, staged = run.folder, run.staged
    bad: list[dict[str, Any]] = [
        {"why": why} for why in (read_json(folder.index) or {"bad": []})["bad"]
    ]

    def summaries() -> Iterator[Summary]:
        for record in folder.records(SCORE, len(staged.blocks)):
            bad.extend(record["bad"])
            yield from map(Summary.from_dict, record["sums"])

    totals = merge_summaries(summaries())
    names = run.job.recipe.labels
    order = [
        (system, k)
        for system in staged.summary.systems
        for k in range(len(names))
        if (system, names[k]) in totals
    ]
    sums = [totals[system, names[k]] for system, k in order]
    if not sums:
        raise DataError(f"no row could be scored: {len(bad)} bad rows")
    warn_unknown(run.metrics, cast("list[Result]", sums), [])
    results = [
        total.to_result_dict(getattr(run.metrics[k], "pool", None))
        for total, (_, k) in zip(sums, order, strict=True)
    ]
    document = {
        "monge": version("monge"),
        "schema": SCHEMA,
        "results": results,
        **({"bad_rows": len(bad)} if bad else {}),
    }
    return _write_outcome(run, results, dumps(document) + "\n", bad)


def _write_outcome(
    run: ClusterRun,
    results: Sequence[Mapping[str, Any]],
    text: str,
    bad: Sequence[Mapping[str, Any]],
) -> Outcome:
    """Write the results, the rows that were left out and, if one file was requested, that file."""
    folder, request = run.folder, run.request
    if not request.is_single_file:
        if bad:
            write_atomically(
                folder.bad_rows,
                lambda path: path.write_text("".join(f"{dumps(row)}\n" for row in bad), "utf-8"),
            )
        write_atomically(folder.result, lambda path: path.write_text(text, "utf-8"))
        folder.remove_temporary_files()
        return Outcome(results, len(bad), folder.path, folder.result)
    target = Path(request.output)
    side_files = {
        ".result.json": text,
        ".bad-rows.jsonl": "".join(f"{dumps(row)}\n" for row in bad),
    }
    parts = [folder.part(block.number, request.form) for block in run.staged.blocks]
    write_atomically(
        target,
        lambda path: join_parts([part for part in parts if part.exists()], path, request.form),
    )
    for suffix, content in side_files.items():
        if content:
            write_atomically(target.with_suffix(suffix), partial(_write, content))
    folder.clear()
    return Outcome(results, len(bad), target, target.with_suffix(".result.json"))


def _write(content: str, path: Path) -> None:
    path.write_text(content, "utf-8")

"""`monge score --engine ray`: the same command with its work done by the workers of a cluster."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from monge import api
from monge.cli import gate, option_groups, options
from monge.cli.engines import ScaleOptions, watching
from monge.cli.printing import resumable, tell, terminal_layout
from monge.datasets.columns import given_columns
from monge.datasets.lines import STDIN
from monge.errors import UsageError
from monge.render.cells import number, span
from monge.types.table import Cell, Sheet

if TYPE_CHECKING:
    from monge.cli.score import (
        MetricOptions,
        ScoreInputOptions,
        ScoreOutputOptions,
        StatisticsOptions,
    )
    from monge.cluster import ClusterRequest, Outcome, ParallelFiles, Recipe
    from monge.cluster import Tables as Several


def score_on_ray(
    texts: ScoreInputOptions,
    choice: MetricOptions,
    setup: option_groups.SetupOptions,
    statistics: StatisticsOptions,
    output_options: ScoreOutputOptions,
    keep: option_groups.CacheOptions,
    scale: ScaleOptions,
) -> int:
    """Score with the workers of Ray; write the parts to -o, show the results."""
    chosen, engine = choice.choose(setup, quiet=keep.quiet), scale.of_ray()
    from monge import cluster

    request = _request(output_options, scale)
    thresholds = gate.parse_limits(output_options.fail_under or (), chosen)
    corpora = statistics.corpora()
    recipe, expected = _recipe(choice, chosen, setup, corpora)
    if keep.folder is not None and not keep.quiet:
        tell("--cache is not used by --engine ray: what is done is kept with the parts")
    nothing = f"what was done is kept in {request.folder.path}: the same command goes on from there"
    following = watching(quiet=keep.quiet, log_json=scale.log_json)
    with resumable(None, nothing), cluster.beside(request.folder.path) as into, following as watch:
        rows, request = _input(texts, into), replace(request, expect=expected)
        outcome = cluster.score(rows, recipe, request, corpora=corpora, engine=engine, watch=watch)
    if rows.note and not keep.quiet:
        tell(rows.note)
    _show(outcome, output_options.signature_form, keep)
    return gate.judge_summaries(outcome.results, thresholds)


def _request(output_options: ScoreOutputOptions, scale: ScaleOptions) -> ClusterRequest:
    from monge.cluster import SUFFIXES, ClusterRequest

    if output_options.output is None:
        raise UsageError(
            "--engine ray writes parts: give -o DIRECTORY, or -o FILE ending in .parquet, .jsonl "
            "or .tsv"
        )
    if output_options.dry_run:
        raise UsageError("--dry-run describes a run on this machine: give it without --engine ray")
    by_name = SUFFIXES.get(Path(output_options.output).suffix)
    form = (
        output_options.output_format
        if output_options.output_format != "text"
        else by_name or "parquet"
    )
    if by_name is not None and form != by_name:
        raise UsageError(
            f"-o {output_options.output} does not end like a file of the format {form}"
        )
    seed = output_options.seed if output_options.interval else None
    return ClusterRequest(
        output_options.output,
        form,
        output_options.with_texts,
        seed,
        scale.tolerant,
        output_options.fresh,
    )


def _recipe(
    choice: MetricOptions,
    chosen: Sequence[option_groups.ChosenMetric],
    setup: option_groups.SetupOptions,
    corpora: api.Corpora,
) -> tuple[Recipe, list[dict[str, str]] | None]:
    """Return the metrics as workers load them; a signature is replayed here first."""
    from monge.cluster import Recipe

    metrics, expected = [(metric.name, metric.spec) for metric in chosen], None
    if choice.signature:
        loaded, expected = choice.replay(setup)
        metrics = [(metric.name, metric.asked) for metric in loaded]
    model_options = {
        "model": setup.model_name,
        "lang": setup.lang,
        "device": setup.device,
        "online": setup.online,
    }
    return Recipe(
        metrics,
        **model_options,  # type: ignore[arg-type]
        stats=corpora.stats,
        idf=corpora.idf is not None,
    ), expected


def _input(texts: ScoreInputOptions, into: Path) -> ParallelFiles | Several:
    """Return what is scored; addresses are copied into a directory first."""
    from monge.cluster import ParallelFiles, fetched
    from monge.cluster import Tables as Several

    if texts.tables:
        if texts:
            raise UsageError(
                f"{texts.tables[0]} is given as a table beside -t, -r or -s: give tables or files, "
                "not both"
            )
        paths = [fetched(path, into) for path in texts.tables]
        if STDIN in paths and len(paths) > 1:
            raise UsageError("standard input (-) can be one table, not one of several")
        return Several(paths, texts.table_format, given_columns(texts.columns or ()))
    if not texts.hypotheses or not (texts.references or texts.source):
        raise UsageError(
            "nothing to score: give -t HYPOTHESES and -r REFERENCES or -s SOURCE, or tables"
        )
    source = None if texts.source is None else fetched(texts.source, into)
    fetched_paths = [
        [fetched(path, into) for path in paths or ()]
        for paths in (texts.hypotheses, texts.references)
    ]
    return ParallelFiles(fetched_paths[0], fetched_paths[1], source)


def _show(outcome: Outcome, form: str, keep: option_groups.CacheOptions) -> None:
    """Show the results as a table, and where the files are."""
    from monge.render.table import sheets_text

    rows = []
    for result in outcome.results:
        ends = result.get("interval") or {"low": None, "high": None}
        parts = "  ".join(f"{name} {number(value)}" for name, value in result["parts"].items())
        name = f"{result['metric']} {'↑' if result['higher_is_better'] else '↓'}"
        texts = (
            name,
            result["system"],
            number(result["score"]),
            span(ends["low"], ends["high"], 4),
            str(result["n"]),
            parts,
        )
        rows.append(tuple(map(Cell, texts)))
    head = ("metric", "system", "score", "interval", "n", "parts")
    signatures = tuple(result["signature"] for result in outcome.results)
    sheet = Sheet("", head, tuple(rows), signatures=signatures, words=2, words_behind=1)
    sys.stdout.write(sheets_text([sheet], **terminal_layout(), signed=options.signed(form)))
    if not keep.quiet:
        left_out = (
            f"; {outcome.bad_rows} bad rows were left out, listed beside it"
            if outcome.bad_rows
            else ""
        )
        tell(f"scores: {outcome.output}, results: {outcome.result}{left_out}")

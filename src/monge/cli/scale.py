"""`monge score --engine ray`: the same command with its work done by the workers of a cluster."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from monge import api
from monge.cli import bundles, gate, options
from monge.cli.emit import coloured, resumable, tell, terminal_width
from monge.cli.engines import Scale, watching
from monge.data.columns import given_columns
from monge.data.lines import STDIN
from monge.errors import UsageError
from monge.render.cells import number, span
from monge.types.table import Cell, Sheet

if TYPE_CHECKING:
    from monge.cli.score import Choice, Given, Shown, Tables
    from monge.cluster import Files, Outcome, Recipe, Request
    from monge.cluster import Tables as Several


def score_on_ray(
    texts: Tables, choice: Choice, setup: bundles.Setup, given: Given, shown: Shown, keep: bundles.Keep, scale: Scale
) -> int:
    """Score with the workers of Ray; parts go to -o, the results to standard output and to a file beside the parts."""
    engine = scale.of_ray()
    from monge import cluster

    request = _request(choice, setup, shown, scale)
    least = gate.limits(shown.fail_under or (), choice.called(setup))
    corpora = given.corpora()
    recipe, expected = _recipe(choice, setup, corpora)
    if keep.folder is not None and not keep.quiet:
        tell("--cache is not used by --engine ray: what is done is kept with the parts")
    nothing = f"what was done is kept in {request.folder.path}: the same command goes on from there"
    following = watching(quiet=keep.quiet, log_json=scale.log_json)
    with resumable(None, nothing), cluster.beside(request.folder.path) as into, following as watch:
        rows, request = _input(texts, into), replace(request, expect=expected)
        found = cluster.score(rows, recipe, request, corpora=corpora, engine=engine, watch=watch)
    if rows.note and not keep.quiet:
        tell(rows.note)
    _show(found, shown.signature_form, keep)
    return gate.judge_shown(found.results, least)


def _request(choice: Choice, setup: bundles.Setup, shown: Shown, scale: Scale) -> Request:
    from monge.cluster import SUFFIXES, Request

    if shown.output is None:
        raise UsageError("--engine ray writes parts: give -o DIRECTORY, or -o FILE ending in .parquet, .jsonl or .tsv")
    if shown.dry_run:
        raise UsageError("--dry-run tells of a run on this machine: give it without --engine ray")
    by_name = SUFFIXES.get(Path(shown.output).suffix)
    form = shown.output_format if shown.output_format != "text" else by_name or "parquet"
    if by_name is not None and form != by_name:
        raise UsageError(f"-o {shown.output} is no name for a file in the format {form}")
    seed = shown.seed if shown.interval else None
    return Request(shown.output, form, shown.with_texts, seed, scale.tolerant, shown.fresh)


def _recipe(choice: Choice, setup: bundles.Setup, corpora: api.Corpora) -> tuple[Recipe, list[dict[str, str]] | None]:
    """The metrics as workers make them; a signature is replayed here first."""
    from monge.cluster import Recipe

    metrics, expected = choice.asked(setup), None
    if choice.signature:
        loaded, expected = choice.load(setup, None)
        metrics = [(one.name, one.asked) for one in loaded]
    where = {"model": setup.named, "lang": setup.lang, "device": setup.device, "online": setup.online}
    return Recipe(metrics, **where, stats=corpora.stats, idf=corpora.idf is not None), expected  # type: ignore[arg-type]


def _input(texts: Tables, into: Path) -> Files | Several:
    """What is scored; addresses are copied into a directory first."""
    from monge.cluster import Files, fetched
    from monge.cluster import Tables as Several

    if texts.tables:
        if texts:
            raise UsageError(f"{texts.tables[0]} stands alone, as a table would, beside -t, -r or -s: give either")
        paths = [fetched(path, into) for path in texts.tables]
        if STDIN in paths and len(paths) > 1:
            raise UsageError("standard input (-) can be one table, not one of several")
        return Several(paths, texts.table_format, given_columns(texts.columns or ()))
    if not texts.hypotheses or not (texts.references or texts.source):
        raise UsageError("nothing to score: give -t HYPOTHESES and -r REFERENCES or -s SOURCE, or tables")
    source = None if texts.source is None else fetched(texts.source, into)
    every = [[fetched(path, into) for path in some or ()] for some in (texts.hypotheses, texts.references)]
    return Files(every[0], every[1], source)


def _show(found: Outcome, form: str, keep: bundles.Keep) -> None:
    """The results as a table, and where all of it lies."""
    from monge.render.table import sheets_text

    rows = []
    for one in found.results:
        ends = one.get("interval") or {"low": None, "high": None}
        parts = "  ".join(f"{name} {number(value)}" for name, value in one["parts"].items())
        name = f"{one['metric']} {'↑' if one['higher_is_better'] else '↓'}"
        texts = name, one["system"], number(one["score"]), span(ends["low"], ends["high"], 4), str(one["n"]), parts
        rows.append(tuple(map(Cell, texts)))
    head = ("metric", "system", "score", "interval", "n", "parts")
    signatures = tuple(one["signature"] for one in found.results)
    sheet = Sheet("", head, tuple(rows), signatures=signatures, words=2, words_behind=1)
    width, signed = terminal_width(), options.signed(form)
    sys.stdout.write(sheets_text([sheet], width=width, colour=coloured(), signed=signed))
    if not keep.quiet:
        left_out = f"; {found.bad_rows} bad rows were left out, listed beside it" if found.bad_rows else ""
        tell(f"scores: {found.output}, results: {found.result}{left_out}")

"""A run on a cluster: cut the input, count, sum, score, and add up; begun again, it does only what is missing."""

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
from monge.cluster.blocks import Block, Input, Staged, block_file, staged
from monge.cluster.engine import Engine, connecting
from monge.cluster.fitted import check_replay, statistics
from monge.cluster.folder import COUNT, SCORE, placed, read_json, write_json
from monge.cluster.job import Job, Recipe, check_scalable, faced_metrics, identity, readers
from monge.cluster.parts import check_format, join_parts
from monge.cluster.request import Outcome, Request, Watch
from monge.cluster.rounds import Run, done_with
from monge.errors import DataError, UsageError
from monge.render.checks import dumps
from monge.scoring.scan import InputSummary, warn_unused_references
from monge.scoring.suitable import check_first_segments, warn_unknown
from monge.scoring.summary import Summary, merge_summaries
from monge.types import Result, Segment

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer


def score(
    given: Input,
    recipe: Recipe,
    request: Request,
    *,
    corpora: api.Corpora = api.Corpora(),  # noqa: B008 - frozen
    engine: Engine = Engine(),  # noqa: B008 - frozen
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Outcome:
    """Score an input with the metrics of a recipe; the results are those of one machine.

    `corpora` are the statistics, or texts to fit them from, that do not come from the input.
    """
    check_format(request.form, texts=request.texts)
    if Path(recipe.model).exists():  # a worker has another working directory
        recipe = replace(recipe, model=str(Path(recipe.model).absolute()))
    with connecting(engine, recipe) as workers:
        recipe, metrics, corpora = _known(recipe, corpora)
        manifest = request.folder.opened(_settings(recipe, corpora, request, engine), fresh=request.fresh)
        cut = _staged(given, metrics, corpora, manifest, request, watch)
        metrics = faced_metrics(metrics, cut.looked.sides)
        check_first_segments(metrics, cut.looked.first, lambda texts, reader: reader.read(texts))
        warn_unused_references(metrics, cut.looked.sides)
        watch.began("start", 0)
        job = _job(recipe, request, cut.looked, given.names, engine.threads)
        run = Run(metrics, corpora, request, engine, job, cut, watch, workers)
        stats = statistics(run)
        check_replay(run, stats)
        workers.result()  # a Ray that does not come is an error, also where nothing is left to do
        done_with(replace(run, job=replace(job, what=SCORE, fitted=stats)))
    return _finished(run)


def _job(recipe: Recipe, request: Request, looked: InputSummary, names: Sequence[str], threads: int) -> Job:
    """What workers are told of the first pass."""
    about = {"form": request.form, "texts": request.texts, "seed": request.seed, "tolerant": request.tolerant}
    return Job("", recipe, str(request.folder.path), COUNT, looked, names, threads=threads, **about)  # type: ignore[arg-type]


def _known(recipe: Recipe, corpora: api.Corpora) -> tuple[Recipe, list[Scorer], api.Corpora]:
    """The recipe with what its metrics turned out to be, the metrics themselves, and the texts that idf comes from."""
    bound = recipe.bound()
    check_scalable(bound)
    where = {"model": recipe.model, "lang": recipe.lang, "device": recipe.device, "online": recipe.online}
    files: dict[str, Iterable[str]] = {}
    for name, spec in recipe.metrics:
        files.update(api.with_corpus(api.bind(name, spec, **where).scorer, corpora)[1])  # type: ignore[arg-type]
    if corpora.idf is not None and not any(one.idf_corpora for one in bound):
        raise UsageError("an idf corpus was given, but no metric of this run weighs by idf")
    named = replace(recipe, corpora=tuple(files), identities=tuple(map(identity, bound)))
    return named, bound, api.Corpora(corpora.stats, files)


def _settings(recipe: Recipe, corpora: api.Corpora, request: Request, engine: Engine) -> dict[str, Any]:
    """What must be the same when a run is begun again."""
    texts = {name: _digest("\n".join(some)) for name, some in corpora.files.items()}
    return {
        "monge": version("monge"),
        "metrics": recipe.labels,
        "settings and models": [_digest(one) for one in recipe.identities],
        "statistics": _digest(json.dumps(None if corpora.stats is None else corpora.stats.to_dict())),
        "corpora": texts,
        "format": request.form,
        "texts": request.texts,
        "seed of the interval": request.seed,
        "threads of a worker": engine.threads,
    }


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# --- the input -----------------------------------------------------------------------------------------------------


def _staged(
    given: Input,
    metrics: Sequence[Scorer],
    corpora: api.Corpora,
    manifest: dict[str, Any],
    request: Request,
    watch: Watch,
) -> Staged:
    """The input in blocks: as it was cut before, if it is the same, or cut now."""
    folder, known = request.folder, manifest.get("input")
    stamp = given.stamp
    if known is not None and stamp is not None and known["stamp"] == stamp:
        found = read_json(folder.index)
        if found is not None and _at_hand(request, cut := _index(found)):
            return cut
    watch.began("read", 0)
    bad: list[str] = []
    sides = {one.against for one in metrics}
    rows = given.located(bad.append if request.tolerant else None)
    first = next(rows, None)
    if first is None:
        raise DataError("there is nothing to score: no segments")
    if not (first[0].references and first[0].source is not None):
        sides = {"references" if first[0].references else "source"}
    fits = corpora.stats is None and any(one.fits for one in readers(metrics))
    side = next(iter(sides)) if len(sides) == 1 else None
    cut = staged(chain([first], rows), folder.new_blocks, side=side, firsts=fits)
    if known is not None and known["digest"] != cut.digest:
        folder.drop_new_blocks()
        raise UsageError(
            f"{folder.path} holds a run on another input ({known['rows']} rows, now {cut.rows}); "
            "-o another place, or --fresh to begin anew"
        )
    folder.take_new_blocks()
    write_json(folder.index, {**_indexed(cut), "bad": bad})
    about = {"stamp": stamp, "digest": cut.digest, "rows": cut.rows, "files": list(given.names)}
    folder.told({**manifest, "input": about})
    return cut


def _at_hand(request: Request, cut: Staged) -> bool:
    """Whether the blocks that are not done are there to be read."""
    return all(
        block_file(request.folder.blocks, one.number).is_file() or request.done(SCORE, one, read=True)
        for one in cut.blocks
    )


def _indexed(cut: Staged) -> dict[str, Any]:
    looked = {
        "systems": list(cut.looked.systems),
        "given": [[side, None if one is None else asdict(one)] for side, one in cut.looked.sides.items()],
        "first": [asdict(one) for one in cut.looked.first],
    }
    return {"looked": looked, "blocks": [asdict(one) for one in cut.blocks], "digest": cut.digest}


def _index(found: Mapping[str, Any]) -> Staged:
    def segment(one: Mapping[str, Any]) -> Segment:
        return Segment(**{**one, "references": tuple(one["references"])})

    looked = found["looked"]
    given = {side: None if one is None else segment(one) for side, one in looked["given"]}
    blocks = [Block(**one) for one in found["blocks"]]
    return Staged(
        InputSummary(looked["systems"], given, [segment(one) for one in looked["first"]]), blocks, found["digest"]
    )


# --- the results ---------------------------------------------------------------------------------------------------


def _finished(run: Run) -> Outcome:
    """Add up the records of all parts, and write the results."""
    folder, cut = run.folder, run.staged
    bad: list[dict[str, Any]] = [{"why": why} for why in (read_json(folder.index) or {"bad": []})["bad"]]

    def summaries() -> Iterator[Summary]:
        for record in folder.records(SCORE, len(cut.blocks)):
            bad.extend(record["bad"])
            yield from map(Summary.from_dict, record["sums"])

    found = merge_summaries(summaries())
    names = run.job.recipe.labels
    order = [(system, k) for system in cut.looked.systems for k in range(len(names)) if (system, names[k]) in found]
    sums = [found[system, names[k]] for system, k in order]
    if not sums:
        raise DataError(f"no row could be scored: {len(bad)} bad rows")
    warn_unknown(run.metrics, cast("list[Result]", sums), [])
    results = [
        one.to_result_dict(getattr(run.metrics[k], "pool", None)) for one, (_, k) in zip(sums, order, strict=True)
    ]
    shown = {"monge": version("monge"), "results": results, **({"bad_rows": len(bad)} if bad else {})}
    return _placed(run, results, dumps(shown) + "\n", bad)


def _placed(run: Run, results: Sequence[Mapping[str, Any]], text: str, bad: Sequence[Mapping[str, Any]]) -> Outcome:
    """Write the results, the rows that were left out and, where one file is wanted, that file."""
    folder, request = run.folder, run.request
    if not request.single:
        if bad:
            placed(folder.bad_rows, lambda place: place.write_text("".join(f"{dumps(one)}\n" for one in bad), "utf-8"))
        placed(folder.result, lambda place: place.write_text(text, "utf-8"))
        folder.finished()
        return Outcome(results, len(bad), folder.path, folder.result)
    target = Path(request.output)
    beside = {".result.json": text, ".bad-rows.jsonl": "".join(f"{dumps(one)}\n" for one in bad)}
    parts = [folder.part(one.number, request.form) for one in run.staged.blocks]
    placed(target, lambda place: join_parts([one for one in parts if one.exists()], place, request.form))
    for suffix, content in beside.items():
        if content:
            placed(target.with_suffix(suffix), partial(_write, content))
    folder.clear()
    return Outcome(results, len(bad), target, target.with_suffix(".result.json"))


def _write(content: str, place: Path) -> None:
    place.write_text(content, "utf-8")

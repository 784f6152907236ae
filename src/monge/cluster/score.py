"""A run on a cluster: cut the input, count, sum, score, and add up; begun again, it does only what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from monge import api
from monge.cluster.blocks import Block, Input, Staged, block_file, block_rows, staged
from monge.cluster.engine import Engine, connecting, each_done
from monge.cluster.folder import COUNT, SCORE, SUM, Folder, placed, read_json, write_json
from monge.cluster.job import Job, Recipe, check_scalable, faced_metrics, identity, readers
from monge.cluster.parts import check_format, join_parts
from monge.errors import DataError, MongeError, UsageError
from monge.render.checks import dumps
from monge.scoring.run import Expected, Looked, check_expected, warn_unused
from monge.scoring.suitable import check_known, look_at
from monge.scoring.summary import Summary, merged
from monge.types import CorpusStats, DocumentCounts, Result, Segment, VectorSum

if TYPE_CHECKING:
    from monge.scoring.scorer import Scorer, StatsBySystem

ATTEMPTS, DEATHS = 3, 4
"""How often a block is tried that fails, and one whose worker dies: Ray itself tries a task four times."""
SUFFIXES = {".parquet": "parquet", ".jsonl": "jsonl", ".tsv": "tsv"}


@dataclass(frozen=True)
class Request:
    """What is to be written, and where.

    output: a directory for the parts, or one file; form: the format of the parts; texts: whether texts stand beside
    scores; seed: of the intervals, None without them; tolerant: whether bad rows are left out and counted; fresh:
    whether what another run left is taken away; expect: for each metric what a replay must find again.
    """

    output: str | Path
    form: str = "parquet"
    texts: bool = False
    seed: int | None = None
    tolerant: bool = False
    fresh: bool = False
    expect: Expected | None = None

    @property
    def single(self) -> bool:
        """Whether all goes to one file."""
        return Path(self.output).suffix in SUFFIXES

    @property
    def folder(self) -> Folder:
        """The directory of the run."""
        return Folder(f"{self.output}.partial" if self.single else self.output)

    def done(self, what: str, block: Block, *, read: bool) -> bool:
        """Whether a pass has finished a block, without bad rows where none may be."""
        return self.folder.done(what, block.number, self.form, read=read, tolerant=self.tolerant)


@dataclass(frozen=True)
class Watch:
    """What a run tells while it goes on: a pass begins with so many rows to do, and what became of a block."""

    began: Callable[[str, int], None] = lambda what, rows: None
    told: Callable[[str, Mapping[str, Any]], None] = lambda what, told: None


@dataclass(frozen=True)
class Outcome:
    """The results, as JSON has them, how many rows were left out, and where all of it lies."""

    results: Sequence[Mapping[str, Any]]
    bad_rows: int
    output: Path
    result: Path


@dataclass(frozen=True)
class _Run:
    """A run that was staged: what every pass of it shares."""

    metrics: Sequence[Scorer]
    corpora: api.Corpora
    request: Request
    engine: Engine
    job: Job
    staged: Staged
    watch: Watch
    workers: int = 0

    @property
    def folder(self) -> Folder:
        return self.request.folder


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
    recipe, metrics, corpora = _known(recipe, corpora)
    folder = request.folder
    manifest = folder.opened(_settings(recipe, corpora, request, engine), fresh=request.fresh)
    about = {"form": request.form, "texts": request.texts, "seed": request.seed, "tolerant": request.tolerant}
    with connecting(engine, recipe) as workers:
        cut = _staged(given, metrics, corpora, manifest, request, watch)
        metrics = faced_metrics(metrics, cut.looked.given)
        look_at(metrics, cut.looked.first)
        warn_unused(metrics, cut.looked.given)
        job = Job("", recipe, str(folder.path), COUNT, cut.looked, given.names, threads=engine.threads, **about)  # type: ignore[arg-type]
        watch.began("start", 0)
        run = _Run(metrics, corpora, request, engine, job, cut, watch, workers())
        stats = _statistics(run)
        _check_replay(run, stats)
        _pass(replace(run, job=replace(job, what=SCORE, fitted=stats)))
    return _finished(run)


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
    cut = staged(chain([first], rows), folder.blocks, side=side, firsts=fits)
    if known is not None and known["digest"] != cut.digest:
        raise UsageError(
            f"{folder.path} holds a run on another input ({known['rows']} rows, now {cut.rows}); "
            "-o another place, or --fresh to begin anew"
        )
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
        "given": [[side, None if one is None else asdict(one)] for side, one in cut.looked.given.items()],
        "first": [asdict(one) for one in cut.looked.first],
    }
    return {"looked": looked, "blocks": [asdict(one) for one in cut.blocks], "digest": cut.digest}


def _index(found: Mapping[str, Any]) -> Staged:
    def segment(one: Mapping[str, Any]) -> Segment:
        return Segment(**{**one, "references": tuple(one["references"])})

    looked = found["looked"]
    given = {side: None if one is None else segment(one) for side, one in looked["given"]}
    blocks = [Block(**one) for one in found["blocks"]]
    return Staged(Looked(looked["systems"], given, [segment(one) for one in looked["first"]]), blocks, found["digest"])


# --- the passes ----------------------------------------------------------------------------------------------------


def _pass(run: _Run) -> None:
    """Have every block done that is not; a block that fails again and again is an error, or is lost and counted."""
    what, done = run.job.what, partial(run.request.done, run.job.what)
    run = replace(run, job=replace(run.job, name=f"{uuid4()}"))
    missing = [one for one in run.staged.blocks if not done(one, read=True)]
    lost = {} if what == COUNT else _lost_before(run, missing)
    missing = [one for one in missing if one.number not in lost]
    run.watch.began(what, sum(one.rows for one in missing))
    why: dict[int, str] = {}
    for _ in range(ATTEMPTS):
        if not missing:
            return
        heard = set()
        for told in each_done(run.job, missing, workers=run.workers):
            heard.add(told["block"])
            run.watch.told(what, told)
            if told["error"]:
                why[told["block"]] = told["error"]
            if told["error"] and told["data"] and not run.request.tolerant:
                raise DataError(told["error"])
        missing = [one for one in missing if not done(one, read=False)]
        for block in [one for one in missing if one.number not in heard]:
            _lose(run, block, f"its worker died {DEATHS} times")
            missing.remove(block)
    for block in missing:
        _lose(run, block, f"{why[block.number]}, {ATTEMPTS} times")


def _lose(run: _Run, block: Block, why: str) -> None:
    """Count the rows of a block as bad, or raise: what could not be done is named by file and line."""
    rows, names = block_rows(run.folder.blocks, block), run.job.names
    (_, file, line), (_, last_file, last_line) = rows[0], rows[-1]
    said = f"{names[file]}:{line} to {names[last_file]}:{last_line}: given up ({why})"
    if not run.request.tolerant:
        raise MongeError(f"{said}; what was done is kept in {run.folder.path}: the same command goes on from there")
    bad = [{"file": names[file], "line": line, "why": f"its block was given up: {why}"} for _, file, line in rows]
    write_json(run.folder.record(run.job.what, block.number), {"lost": True, "found": [], "sums": [], "bad": bad})


def _lost_before(run: _Run, blocks: Sequence[Block]) -> set[int]:
    """Blocks that an earlier pass has lost: they are lost to this one."""
    found = set()
    for block in blocks:
        earlier = [read_json(run.folder.record(what, block.number)) for what in (COUNT, SUM)]
        record = next((one for one in earlier if one is not None and one.get("lost")), None)
        if record is not None:
            write_json(run.folder.record(run.job.what, block.number), {**record, "sums": []})
            found.add(block.number)
    return found


def _statistics(run: _Run) -> list[StatsBySystem]:
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
    wanted = fit.wanted_of(vectors, systems, run.corpora)
    texts = partial(fit.texts_of_run, (), {(name, ""): some for name, some in run.corpora.files.items()},
                    fit.corpora_of(wanted))  # fmt: skip
    jobs, means = fit.count_jobs(wanted), fit.mean_jobs(wanted)
    counts: list[DocumentCounts] = list(fit.counted(jobs, texts).values())
    if jobs:
        _pass(run)
        counts = _added(run, COUNT, counts, DocumentCounts.from_dict)
    known = dict(zip(jobs, counts, strict=True))
    sums: list[VectorSum] = []
    if means:
        sums = list(fit.summed(means, fit.counted_stats(wanted, known), texts, Encoding(vectors)).values())
        _pass(replace(run, job=replace(run.job, what=SUM, counts=counts)))
        sums = _added(run, SUM, sums, VectorSum.from_dict)
    fitted = fit.joined(wanted, known, dict(zip(means, sums, strict=True)))
    found = fit.statistics_of(vectors, systems, run.corpora, fitted)
    distinct = {id(one): one for mine in found for one in mine.values()}
    places = {key: k for k, key in enumerate(distinct)}
    of = [[[system, places[id(one)]] for system, one in mine.items()] for mine in found]
    write_json(run.folder.statistics, {"statistics": [one.to_dict() for one in distinct.values()], "of": of})
    return found


def _added(run: _Run, what: str, begin: list[Any], read: Callable[[Mapping[str, Any]], Any]) -> list[Any]:
    """What a pass found in all blocks, added up in their order."""
    for record in run.folder.records(what, len(run.staged.blocks)):
        found = record["found"]
        begin = [one + read(each) for one, each in zip(begin, found, strict=True)] if found else begin
    return begin


def _check_replay(run: _Run, stats: Sequence[StatsBySystem]) -> None:
    """Raise where the statistics are not those that a signature names."""
    each = iter(stats)
    for k, metric in enumerate(run.metrics):
        mine = next(each) if metric.members[""].reads else {}
        for one in mine.values():
            signature = metric.signed(one)
            if run.request.expect is not None and signature is not None:
                check_expected(metric.name, run.request.expect[k], signature)


# --- the results ---------------------------------------------------------------------------------------------------


def _finished(run: _Run) -> Outcome:
    """Add up the records of all parts, and write the results."""
    folder, cut = run.folder, run.staged
    bad: list[dict[str, Any]] = [{"why": why} for why in (read_json(folder.index) or {"bad": []})["bad"]]

    def summaries() -> Iterator[Summary]:
        for record in folder.records(SCORE, len(cut.blocks)):
            bad.extend(record["bad"])
            yield from map(Summary.from_dict, record["sums"])

    found = merged(summaries())
    names = run.job.recipe.labels
    order = [(system, k) for system in cut.looked.systems for k in range(len(names)) if (system, names[k]) in found]
    sums = [found[system, names[k]] for system, k in order]
    if not sums:
        raise DataError(f"no row could be scored: {len(bad)} bad rows")
    check_known(run.metrics, cast("list[Result]", sums), cut.looked.first)
    results = [one.shown(getattr(run.metrics[k], "pool", None)) for one, (_, k) in zip(sums, order, strict=True)]
    shown = {"monge": version("monge"), "results": results, **({"bad_rows": len(bad)} if bad else {})}
    return _placed(run, results, dumps(shown) + "\n", bad)


def _placed(run: _Run, results: Sequence[Mapping[str, Any]], text: str, bad: Sequence[Mapping[str, Any]]) -> Outcome:
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

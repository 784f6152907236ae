"""`monge score --dry-run`: what a run would read, fit, encode and write, and how long it takes.

Nothing is scored, written or loaded: the input is read, the header of the model's file gives the
number of its parameters, and a product of two small matrices tells how fast this machine is.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from monge import api
from monge.cache.database import FILE
from monge.cli.option_groups import CacheOptions, ChosenMetric, SetupOptions
from monge.cli.printing import write_listing
from monge.encoders.packaged import STATIC, base_and_adapter, packaged, static_directory
from monge.metrics.axes import BatchCentre, CorpusCentre, Idf, Remap
from monge.metrics.blend import BlendSpec, ShareSum
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.plugins import PluginSpec
from monge.metrics.presets import Spec
from monge.types.table import STUDY_FORMATS, Listing, facts_sheet

if TYPE_CHECKING:
    from monge.cli.inputs import InputOptions, Rows
    from monge.cli.score import ScoreOutputOptions, StatisticsOptions

BYTES_A_PIECE = 4.5  # of UTF-8, for English with a vocabulary of 30,000 pieces
SPECIALS = 2  # pieces that a model puts around a text
SHARE = 0.8  # of the rate of matrix products that encoding reaches (docs/speed.md)
PAIRS_A_SECOND = 1500  # transport between the words of two sentences, a metric
LINES_A_SECOND = 3000  # a lexical metric
_HELD = "SELECT kind, COUNT(*) FROM entries WHERE kind != 'probe' GROUP BY kind"
STARTING = 4.0  # seconds to load the libraries and a small model


@dataclass(frozen=True)
class InputSize:
    """The size of an input: segments, systems, distinct texts, and about how many pieces."""

    segments: int
    systems: Sequence[str]
    texts: int
    pieces: int


def write_forecast(
    rows: Rows,
    metrics: Sequence[ChosenMetric],
    setup: SetupOptions,
    files: InputOptions,
    statistics: StatisticsOptions,
    output_options: ScoreOutputOptions,
    keep: CacheOptions,
) -> int:
    """Write what the run would do, as a table of facts, and return the exit code."""
    specs = [(metric.name, metric.spec) for metric in metrics]
    transports = [transport for _, spec in specs for transport in _transports(spec)]
    work = _measure_input(rows, {transport.against.name for transport in transports})
    model = setup.model_name if setup.lang is None else api.suited(setup.model_name, setup.lang)
    model_names = {transport.encoder.model for transport in transports}
    models = sorted({model if name == "auto" else name for name in model_names})
    facts = {
        "read": f"{', '.join(_files(files))}: {work.segments} segments of {len(work.systems)} "
        f"system(s)",
        "metrics": ", ".join(name for name, _ in specs),
        "model": "; ".join([*map(_describe_model, models), *_describe_adapters(transports)])
        or "none: the metrics compare words",
        "fit": _describe_fits(specs, statistics),
        "encode": f"{work.texts} distinct texts, about {work.pieces} pieces"
        if models
        else "nothing",
        "cache": _describe_cache(keep.folder),
        "write": "standard output" if output_options.output is None else output_options.output,
        "time": f"about {_duration(_seconds(work, specs, models))} on this machine, without what a "
        f"cache saves",
    }
    form = output_options.output_format if output_options.output_format in STUDY_FORMATS else "text"
    sheet = facts_sheet("dry run: nothing was scored or written", facts, ("", "what would be done"))
    write_listing(Listing({"dry_run": facts}, [sheet]), form)
    return 0


def _files(files: InputOptions) -> list[str]:
    paths = [files.table, *(files.hypotheses or ()), *(files.references or ()), files.source]
    return ["standard input" if path == "-" else path for path in paths if path is not None]


def _measure_input(rows: Rows, sides: set[str]) -> InputSize:
    """Count segments, systems and distinct texts in one pass; a text is remembered by eight bytes.

    `sides` are what metrics compare with: references, source or both; without references all take
    the source.
    """
    digests: set[bytes] = set()
    systems: dict[str, int] = {}
    size = 0
    for row in rows:
        systems[row.system] = systems.get(row.system, 0) + 1
        source = [row.source or ""] if "source" in sides or not row.references else []
        for text in (row.hypothesis, *(row.references if "references" in sides else ()), *source):
            data = text.encode("utf-8", "surrogatepass")
            key = blake2b(data, digest_size=8).digest()
            if key not in digests:
                digests.add(key)
                size += len(data)
    return InputSize(
        sum(systems.values()),
        list(systems),
        len(digests),
        round(size / BYTES_A_PIECE) + SPECIALS * len(digests),
    )


def _transports(spec: Spec) -> Iterator[MetricSpec]:
    """Yield the transport metrics that a metric consists of."""
    if isinstance(spec, MetricSpec):
        yield spec
    elif isinstance(spec, BlendSpec):
        yield from spec.transports.values()


def _describe_fits(specs: Sequence[tuple[str, Spec]], statistics: StatisticsOptions) -> str:
    """Describe what would be fitted on which texts."""
    if statistics.stats:
        return f"nothing: statistics come from {', '.join(statistics.stats)}"
    metrics_by_fit: dict[str, list[str]] = {}
    for name, spec in specs:
        for transport in _transports(spec):
            for fit in _needs(transport, statistics):
                metrics_by_fit.setdefault(fit, []).append(name)
        if isinstance(spec, BlendSpec) and isinstance(spec.formula, ShareSum):
            metrics_by_fit.setdefault("the range of its members", []).append(name)
    return (
        "; ".join(
            f"{fit} ({', '.join(dict.fromkeys(names))})" for fit, names in metrics_by_fit.items()
        )
        or "nothing"
    )


def _needs(spec: MetricSpec, statistics: StatisticsOptions) -> Iterator[str]:
    if isinstance(spec.weights, Idf):
        yield f"idf of {statistics.idf_corpus or spec.weights.corpus}"
    if isinstance(spec.centre, CorpusCentre):
        sides = {"joint": "the references", "separate": "either side", "both": "both sides"}
        yield f"mean vectors of {sides[spec.centre.sides]}"
    if isinstance(spec.centre, BatchCentre):
        yield f"mean vectors of every {spec.centre.size} segments"
    if isinstance(spec.centre, Remap):
        yield "a map between languages, which --stats must give"


def _describe_model(model: str) -> str:
    """Describe a model: its name, and its size where it is on this machine."""
    row, place = packaged(model), _place(model)
    base, adapter = base_and_adapter(model)
    if place is None:
        return f"{model} (word vectors, or not on this machine)"
    full_name = f"{row.name if row else base}{f'+{adapter}' if adapter else ''}"
    return f"{full_name} ({_parameters(place) / 1e6:.0f} million parameters, {place})"


def _describe_adapters(specs: Sequence[MetricSpec]) -> list[str]:
    """Return the adapters that metrics put into models without one."""
    names = dict.fromkeys(spec.adapter.name for spec in specs)
    return [f"adapter {name}, where the model has one" for name in names if name != "none"]


def _place(model: str) -> Path | None:
    """Return the directory of a model, or the file of a single-file one; None if it is not here."""
    row = packaged(model)
    if row is not None and row.path is not None:
        return row.path if row.whole else row.path.parent
    if model == STATIC:
        return static_directory()
    path = Path(base_and_adapter(model)[0]).expanduser()
    return path if path.is_dir() else None


def _parameters(place: Path, *, embeddings: bool = True) -> int:
    """Count the parameters from the header of each file: eight bytes of length, then JSON."""
    if place.is_file():  # 4 bits a weight in blocks of 18 bytes; a fifth of them are not embeddings
        return place.stat().st_size * 32 // 18 // (1 if embeddings else 5)
    count = 0
    for path in sorted(place.glob("*.safetensors")):
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        tensors = {
            name: tensor["shape"] for name, tensor in header.items() if name != "__metadata__"
        }
        count += sum(
            prod(shape) for name, shape in tensors.items() if embeddings or "embeddings" not in name
        )
    return count


def _describe_cache(folder: str | None) -> str:
    """Describe what a cache holds, without changing it."""
    if folder is None:
        return "none (--cache DIR keeps vectors and scores for the next run)"
    path = Path(folder) / FILE
    if not path.exists():
        return f"{folder}: nothing yet"
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
        ) as database:
            counts = database.execute(_HELD).fetchall()
    except sqlite3.DatabaseError as error:
        return f"{folder}: cannot be read ({error})"
    held = " and ".join(f"{count} {kind}" for kind, count in counts) or "nothing"
    return f"{folder}: holds {held}; what fits this run is not computed again"


def _seconds(work: InputSize, specs: Sequence[tuple[str, Spec]], models: Sequence[str]) -> float:
    """Estimate the seconds of loading, of encoding on this machine, and of scoring all pairs."""
    lexical = sum(isinstance(spec, LexicalSpec | PluginSpec) for _, spec in specs)
    transports = sum(1 for _, spec in specs for _ in _transports(spec))
    folders = [folder for folder in map(_place, models) if folder is not None]
    operations = sum(
        2.0 * _parameters(folder, embeddings=False) * work.pieces for folder in folders
    )
    encoding = operations / (_rate() * SHARE) if folders else 0.0
    scoring = work.segments * (transports / PAIRS_A_SECOND + lexical / LINES_A_SECOND)
    return (STARTING if models else 1.0) + encoding + scoring


def _rate(size: int = 768, times: int = 3) -> float:
    """Return operations per second of a single-precision matrix product: the best of a few."""
    matrix = np.ones((size, size), dtype=np.float32)
    best = 0.0
    for _ in range(times):
        began = time.perf_counter()
        matrix @ matrix
        best = max(best, 2.0 * size**3 / (time.perf_counter() - began))
    return best


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(round(seconds), 1)} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"

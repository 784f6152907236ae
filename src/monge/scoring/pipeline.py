"""Pass 2: segments -> scores, window by window, as a pure function of (segment, statistics, spec)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import lcm
from typing import Protocol, TypeVar, cast

import torch

from monge.encode.batching import Counters, Vectors
from monge.encode.protocol import Request
from monge.kernels.remap import linear_map
from monge.scoring import clouds
from monge.scoring.clouds import VANISHED, Placed, Text
from monge.scoring.fluency import fluencies, spoken
from monge.scoring.measure import Parts, measure, own_values
from monge.scoring.prepared import HYPOTHESES, REFERENCES, Prepared, Reader
from monge.scoring.references import combined
from monge.scoring.selections import Select, Selections
from monge.spec.axes import BatchCentre, Centre, SelfNormalised
from monge.store import Store
from monge.types import Cloud, CorpusStats, Segment, Tokens

WINDOW = 1024  # segments that share an encoding pass
PAIR_NUMBERS = 1 << 20  # vector entries of one side of a padded batch of pairs: what stays near the cores
BATCH_WORTH = 1 << 14  # entries of padding that cost as much as starting another batch


@dataclass(frozen=True, slots=True)
class SegmentScore:
    """One segment under one metric: its parts, the reference that won (-1: none alone), what was unusual."""

    parts: dict[str, float]
    winner: int
    flags: tuple[str, ...]


class Windows:
    """Reads texts once for all metrics of a run: pieces and vectors, shared by readers."""

    def __init__(self, metrics: Sequence[Prepared], store: Store | None = None) -> None:
        requests: dict[Reader, list[Request]] = {}
        for metric in metrics:
            wanted = requests.setdefault(metric.reader, [])
            if metric.request not in wanted:
                wanted.append(metric.request)
        self._vectors = {
            reader: Vectors(reader.encoder, wanted, longest=reader.longest, store=store)
            for reader, wanted in requests.items()
        }

    def pieces(self, texts: Sequence[str]) -> Pieces:
        """Pieces of distinct texts, for every reader."""
        return {reader: dict(zip(texts, reader.read(texts), strict=True)) for reader in self._vectors}

    def read(self, texts: Sequence[str], pieces: Pieces | None = None) -> dict[Reader, Read]:
        """Pieces and vectors of distinct texts, for every reader; `pieces` where they have been made already."""
        found: dict[Reader, Read] = {}
        for reader, cut in (self.pieces(texts) if pieces is None else pieces).items():
            tokens = [cut[text] for text in texts]
            vectors = self._vectors[reader].of(tokens)
            found[reader] = dict(zip(texts, zip(tokens, vectors, strict=True), strict=True))
        return found

    def forget(self) -> None:
        """Let go of the vectors of all texts."""
        for vectors in self._vectors.values():
            vectors.forget()

    @property
    def counters(self) -> Counters:
        """Work done so far, over all readers."""
        each = [vectors.counters for vectors in self._vectors.values()]
        return Counters(*(sum(getattr(one, name) for one in each) for name in ("texts", "encoded", "pieces")))


Pieces = Mapping[Reader, Mapping[str, Tokens]]
Read = Mapping[str, tuple[Tokens, Mapping[Request, torch.Tensor]]]
StatsOf = Callable[[Prepared, str], CorpusStats]


class Recall(Protocol):
    """Scores a window in place of `score_window`, from what it remembers."""

    missed: bool  # whether the last window had pairs that it did not remember

    def __call__(self, rows: Sequence[Segment], pieces: Pieces | None) -> list[list[SegmentScore]]:
        """For each metric, the scores of the rows."""
        ...


def score_segments(
    metrics: Sequence[Prepared],
    segments: Iterable[Segment],
    stats: StatsOf,
    windows: Windows,
    *,
    window: int = WINDOW,
    recall: Recall | None = None,
) -> Iterator[tuple[list[int], list[Segment], list[list[SegmentScore]]]]:
    """Scores a window at a time: positions in the input, the segments, and for each metric their scores.

    While a window is scored, the next one is cut into pieces, unless `recall` seems to remember it.
    """
    block = lcm(1, *(m.spec.centre.size for m in metrics if isinstance(m.spec.centre, BatchCentre)))

    def pieces_of(rows: Sequence[Segment]) -> Pieces | None:
        return windows.pieces(distinct(rows)) if recall is None or recall.missed else None

    for (positions, rows), pieces in ahead((one, pieces_of(one[1])) for one in windowed(segments, window, block)):
        if recall is not None:
            yield positions, rows, recall(rows, pieces)
        else:
            yield positions, rows, score_window(metrics, rows, stats, windows, pieces)


T = TypeVar("T")


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The items, each made in a thread of its own while the one before it is in use; errors come in their turn."""
    with ThreadPoolExecutor(1, "ahead") as maker:
        source, end = iter(items), object()
        waiting = maker.submit(next, source, end)
        while (item := waiting.result()) is not end:
            waiting = maker.submit(next, source, end)
            yield cast(T, item)


def windowed(segments: Iterable[Segment], size: int, block: int) -> Iterator[tuple[list[int], list[Segment]]]:
    """Windows of about `size` segments with their positions; `block` consecutive segments of a system stay together."""
    waiting: dict[str, list[tuple[int, Segment]]] = {}
    ready: list[tuple[int, Segment]] = []
    for position, segment in enumerate(segments):
        mine = waiting.setdefault(segment.system, [])
        mine.append((position, segment))
        if len(mine) == block:
            ready.extend(mine)
            waiting[segment.system] = []
        if len(ready) >= size:
            yield [p for p, _ in ready], [s for _, s in ready]
            ready = []
    ready.extend(one for mine in waiting.values() for one in mine)
    if ready:
        yield [p for p, _ in ready], [s for _, s in ready]


def distinct(rows: Iterable[Segment]) -> list[str]:
    """The texts of some rows, each once."""
    return list(dict.fromkeys(text for row in rows for text in (row.hypothesis, *row.references)))


def score_window(
    metrics: Sequence[Prepared],
    rows: Sequence[Segment],
    stats: StatsOf,
    windows: Windows,
    pieces: Pieces | None = None,
) -> list[list[SegmentScore]]:
    """For each metric, the scores of the rows, from one reading of their distinct texts."""
    read = windows.read(distinct(rows), pieces)
    selections = Selections(metrics)
    results = []
    for metric in metrics:
        made = _Clouds(metric, read[metric.reader], rows, stats, selections.by(metric))
        rule, higher = metric.spec.references.name, metric.raw.higher_is_better
        likely = fluencies(metric, [row.hypothesis for row in rows])
        scores = []
        for index, parts in enumerate(_scores(metric, rows, made)):
            merged, winner = combined(parts, rule, higher_is_better=higher)
            merged = spoken(metric, merged, likely, rows[index].hypothesis)
            merged = metric.scaled(merged, stats(metric, rows[index].system))
            scores.append(SegmentScore(merged, winner, made.flags(index)))
        results.append(scores)
    return results


def texts_of(metric: Prepared, segment: Segment, stats: CorpusStats, windows: Windows) -> tuple[Placed, Placed]:
    """A segment's hypothesis and first reference, ready to be padded."""
    read = windows.read(list(dict.fromkeys((segment.hypothesis, *segment.references))))
    made = _Clouds(metric, read[metric.reader], [segment], lambda *_: stats, Selections([metric]).by(metric))
    return made.hypothesis(0), made.references(0)[0]


class _Clouds:
    """The texts of a window under one metric; equal texts under equal statistics are made once."""

    def __init__(self, metric: Prepared, read: Read, rows: Sequence[Segment], stats: StatsOf, select: Select) -> None:
        self._metric, self._read, self._rows, self._select = metric, read, rows, select
        self._stats = {system: stats(metric, system) for system in dict.fromkeys(row.system for row in rows)}
        self._weigh = {
            (system, side): metric.weigher(one, side)
            for system, one in self._stats.items()
            for side in (REFERENCES, HYPOTHESES)
        }
        self._raw: dict[tuple[str, str], Text] = {}
        self._done: dict[tuple[str, str], Placed] = {}
        self._means: dict[tuple[str, str], torch.Tensor] = {}
        self.vanished: set[Placed] = set()
        self._batch: dict[int, dict[str, torch.Tensor]] = {}
        self._batches()

    def hypothesis(self, index: int) -> Placed:
        row = self._rows[index]
        return self._text(row.hypothesis, HYPOTHESES, index)

    def references(self, index: int) -> list[Placed]:
        return [self._text(text, REFERENCES, index) for text in self._rows[index].references]

    def flags(self, index: int) -> tuple[str, ...]:
        """What was unusual about the texts of a row, with the side it was on."""
        sides = [(self.hypothesis(index), "hypothesis"), *((one, "reference") for one in self.references(index))]
        return tuple(dict.fromkeys(f"{flag}-{side}" for placed, side in sides for flag in self._unusual(placed)))

    def _unusual(self, placed: Placed) -> tuple[str, ...]:
        text = placed.text
        named = (("empty", text.empty), ("truncated", text.truncated), (VANISHED, placed in self.vanished))
        return (*(name for name, there in named if there), *text.flags)

    def _scope(self, side: str, index: int) -> str:
        """Texts of one scope share statistics: all of a run, or a side and system where its own are fitted."""
        metric = self._metric
        per_side = HYPOTHESES in (*metric.counted_sides, *metric.summed_sides) or metric.map_space is not None
        return f"{side}\t{self._rows[index].system if side == HYPOTHESES else ''}" if per_side else ""

    def _build(self, text: str, side: str, index: int) -> Text:
        key = self._scope(side, index), text
        if key not in self._raw:
            tokens, vectors = self._read[text]
            weigh = self._weigh[self._rows[index].system, side]
            units = self._select(tokens)
            self._raw[key] = clouds.build(tokens, vectors[self._metric.request], self._metric, weigh, units)
        return self._raw[key]

    def _text(self, text: str, side: str, index: int) -> Placed:
        batched = isinstance(self._metric.spec.centre, BatchCentre)
        scope = f"{id(self._batch[index])}\t{side}" if batched else self._scope(side, index)
        if (scope, text) not in self._done:
            placed = Placed(self._build(text, side, index), self._mean(side, index), self._turn(side, index))
            self._done[scope, text] = placed
        return self._done[scope, text]

    def _mean(self, side: str, index: int) -> torch.Tensor | None:
        metric, system = self._metric, self._rows[index].system
        if isinstance(metric.spec.centre, BatchCentre):
            return self._batch[index][side]
        if not metric.summed_sides:
            return None
        if (system, side) not in self._means:
            self._means[system, side] = torch.from_numpy(metric.mean(self._stats[system], side).mean)
        return self._means[system, side]

    def _turn(self, side: str, index: int) -> torch.Tensor | None:
        """The map of the source's vectors, which stand on the reference side."""
        metric, system = self._metric, self._rows[index].system
        if metric.map_space is None or side == HYPOTHESES:
            return None
        if (system, "map") not in self._means:
            total = torch.from_numpy(self._stats[system].maps[metric.map_space].total)
            self._means[system, "map"] = linear_map(total, metric.spec.centre.name)
        return self._means[system, "map"]

    def _batches(self) -> None:
        """Mean vectors of every batch of consecutive segments of a system, a side each (or joint)."""
        centre = self._metric.spec.centre
        if not isinstance(centre, BatchCentre):
            return
        systems: dict[str, list[int]] = {}
        for index, row in enumerate(self._rows):
            systems.setdefault(row.system, []).append(index)
        for indices in systems.values():
            for start in range(0, len(indices), centre.size):
                members = indices[start : start + centre.size]
                sides = {
                    HYPOTHESES: [self._build(self._rows[i].hypothesis, HYPOTHESES, i) for i in members],
                    REFERENCES: [self._build(t, REFERENCES, i) for i in members for t in self._rows[i].references],
                }
                if centre.sides == "joint":
                    sides = {side: [*sides[HYPOTHESES], *sides[REFERENCES]] for side in sides}
                means = {side: _mean_of(texts) for side, texts in sides.items()}
                self._batch.update(dict.fromkeys(members, means))


def _mean_of(texts: Sequence[Text]) -> torch.Tensor:
    vectors = [text.vectors for text in texts if not text.empty]
    return torch.cat(vectors).double().mean(0) if vectors else torch.zeros(1, dtype=torch.float64)


Pair = tuple[int, int, Placed, Placed]


def _scores(metric: Prepared, rows: Sequence[Segment], made: _Clouds) -> list[list[dict[str, float]]]:
    """Parts of every row against each of its references."""
    scores: list[list[dict[str, float]]] = [[{} for _ in row.references] for row in rows]
    whole: list[Pair] = []
    empty: list[Pair] = []
    for i in range(len(rows)):
        hypothesis = made.hypothesis(i)
        for j, reference in enumerate(made.references(i)):
            missing = hypothesis.text.empty + reference.text.empty
            if missing == 1 and metric.raw.worst is None:
                nothing = clouds.origin(reference if hypothesis.text.empty else hypothesis)
                whole.append((i, j, nothing, reference) if hypothesis.text.empty else (i, j, hypothesis, nothing))
            else:
                (empty if missing else whole).append((i, j, hypothesis, reference))
    own = _own(metric, whole, made) if isinstance(metric.spec.readout, SelfNormalised) else None
    names: list[str] = []
    places: dict[tuple[Placed, Placed], list[tuple[int, int]]] = {}
    for i, j, hypothesis, reference in whole:  # equal pairs are measured once, so that they are equal to the bit
        places.setdefault((hypothesis, reference), []).append((i, j))
    for batch in batched([(*where[0], *pair) for pair, where in places.items()]):
        sides = [[pair[2] for pair in batch], [pair[3] for pair in batch]]
        mine = (_gather(own, sides[0]), _gather(own, sides[1])) if own is not None else None
        hypotheses, references = (_padded(side, metric, made) for side in sides)
        parts = measure(hypotheses, references, metric.spec, mine)
        names = list(parts)
        for (_, _, *pair), values in zip(
            batch, zip(*(parts[name].tolist() for name in names), strict=True), strict=True
        ):
            for i, j in places[pair[0], pair[1]]:
                scores[i][j] = dict(zip(names, values, strict=True))
    for i, j, hypothesis, reference in empty:
        both = hypothesis.text.empty and reference.text.empty
        scores[i][j] = extreme(metric, names or part_names(metric), both=both)
    return scores


def _padded(texts: Sequence[Placed], metric: Prepared, made: _Clouds) -> Cloud:
    cloud, vanished = clouds.padded(texts, metric.spec, clouds.steps(max(map(len, texts))))
    made.vanished.update(texts[index] for index in vanished)
    return cloud


def part_names(metric: Prepared) -> list[str]:
    """The parts a metric gives, found by measuring a unit vector against itself."""
    one, _ = clouds.padded([Placed(Text(torch.ones(1, 1), (1.0,)))], replace(metric.spec, centre=Centre("none")))
    return list(measure(one, one, metric.spec))


def extreme(metric: Prepared, names: Sequence[str], *, both: bool) -> dict[str, float]:
    """Parts of a pair with an empty text: the best where both are, otherwise the declared worst."""
    value = metric.raw.best if both else metric.raw.worst
    assert value is not None
    return {name: (1.0 if both else 0.0) if name == "mass" else value for name in names}


def batched(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Pairs of similar size: those padded to the same shape, joined where that costs less than another batch."""
    shapes: dict[tuple[int, int], list[Pair]] = {}
    for pair in pairs:
        shapes.setdefault((clouds.steps(len(pair[2])), clouds.steps(len(pair[3]))), []).append(pair)
    batch: list[Pair] = []
    n = m = 0
    for rows, columns in sorted(shapes):
        group = shapes[rows, columns]
        wider, longer = max(n, rows), max(m, columns)
        waste = (wider * longer - n * m) * len(batch) + (wider * longer - rows * columns) * len(group)
        if batch and waste > BATCH_WORTH:
            yield from _cut(batch, max(n, m))
            batch, wider, longer = [], rows, columns
        batch, n, m = [*batch, *group], wider, longer
    yield from _cut(batch, max(n, m))


def _cut(pairs: Sequence[Pair], longest: int) -> Iterator[list[Pair]]:
    """Pairs of a shape in batches that fit PAIR_NUMBERS."""
    if pairs:
        size = max(PAIR_NUMBERS // (longest * pairs[0][2].text.vectors.shape[1]), 1)
        for start in range(0, len(pairs), size):
            yield list(pairs[start : start + size])


def _own(metric: Prepared, pairs: Sequence[Pair], made: _Clouds) -> dict[Placed, dict[str, float]]:
    """Self-values of every distinct text among the pairs."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[2:]))
    found: dict[Placed, dict[str, float]] = {}
    for batch in batched([(0, 0, text, text) for text in texts]):
        members = [pair[2] for pair in batch]
        parts = own_values(_padded(members, metric, made), metric.spec)
        values = {name: column.tolist() for name, column in parts.items()}
        found.update({text: {name: values[name][k] for name in values} for k, text in enumerate(members)})
    return found


def _gather(own: dict[Placed, dict[str, float]], texts: Sequence[Placed]) -> Parts:
    return {name: torch.tensor([own[text][name] for text in texts], dtype=torch.float64) for name in own[texts[0]]}

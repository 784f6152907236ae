"""Pass 2: segments -> scores, window by window, as a pure function of (segment, statistics, spec)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
import torch

from monge.encode.batching import Counters, Vectors
from monge.encode.protocol import Request
from monge.scoring import clouds
from monge.scoring.clouds import Text
from monge.scoring.measure import Parts, measure, own_values
from monge.scoring.prepared import HYPOTHESES, REFERENCES, Prepared, Reader
from monge.scoring.references import combined
from monge.spec.parts import BatchCentre, SelfNormalised
from monge.types import Array, CorpusStats, Segment, Tokens

WINDOW = 1024  # segments that share an encoding pass
PAIR_NUMBERS = 1 << 21  # vector entries of one side of a padded batch of pairs


@dataclass(frozen=True, slots=True)
class SegmentScore:
    """One segment under one metric: its parts, the reference that won (-1: none alone), what was unusual."""

    parts: dict[str, float]
    winner: int
    flags: tuple[str, ...]


class Windows:
    """Reads texts once for all metrics of a run: pieces and vectors, shared by readers."""

    def __init__(self, metrics: Sequence[Prepared]) -> None:
        requests: dict[Reader, list[Request]] = {}
        for metric in metrics:
            wanted = requests.setdefault(metric.reader, [])
            if metric.request not in wanted:
                wanted.append(metric.request)
        self._vectors = {
            reader: Vectors(reader.encoder, wanted, longest=reader.longest) for reader, wanted in requests.items()
        }

    def read(self, texts: Sequence[str]) -> dict[Reader, Read]:
        """Pieces and vectors of distinct texts, for every reader."""
        found: dict[Reader, Read] = {}
        for reader, vectors in self._vectors.items():
            tokens = reader.read(texts)
            found[reader] = dict(zip(texts, zip(tokens, vectors.of(tokens), strict=True), strict=True))
        return found

    @property
    def counters(self) -> Counters:
        """Work done so far, over all readers."""
        each = [vectors.counters for vectors in self._vectors.values()]
        return Counters(*(sum(getattr(one, name) for one in each) for name in ("texts", "encoded", "pieces")))


Read = Mapping[str, tuple[Tokens, Mapping[Request, torch.Tensor]]]
StatsOf = Callable[[Prepared, str], CorpusStats]


def score_segments(
    metrics: Sequence[Prepared], segments: Iterable[Segment], stats: StatsOf, windows: Windows, *, window: int = WINDOW
) -> Iterator[tuple[list[int], list[Segment], list[list[SegmentScore]]]]:
    """Scores a window at a time: positions in the input, the segments, and for each metric their scores."""
    block = lcm(1, *(m.spec.centre.size for m in metrics if isinstance(m.spec.centre, BatchCentre)))
    for positions, rows in windowed(segments, window, block):
        yield positions, rows, score_window(metrics, rows, stats, windows)


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


def score_window(
    metrics: Sequence[Prepared], rows: Sequence[Segment], stats: StatsOf, windows: Windows
) -> list[list[SegmentScore]]:
    """For each metric, the scores of the rows, from one reading of their distinct texts."""
    texts = list(dict.fromkeys(text for row in rows for text in (row.hypothesis, *row.references)))
    read = windows.read(texts)
    results = []
    for metric in metrics:
        made = _Clouds(metric, read[metric.reader], rows, stats)
        rule, higher = metric.spec.references.name, metric.bounds.higher_is_better
        scores = []
        for index, parts in enumerate(_scores(metric, rows, made)):
            merged, winner = combined(parts, rule, higher_is_better=higher)
            scores.append(SegmentScore(merged, winner, _flags(made.hypothesis(index), made.references(index))))
        results.append(scores)
    return results


def _flags(hypothesis: Text, references: Sequence[Text]) -> tuple[str, ...]:
    """What was unusual about the texts of a segment, with the side it was on."""
    found = dict.fromkeys(f"{flag}-hypothesis" for flag in _text_flags(hypothesis))
    found.update(dict.fromkeys(f"{flag}-reference" for text in references for flag in _text_flags(text)))
    return tuple(found)


def _text_flags(text: Text) -> tuple[str, ...]:
    flags = (*(("empty",) if text.empty else ()), *(("truncated",) if text.truncated else ()))
    return (*flags, *text.flags) if flags or text.flags else ()


def texts_of(metric: Prepared, segment: Segment, stats: CorpusStats, windows: Windows) -> tuple[Text, Text]:
    """The centred clouds of a segment's hypothesis and first reference."""
    read = windows.read(list(dict.fromkeys((segment.hypothesis, *segment.references))))
    made = _Clouds(metric, read[metric.reader], [segment], lambda *_: stats)
    return made.hypothesis(0), made.references(0)[0]


class _Clouds:
    """The centred clouds of a window under one metric; equal texts under equal statistics are made once."""

    def __init__(self, metric: Prepared, read: Read, rows: Sequence[Segment], stats: StatsOf) -> None:
        self._metric, self._read, self._rows = metric, read, rows
        self._stats = {system: stats(metric, system) for system in dict.fromkeys(row.system for row in rows)}
        self._weigh = {
            (system, side): metric.weigher(one, side)
            for system, one in self._stats.items()
            for side in (REFERENCES, HYPOTHESES)
        }
        self._raw: dict[tuple[str, str], Text] = {}
        self._done: dict[tuple[str, str], Text] = {}
        self._batch: dict[int, dict[str, torch.Tensor]] = {}
        self._batches()

    def hypothesis(self, index: int) -> Text:
        row = self._rows[index]
        return self._text(row.hypothesis, HYPOTHESES, index)

    def references(self, index: int) -> list[Text]:
        return [self._text(text, REFERENCES, index) for text in self._rows[index].references]

    def _scope(self, side: str, index: int) -> str:
        """Texts of one scope share statistics: all of a run, or a side and system where its own are fitted."""
        metric = self._metric
        per_side = HYPOTHESES in metric.counted_sides or HYPOTHESES in metric.summed_sides
        return f"{side}\t{self._rows[index].system if side == HYPOTHESES else ''}" if per_side else ""

    def _build(self, text: str, side: str, index: int) -> Text:
        key = self._scope(side, index), text
        if key not in self._raw:
            tokens, vectors = self._read[text]
            weigh = self._weigh[self._rows[index].system, side]
            self._raw[key] = clouds.build(tokens, vectors[self._metric.request], self._metric, weigh)
        return self._raw[key]

    def _text(self, text: str, side: str, index: int) -> Text:
        metric = self._metric
        batched = isinstance(metric.spec.centre, BatchCentre)
        scope = f"{id(self._batch[index])}\t{side}" if batched else self._scope(side, index)
        if (scope, text) not in self._done:
            raw = self._build(text, side, index)
            self._done[scope, text] = raw if raw.empty else clouds.centred(
                raw, metric.spec.centre, metric.spec.normalise, self._mean(side, index)
            )  # fmt: skip
        return self._done[scope, text]

    def _mean(self, side: str, index: int) -> torch.Tensor | None:
        metric = self._metric
        if isinstance(metric.spec.centre, BatchCentre):
            return self._batch[index][side]
        if metric.summed_sides:
            return torch.from_numpy(metric.mean(self._stats[self._rows[index].system], side).mean)
        return None

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
    return torch.cat(vectors).mean(0) if vectors else torch.zeros(1, dtype=torch.float64)


def _scores(metric: Prepared, rows: Sequence[Segment], made: _Clouds) -> list[list[dict[str, Array]]]:
    """Parts of every row against each of its references."""
    pairs = [(i, j, made.hypothesis(i), text) for i in range(len(rows)) for j, text in enumerate(made.references(i))]
    scores: list[list[dict[str, Array]]] = [[{} for _ in row.references] for row in rows]
    whole: list[tuple[int, int, Text, Text]] = []
    empty: list[tuple[int, int, Text, Text]] = []
    for pair in pairs:
        _, _, hypothesis, reference = pair
        if not (hypothesis.empty or reference.empty):
            whole.append(pair)
        elif metric.bounds.worst is None and not (hypothesis.empty and reference.empty):
            other = reference if hypothesis.empty else hypothesis
            stand_in = clouds.origin(other)
            whole.append(
                (*pair[:2], stand_in if hypothesis.empty else hypothesis, stand_in if reference.empty else reference)
            )
        else:
            empty.append(pair)
    own = _own(metric, whole) if isinstance(metric.spec.readout, SelfNormalised) else None
    names: list[str] = []
    for batch in _batched(whole):
        mine = (_gather(own, [p[2] for p in batch]), _gather(own, [p[3] for p in batch])) if own is not None else None
        parts = measure(clouds.padded([p[2] for p in batch]), clouds.padded([p[3] for p in batch]), metric.spec, mine)
        names = list(parts)
        table = {name: values.numpy() for name, values in parts.items()}
        for k, (i, j, _, _) in enumerate(batch):
            scores[i][j] = {name: values[k] for name, values in table.items()}
    for i, j, hypothesis, reference in empty:
        both = hypothesis.empty and reference.empty
        scores[i][j] = extreme(metric, names or part_names(metric), both=both)
    return scores


def part_names(metric: Prepared) -> list[str]:
    """The parts a metric gives, found by measuring a unit vector against itself."""
    one = Text(torch.ones(1, 1, dtype=torch.float64), torch.ones(1, dtype=torch.float64), ("",), (), False, 0)
    return list(measure(clouds.padded([one]), clouds.padded([one]), metric.spec))


def extreme(metric: Prepared, names: Sequence[str], *, both: bool) -> dict[str, Array]:
    """Parts of a pair with an empty text: the best where both are, otherwise the declared worst."""
    value = metric.bounds.best if both else metric.bounds.worst
    assert value is not None
    mass = 1.0 if both else 0.0
    return {name: np.float64(mass if name == "mass" else value) for name in names}  # type: ignore[misc]


def _batched(pairs: Sequence[tuple[int, int, Text, Text]]) -> Iterator[list[tuple[int, int, Text, Text]]]:
    """Pairs of similar size, so that little of a padded batch is padding."""
    ordered = sorted(pairs, key=lambda p: (len(p[2].weights), len(p[3].weights)))
    batch: list[tuple[int, int, Text, Text]] = []
    longest = 0
    for pair in ordered:
        size = max(longest, len(pair[2].weights), len(pair[3].weights))
        if batch and size * pair[2].vectors.shape[1] * (len(batch) + 1) > PAIR_NUMBERS:
            yield batch
            batch, size = [], max(len(pair[2].weights), len(pair[3].weights))
        batch.append(pair)
        longest = size
    if batch:
        yield batch


def _own(metric: Prepared, pairs: Sequence[tuple[int, int, Text, Text]]) -> dict[Text, dict[str, float]]:
    """Self-values of every distinct text among the pairs."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[2:]))
    found: dict[Text, dict[str, float]] = {}
    for batch in _batched([(0, 0, text, text) for text in texts]):
        members = [pair[2] for pair in batch]
        parts = {name: values.tolist() for name, values in own_values(clouds.padded(members), metric.spec).items()}
        for k, text in enumerate(members):
            found[text] = {name: values[k] for name, values in parts.items()}
    return found


def _gather(own: dict[Text, dict[str, float]], texts: Sequence[Text]) -> Parts:
    names = own[texts[0]]
    return {name: torch.tensor([own[text][name] for text in texts], dtype=torch.float64) for name in names}

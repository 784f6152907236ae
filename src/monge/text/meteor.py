"""METEOR: unigram precision and recall of an alignment, less a penalty for its fragmentation.

    F = P R / (alpha P + (1 - alpha) R),   score = F (1 - gamma (chunks / matches) ** beta)

with alpha .9, beta 3, gamma .5 (Lavie & Agarwal 2007, the formula of nltk; the language-tuned
weights and the paraphrase tables of METEOR 1.5 are not used). Words match exactly, then by Porter
stem, then by synonym.

Alignments: `fewest-chunks` takes, among the alignments with the most exact matches and then the
most matches, one with the fewest chunks (a beam search, as in METEOR 1.5; ties go to the least
displacement). `greedy` takes words from the end, each to the last free match, as nltk does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

Match = tuple[int, int]  # positions in hypothesis and reference
Synonyms = Callable[[str], frozenset[str]]

BEAM, BRANCHES = 40, 12


@dataclass(frozen=True, slots=True)
class Meteor:
    """The METEOR score of a pair, and its components."""

    score: float
    precision: float
    recall: float
    matches: int
    chunks: int


@dataclass(frozen=True, slots=True)
class MeteorScorer:
    """METEOR with its settings; `stem` may be the identity, `synonyms` may be None."""

    stem: Callable[[str], str]
    synonyms: Synonyms | None = None
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    alignment: str = "fewest-chunks"

    def score(self, hypothesis: Sequence[str], reference: Sequence[str]) -> Meteor:
        """Score tokenised texts; 0 where nothing matches."""
        matches = self.align(hypothesis, reference)
        if not matches:
            return Meteor(0.0, 0.0, 0.0, 0, 0)
        precision, recall = len(matches) / len(hypothesis), len(matches) / len(reference)
        chunks = count_chunks(matches)
        mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty = self.gamma * (chunks / len(matches)) ** self.beta
        return Meteor(mean * (1 - penalty), precision, recall, len(matches), chunks)

    def align(self, hypothesis: Sequence[str], reference: Sequence[str]) -> list[Match]:
        """Return matched positions in the order of the hypothesis."""
        if self.alignment == "greedy":
            matches = _match_last_free(
                hypothesis, reference, _positions(hypothesis), _positions(reference)
            )
            stems = (
                [self.stem(word) for word in hypothesis],
                [self.stem(word) for word in reference],
            )
            matches += _match_last_free(
                *stems, *_unmatched_positions(matches, hypothesis, reference)
            )
        else:
            matches = _Alignment(hypothesis, reference, self.stem).fewest_chunks()
        if self.synonyms is not None:
            matches += self._match_synonyms(
                hypothesis, reference, *_unmatched_positions(matches, hypothesis, reference)
            )
        return sorted(matches)

    def _match_synonyms(
        self,
        hypothesis: Sequence[str],
        reference: Sequence[str],
        rows: list[int],
        columns: list[int],
    ) -> list[Match]:
        matches, free = [], set(columns)
        for i in reversed(rows):
            same = (self.synonyms(hypothesis[i]) if self.synonyms else frozenset()) | {
                hypothesis[i]
            }
            j = max((j for j in free if reference[j] in same), default=None)
            if j is not None:
                matches.append((i, j))
                free.discard(j)
        return matches


def count_chunks(matches: Sequence[Match]) -> int:
    """Count runs of matches that are adjacent on both sides, in hypothesis order."""
    return sum(
        index == 0 or (i - 1, j - 1) != matches[index - 1] for index, (i, j) in enumerate(matches)
    )


def _positions(words: Sequence[str]) -> list[int]:
    return list(range(len(words)))


def _unmatched_positions(
    matches: list[Match], hypothesis: Sequence[str], reference: Sequence[str]
) -> tuple[list[int], list[int]]:
    rows, columns = {i for i, _ in matches}, {j for _, j in matches}
    return [i for i in _positions(hypothesis) if i not in rows], [
        j for j in _positions(reference) if j not in columns
    ]


def _match_last_free(
    hypothesis: Sequence[str], reference: Sequence[str], rows: list[int], columns: list[int]
) -> list[Match]:
    places: dict[str, list[int]] = defaultdict(list)
    for j in columns:
        places[reference[j]].append(j)
    return [(i, places[hypothesis[i]].pop()) for i in reversed(rows) if places.get(hypothesis[i])]


@dataclass(frozen=True, slots=True)
class _Path:
    """A partial alignment: its last match and the path before; `used` is a bit set of positions.

    `spent` counts, per word or stem, the choices that are limited.
    """

    chunks: int
    displacement: int
    last: Match | None
    before: _Path | None
    used: int
    spent: Mapping[tuple[str, str], int]

    def rank(self) -> tuple[int, int]:
        return self.chunks, self.displacement

    def matches(self) -> list[Match]:
        matches, path = [], self
        while path.last is not None and path.before is not None:
            matches.append(path.last)
            path = path.before
        return matches[::-1]


class _Alignment:
    """The search for the fewest chunks among the alignments with all possible matches.

    How many words must match exactly, by stem, or not at all is known beforehand from counts, so a
    path may only make choices that still allow these numbers, and every path of the beam ends with
    the same matches in number.
    """

    def __init__(
        self, hypothesis: Sequence[str], reference: Sequence[str], stem: Callable[[str], str]
    ) -> None:
        """Count what can match."""
        self.hypothesis, self.reference = hypothesis, reference
        self.stems = {word: stem(word) for word in {*hypothesis, *reference}}
        rows, columns = Counter(hypothesis), Counter(reference)
        self.budget = {("hypothesis", word): rows[word] - columns[word] for word in rows}
        self.budget |= {("reference", word): columns[word] - rows[word] for word in columns}
        by_stem = [Counter(self.stems[word] for word in words) for words in (hypothesis, reference)]
        self.budget |= {
            ("skip", word_stem): by_stem[0][word_stem] - by_stem[1][word_stem]
            for word_stem in by_stem[0]
        }
        self.places: dict[str, list[int]] = defaultdict(list)
        for j, word in enumerate(reference):
            self.places[self.stems[word]].append(j)

    def fewest_chunks(self) -> list[Match]:
        """Return the matches of the best path."""
        beam = [_Path(0, 0, None, None, 0, {})]
        for i, word in enumerate(self.hypothesis):
            if self.stems[word] in self.places:
                grown = [path for before in beam for path in self._steps(before, i)]
                beam = sorted(grown, key=_Path.rank)[:BEAM]
        return beam[0].matches()

    def _steps(self, path: _Path, i: int) -> list[_Path]:
        word = self.hypothesis[i]
        stem = self.stems[word]
        row, skip = ("hypothesis", word), ("skip", stem)
        inexact = self._allows(path, row)
        follows = path.last[1] + 1 if path.last and path.last[0] == i - 1 else -1
        free = [
            j
            for j in self.places[stem]
            if not path.used >> j & 1
            and (
                self.reference[j] == word
                or (inexact and self._allows(path, ("reference", self.reference[j])))
            )
        ]
        if len(free) > BRANCHES:
            free = sorted(free, key=lambda j: (j != follows, abs(i - j)))[:BRANCHES]
        steps = [self._extend(path, i, j, follows) for j in free]
        if inexact and self._allows(path, skip):
            steps.append(replace(path, spent=_spend(path.spent, row, skip)))
        return steps

    def _allows(self, path: _Path, choice: tuple[str, str]) -> bool:
        return path.spent.get(choice, 0) < self.budget[choice]

    def _extend(self, path: _Path, i: int, j: int, follows: int) -> _Path:
        word, reference_word = self.hypothesis[i], self.reference[j]
        spent = (
            path.spent
            if word == reference_word
            else _spend(path.spent, ("hypothesis", word), ("reference", reference_word))
        )
        chunks, displacement = path.chunks + (j != follows), path.displacement + abs(i - j)
        return _Path(chunks, displacement, (i, j), path, path.used | 1 << j, spent)


def _spend(
    spent: Mapping[tuple[str, str], int], *choices: tuple[str, str]
) -> Mapping[tuple[str, str], int]:
    return {**spent, **{choice: spent.get(choice, 0) + 1 for choice in choices}}

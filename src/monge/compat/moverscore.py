"""MoverScore's calls, release 1: `get_idf_dict`, `word_mover_score`, `sentence_score`, `corpus_score`, `plot_example`.

    from moverscore import get_idf_dict, word_mover_score  ->  from monge.compat.moverscore import …
    from moverscore_v2 import …                            ->  from monge.compat.moverscore_v2 import …

The metric is `moverscore@v1` (bigrams with n_gram=2), or `moverscore@v2`. Nothing is loaded at import. The model is
`model=`, else the environment variable MOVERSCORE_MODEL, as in release 2, else the embedded one. `batch_size` and
`nthreads` are taken and change nothing.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from monge.api import Corpora, Metric, load, score_segments, segments_of
from monge.compat.heatmap import draw
from monge.compat.peers import PeerEOFError, PeerValueError, raising
from monge.compat.prepared_idf import IdfTable, prepared
from monge.errors import ModelError, Unused, UsageError
from monge.text import stopwords
from monge.types import CorpusStats

Table = Mapping[int, float]


@dataclass(frozen=True)
class Release:
    """A release of MoverScore: its profile; `plain` where it knows neither n-grams nor whole subwords (release 2)."""

    metric: str
    plain: bool = False

    def get_idf_dict(self, arr: Iterable[str], nthreads: int = 4, *, model: str | None = None) -> IdfTable:
        """The idf of every piece in these texts: a dictionary by piece number, ln(N+1) for pieces it does not hold."""
        with raising(PeerValueError):
            fitted = self._load({"weights.corpus": "references"}, None, model).fit(list(arr))
        return IdfTable(fitted.counts["references"])

    def word_mover_score(
        self,
        refs: Sequence[str],
        hyps: Sequence[str],
        idf_dict_ref: Table,
        idf_dict_hyp: Table,
        stop_words: Iterable[str] = (),
        n_gram: int = 1,
        remove_subwords: bool = True,
        batch_size: int = 256,
        device: str | None = None,
        *,
        model: str | None = None,
    ) -> list[float]:
        """The score of every pair, in order.

        An idf dictionary is one of `get_idf_dict`, or gives 1.0 for every piece: equal weights.
        """
        with raising(PeerValueError), _listed(stop_words) as words:
            settings = {"units.stopwords": words, **self._cut(n_gram, remove_subwords)}
            equal = [_equal(one) for one in (idf_dict_ref, idf_dict_hyp)]
            if any(equal) != all(equal):
                raise UsageError("one idf dictionary weighs all pieces alike, the other does not; give two of a kind")
            if all(equal):
                settings["weights"] = "uniform"
            metric = self._load(settings, device, model)
            stats: CorpusStats | None = None
            if not all(equal):
                reader = metric.by_transport("score").reader.key
                stats = prepared(reader, references=idf_dict_ref, hypotheses=idf_dict_hyp)
            (found,) = score_segments([metric], segments_of(hyps, refs), corpora=Corpora(stats))
        return list(map(float, found.segments))

    def sentence_score(
        self, hypothesis: str, references: Sequence[str], trace: int = 0, *, model: str | None = None
    ) -> float:
        """The mean score of a hypothesis over its references, with equal weights."""
        return self._means([hypothesis], [list(references)], model)[0]

    def corpus_score(
        self,
        sys_stream: str | Iterable[str],
        ref_streams: str | Sequence[Iterable[str]],
        trace: int = 0,
        *,
        model: str | None = None,
    ) -> float:
        """The mean of `sentence_score` over a corpus; every reference stream has a reference a hypothesis."""
        hypotheses = [sys_stream] if isinstance(sys_stream, str) else list(sys_stream)
        streams = [[ref_streams]] if isinstance(ref_streams, str) else [list(one) for one in ref_streams]
        for number, stream in enumerate(streams, 1):
            if len(stream) != len(hypotheses):
                raise PeerEOFError(f"{len(hypotheses)} hypotheses, but reference stream {number} has {len(stream)}")
        return float(np.mean(self._means(hypotheses, [list(row) for row in zip(*streams, strict=True)], model)))

    def _means(self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], model: str | None) -> list[float]:
        settings = {"weights": "uniform", **self._cut(1, remove_subwords=self.plain)}
        with raising(PeerValueError):
            return list(map(float, self._load(settings, None, model).score(hypotheses, references).segments))

    def plot_example(
        self,
        is_flow: bool,
        reference: str,
        translation: str,
        device: str | None = None,
        *,
        model: str | None = None,
        fname: str = "",
    ) -> None:
        """Draw the mass moved between the pieces of two texts (`is_flow`), or 1 - the cost; to `fname`, if given."""
        every = {"weights": "uniform", "units.subwords": "all", "units.punctuation": "keep"}
        with raising(PeerValueError):
            shown = self._load(every, device, model).explain(translation, reference)
        values = shown.plans["plan"].T if is_flow else 1 - shown.cost.T
        draw(
            values,
            rows=(shown.reference.units, "Human Reference"),
            columns=(shown.hypothesis.units, "System Translation"),
            title="Flow Matrix" if is_flow else "Similarity Matrix",
            file=fname,
            top=float(values.max()),
        )

    def _cut(self, n_gram: int, remove_subwords: bool) -> dict[str, str]:
        """The settings of n-grams and subwords; release 2 has neither, and says so (its code ignores both)."""
        if not isinstance(n_gram, int) or n_gram < 1:
            raise UsageError(f"n_gram takes a whole number from 1, got {n_gram!r}")
        if not self.plain:
            return {"units.ngram": str(n_gram), "units.subwords": "first" if remove_subwords else "all"}
        for name, given, does in (("n_gram", n_gram, 1), ("remove_subwords", remove_subwords, True)):
            if given != does:
                said = (
                    f"MoverScore's release 2 computes {name}={does} whatever is asked, {given} here; release 1 has it"
                )
                warnings.warn(said, Unused, stacklevel=4)
        return {}

    def _load(self, settings: Mapping[str, str], device: str | None, model: str | None) -> Metric:
        named = model or os.environ.get("MOVERSCORE_MODEL") or "auto"
        try:
            return load(self.metric, model=named, device=device or "auto", settings=settings)
        except ModelError as error:  # nothing is fetched here
            raise ModelError(str(error).replace(", or --online to fetch it", "")) from None


def _equal(table: Table) -> bool:
    """Whether a dictionary gives 1.0 for every piece."""
    make = getattr(table, "default_factory", None)
    return make is not None and make() == 1 and all(value == 1 for value in table.values())


@contextmanager
def _listed(words: Iterable[str]) -> Iterator[str]:
    """The name of a stopword list: none, a shipped one, or a file that holds the words for as long as it is needed."""
    wanted = frozenset(word.lower() for word in words)
    known = next((name for name in stopwords.names() if stopwords.load(name) == wanted), "none" if not wanted else "")
    if known:
        yield known
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "stop_words"
        file.write_text(" " + " ".join(sorted(wanted)), "utf-8")  # a line that begins with # would be a comment
        yield str(file)


RELEASE_1 = Release("moverscore@v1")
get_idf_dict = RELEASE_1.get_idf_dict
word_mover_score = RELEASE_1.word_mover_score
sentence_score = RELEASE_1.sentence_score
corpus_score = RELEASE_1.corpus_score
plot_example = RELEASE_1.plot_example

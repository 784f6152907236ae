"""MoverScore's calls, release 1: `word_mover_score`, `sentence_score`, `corpus_score` and others.

    from moverscore import get_idf_dict, word_mover_score  ->  from monge.compat.moverscore import …
    from moverscore_v2 import …                            ->  from monge.compat.moverscore_v2
                                                           import …

The metric is `moverscore@v1` (bigrams with n_gram=2), or `moverscore@v2`. Nothing is loaded at
import. The model is `model=`, else the environment variable MOVERSCORE_MODEL, as in release 2, else
the embedded one. `batch_size` and `nthreads` are accepted and ignored.
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
from monge.compat.peers import PeerEOFError, PeerValueError, raise_as
from monge.compat.prepared_idf import IdfTable, prepare_idf
from monge.errors import ModelError, Unused, UsageError
from monge.text import stopwords
from monge.types import CorpusStats

Table = Mapping[int, float]


@dataclass(frozen=True)
class Release:
    """A release of MoverScore; `plain` if it has no n-grams and no option for subwords."""

    metric: str
    plain: bool = False

    def get_idf_dict(
        self, arr: Iterable[str], nthreads: int = 4, *, model: str | None = None
    ) -> IdfTable:
        """Return the idf of every piece, by piece number; ln(N+1) for pieces not in the texts."""
        with raise_as(PeerValueError):
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
        """Return the score of every pair, in order.

        An idf dictionary is one of `get_idf_dict`, or gives 1.0 for every piece: equal weights.
        """
        with raise_as(PeerValueError), _stopword_list(stop_words) as words:
            settings = {"units.stopwords": words, **self._unit_settings(n_gram, remove_subwords)}
            uniform = [_is_uniform(table) for table in (idf_dict_ref, idf_dict_hyp)]
            if any(uniform) != all(uniform):
                raise UsageError(
                    "one idf dictionary weighs all pieces alike, the other does not; give two of a "
                    "kind"
                )
            if all(uniform):
                settings["weights"] = "uniform"
            metric = self._load(settings, device, model)
            stats: CorpusStats | None = None
            if not all(uniform):
                reader = metric.by_transport("score").reader.key
                stats = prepare_idf(reader, references=idf_dict_ref, hypotheses=idf_dict_hyp)
            (result,) = score_segments([metric], segments_of(hyps, refs), corpora=Corpora(stats))
        return list(map(float, result.segments))

    def sentence_score(
        self,
        hypothesis: str,
        references: Sequence[str],
        trace: int = 0,
        *,
        model: str | None = None,
    ) -> float:
        """Return the mean score of a hypothesis over its references, with equal weights."""
        return self._score_means([hypothesis], [list(references)], model)[0]

    def corpus_score(
        self,
        sys_stream: str | Iterable[str],
        ref_streams: str | Sequence[Iterable[str]],
        trace: int = 0,
        *,
        model: str | None = None,
    ) -> float:
        """Return the mean of `sentence_score`; a stream has one reference per hypothesis."""
        hypotheses = [sys_stream] if isinstance(sys_stream, str) else list(sys_stream)
        streams = (
            [[ref_streams]]
            if isinstance(ref_streams, str)
            else [list(stream) for stream in ref_streams]
        )
        for number, stream in enumerate(streams, 1):
            if len(stream) != len(hypotheses):
                raise PeerEOFError(
                    f"{len(hypotheses)} hypotheses, but reference stream {number} has {len(stream)}"
                )
        return float(
            np.mean(
                self._score_means(
                    hypotheses, [list(row) for row in zip(*streams, strict=True)], model
                )
            )
        )

    def _score_means(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], model: str | None
    ) -> list[float]:
        settings = {"weights": "uniform", **self._unit_settings(1, remove_subwords=self.plain)}
        with raise_as(PeerValueError):
            return list(
                map(float, self._load(settings, None, model).score(hypotheses, references).segments)
            )

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
        """Draw the mass moved between two texts (`is_flow`), or 1 - cost; to `fname`, if given."""
        settings = {"weights": "uniform", "units.subwords": "all", "units.punctuation": "keep"}
        with raise_as(PeerValueError):
            explanation = self._load(settings, device, model).explain(translation, reference)
        values = explanation.plans["plan"].T if is_flow else 1 - explanation.cost.T
        draw(
            values,
            rows=(explanation.reference.units, "Human Reference"),
            columns=(explanation.hypothesis.units, "System Translation"),
            title="Flow Matrix" if is_flow else "Similarity Matrix",
            file=fname,
            top=float(values.max()),
        )

    def _unit_settings(self, n_gram: int, remove_subwords: bool) -> dict[str, str]:
        """Return the settings of n-grams and subwords; warn in release 2, which ignores both."""
        if not isinstance(n_gram, int) or n_gram < 1:
            raise UsageError(f"n_gram takes a whole number from 1, got {n_gram!r}")
        if not self.plain:
            return {
                "units.ngram": str(n_gram),
                "units.subwords": "first" if remove_subwords else "all",
            }
        for name, value, computed in (
            ("n_gram", n_gram, 1),
            ("remove_subwords", remove_subwords, True),
        ):
            if value != computed:
                message = (
                    f"MoverScore's release 2 computes {name}={computed} whatever is asked, {value} "
                    "here; release 1 has it"
                )
                warnings.warn(message, Unused, stacklevel=4)
        return {}

    def _load(self, settings: Mapping[str, str], device: str | None, model: str | None) -> Metric:
        model_name = model or os.environ.get("MOVERSCORE_MODEL") or "auto"
        try:
            return load(self.metric, model=model_name, device=device or "auto", settings=settings)
        except ModelError as error:  # nothing is fetched here
            raise ModelError(str(error).replace(", or --online to fetch it", "")) from None


def _is_uniform(table: Table) -> bool:
    """Return whether a dictionary gives 1.0 for every piece."""
    make = getattr(table, "default_factory", None)
    return make is not None and make() == 1 and all(value == 1 for value in table.values())


@contextmanager
def _stopword_list(words: Iterable[str]) -> Iterator[str]:
    """Yield the name of a stopword list: `none`, a shipped list, or a temporary file."""
    lowered = frozenset(word.lower() for word in words)
    list_name = next(
        (name for name in stopwords.names() if stopwords.load(name) == lowered),
        "none" if not lowered else "",
    )
    if list_name:
        yield list_name
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "stop_words"
        # a space in front, because a line that begins with # would be a comment
        file.write_text(" " + " ".join(sorted(lowered)), "utf-8")
        yield str(file)


RELEASE_1 = Release("moverscore@v1")
get_idf_dict = RELEASE_1.get_idf_dict
word_mover_score = RELEASE_1.word_mover_score
sentence_score = RELEASE_1.sentence_score
corpus_score = RELEASE_1.corpus_score
plot_example = RELEASE_1.plot_example

"""bert-score's calls: `score`, `BERTScorer`, `plot_example`, and its command.

    from bert_score import score              ->  from monge.compat.bert_score import score
    bert-score -r refs.txt -c hyps.txt        ->  python -m monge.compat.bert_score -r refs.txt -c
                                              hyps.txt

Same parameters, shapes and dtypes, and the numbers of bert-score 0.3.13: the metric is
`bertscore@release`. The differences are listed in docs/migration.md: the hash is monge's signature,
nothing is fetched unless `online=True`, a missing baseline is an error. `batch_size`, `nthreads`
and `use_fast_tokenizer` are accepted and ignored.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from monge.api import Corpora, Metric, load, score_segments, segments_of
from monge.compat.heatmap import draw
from monge.compat.peers import PeerAssertionError, PeerValueError, raise_as
from monge.compat.prepared_idf import prepare_idf
from monge.datasets.lines import is_there, read_lines
from monge.datasets.lists import reference_lists
from monge.datasets.rows import Rows
from monge.errors import MongeError, StatisticsMismatch, UsageError
from monge.types import CorpusStats, PartSums, Result

if TYPE_CHECKING:
    import torch

__all__ = ["BERTScorer", "plot_example", "score"]

METRIC = "bertscore@release"
PARTS = ("precision", "recall", "f1")
MODELS = {
    "en": "roberta-large",
    "zh": "bert-base-chinese",
    "tr": "dbmdz/bert-base-turkish-cased",
    "en-sci": "allenai/scibert_scivocab_uncased",
}
"""Language -> the default model of bert-score."""
OTHER_MODEL = "bert-base-multilingual-cased"
Tensors = tuple["torch.Tensor", "torch.Tensor", "torch.Tensor"]
Refs = Sequence[str] | Sequence[Sequence[str]]
Idf = bool | CorpusStats | Mapping[int, float]


def score(
    cands: Sequence[str],
    refs: Refs,
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,
    idf: Idf = False,
    device: object = None,
    batch_size: int = 64,
    nthreads: int = 4,
    all_layers: bool = False,
    lang: str | None = None,
    return_hash: bool = False,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,
    *,
    online: bool = False,
) -> Any:
    """Return precision, recall and F1, each a float32 tensor [N], or [layers, N].

    `idf` is True (fitted on `refs`), a dictionary of bert-score's `get_idf_dict`, or statistics of
    `monge.fit`. With `return_hash` the result is ((P, R, F), signature). `online` lets a model be
    fetched from the hub.
    """
    scorer = BERTScorer(
        model_type, num_layers, batch_size, nthreads, all_layers, bool(idf), None, device, lang,
        rescale_with_baseline, baseline_path, use_fast_tokenizer, online=online,
    )  # fmt: skip
    with raise_as(PeerAssertionError):
        _check(len(cands) == len(refs), f"{len(cands)} candidates but {len(refs)} references")
    scorer.weigh(idf, refs)
    return scorer.score(cands, refs, verbose, batch_size, return_hash)


class BERTScorer:
    """A scorer that keeps its model loaded, like bert-score's class of this name.

    `online` lets a model be fetched from the hub; `max_length` is the number of pieces read of a
    text, by default all that the model can.
    """

    def __init__(
        self,
        model_type: str | None = None,
        num_layers: int | Literal["last"] | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,
        idf: bool = False,
        idf_sents: Iterable[str] | None = None,
        device: object = None,
        lang: str | None = None,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,
        *,
        online: bool = False,
        max_length: int | None = None,
    ) -> None:
        """Load the model; with `idf` and `idf_sents` fit the idf weights."""
        if lang is None:
            with raise_as(PeerAssertionError):
                _check(model_type is not None, "Either lang or model_type should be specified")
                _check(not rescale_with_baseline, "rescale_with_baseline needs lang")
        self.lang, self.idf, self.num_layers = lang, bool(idf), num_layers
        self.all_layers, self.batch_size, self.nthreads = all_layers, batch_size, nthreads
        self.use_fast_tokenizer = use_fast_tokenizer
        self.rescale_with_baseline, self.baseline_path = rescale_with_baseline, baseline_path
        usual_model = MODELS.get(str(lang).lower(), OTHER_MODEL)
        self.model_type = usual_model if model_type is None else str(model_type)
        self._length = {} if max_length is None else {"encoder.max_length": str(max_length)}
        self._device, self._online = "auto" if device is None else str(device), online
        self._idf: CorpusStats | None = None
        with raise_as(PeerAssertionError, of=UsageError):
            self._metrics = self._load_metrics()
        if not all_layers:
            self.num_layers = _layer(self._metrics[0])
        with raise_as(PeerValueError):
            self._baselines = self._read_baselines()
        if idf and idf_sents is not None:
            self.compute_idf(idf_sents)

    def _load(self, layer: int | str | None, **settings: str) -> Metric:
        model_options = {"model": self.model_type, "device": self._device, "online": self._online}
        return load(METRIC, layers=layer, settings=self._length | settings, **model_options)  # type: ignore[arg-type]

    def _load_metrics(self) -> list[Metric]:
        """Load the metric at its layer, or at every layer of the model."""
        settings = {"weights": "idf"} if self.idf else {}
        if self.rescale_with_baseline:
            settings["scale"] = f"baseline,lang={str(self.lang).lower()}"
        first = self._load(self.num_layers, **settings)
        depth = first.by_transport("score").reader.encoder.depth
        return [self._load(k, **settings) for k in range(depth + 1)] if self.all_layers else [first]

    def _read_baselines(self) -> CorpusStats | None:
        """Read the user's baselines `LAYER,P,R,F`, one row per layer; raise if one is missing."""
        if not self.rescale_with_baseline:
            return None
        if self.baseline_path is None:
            for metric in self._metrics:
                if metric.by_transport("rescale").scaling.baseline(CorpusStats("")) is None:
                    raise StatisticsMismatch(
                        f"Baseline not found for {self.model_type}, layer {_layer(metric)}, on "
                        f"{self.lang}; fit one with monge fit --baseline, or give baseline_path"
                    )
            return None
        rows = Rows(self.baseline_path, "csv")
        table = {
            int(rows.number(row, "LAYER")): [rows.number(row, column) for column in "PRF"]
            for row in rows
        }
        baselines = {}
        for metric in self._metrics:
            layer = _layer(metric)
            if layer not in table:
                raise StatisticsMismatch(
                    f"{self.baseline_path}: no row for layer {layer} (it has {sorted(table)})"
                )
            parts = dict(zip(PARTS, table[layer], strict=True))
            key = self._load(layer).by_transport("rescale").identity.pair
            baselines[key] = PartSums({**parts, "score": parts["f1"]}, 1, 0)
        return CorpusStats(self._reader, baselines=baselines)

    @property
    def layers(self) -> int:
        """The number of layers that are scored: 1, or with all_layers all and the embeddings."""
        return len(self._metrics)

    @property
    def _reader(self) -> str:
        return self._metrics[0].by_transport("score").reader.key

    def compute_idf(self, sents: Iterable[str]) -> None:
        """Fit the idf weights on these texts."""
        with raise_as(PeerValueError):
            if not self.idf:
                raise UsageError("compute_idf: the scorer was made without idf=True")
            self._idf = self._metrics[0].fit(list(sents))

    def take_idf(self, idf: CorpusStats | Mapping[int, float]) -> None:
        """Use idf weights fitted before: monge's statistics, or those of `get_idf_dict`."""
        with raise_as(PeerValueError):
            self._idf = (
                idf if isinstance(idf, CorpusStats) else prepare_idf(self._reader, references=idf)
            )

    def weigh(self, idf: Idf, refs: Refs) -> None:
        """Set the weights: True fits idf on `refs`, False means equal weights, else use `idf`."""
        if idf is True:
            self.compute_idf(
                [text for row in refs for text in ([row] if isinstance(row, str) else row)]
            )
        elif not isinstance(idf, bool):
            self.take_idf(idf)

    @property
    def _stats(self) -> CorpusStats | None:
        available = [stats for stats in (self._idf, self._baselines) if stats is not None]
        return (
            available[0] | available[1]
            if len(available) == 2
            else available[0]
            if available
            else None
        )

    @property
    def hash(self) -> str:
        """The signature: everything that the scores depend on, the fitted idf included."""
        with raise_as(PeerAssertionError):
            _check(
                not self.idf or self._idf is not None,
                "idf weights are not computed: call compute_idf(sents)",
            )
        return str(self._metrics[0].scorer.signed(self._stats or CorpusStats(self._reader)))

    def score(
        self,
        cands: Sequence[str],
        refs: Refs,
        verbose: bool = False,
        batch_size: int = 64,
        return_hash: bool = False,
    ) -> Any:
        """Return precision, recall and F1, each a float32 tensor [N] or [layers, N]."""
        results = self.results(cands, refs, verbose=verbose)
        tensors = _tensors(results, all_layers=self.all_layers)
        return (tensors, str(results[0].signature)) if return_hash else tensors

    def results(self, cands: Sequence[str], refs: Refs, *, verbose: bool = False) -> list[Result]:
        """Return monge's results, one per layer, in float64, with flags and signature."""
        with raise_as(PeerAssertionError):
            _check(
                not self.idf or self._idf is not None,
                "idf weights are not computed: call compute_idf(sents)",
            )
            segments = segments_of(cands, refs)
        start = time.perf_counter()
        with raise_as(PeerValueError):
            results = score_segments(self._metrics, segments, corpora=Corpora(self._stats))
        if verbose:
            took = time.perf_counter() - start
            sys.stderr.write(
                f"done in {took:.2f} seconds, {len(segments) / took:.2f} sentences/sec\n"
            )
        return results

    def plot_example(self, candidate: str, reference: str, fname: str = "") -> None:
        """Draw the similarity of the pieces of two texts; to `fname`, if given."""
        with raise_as(PeerAssertionError):
            for text in (candidate, reference):
                _check(isinstance(text, str), f"expected a text (str), got {type(text).__name__}")
        metric = self._load(self.num_layers, **{"units.specials": "drop"})
        explanation = metric.explain(candidate, reference)
        similarity, title = explanation.similarity, "Similarity Matrix"
        if self.rescale_with_baseline:
            scaled = next(
                scaled_metric
                for scaled_metric in self._metrics
                if _layer(scaled_metric) == _layer(metric)
            ).by_transport("rescale")
            base = (scaled.scaling.baseline(self._baselines or CorpusStats("")) or {"f1": 0.0})[
                "f1"
            ]
            similarity, title = (similarity - base) / (1 - base), f"{title} (after Rescaling)"
        draw(
            similarity,
            rows=(explanation.hypothesis.units, "Candidate (tokenized)"),
            columns=(explanation.reference.units, "Reference (tokenized)"),
            title=title,
            file=fname,
        )

    def __repr__(self) -> str:
        identity = (
            self.hash if self._idf is not None or not self.idf else f"{METRIC}, idf not computed"
        )
        return (
            f"BERTScorer(hash={identity}, batch_size={self.batch_size}, nthreads={self.nthreads})"
        )


def plot_example(
    candidate: str,
    reference: str,
    model_type: str | None = None,
    num_layers: int | None = None,
    lang: str | None = None,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,
    fname: str = "",
    *,
    online: bool = False,
) -> None:
    """Draw the similarity of the pieces of two texts; to `fname`, if given."""
    settings = {
        "rescale_with_baseline": rescale_with_baseline,
        "baseline_path": baseline_path,
        "online": online,
    }
    BERTScorer(model_type, num_layers, lang=lang, **settings).plot_example(  # type: ignore[arg-type]
        candidate, reference, fname
    )


def _tensors(results: Sequence[Result], *, all_layers: bool) -> Tensors:
    import torch

    stacked = (
        np.stack([result.parts[part] for result in results]).astype(np.float32) for part in PARTS
    )
    p, r, f = (
        torch.from_numpy(part_scores if all_layers else part_scores[0]) for part_scores in stacked
    )
    return p, r, f


def _layer(metric: Metric) -> int:
    return int(metric.by_transport("score").spec.layers.at)


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise PeerAssertionError(message)


# --- the command
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _CommandInput:
    """Candidates and references of a command line: files, or one text and its references."""

    cands: list[str]
    refs: list[list[str]]


def _read_input(cand: str, refs: Sequence[str], *, idf: bool) -> _CommandInput:
    if is_there(cand):
        cands = [line.strip() for line in read_lines(cand)]
        columns = [[line.strip() for line in read_lines(path)] for path in refs]
        for name, column in zip(refs, columns, strict=True):
            _check(
                len(column) == len(cands),
                f"{name} has {len(column)} lines, {cand} has {len(cands)}",
            )
        return _CommandInput(cands, [list(row) for row in zip(*columns, strict=True)])
    _check(
        not any(map(is_there, refs)),
        f"candidate file {cand} does not exist, though the references are files",
    )
    _check(not idf, "idf of a single pair of sentences is not defined: give files")
    reference_lists([list(refs)], 1)
    return _CommandInput([cand], [list(refs)])


def _make_parser() -> argparse.ArgumentParser:
    """Return the parser of bert-score's options."""
    parser = argparse.ArgumentParser(
        "python -m monge.compat.bert_score", description="Calculate BERTScore"
    )
    parser.add_argument("--lang", help="two-letter language code, or en-sci for scientific text")
    parser.add_argument("-m", "--model", help="model name or directory")
    parser.add_argument(
        "-l", "--num_layers", type=int, help="layer of the model; by default the published one"
    )
    parser.add_argument("-b", "--batch_size", type=int, default=64, help="taken, changes nothing")
    parser.add_argument(
        "--nthreads", type=int, default=4, help="taken, changes nothing (OMP_NUM_THREADS does)"
    )
    parser.add_argument(
        "--idf", action="store_true", help="weigh words by their idf in the references"
    )
    parser.add_argument(
        "--rescale_with_baseline",
        action="store_true",
        help="rescale so that 0 is what random pairs get",
    )
    parser.add_argument("--baseline_path", help="a CSV file of baselines: LAYER,P,R,F")
    parser.add_argument("--use_fast_tokenizer", action="store_true", help="taken, changes nothing")
    parser.add_argument(
        "-s", "--seg_level", action="store_true", help="show the scores of every pair"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say how long it took")
    parser.add_argument("-r", "--ref", nargs="+", required=True, help="reference files, or texts")
    parser.add_argument("-c", "--cand", required=True, help="candidate file, or text")
    parser.add_argument(
        "--online", action="store_true", help="fetch the model from the hub where it is not here"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run bert-score's command; errors are one line."""
    args = _make_parser().parse_args(arguments)
    try:
        texts = _read_input(args.cand, args.ref, idf=args.idf)
        parts, signature = score(
            texts.cands, texts.refs, args.model, args.num_layers, args.verbose, args.idf, None,
            args.batch_size,
            args.nthreads, False, args.lang, True, args.rescale_with_baseline, args.baseline_path,
            online=args.online,
        )  # fmt: skip
    except MongeError as error:
        sys.stderr.write(f"bert-score (monge): {' '.join(str(error).split())}\n")
        return error.exit_code
    means = (float(part.mean()) for part in parts)
    mean_texts = " ".join(
        f"{name}: {mean:.6f}" for name, mean in zip(("P", "R", "F1"), means, strict=True)
    )
    sys.stdout.write(f"{signature} {mean_texts}\n")
    if args.seg_level:
        for row in zip(*(part.tolist() for part in parts), strict=True):
            sys.stdout.write("\t".join(f"{value:.6f}" for value in row) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

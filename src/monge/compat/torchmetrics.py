"""Metrics for torchmetrics, whose texts or scores are gathered over processes.

    from torchmetrics.text.bert import BERTScore               ->  from monge.compat.torchmetrics
    import BERTScore
    from torchmetrics.functional.text.bert import bert_score   ->  from monge.compat.torchmetrics
    import bert_score
    TextScore("twmd")                                          any metric of monge;
    MetricCollection holds them

Gathering is exact on every device. If the scores of a pair depend on nothing else, they are
gathered as bytes of float64. If a metric uses statistics of all texts (idf, means, counts of
words), the texts are gathered, sorted and scored together. So the result does not depend on the
number of processes or on how texts are distributed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, Unpack

import numpy as np
import torch
from torchmetrics import Metric as TorchMetric

from monge.api import Metric, Options, load, score_segments, segments_of
from monge.compat.bert_score import PARTS, BERTScorer
from monge.compat.peers import PeerTypeError, PeerValueError, raise_as
from monge.errors import UsageError
from monge.metrics.default import DEFAULT_METRIC
from monge.metrics.metric import MetricSpec
from monge.types import Array, Result, Segment

DEFAULT_MODEL = "roberta-large"
DEFAULT_LENGTH = 512
LAST_LAYER = "last"
_LOADED = "_loaded"
__all__ = ["BERTScore", "TextScore", "bert_score"]
Texts = str | Sequence[str]
References = str | Sequence[str] | Sequence[Sequence[str]]


class _Gathered(TorchMetric):  # type: ignore[misc]
    """Base class: texts or their scores as bytes, gathered over processes."""

    is_differentiable = False
    full_state_update = False
    records: list[torch.Tensor]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.signature = ""
        self.add_state("records", default=[], dist_reduce_fx="cat")
        self._add_empty_record()

    def _add_empty_record(self) -> None:
        """Add an empty tensor: a process without texts needs one of the right type to gather."""
        self.records.append(torch.zeros(0, dtype=torch.uint8, device=self.device))

    def reset(self) -> None:
        """Remove all texts."""
        super().reset()
        self._add_empty_record()

    # --- for subclasses
    # --------------------------------------------------------------------------------------------

    def _load(self) -> Any:
        """Load the metric or scorer; called again after copying or unpickling."""
        raise NotImplementedError

    def _scores_pairs_alone(self) -> bool:
        """Return whether the scores of a pair depend on nothing but the pair."""
        raise NotImplementedError

    def _score_texts(self, segments: Sequence[Segment]) -> list[Result]:
        """Score the texts."""
        raise NotImplementedError

    def _columns(self, results: Sequence[Result]) -> list[Array]:
        """Return the columns of results to store, each [n]."""
        raise NotImplementedError

    def _width(self) -> int:
        """Return the number of columns."""
        raise NotImplementedError

    # --- gathering
    # ----------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> Any:
        """The loaded metric or scorer."""
        if self.__dict__.get(_LOADED) is None:
            self.__dict__[_LOADED] = self._load()
        return self.__dict__[_LOADED]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != _LOADED}

    def update(
        self, preds: Texts, target: References, sources: Iterable[str] | None = None
    ) -> None:
        """Add pairs: predictions, one or more references each, sources if the metric uses them."""
        with raise_as(PeerValueError):
            segments = segments_of(_texts(preds), _rows(target), sources)
            if self._scores_pairs_alone():
                data = self._measure(segments)[0].tobytes()
            else:
                data = b"".join(
                    json.dumps(asdict(segment)).encode() + b"\n" for segment in segments
                )
        self.records.append(torch.frombuffer(bytearray(data), dtype=torch.uint8).to(self.device))

    def _measure(self, segments: Sequence[Segment]) -> tuple[Array, float | None]:
        """Return the columns [n, columns] of texts, and the corpus score if it is no mean."""
        results = self._score_texts(segments)
        self.signature = str(results[0].signature)
        return np.stack(self._columns(results), axis=1), None if results[
            0
        ].pooled is None else results[0].score

    def gather_scores(self) -> tuple[Array, float | None]:
        """Return scores [n, columns] of all pairs in the order of processes, and the corpus score.

        The latter is None if it is the mean of the pairs' scores.
        """
        records = self.records if isinstance(self.records, list) else [self.records]
        data = torch.cat([record.to("cpu", torch.uint8) for record in records]).numpy().tobytes()
        if not data:
            raise PeerValueError("there is nothing to score: no pair was given before compute()")
        if self._scores_pairs_alone():
            return np.frombuffer(data, np.float64).reshape(-1, self._width()), None
        segments = [_segment(line, k) for k, line in enumerate(data.splitlines())]
        order = sorted(range(len(segments)), key=lambda k: repr(replace(segments[k], id="")))
        with raise_as(PeerValueError):
            sorted_values, pooled_score = self._measure(
                [replace(segments[k], id=str(n)) for n, k in enumerate(order)]
            )
        values = np.empty_like(sorted_values)
        values[order] = sorted_values
        return values, pooled_score

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one or more values, by default that of `compute`."""
        return self._plot(val, ax)


def _as_list(texts: object, name: str) -> list[Any]:
    """Return one text or several texts as a list."""
    if isinstance(texts, str):
        return [texts]
    if not isinstance(texts, Iterable):
        raise PeerTypeError(
            f"{name}: expected a text or a list of texts, got {type(texts).__name__}"
        )
    return list(texts)


def _texts(preds: Texts) -> list[str]:
    texts = _as_list(preds, "preds")
    wrong = next(((k, text) for k, text in enumerate(texts) if not isinstance(text, str)), None)
    if wrong is not None:  # the first words are the peer's
        raise PeerValueError(
            f"Invalid input provided. Prediction {wrong[0]} is no text (str), but "
            f"{type(wrong[1]).__name__}; several references go into the target, several batches "
            "into several calls"
        )
    return texts


def _rows(target: References) -> Any:
    """Return references in the form of `segments_of`: if some rows are lists, all become lists."""
    rows = _as_list(target, "target")
    mixed = {isinstance(row, str) for row in rows if isinstance(row, Iterable)} == {True, False}
    return [[row] if isinstance(row, str) else row for row in rows] if mixed else rows


def _segment(line: bytes, number: int) -> Segment:
    fields = json.loads(line)
    return Segment(str(number), fields["hypothesis"], tuple(fields["references"]), fields["source"])


class TextScore(_Gathered):
    """Any metric of monge; `compute` returns the score of all texts so far, a scalar tensor."""

    def __init__(
        self,
        metric: str = DEFAULT_METRIC,
        *,
        metric_settings: dict[str, Any] | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Load the metric.

        Args:
            metric: Its name, as `monge.load` takes it.
            metric_settings: Arguments of torchmetrics' Metric: dist_sync_on_step, process_group …
            options: Those of `monge.load`.
        """
        super().__init__(**(metric_settings or {}))
        self.metric_name, self.options = metric, options
        with raise_as(PeerValueError, of=UsageError):
            _ = self.loaded

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better; for a distance it is not."""
        better: bool = self.loaded.scorer.bounds.higher_is_better
        return better

    def _load(self) -> Metric:
        return load(self.metric_name, **self.options)

    def _scores_pairs_alone(self) -> bool:
        scorer = self.loaded.scorer
        return (
            isinstance(scorer.spec, MetricSpec)
            and not scorer.fits
            and scorer.members[""].block == 1
        )

    def _score_texts(self, segments: Sequence[Segment]) -> list[Result]:
        return score_segments([self.loaded], segments, cache=self.options.get("cache"))

    def _columns(self, results: Sequence[Result]) -> list[Array]:
        return [results[0].segments]

    def _width(self) -> int:
        return 1

    def compute(self) -> torch.Tensor:
        """Return the score of all texts so far."""
        values, pooled_score = self.gather_scores()
        return torch.tensor(
            values[:, 0].mean() if pooled_score is None else pooled_score,
            dtype=self.dtype,
            device=self.device,
        )


class BERTScore(_Gathered):
    """torchmetrics' BERTScore: `compute` returns precision, recall and f1 of every pair.

    Without `num_layers` the last layer is used, as in torchmetrics (bert-score uses the published
    one). Model or tokenizer objects and the URL of a baseline are refused: give a directory or a
    file.
    """

    higher_is_better = True
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    def __init__(
        self,
        model_name_or_path: str | None = None,
        num_layers: int | None = None,
        all_layers: bool = False,
        model: object = None,
        user_tokenizer: object = None,
        user_forward_fn: object = None,
        verbose: bool = False,
        idf: bool = False,
        device: object = None,
        max_length: int = DEFAULT_LENGTH,
        batch_size: int = 64,
        num_threads: int = 0,
        return_hash: bool = False,
        lang: str = "en",
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        baseline_url: str | None = None,
        truncation: bool = False,
        *,
        online: bool = False,
        **kwargs: Any,
    ) -> None:
        """Load the model; `kwargs` are those of torchmetrics' Metric."""
        super().__init__(**kwargs)
        objects = {"model": model, "user_tokenizer": user_tokenizer}
        _refuse_unsupported({**objects, "user_forward_fn": user_forward_fn}, baseline_url, idf)
        self.idf, self.all_layers, self.return_hash = idf, all_layers, return_hash
        self.settings: dict[str, Any] = {
            "model_type": model_name_or_path or DEFAULT_MODEL, "all_layers": all_layers,
            "num_layers": LAST_LAYER if num_layers is None else num_layers,
            "idf": idf, "device": device, "lang": lang, "online": online,
            "rescale_with_baseline": rescale_with_baseline, "baseline_path": baseline_path,
            "max_length": None if max_length == DEFAULT_LENGTH else max_length,
        }  # fmt: skip
        with raise_as(PeerValueError, of=UsageError):
            _ = self.loaded

    def _load(self) -> BERTScorer:
        try:
            return BERTScorer(**self.settings)
        except AssertionError as error:
            # bert-score raises this; users of torchmetrics catch ValueError
            raise PeerValueError(str(error)) from None

    def _scores_pairs_alone(self) -> bool:
        return not self.idf

    def _score_texts(self, segments: Sequence[Segment]) -> list[Result]:
        references = [list(segment.references) for segment in segments]
        if self.idf:
            self.loaded.compute_idf([text for row in references for text in row])
        results: list[Result] = self.loaded.results(
            [segment.hypothesis for segment in segments], references
        )
        return results

    def _columns(self, results: Sequence[Result]) -> list[Array]:
        return [result.parts[part] for result in results for part in PARTS]

    def _width(self) -> int:
        layers: int = self.loaded.layers
        return len(PARTS) * layers

    def compute(self) -> dict[str, Any]:
        """Return precision, recall and f1 of every pair so far, [n] or [layers, n]."""
        values, _ = self.gather_scores()
        by_layer = values.reshape(len(values), -1, len(PARTS)).transpose(1, 0, 2)
        parts: dict[str, Any] = {}
        for k, part in enumerate(PARTS):
            column = torch.tensor(by_layer[:, :, k], dtype=self.dtype, device=self.device)
            parts[part] = column if self.all_layers else column[0]
        return {**parts, "hash": self.signature} if self.return_hash else parts


def _refuse_unsupported(objects: dict[str, object], baseline_url: str | None, idf: object) -> None:
    """Raise for arguments that cannot be signed or would be fetched, and for a wrong `idf`."""
    refused = next((name for name, value in objects.items() if value is not None), None)
    if refused is not None:
        raise PeerValueError(
            f"{refused}: an object cannot be signed; save the model and give its directory by name"
        )
    if baseline_url is not None:
        raise PeerValueError(
            "baseline_url: nothing is fetched; save the file and give baseline_path"
        )
    if not isinstance(idf, bool):
        raise PeerValueError(f"Expected argument `idf` to be a boolean, but got {idf}.")


def bert_score(
    preds: Texts,
    target: References,
    model_name_or_path: str | None = None,
    num_layers: int | None = None,
    all_layers: bool = False,
    model: object = None,
    user_tokenizer: object = None,
    user_forward_fn: object = None,
    verbose: bool = False,
    idf: bool = False,
    device: object = None,
    max_length: int = DEFAULT_LENGTH,
    batch_size: int = 64,
    num_threads: int = 0,
    return_hash: bool = False,
    lang: str = "en",
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    baseline_url: str | None = None,
    truncation: bool = False,
    *,
    online: bool = False,
) -> dict[str, Any]:
    """Return precision, recall and f1 of every pair, like torchmetrics' function."""
    metric = BERTScore(
        model_name_or_path, num_layers, all_layers, model, user_tokenizer, user_forward_fn, verbose,
        idf, device,
        max_length, batch_size, num_threads, return_hash, lang, rescale_with_baseline,
        baseline_path, baseline_url,
        truncation, online=online,
    )  # fmt: skip
    metric.update(preds, target)
    # a tensor [1] for one pair: torchmetrics' function does not squeeze, its class does
    return BERTScore.compute(metric)

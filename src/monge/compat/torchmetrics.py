"""torchmetrics' call shape: metrics with `update`, `compute`, `reset`, `forward`, `plot`, gathered over processes.

    from torchmetrics.text.bert import BERTScore               ->  from monge.compat.torchmetrics import BERTScore
    from torchmetrics.functional.text.bert import bert_score   ->  from monge.compat.torchmetrics import bert_score
    TextScore("twmd")                                          any metric of monge; MetricCollection holds them

What is gathered is exact on every device: the scores of pairs that depend on nothing else, as bytes of float64, or,
where a metric takes something from all texts (idf, means, counts of words), the texts, which are then scored in an
order of their own. So the number does not depend on how many processes there were, or on who had which texts.
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
from monge.compat.peers import PeerTypeError, PeerValueError, raising
from monge.errors import UsageError
from monge.spec.metric import MetricSpec
from monge.types import Array, Result, Segment

DEFAULT_MODEL = "roberta-large"
DEFAULT_LENGTH = 512
LAST_LAYER = "last"
_LOADED = "_loaded"
__all__ = ["BERTScore", "TextScore", "bert_score"]
Texts = str | Sequence[str]
References = str | Sequence[str] | Sequence[Sequence[str]]


class _Gathered(TorchMetric):  # type: ignore[misc]
    """Texts or their scores as bytes, gathered over processes; a kind of metric says how results are made of them."""

    is_differentiable = False
    full_state_update = False
    records: list[torch.Tensor]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.signature = ""
        self.add_state("records", default=[], dist_reduce_fx="cat")
        self._begin()

    def _begin(self) -> None:
        """A process that gets no text must have something of the right kind to gather."""
        self.records.append(torch.zeros(0, dtype=torch.uint8, device=self.device))

    def reset(self) -> None:
        """Forget all texts."""
        super().reset()
        self._begin()

    # --- what a kind says ------------------------------------------------------------------------------------------

    def _load(self) -> Any:
        """What scores: a metric, or a scorer. It is loaded again after copying or unpickling."""
        raise NotImplementedError

    def _alone(self) -> bool:
        """Whether a pair's scores depend on nothing but the pair."""
        raise NotImplementedError

    def _results(self, segments: Sequence[Segment]) -> list[Result]:
        """What the texts get."""
        raise NotImplementedError

    def _columns(self, results: Sequence[Result]) -> list[Array]:
        """The numbers of results that are kept, each [n]."""
        raise NotImplementedError

    def _width(self) -> int:
        """How many columns there are."""
        raise NotImplementedError

    # --- gathering -------------------------------------------------------------------------------------------------

    @property
    def loaded(self) -> Any:
        """What scores."""
        if self.__dict__.get(_LOADED) is None:
            self.__dict__[_LOADED] = self._load()
        return self.__dict__[_LOADED]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != _LOADED}

    def update(self, preds: Texts, target: References, sources: Iterable[str] | None = None) -> None:
        """Take pairs in: predictions, a reference or a list of references each, sources where the metric wants them."""
        with raising(PeerValueError):
            segments = segments_of(_texts(preds), _rows(target), sources)
            if self._alone():
                data = self._measured(segments)[0].tobytes()
            else:
                data = b"".join(json.dumps(asdict(one)).encode() + b"\n" for one in segments)
        self.records.append(torch.frombuffer(bytearray(data), dtype=torch.uint8).to(self.device))

    def _measured(self, segments: Sequence[Segment]) -> tuple[Array, float | None]:
        """The columns [n, columns] of texts, and their score as a whole where it is not the mean of the first."""
        found = self._results(segments)
        self.signature = str(found[0].signature)
        return np.stack(self._columns(found), axis=1), None if found[0].pooled is None else found[0].score

    def gathered(self) -> tuple[Array, float | None]:
        """Scores [n, columns] of all pairs so far, processes one after another; and the score of the whole.

        The latter is None where it is the mean of the pairs' scores.
        """
        records = self.records if isinstance(self.records, list) else [self.records]
        data = torch.cat([one.to("cpu", torch.uint8) for one in records]).numpy().tobytes()
        if not data:
            raise PeerValueError("there is nothing to score: no pair was given before compute()")
        if self._alone():
            return np.frombuffer(data, np.float64).reshape(-1, self._width()), None
        segments = [_segment(line, k) for k, line in enumerate(data.splitlines())]
        order = sorted(range(len(segments)), key=lambda k: repr(replace(segments[k], id="")))
        with raising(PeerValueError):
            found, whole = self._measured([replace(segments[k], id=str(n)) for n, k in enumerate(order)])
        values = np.empty_like(found)
        values[order] = found
        return values, whole

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot a value or several, by default that of `compute`."""
        return self._plot(val, ax)


def _listed(given: object, name: str) -> list[Any]:
    """What was given as a list: one text, or several."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise PeerTypeError(f"{name}: expected a text or a list of texts, got {type(given).__name__}")
    return list(given)


def _texts(preds: Texts) -> list[str]:
    texts = _listed(preds, "preds")
    wrong = next(((k, one) for k, one in enumerate(texts) if not isinstance(one, str)), None)
    if wrong is not None:  # the first words are the peer's
        raise PeerValueError(
            f"Invalid input provided. Prediction {wrong[0]} is no text (str), but {type(wrong[1]).__name__}; several "
            "references go into the target, several batches into several calls"
        )
    return texts


def _rows(target: References) -> Any:
    """References as we take them; where some predictions have one and others several, all get lists."""
    rows = _listed(target, "target")
    mixed = {isinstance(one, str) for one in rows if isinstance(one, Iterable)} == {True, False}
    return [[one] if isinstance(one, str) else one for one in rows] if mixed else rows


def _segment(line: bytes, number: int) -> Segment:
    said = json.loads(line)
    return Segment(str(number), said["hypothesis"], tuple(said["references"]), said["source"])


class TextScore(_Gathered):
    """Any metric of monge; `compute` gives the score of all texts so far, a scalar tensor."""

    def __init__(
        self, metric: str = "twmd", *, metric_settings: dict[str, Any] | None = None, **options: Unpack[Options]
    ) -> None:
        """Loads the metric.

        Args:
            metric: Its name, as `monge.load` takes it.
            metric_settings: What torchmetrics' own Metric takes: dist_sync_on_step, process_group …
            options: model, layers, precision, device, lang, settings, online, cache: as `monge.load` takes them.
        """
        super().__init__(**(metric_settings or {}))
        self.metric_name, self.options = metric, options
        with raising(PeerValueError, of=UsageError):
            _ = self.loaded

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better: distances are better low."""
        better: bool = self.loaded.scorer.bounds.higher_is_better
        return better

    def _load(self) -> Metric:
        return load(self.metric_name, **self.options)

    def _alone(self) -> bool:
        scorer = self.loaded.scorer
        return isinstance(scorer.spec, MetricSpec) and not scorer.fits and scorer.members[""].block == 1

    def _results(self, segments: Sequence[Segment]) -> list[Result]:
        return score_segments([self.loaded], segments, cache=self.options.get("cache"))

    def _columns(self, results: Sequence[Result]) -> list[Array]:
        return [results[0].segments]

    def _width(self) -> int:
        return 1

    def compute(self) -> torch.Tensor:
        """The score of all texts so far."""
        values, whole = self.gathered()
        return torch.tensor(values[:, 0].mean() if whole is None else whole, dtype=self.dtype, device=self.device)


class BERTScore(_Gathered):
    """torchmetrics' BERTScore by its parameters; `compute` gives precision, recall and f1 of every pair."""

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
        """Loads the model; `kwargs` are those of torchmetrics' Metric.

        Without `num_layers` the last layer is taken, as torchmetrics does (bert-score takes the published one). A model
        or tokenizer that is an object, and a baseline by address, are refused: give a directory, a file.
        """
        super().__init__(**kwargs)
        objects = {"model": model, "user_tokenizer": user_tokenizer, "user_forward_fn": user_forward_fn}
        refused = next((name for name, value in objects.items() if value is not None), None)
        if refused is not None:
            raise PeerValueError(
                f"{refused}: an object cannot be signed; save the model and give its directory by name"
            )
        if baseline_url is not None:
            raise PeerValueError("baseline_url: nothing is fetched; save the file and give baseline_path")
        self.idf, self.all_layers, self.return_hash, self.verbose = idf, all_layers, return_hash, verbose
        self.settings: dict[str, Any] = {
            "model_type": model_name_or_path or DEFAULT_MODEL, "all_layers": all_layers,
            "num_layers": LAST_LAYER if num_layers is None else num_layers,
            "idf": idf, "device": device, "lang": lang, "rescale_with_baseline": rescale_with_baseline,
            "baseline_path": baseline_path, "online": online,
            "max_length": None if max_length == DEFAULT_LENGTH else max_length,
        }  # fmt: skip
        if not isinstance(idf, bool):
            raise PeerValueError(f"Expected argument `idf` to be a boolean, but got {idf}.")
        with raising(PeerValueError, of=UsageError):
            _ = self.loaded

    def _load(self) -> BERTScorer:
        try:
            return BERTScorer(**self.settings)
        except AssertionError as error:  # a kind of bert-score's; here ValueError is what users catch
            raise PeerValueError(str(error)) from None

    def _alone(self) -> bool:
        return not self.idf

    def _results(self, segments: Sequence[Segment]) -> list[Result]:
        references = [list(one.references) for one in segments]
        if self.idf:
            self.loaded.compute_idf([text for row in references for text in row])
        found: list[Result] = self.loaded.results([one.hypothesis for one in segments], references)
        return found

    def _columns(self, results: Sequence[Result]) -> list[Array]:
        return [one.parts[part] for one in results for part in PARTS]

    def _width(self) -> int:
        layers: int = self.loaded.layers
        return len(PARTS) * layers

    def compute(self) -> dict[str, Any]:
        """Precision, recall and f1 of every pair so far [n], or [layers, n]; with return_hash the signature."""
        values, _ = self.gathered()
        by_layer = values.reshape(len(values), -1, len(PARTS)).transpose(1, 0, 2)
        found: dict[str, Any] = {}
        for k, part in enumerate(PARTS):
            column = torch.tensor(by_layer[:, :, k], dtype=self.dtype, device=self.device)
            found[part] = column if self.all_layers else column[0]
        return {**found, "hash": self.signature} if self.return_hash else found


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
    """Precision, recall and f1 of every pair: torchmetrics' function of this name, a `BERTScore` used once."""
    metric = BERTScore(
        model_name_or_path, num_layers, all_layers, model, user_tokenizer, user_forward_fn, verbose, idf, device,
        max_length, batch_size, num_threads, return_hash, lang, rescale_with_baseline, baseline_path, baseline_url,
        truncation, online=online,
    )  # fmt: skip
    metric.update(preds, target)
    return BERTScore.compute(metric)  # of one pair too a tensor [1]: the class makes a number of it, the function not

"""The library `evaluate`: two metric modules that `evaluate.load` takes from a directory of this package.

    evaluate.load(directory())               any metric of monge: evaluate.load(directory(), "moverscore")
    evaluate.load("bertscore")          ->   evaluate.load(directory("bertscore"))

Every call of `compute` fits its own statistics: nothing of an earlier call weighs a later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import evaluate

from monge.api import DEFAULT_METRIC, load
from monge.compat.bert_score import PARTS, BERTScorer
from monge.compat.peers import PeerValueError, raising
from monge.errors import UnknownName, UsageError

MODULES = ("monge_score", "bertscore")
_HOME = "https://arxiv.org/abs/1909.02622"
_TEXT = datasets.Value("string")


def directory(name: str = MODULES[0]) -> str:
    """The directory of a module, for `evaluate.load` and `evaluate.combine`: monge_score or bertscore."""
    if name not in MODULES:
        raise UnknownName("module of evaluate", name, MODULES)
    return str(Path(__file__).parent / "evaluate_modules" / name)


def _about(description: str, usage: str) -> evaluate.MetricInfo:
    """What evaluate wants to know of a module; predictions are texts, references texts or lists of texts."""
    several = datasets.Features({"predictions": _TEXT, "references": datasets.Sequence(_TEXT, id="references")})
    single = datasets.Features({"predictions": _TEXT, "references": _TEXT})
    return evaluate.MetricInfo(
        description=description, citation="", homepage=_HOME, inputs_description=usage, features=[several, single]
    )


class MongeScore(evaluate.Metric):  # type: ignore[misc]
    """Any metric of monge: the configuration is its name, `twmd` without one."""

    def _info(self) -> evaluate.MetricInfo:
        return _about(
            "The metric of monge that the configuration names: evaluate.load(directory(), 'moverscore').",
            "compute(predictions=..., references=...) gives score, scores and parts (of every pair), signature; "
            "further keywords are those of monge.load: model, layers, lang, settings ...",
        )

    def _compute(self, predictions: Sequence[str], references: Sequence[Any], **options: Any) -> dict[str, Any]:
        name = DEFAULT_METRIC if self.config_name == "default" else self.config_name
        with raising(PeerValueError):
            return load(name, **options).compute(predictions=predictions, references=references)


class BERTScore(evaluate.Metric):  # type: ignore[misc]
    """evaluate's `bertscore`, by its parameters."""

    def _info(self) -> evaluate.MetricInfo:
        return _about(
            "BERTScore as bert-score 0.3.13 computes it.",
            "compute(predictions=..., references=..., lang=... or model_type=...) gives precision, recall and f1 of "
            "every pair, and hashcode, which is monge's signature.",
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        *,
        idf: bool = False,
        verbose: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        rows = [[one] if isinstance(one, str) else list(one) for one in references]
        try:
            scorer = BERTScorer(idf=idf, **settings)
        except TypeError as error:
            raise PeerValueError(str(error).replace("BERTScorer.__init__()", "compute()")) from None
        except AssertionError as error:
            raise PeerValueError(str(error)) from None
        if scorer.all_layers:
            raise PeerValueError("all_layers: give num_layers; for every layer use monge.compat.bert_score.score")
        with raising(PeerValueError, of=UsageError):
            if idf:
                scorer.compute_idf([text for row in rows for text in row])
        (result,) = scorer.results(predictions, rows, verbose=verbose)
        return {part: result.parts[part].tolist() for part in PARTS} | {"hashcode": str(result.signature)}

"""Two metric modules for the library `evaluate`, read from a directory of this package.

    evaluate.load(directory())               any metric of monge: evaluate.load(directory(),
                                             "moverscore")
    evaluate.load("bertscore")          ->   evaluate.load(directory("bertscore"))

Every call of `compute` fits its own statistics: a call does not depend on earlier ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import datasets
import evaluate

from monge.api import DEFAULT_METRIC, load
from monge.compat.bert_score import PARTS, BERTScorer, Idf
from monge.compat.peers import PeerValueError, raise_as
from monge.errors import UnknownName

MODULES = ("monge_score", "bertscore")
_MOVERSCORE, _BERTSCORE = "https://arxiv.org/abs/1909.02622", "https://arxiv.org/abs/1904.09675"
_TEXT = datasets.Value("string")


def directory(name: str = MODULES[0]) -> str:
    """Return the directory of a module, monge_score or bertscore, for `evaluate.load`."""
    if name not in MODULES:
        raise UnknownName("module of evaluate", name, MODULES)
    return str(Path(__file__).parent / "evaluate_modules" / name)


def _module_info(
    description: str, usage: str, *, citation: str, urls: Sequence[str]
) -> evaluate.MetricInfo:
    """Return the description of a module: predictions are texts, references texts or lists."""
    with_lists = datasets.Features(
        {"predictions": _TEXT, "references": datasets.Sequence(_TEXT, id="references")}
    )
    with_texts = datasets.Features({"predictions": _TEXT, "references": _TEXT})
    return evaluate.MetricInfo(
        description=description, citation=citation, homepage=urls[0], inputs_description=usage,
        features=[with_lists, with_texts], reference_urls=list(urls),
    )  # fmt: skip


class MongeScore(evaluate.Metric):  # type: ignore[misc]
    """Any metric of monge: the configuration is its name, by default `monge`."""

    def _info(self) -> evaluate.MetricInfo:
        return _module_info(
            "The metric of monge that the configuration names: evaluate.load(directory(), "
            "'moverscore').",
            "compute(predictions=..., references=...) gives score, scores and parts (of every "
            "pair), signature. Further keywords as of monge.load: model, layers, precision, "
            "device, lang, settings, online, cache.",
            citation="MoverScore: Zhao et al., EMNLP-IJCNLP 2019. Where a metric comes from: monge "
            "show NAME.",
            urls=[_MOVERSCORE],
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        model: str = "auto",
        layers: int | float | str | None = None,
        precision: str | None = None,
        device: str = "auto",
        lang: str | None = None,
        settings: Sequence[str] | Mapping[str, object] = (),
        online: bool = False,
        cache: str | None = None,
    ) -> dict[str, Any]:
        name = DEFAULT_METRIC if self.config_name == "default" else self.config_name
        with raise_as(PeerValueError):
            metric = load(
                name, model=model, layers=layers, precision=precision, device=device, lang=lang,
                settings=settings,
                online=online, cache=cache,
            )  # fmt: skip
            return metric.compute(predictions=predictions, references=references)


class BERTScore(evaluate.Metric):  # type: ignore[misc]
    """The metric `bertscore` of evaluate, with the same parameters."""

    def _info(self) -> evaluate.MetricInfo:
        return _module_info(
            "BERTScore as bert-score 0.3.13 computes it.",
            "compute(predictions=..., references=..., lang=... or model_type=...) gives precision, "
            "recall and f1 of every pair, and hashcode, which is monge's signature. Further "
            "keywords are those of evaluate's bertscore, and online, which lets a model be "
            "fetched.",
            citation="Zhang et al., BERTScore: Evaluating Text Generation with BERT, ICLR 2020.",
            urls=[_BERTSCORE],
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        lang: str | None = None,
        model_type: str | None = None,
        num_layers: int | None = None,
        verbose: bool = False,
        idf: Idf = False,
        device: str | None = None,
        batch_size: int = 64,
        nthreads: int = 4,
        all_layers: bool = False,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,
        online: bool = False,
    ) -> dict[str, Any]:
        if all_layers:
            raise PeerValueError(
                "all_layers: give num_layers; for every layer use monge.compat.bert_score.score"
            )
        rows = [[row] if isinstance(row, str) else list(row) for row in references]
        try:
            scorer = BERTScorer(
                model_type, num_layers, batch_size, nthreads, idf=bool(idf), device=device,
                lang=lang,
                rescale_with_baseline=rescale_with_baseline, baseline_path=baseline_path,
                use_fast_tokenizer=use_fast_tokenizer, online=online,
            )  # fmt: skip
            scorer.weigh(idf, rows)
            (result,) = scorer.results(predictions, rows, verbose=verbose)
        except (
            AssertionError
        ) as error:  # bert-score raises this; users of evaluate catch ValueError
            raise PeerValueError(str(error)) from None
        return {part: result.parts[part].tolist() for part in PARTS} | {
            "hashcode": str(result.signature)
        }

"""Baselines that come with monge: the mean of each part over random pairs, by language and model.

Two tables: those published for BERTScore, by the name of a model, and our own for the packaged
models (`packaged_baselines.tsv`, made by `make baselines`), by the sha256 of their weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from monge.metrics.axes import (
    Against,
    Baseline,
    Choice,
    EncoderSettings,
    Idf,
    Layers,
    References,
    ScoreScale,
    Uniform,
)
from monge.metrics.codec import show_choice
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import PRESETS
from monge.metrics.rows import CORE

OWN = "packaged_baselines.tsv"
_PARTS = ("precision", "recall", "f1")
_NEVER_REACHED = 256
"""A limit of pieces that no baseline text reaches: from here on limits change no baseline."""


def _read_rows(name: str) -> Iterator[list[str]]:
    """Return the rows of a table of this package, without comments and header."""
    lines = (files("monge.metrics") / name).read_text("utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith(("#", "language\t")))


@cache
def _read_published() -> Mapping[tuple[str, str, int], tuple[float, ...]]:
    return {
        (lang, model.lower(), int(layer)): tuple(map(float, values))
        for lang, model, layer, *values in _read_rows("baselines.tsv")
    }


@cache
def _read_own() -> Mapping[tuple[str, ...], Mapping[str, float]]:
    return {
        (lang, weights, metric, layers): {
            name: float(value) for name, value in (part.split("=") for part in parts)
        }
        for lang, _, weights, metric, layers, _, *parts in _read_rows(OWN)
    }


def find_published(spec: MetricSpec, model: str) -> dict[str, float] | None:
    """Return the baseline that bert-score publishes for each part of a spec, or None."""
    comparable = replace(
        spec,
        encoder=EncoderSettings(),
        layers=Layers(),
        references=References("max-each"),
        scale=ScoreScale("raw"),
    )
    comparable = replace(comparable, weights=_without_idf(spec.weights))
    if comparable != CORE["bertscore@release"].spec or not isinstance(spec.scale, Baseline):
        return None
    layer = spec.layers.at if isinstance(spec.layers.at, int) else -1
    names = (model.lower(), model.lower().rpartition("/")[2])
    values = next(
        (row for name in names if (row := _read_published().get((spec.scale.lang, name, layer)))),
        None,
    )
    return {**dict(zip(_PARTS, values, strict=True)), "score": values[2]} if values else None


def find_packaged(metric: str, spec: MetricSpec, weights: str) -> Mapping[str, float] | None:
    """Return our baseline per part for a packaged model; None if the spec is not the preset's.

    These settings may differ: the layer, the precision, the handling and the limit of overlong
    texts, the rule for several references, and idf (baselines are fitted without it). `weights` is
    the sha256 of the model's weights.
    """
    if (
        metric not in PRESETS
        or not isinstance(spec.scale, Baseline)
        or _reset_free_settings(spec) != _reset_free_settings(PRESETS[metric].spec)
    ):
        return None
    return _read_own().get((spec.scale.lang, weights[:8], metric, show_choice(spec.layers)))


def _reset_free_settings(spec: MetricSpec) -> MetricSpec:
    """Return the spec with every setting that a baseline does not depend on set to its default."""
    own, length = EncoderSettings(), spec.encoder.max_length
    free = {"model": own.model, "precision": own.precision, "overlong": own.overlong}
    return replace(
        spec,
        encoder=replace(spec.encoder, **free, max_length=0 if length >= _NEVER_REACHED else length),
        layers=Layers(),
        weights=_without_idf(spec.weights),
        references=References("max"),
        scale=ScoreScale("raw"),
        against=Against("references"),
    )


def _without_idf(weights: Choice) -> Choice:
    """Replace idf weights by uniform ones, for which baselines were fitted."""
    return Uniform("uniform") if isinstance(weights, Idf) else weights

"""Baselines that come with monge: the mean of each part over random pairs, by language, model, metric and layer.

Two tables: those published for BERTScore, by the name of a model, and our own for the packaged models
(`packaged_baselines.tsv`, made by `make baselines`), by the sha256 of their weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from monge.spec.axes import Against, Baseline, Choice, Encoder, Idf, Layers, References, Scale, Uniform
from monge.spec.codec import show_choice
from monge.spec.metric import MetricSpec
from monge.spec.presets import PRESETS
from monge.spec.rows import CORE

OWN = "packaged_baselines.tsv"
_PARTS = ("precision", "recall", "f1")
_WHOLE = 256
"""Pieces of a text: none of those that baselines are fitted from has as many."""


def _rows(name: str) -> Iterator[list[str]]:
    """The rows of a table of this room, without comments and head."""
    lines = (files("monge.spec") / name).read_text("utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith(("#", "language\t")))


@cache
def _published() -> Mapping[tuple[str, str, int], tuple[float, ...]]:
    return {
        (lang, model.lower(), int(layer)): tuple(map(float, values))
        for lang, model, layer, *values in _rows("baselines.tsv")
    }


@cache
def _own() -> Mapping[tuple[str, ...], Mapping[str, float]]:
    return {
        (lang, weights, metric, layers): {name: float(value) for name, value in (one.split("=") for one in parts)}
        for lang, _, weights, metric, layers, _, *parts in _rows(OWN)
    }


def published(spec: MetricSpec, model: str) -> dict[str, float] | None:
    """The published baseline of each part, where the spec is what the package bert-score computes and knows."""
    ours = replace(spec, encoder=Encoder(), layers=Layers(), references=References("max-each"), scale=Scale("raw"))
    ours = replace(ours, weights=_without_idf(spec.weights))
    if ours != CORE["bertscore@release"].spec or not isinstance(spec.scale, Baseline):
        return None
    layer = spec.layers.at if isinstance(spec.layers.at, int) else -1
    names = (model.lower(), model.lower().rpartition("/")[2])
    found = next((row for name in names if (row := _published().get((spec.scale.lang, name, layer)))), None)
    return {**dict(zip(_PARTS, found, strict=True)), "score": found[2]} if found else None


def packaged(metric: str, spec: MetricSpec, weights: str) -> Mapping[str, float] | None:
    """Our baseline of each part for a packaged model, where the metric is set as its preset but for what is free.

    Free are the layer, the precision, what becomes of overlong texts and what is overlong, the rule for several
    references, and idf, without which baselines are fitted. `weights` is the sha256 of the model's.
    """
    if metric not in PRESETS or not isinstance(spec.scale, Baseline) or _fixed(spec) != _fixed(PRESETS[metric].spec):
        return None
    return _own().get((spec.scale.lang, weights[:8], metric, show_choice(spec.layers)))


def _fixed(spec: MetricSpec) -> MetricSpec:
    """A spec with everything set alike that a baseline does not depend on."""
    own, length = Encoder(), spec.encoder.max_length
    free = {"model": own.model, "precision": own.precision, "overlong": own.overlong}
    return replace(
        spec,
        encoder=replace(spec.encoder, **free, max_length=0 if length >= _WHOLE else length),
        layers=Layers(),
        weights=_without_idf(spec.weights),
        references=References("max"),
        scale=Scale("raw"),
        against=Against("references"),
    )


def _without_idf(weights: Choice) -> Choice:
    """Baselines are fitted without idf, and serve a metric with idf too."""
    return Uniform("uniform") if isinstance(weights, Idf) else weights
